/**
 * Expires pending quotes whose validity has ended.
 */
export { quoteExpirer } from './quote-expirer.ts'

/**
 * Expires pending quotes whose validity has ended, requests for approval, and known networks of people.
 */
export { quoteExpirer } from './quote-expirer.ts'

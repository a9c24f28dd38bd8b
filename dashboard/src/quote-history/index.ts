/** The change history of a quote: the changes, with their person and rule. */

export { QuoteChanges } from './quote-changes.tsx'
export { fieldName, valueWords } from './quote-changes-words.ts'

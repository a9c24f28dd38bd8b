/** The change history of a quote: what changed, by whom, and by which rule. */

export { QuoteChanges } from './quote-changes.tsx'
export { fieldName, valueWords } from './quote-changes-words.ts'

/** The list of quotes and the page of one quote: outcomes, requotes, and what was booked. */

export { default as QuotePage } from './quote.tsx'
export { default as QuotesPage } from './quotes.tsx'

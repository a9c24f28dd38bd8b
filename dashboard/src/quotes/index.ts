/** The list of quotes and the page of one quote: outcomes, requotes, and bookings. */

export { default as QuotePage } from './quote-page.tsx'
export { default as QuotesPage } from './quotes.tsx'

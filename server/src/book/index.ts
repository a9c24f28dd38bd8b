/**
 * The book of a brokerage: its quotes in memory, opened once, and then kept current with the lanes that changed.
 * Markup, lane insight, estimates and expected costs read it and nothing else.
 */
export { type AskedScope, askedScope, ownScope } from './asked-scope.ts'
export { type Book, type BookCounts, type Books, books, type OpenBook } from './books.ts'
export { BrokerageBook } from './brokerage-book.ts'
export { costExpected, type Pricing, pricingOf } from './expected-costs.ts'
export { conversionsOfQuote, needsConversion, type QuotedOn, termsOfQuote } from './quote-conversions.ts'
export {
  asksForParties,
  factsOf,
  namedParties,
  partiesIn,
  type QuotedFor,
  type QuoteParties,
} from './quote-facts.ts'

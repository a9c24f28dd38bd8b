/**
 * The book of a brokerage: its quotes in memory, opened once, and then updated with the quotes that changed.
 * Markup, lane insight, estimates, expected costs and statistics read it and nothing else.
 */

export {
  appraiser,
  costColumns,
  costExpected,
  type LaneInColumns,
  type NamedCustomer,
  namedCustomer,
  type Pricing,
  placedAs,
  pricingOf,
  type Reader,
} from './appraiser.ts'
export { askedScope, type NamedScope, ownScope } from './asked-scope.ts'
export { type Book, type BookCounts, type Books, books, type OpenBook } from './books.ts'
export { BrokerageBook, type EffectsByType } from './brokerage-book.ts'
export { type QuotedOn, termsOfQuote } from './quote-conversions.ts'
export { quoteForecaster, recordedForecast } from './quote-forecaster.ts'
export { type MarketOfBook, type Statistics, statisticsOf, statisticsOfSome } from './statistics.ts'

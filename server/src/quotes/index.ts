/**
 * Quotes in requests and answers: parses places and equipment, and formats quotes and requests for approval as JSON and CSV.
 */
export { loadPlaces } from '#geography/load-places.ts'
export {
  type AskedQuote,
  approvalAnswer,
  approvalState,
  askedQuote,
  askedRates,
} from './approval-answer.ts'
export { convertedBookings, landedIn } from './counted-quotes.ts'
export {
  type AskedLane,
  countedMiles,
  knownOrFolded,
  lanePlaces,
  milesBetweenKeys,
  placesMeantMax,
  readAskedLane,
  readEquipment,
  readLanePlaces,
  readPlaceAt,
  readPlaceKey,
  routePlaces,
} from './lane-places.ts'
export { marketPairs, readMarketEnds } from './market-areas.ts'
export { chargesInOtherCurrency, removedByTerms, termsOf } from './other-terms.ts'
export { oneQuoteAnswer, pricedQuote, quoteAnswers, shownQuote } from './quote-answer.ts'
export { quoteCsvCells, quoteCsvHead, quoteCsvHeaders, quoteCsvLines } from './quote-csv.ts'
export { closestFinder, type FindClosest, unknownPlaces } from './unknown-places.ts'

/**
 * Column names and cells of CSV files, and CSV output. Has no dependencies on the server, because the command line uses it,
 * too.
 */
export {
  type Cell,
  cellText,
  foldedWords,
  quoted,
  readCell,
  readEquipment,
  readId,
  readMiles,
  readText,
  readYesNo,
  shortened,
} from './cells.ts'
export { csvHead, csvLines, csvLinesInSteps, formula, guardedCell, withoutGuards } from './csv-lines.ts'
export {
  currenciesOfNote,
  currencyWords,
  isCurrency,
  isStored,
  quoteCurrencies,
  splitCurrency,
} from './currency-words.ts'
export {
  type DateReader,
  dateNumbers,
  dateReader,
  type FileTime,
  monthOf,
  readDay,
  readDayNear,
  readMoment,
  utcDates,
} from './date-cells.ts'
export {
  type ColumnOrder,
  columnOrders,
  dateColumns,
  noDates,
  type OrderNote,
  orderConflict,
  orderNote,
  type SeenDates,
  seeDate,
} from './date-order.ts'
export { dateTerms } from './date-terms.ts'
export { givenText, kindOfField, kindOfUnit } from './given-cells.ts'
export * from './guessed-columns.ts'
export { headerFault, headerTerms } from './header-terms.ts'
export {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  type ImportFieldName,
  importFieldNames,
  importFields,
} from './import-fields.ts'
export { likelyEquipment, likelyOutcome } from './likely-words.ts'
export { type MarketFileField, type MarketMeaning, marketMeaning } from './market-names.ts'
export * from './match-columns.ts'
export {
  readBasis,
  readCharge,
  readCost,
  readCurrency,
  readCurrencyIn,
  readMoney,
  readNamedCharges,
  readSentCharges,
  roundedAmount,
  type StatedAmount,
  statedAmount,
  statedAmountIn,
  statedCharges,
} from './money-cells.ts'
export { type ReadOutcome, readOutcome, readReason } from './outcome-cells.ts'
export { pushedOnlyFieldOfHeader } from './pushed-fields.ts'
export { type PushedCellName, pushedCells, quoteCells, readSentStops } from './quote-cells.ts'
export { StatedCurrencies } from './stated-currencies.ts'
export { exchangeNames, type Vocabulary, vocabularies } from './vocabularies.ts'

/**
 * Column names and cells of CSV files, and CSV output. Has no dependencies on the server, because the command line uses it,
 * too.
 */
export {
  type Cell,
  cellText,
  quoted,
  readCell,
  readEquipment,
  readMiles,
  readText,
  readYesNo,
} from './cells.ts'
export { csvHead, csvLines, formula } from './csv-lines.ts'
export { monthOf, readDay, readDayNear, readMoment } from './date-cells.ts'
export { basisOfHeader, guessedHeaders, otherUnitOf, statusLike } from './guessed-columns.ts'
export {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  type ImportFieldName,
  importFieldNames,
  importFields,
  knownNames,
} from './import-fields.ts'
export {
  amountText,
  readBasis,
  readCharge,
  readCost,
  readCurrency,
  readMoney,
  readNamedCharges,
  readSentCharges,
} from './money-cells.ts'
export { type OutcomeReason, type ReadOutcome, readOutcome, readReason } from './outcome-cells.ts'
export { pushedOnlyFieldOfHeader } from './pushed-fields.ts'
export { type PushedCellName, pushedCells, quoteCells } from './quote-cells.ts'

/**
 * Column names and cells of CSV files, and CSV output. Has no dependencies on the server, because the command line uses it,
 * too.
 */
export {
  amountText,
  type Cell,
  cellText,
  monthOf,
  type OutcomeReason,
  quoted,
  type ReadOutcome,
  readBasis,
  readCell,
  readCharge,
  readCost,
  readCurrency,
  readDay,
  readDayNear,
  readEquipment,
  readMiles,
  readMoment,
  readMoney,
  readNamedCharges,
  readOutcome,
  readReason,
  readSentCharges,
  readText,
  readYesNo,
} from './cells.ts'
export { csvHead, csvLines, formula } from './csv-lines.ts'
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
export { pushedOnlyFieldOfHeader } from './pushed-fields.ts'
export { type PushedCellName, pushedCells, quoteCells } from './quote-cells.ts'

/**
 * CSV imports: parsing a file, validating its rows, saving them, and undoing an import.
 */

export { type FileBytes, ImportFileError, kindOfFile } from '../tables/index.ts'
export { type ColumnMatch, matchColumns, readColumns } from './columns.ts'
export { readDieselFile } from './diesel-file.ts'
export { readExchangeFile } from './exchange-file.ts'
export { fileSettings } from './file-settings.ts'
export { type ImportEnd, importFile } from './import-file.ts'
export { type ImportCounts, type ImportRunner, importRunner, type NoMemory } from './import-runner.ts'
export { knownCells } from './known-cells.ts'
export { constantFields } from './map-constants.ts'
export { type MarketFile, readMarketFile } from './market-file.ts'
export { beginImport, beginUndo, ImportConflict, refuseWhileBusy, undoRowsTotal } from './one-at-a-time.ts'
export { openFile, openImport } from './open-import.ts'
export { readPasted } from './pasted-quotes.ts'
export { fingerprintOfId } from './row-fingerprint.ts'
export { readRow } from './rows.ts'
export { basisFields, guessedBasis, storedColumns } from './stored-columns.ts'
export { undoImport } from './undo-import.ts'

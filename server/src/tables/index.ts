/**
 * Tables from files: bytes to rows with line numbers. Finds the encoding, the delimiter and the header of CSV text, and reads
 * the sheets of Excel workbooks. The meaning of cells is in the room `csv`.
 */

export type { FileBytes } from './file-bytes.ts'
export {
  ImportFileError,
  openTable,
  type TableFile,
  type TableRow,
  tablePieces,
} from './table-file.ts'
export { formOf, refuseCells, tableOf } from './table-text.ts'
export { isWorkbook, refuseOtherText } from './text-file.ts'

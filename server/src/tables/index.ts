/**
 * Tables from files: bytes to rows with line numbers. Finds the encoding, the delimiter and the header of CSV text, and reads
 * the sheets of Excel workbooks. Large files are read in pieces (`tablePieces`), small ones whole (`readTable`), and pasted text by
 * `textRows`. The meaning of cells is in the room `csv`.
 */

export { isSingleByteEncoding } from './encoding.ts'
export { type SingleByteEncoding, singleByteEncodings } from './encoding-words.ts'
export { type FileBytes, kindOfFile, unpacked } from './file-bytes.ts'
export { leftOutOf, otherHeader } from './left-out.ts'
export { ImportFileError, refused } from './refused.ts'
export { openTable, type TableFile } from './table-file.ts'
export type { Line } from './table-form.ts'
export { type LeftOutRow, tablePieces } from './table-pieces.ts'
export { type TableRow, textRows } from './text-rows.ts'
export { readTable, refuseCells } from './whole-table.ts'

import { yieldBetweenSteps } from '../runtime/index.ts'
import { type FileBytes, ImportFileError, openTable, type TableFile } from '../tables/index.ts'
import {
  codedOutcomes,
  doubtedAmounts,
  firstRows,
  refuseUnreadCurrencies,
  unreadStatuses,
} from './column-content.ts'
import { type Columns, matchColumns, withCurrencyAbove } from './columns.ts'
import { cellSettings } from './file-settings.ts'
import type { ImportNote } from './import-notes.ts'
import { reportFault } from './own-reports.ts'
import { type SeenInFile, seeFile } from './seen-in-file.ts'

/** A file with a valid encoding, header and map, ready to be imported. */
export interface OpenImport {
  readonly csv: TableFile
  readonly columns: Columns
  readonly seen: SeenInFile
  /** Questions about columns whose cells are not what their fields need. */
  readonly doubts: readonly ImportNote[]
}

/**
 * Checks a whole file, unpacked piece by piece, and reads its header.
 *
 * @param map `field=column` pairs separated by commas; they take precedence over known column names.
 * @param sheet the sheet of a workbook; without it, the first one with a header
 * @param workbook the sheet, if it was read before; `bytes` is then its text
 * @param known what `openImport` has seen in the same file, so that it is not looked through again
 * @throws ImportFileError with every problem of the file
 */
export async function openImport(
  bytes: FileBytes,
  map: string | undefined,
  {
    sheet,
    workbook = null,
    known,
  }: {
    readonly sheet?: string | undefined
    readonly workbook?: TableFile['workbook']
    readonly known?: SeenInFile | undefined
  } = {},
): Promise<OpenImport> {
  const csv = await openTable(bytes, {
    vocabulary: 'quotes',
    ...cellSettings({ sheet, map }),
    workbook,
  })
  const report = reportFault(csv.header)
  if (report !== null) {
    throw new ImportFileError([{ code: 'header', row: csv.headerLine, column: null, detail: report }])
  }
  const matched = await yieldBetweenSteps(matchColumns(csv.header, map))
  const read = matched.problems.length > 0 ? matched : withCurrencyAbove(matched.columns, csv.aboveHeader)
  if ('problems' in read) {
    const row = csv.headerLine
    throw new ImportFileError(
      read.problems.map((problem) => ({ ...problem, row: problem.code === 'header' ? row : null })),
    )
  }
  const { columns } = read
  const rows = await firstRows(csv)
  refuseUnreadCurrencies(rows, csv, columns)
  const doubts = [
    ...doubtedAmounts(rows, csv, columns),
    ...unreadStatuses(rows, csv, columns),
    ...codedOutcomes(rows, columns),
  ]
  return { csv, columns, doubts, seen: known ?? (await seeFile(csv, columns)) }
}

/**
 * Opens a file of quotes. Its header is recognized by known column names.
 *
 * @param sheet the sheet of a workbook; without it, the first one with a header
 * @param map may choose the encoding, as in `encoding=macintosh`, and leave out hidden cells
 * @throws ImportFileError
 */
export async function openFile(
  bytes: FileBytes,
  sheet: string | undefined,
  map: string | undefined,
): Promise<TableFile> {
  return openTable(bytes, { vocabulary: 'quotes', ...cellSettings({ sheet, map }) })
}

/** Why a row below the header is left out. `remark`: a single text, such as the name of a group or a note below the table. */
export type LeftOutReason = 'total' | 'header' | 'remark'

/** The header as it decides which rows are left out. */
export interface HeaderRows {
  readonly header: readonly string[]
  /** The rows of the file that are the header: its names, the row of groups above them, units below them. */
  readonly headerRows: readonly { readonly cells: readonly string[] }[]
}

/** A table has at least this many columns, so that a row with one filled cell is no row of it. */
const columnsMin = 4
/** A longer text is no name of a group or note. */
const remarkLengthMax = 1_000

/**
 * Why a row is left out: it is a total, the header again (as on each page of a report), or a single text; null for a row of the table.
 *
 * @example leftOutOf(['Total', '', '', '12,450.00'], { header, headerRows: [{ cells: header }] }) // 'total'
 */
export function leftOutOf(
  cells: readonly string[],
  { header, headerRows }: HeaderRows,
): LeftOutReason | null {
  if (isTotal(cells)) return 'total'
  if (headerRows.some((row) => isSame(row.cells, cells))) return 'header'
  return isRemark(cells, header) ? 'remark' : null
}

/** Whether a row is a sum: its first filled cell says "Total", and the others are numbers or words such as "loads". */
function isTotal(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
  const [first = '', ...others] = filled
  if (!/^(grand |sub[- ]?|report |column )?totals?( ?\(\d{1,9}\))?:?$/i.test(first)) return false
  return others.every((cell) =>
    /^[-+$(]{0,3}\d[\d,. ]{0,20}\)?%?$|^(loads|rows|quotes|records|USD|CAD)$/i.test(cell),
  )
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    if ((one[at] ?? '').trim() !== (other[at] ?? '').trim()) return false
  }
  return true
}

/** Names of the table in a row that make it a header: a value can be one of them by chance. */
const namesMin = 3

/**
 * Finds the header of another table: a row of which most cells are names of this table, but not each above its own column. The rows
 * below it would be read by the wrong columns.
 *
 * @example otherHeader(['Origin', 'Destination', 'Rate'])(['Destination', 'Origin', 'Rate']) // true
 */
export function otherHeader(header: readonly string[]): (cells: readonly string[]) => boolean {
  const folded = header.map(foldedName)
  const names = new Set(folded.filter((name) => name !== ''))
  const lengthMax = Math.max(0, ...[...names].map((name) => name.length))
  const isName = (cell: string) => cell.length <= lengthMax && names.has(cell)
  return (cells) => {
    let [known, other, moved] = [0, 0, 0]
    for (const [at, cell] of cells.entries()) {
      const name = foldedName(cell)
      if (name === '') continue
      if (isName(name)) known++
      else if (++other > names.size / 2) return false
      if (name !== folded[at]) moved++
    }
    return known >= namesMin && known > other && moved > 0
  }
}

const foldedName = (cell: string) => cell.trim().toLowerCase()

function isRemark(cells: readonly string[], header: readonly string[]): boolean {
  const at = cells.findIndex((cell) => cell.trim() !== '')
  if (at < 0 || cells.findLastIndex((cell) => cell.trim() !== '') !== at) return false
  const text = cells[at]?.trim() ?? ''
  const columns = header.filter((name) => name.trim() !== '').length
  if (columns < columnsMin || text.length > remarkLengthMax || !/\p{L}/u.test(text)) return false
  // A row in one cell has another delimiter, or is enclosed in quotes as a whole.
  return text.split(/[,;\t|]/).length < columns
}

import type { TableFile } from '../tables/index.ts'
import { howMany, type ImportNote } from './import-notes.ts'

type Note = ImportNote
type Workbook = NonNullable<TableFile['workbook']>

/** How a sheet of a workbook was read: its hidden rows and columns, formulas without a result, and other sheets with a table. */
export function workbookNotes({ sheet, otherTables, hidden, unresolved }: Workbook): Note[] {
  return [
    ...(hidden.rows > 0 ? [rowsNote(hidden)] : []),
    ...(hidden.columns.length > 0 ? [columnsNote(hidden)] : []),
    ...(unresolved.count > 0 ? [formulasNote(unresolved)] : []),
    ...(otherTables.length > 0 ? [sheetsNote(sheet, otherTables)] : []),
  ]
}

const note = (code: Note['code'], detail: string): Note => ({ code, column: null, detail, choices: [] })

const otherChoice = ({ areLeftOut }: Workbook['hidden']) =>
  areLeftOut
    ? [{ map: 'hidden=read', detail: 'Read the hidden rows and columns.' }]
    : [{ map: 'hidden=skip', detail: 'Leave out the hidden rows and columns.' }]

function rowsNote(hidden: Workbook['hidden']): Note {
  const [are, were] = hidden.rows === 1 ? ['is', 'was'] : ['are', 'were']
  const detail = `${howMany(hidden.rows, 'row')} of the sheet ${are} hidden, as by a filter, and ${were} ${hidden.areLeftOut ? 'left out' : 'read'}.`
  return { ...note('hidden_rows', detail), choices: otherChoice(hidden) }
}

function columnsNote(hidden: Workbook['hidden']): Note {
  const isOne = hidden.columns.length === 1
  const columns = `${isOne ? 'Column' : 'Columns'} ${listed(hidden.columns)} of the sheet`
  const detail = `${columns} ${isOne ? 'is' : 'are'} hidden and ${isOne ? 'was' : 'were'} ${hidden.areLeftOut ? 'left out' : 'read'}.`
  return { ...note('hidden_columns', detail), choices: otherChoice(hidden) }
}

function formulasNote({ count, cells }: Workbook['unresolved']): Note {
  const [first = ''] = cells
  const named = count === 1 ? `The cell ${first} is a formula` : `${listed(cells, count)} are formulas`
  return note(
    'formulas_without_results',
    `${named} without a result, because the program that wrote the workbook does not calculate. Rows that need them are refused. Open the workbook in a spreadsheet program, save it, and send it again.`,
  )
}

function sheetsNote(sheet: string, others: readonly string[]): Note {
  const names = others.map((name) => `"${name}"`)
  const detail = `The sheet "${sheet}" was read. ${listed(names)} ${others.length === 1 ? 'has' : 'have'} a table, too: choose the sheet and send it as well, if you need it.`
  return note('other_sheets', detail)
}

const listedMax = 5

/** @example listed(['G2', 'G3'], 12) // 'G2, G3 and 10 more' */
function listed(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, listedMax)
  const more = count - shown.length
  const all = more > 0 ? [...shown, `${more.toLocaleString('en-US')} more`] : shown
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}

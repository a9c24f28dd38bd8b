import { utils, write } from '@e965/xlsx'
import { bodyBytesMaxOf, type Endpoint } from '#contract/endpoint.ts'
import {
  importBytesMax,
  importColumnsMax,
  importHeadBytesMax,
  marketFileRowsMax,
  pastedRowsMax,
} from '#contract/limits.ts'
import { marketFileFields } from '#contract/market-rates.ts'
import { importFieldNames } from '#server/csv/index.ts'
import { type FuzzRequest, requestTo } from './fuzz-requests.ts'
import { formsCount, repeated, runOf, textOf } from './fuzz-values.ts'
import type { WalkRequest } from './route-requests.ts'
import type { ValueSchema } from './value-ends.ts'

/**
 * The longest files and pasted texts of the fuzzer for each reader of tables: every column with the repetitions of each kind of
 * character in cells of every length, the most rows and columns, workbooks, and texts that are no table at all.
 */

/** A reader of tables: its columns, valid values of some, and the most rows that it reads. */
interface TableReader {
  readonly columns: readonly string[]
  readonly valid: Readonly<Record<string, string>>
  readonly rowsMax: number
  readonly separators: readonly string[]
  /** The member of the JSON body that is the table; null if the body is the table. */
  readonly member: string | null
  /** The size of most files in bytes. Some files of each reader are larger. */
  readonly bytes: number
}

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const quotes = { ...lane, quoted_rate: '2000', quoted_at: '2026-01-02', outcome: 'won' }
const importReader: TableReader = {
  // One column for the origin and one for the destination.
  columns: importFieldNames.filter((name) => !/^(origin|destination)_(city|state|zip)$/.test(name)),
  valid: quotes,
  rowsMax: 10_000,
  separators: [',', '\t', ';'],
  member: null,
  bytes: 150_000,
}
const marketReader: TableReader = {
  columns: marketFileFields,
  valid: { ...lane, mid: '1960', as_of: '2026-02-27' },
  rowsMax: marketFileRowsMax,
  separators: [',', '\t'],
  member: null,
  bytes: 300_000,
}

const readers: Readonly<Partial<Record<string, TableReader>>> = {
  'create-import': importReader,
  'integration-create-import': importReader,
  'read-import-header': importReader,
  'load-market-file': marketReader,
  'push-market-file': marketReader,
  'read-pasted-quotes': {
    columns: [
      'Origin',
      'Destination',
      'Equipment',
      'Rate',
      'Cost',
      'Pickup Date',
      'Customer',
      'Fuel',
      'Accessorials',
      'Basis',
      'Currency',
      'Market Rate',
      'Cost Basis',
      'Quoted Charges',
      'Miles',
      'Rate Type',
    ],
    valid: {
      Origin: 'Dallas, TX',
      Destination: 'Atlanta, GA',
      Equipment: 'V',
      Rate: '2150',
      Customer: 'Harvest',
    },
    rowsMax: pastedRowsMax,
    separators: ['\t', ',', ';'],
    member: 'text',
    bytes: 60_000,
  },
  'load-diesel-prices': {
    columns: ['period', 'series', 'value'],
    valid: { period: '2026-03-02', series: 'EMD_EPD2D_PTE_NUS_DPG', value: '3.879' },
    rowsMax: 5_200,
    separators: [','],
    member: null,
    bytes: 300_000,
  },
  'load-exchange-file': {
    columns: ['date', 'usd_per_cad'],
    valid: { date: '2026-03-02', usd_per_cad: '0.7312' },
    rowsMax: 8_000,
    separators: [','],
    member: null,
    bytes: 300_000,
  },
}

/** Lengths of cells: two that are read, and one that is refused. */
const cellLengths = [30, 990, 20_000]

function table(
  separator: string,
  header: readonly string[] | null,
  rows: Iterable<readonly string[]>,
  bytesMax: number,
) {
  const lines: string[] = header === null ? [] : [header.join(separator)]
  let length = lines.join('').length
  for (const row of rows) {
    const line = row.join(separator)
    length += line.length + 1
    if (length > bytesMax) break
    lines.push(line)
  }
  return `${lines.join('\n')}\n`
}

interface BrokenCells {
  readonly length: number
  readonly isQuoted: boolean
  /** The column of the wrong cell in the first row. */
  readonly first: number
  /** The form of the wrong cells. It changes after each round of columns. */
  readonly form: number
}

/** Rows with one wrong cell, in the next column in each row. */
function* brokenRows(
  { columns, valid, rowsMax }: TableReader,
  word: string,
  { length, isQuoted, first, form }: BrokenCells,
) {
  const written = (text: string, quote = isQuoted) => (quote ? `"${text.replaceAll('"', '""')}"` : text)
  for (let nth = 0; nth < rowsMax; nth++) {
    const at = (first + nth) % columns.length
    yield columns.map((name, column) => {
      const value = valid[name] ?? ''
      if (column !== at) return written(value, value.includes(','))
      const text = textOf(word, length, value, form + Math.floor(nth / columns.length))
      // Each text differs, because the service remembers the result for an equal text.
      return written(`${text}${nth < 2 * columns.length ? '' : nth}`)
    })
  }
}

/** Rows of which every cell is wrong, each with a text of its own. */
function* wrongRows({ columns, rowsMax }: TableReader, word: string) {
  for (let nth = 0; nth < rowsMax; nth++) {
    yield columns.map((_, at) => `"Dock ${nth}${runOf(word, 4).replaceAll('"', '')} Dalas ${at}"`)
  }
}

function* longTables(reader: TableReader): Generator<{ what: string; text: () => string }> {
  const { columns, separators, bytes, member } = reader
  const [first = ','] = separators
  const header = `${columns.join(first)}\n`
  const filled = (unit: string, room = bytes) => unit.repeat(Math.floor(room / unit.length))
  const most = member === null ? 1_000_000 : bytes * 5
  yield { what: 'the most valid rows', text: () => table(first, columns, validRows(reader), most) }
  for (const [nth, word] of repeated.entries()) {
    const said = JSON.stringify(word)
    const separator = separators[nth % separators.length] ?? first
    const head = Math.min(bytes, importHeadBytesMax) - 2_000
    yield { what: `a file of ${said}`, text: () => runOf(word, bytes) }
    yield { what: `a header and ${said}`, text: () => `${header}${runOf(word, bytes)}` }
    yield {
      what: `names of columns of ${said}`,
      text: () => `${columns.join(first)}${first}${runOf(word, head)}\n`,
    }
    for (const length of cellLengths) {
      // A file too short for all columns in all forms is split: each part has one form and some columns.
      const rows = Math.max(1, Math.floor(bytes / (length + 200)))
      const isShort = rows < columns.length * formsCount
      for (let form = 0; form < (isShort ? formsCount : 1); form++) {
        for (let first = 0; first < columns.length; first += rows) {
          const cells = { length, isQuoted: nth % 2 === 0, first, form }
          yield {
            what: `cells of ${length} characters of ${said}, form ${form}, from column ${first + 1}`,
            text: () => table(separator, columns, brokenRows(reader, word, cells), bytes),
          }
        }
      }
    }
    for (const [how, names] of [
      ['', columns],
      [', without a header', null],
    ] as const) {
      yield {
        what: `wrong cells with ${said}${how}`,
        text: () => table(first, names, wrongRows(reader, word), bytes),
      }
    }
  }
  const names = Array.from({ length: importColumnsMax }, (_, at) => `Column ${at}`)
  yield { what: 'the most columns', text: () => `${names.join(first)}\n` }
  yield { what: 'more columns than are read', text: () => `${header}${filled(first)}\n` }
  yield { what: 'quotes that do not end', text: () => `${header}"${filled('a""')}` }
  yield { what: 'quotes within cells', text: () => `${header}${filled(`a"b"${first}`)}\n` }
}

function* validRows({ columns, valid, rowsMax }: TableReader) {
  for (let nth = 0; nth < rowsMax; nth++) {
    yield columns.map((name) => (valid[name]?.includes(',') ? `"${valid[name]}"` : (valid[name] ?? '')))
  }
}

/** An XLSX file of this many rows. */
function workbook(columns: readonly string[], rows: number, text: (nth: number) => string): Buffer {
  const cells = Array.from({ length: rows }, (_, nth) => columns.map(() => text(nth)))
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet([[...columns], ...cells]), 'Quotes')
  return write(book, { type: 'buffer', compression: true }) as Buffer
}

/** Names and beginnings of files of 128 MiB of quotation marks. */
const largestStarts: readonly (readonly [string, string])[] = [
  ['quotes', ''],
  ['quotes after a header', 'origin,destination,equipment,quoted_rate,quoted_at,outcome\n'],
  ['quotes in a cell', 'origin,destination,equipment,quoted_rate,quoted_at,outcome\n"Dallas, TX","'],
]

/**
 * The longest text that the contract permits, in characters. The readers refuse most such texts for their length. Null for past
 * quotes, of which `largestStarts` are the longest.
 */
function longestOf(endpoint: Endpoint, member: string | null): number | null {
  if (member !== null) return (endpoint.body as ValueSchema).properties?.[member]?.maxLength ?? null
  const bytes = bodyBytesMaxOf(endpoint)
  return bytes > 8 * 1024 * 1024 ? null : bytes
}

/** Every long file of an endpoint that reads tables; none of another endpoint. */
export function* longFiles(endpoint: Endpoint, { path, body }: WalkRequest): Generator<FuzzRequest> {
  const reader = readers[endpoint.name]
  if (reader === undefined) return
  const { member, columns, separators } = reader
  const bytesOf = (text: string) =>
    member === null ? text : JSON.stringify({ ...(body as object), [member]: text })
  const file = (what: string, text: () => string, at = path) =>
    requestTo(endpoint, {
      kind: 'file',
      what,
      path: at,
      type: member === null ? 'text/csv' : 'application/json',
      body: () => bytesOf(text()),
    })
  for (const { what, text } of longTables(reader)) {
    yield file(what, text)
    if (endpoint.name === 'create-import') yield file(`${what}, tried out`, text, `${path}&dry_run=true`)
  }
  if (member === null) {
    for (const word of [' ', '0', 'a', '"', 'İ', ', ']) {
      const bytes = () => workbook(columns, 1_000, (nth) => `${runOf(word, 500)}${nth}`)
      const what = `a workbook of ${JSON.stringify(word)}`
      yield requestTo(endpoint, { kind: 'file', what, path, type: 'text/csv', body: bytes })
    }
    for (const [what, start] of endpoint.name === 'create-import' ? largestStarts : []) {
      const bytes = () => {
        const filled = Buffer.alloc(importBytesMax, '"')
        filled.write(start)
        return filled
      }
      yield requestTo(endpoint, {
        kind: 'largest file',
        what: `128 MiB of ${what} without line ends`,
        path,
        type: 'text/csv',
        body: bytes,
      })
    }
  }
  const longest = longestOf(endpoint, member)
  if (longest === null) return
  const header = `${columns.join(separators[0])}\n`
  for (const word of [' ', '\n', ',', '"', '0', 'a', '1,', '""', 'a\n', '\t', ';']) {
    const said = JSON.stringify(word)
    yield file(`the longest text of ${said}`, () => runOf(word, longest))
    yield file(`the longest file of ${said}`, () => `${header}${runOf(word, longest - header.length)}`)
  }
}

import type { AnswerOf } from '#contract/endpoint.ts'
import type { getImport } from '#contract/imports.ts'
import { quoted } from '../csv/index.ts'
import type { LeftOutRow, TableFile } from '../tables/index.ts'
import type { Columns } from './columns.ts'

export type ImportNote = AnswerOf<typeof getImport>['understood'][number]

/** The texts of the first lines that are left out, and how many there are. */
export interface LeftOutLines {
  readonly counts: Readonly<Record<LeftOutRow['why'], number>>
  readonly remarks: readonly string[]
}

export const noneLeftOut: LeftOutLines = { counts: { total: 0, header: 0, remark: 0 }, remarks: [] }

const shownMax = 3

/** A number of rows, lines or cells. @example howMany(1200, 'row') // '1,200 rows' */
export function howMany(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}
const were = (count: number) => (count === 1 ? 'was' : 'were')

/** Adds rows that are left out. */
export function addLeftOut(
  before: LeftOutLines,
  rows: readonly Pick<LeftOutRow, 'why' | 'cells'>[],
): LeftOutLines {
  if (rows.length === 0) return before
  const counts = { ...before.counts }
  for (const { why } of rows) counts[why]++
  const texts = rows.flatMap(({ why, cells }) => (why === 'remark' ? textOf(cells) : []))
  return { counts, remarks: [...before.remarks, ...texts].slice(0, shownMax) }
}

const textOf = (cells: readonly string[]) => {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
  return quoted(filled.join(' '))
}

const encodingNames = {
  'windows-1252': 'Windows-1252',
  macintosh: 'Macintosh',
  cp850: 'DOS (CP850)',
  cp437: 'DOS (CP437)',
} as const

/**
 * How a file's bytes were read: its encoding if it is not Unicode, its header if it has several rows, and
 * the lines left out.
 */
export function fileNotes(file: TableFile, leftOut: LeftOutLines): ImportNote[] {
  return [...formNotes(file), ...linesNotes(file, leftOut)]
}

/** The encoding of a file if it is not Unicode, and its header if it has several rows. */
export function formNotes(file: TableFile): ImportNote[] {
  return [...encodingNotes(file), ...headerNotes(file)]
}

/** A sentence that is not about one column. */
export const noteOf = (
  code: ImportNote['code'],
  detail: string,
  choices: ImportNote['choices'] = [],
): ImportNote => ({ code, column: null, detail, choices })

function encodingNotes({ encoding, readings }: TableFile): ImportNote[] {
  if (encoding === 'utf-8' || encoding === 'utf-16') return []
  const words = (of: readonly string[]) => of.map((word) => quoted(word)).join(', ')
  const own = readings.find((reading) => reading.encoding === encoding)?.words ?? []
  const shown = own.length === 0 ? '' : `, with words such as ${words(own)}`
  const choices = readings.flatMap((reading) =>
    reading.encoding === encoding || reading.words.length === 0 || words(reading.words) === words(own)
      ? []
      : [{ map: `encoding=${reading.encoding}`, detail: `The words are ${words(reading.words)}.` }],
  )
  return [noteOf('encoding', `The text is in the encoding ${encodingNames[encoding]}${shown}.`, choices)]
}

function headerNotes({ joined, header, headerRows }: TableFile): ImportNote[] {
  if (joined === null) return []
  const names = header
    .slice(0, 6)
    .map((name) => quoted(name.trim()))
    .join(', ')
  const lines = headerRows.map(({ line }) => line).join(' and ')
  const what = joined === 'units' ? 'The header and the units below it' : 'The header has two rows, which'
  return [noteOf('header_joined', `${what} (lines ${lines}) are read together: ${names}.`)]
}

/** The lines that are left out, above the header and below it. */
export function linesNotes(
  { aboveHeader }: Pick<TableFile, 'aboveHeader'>,
  { counts, remarks }: LeftOutLines,
): ImportNote[] {
  const note = (count: number, what: string, texts: readonly string[] = []) => {
    if (count === 0) return []
    const shown = texts.length === 0 ? '' : `: ${texts.join(', ')}${texts.length < count ? ', …' : ''}`
    return [noteOf('lines_left_out', `${howMany(count, 'line')} ${what} ${were(count)} left out${shown}.`)]
  }
  const above = aboveHeader.slice(0, shownMax).map(({ cells }) => textOf(cells))
  return [
    ...note(aboveHeader.length, 'above the header', above),
    ...note(counts.total, 'with a total'),
    ...note(counts.header, 'with the header again'),
    ...note(counts.remark, 'with a single text', remarks),
  ]
}

/** The values that the map states for all rows. */
export function constantNotes({ constants }: Pick<Columns, 'constants'>): ImportNote[] {
  return Object.entries(constants).map(([field, text]) =>
    noteOf('same_value', `${field} is ${quoted(text)} in all rows, as the map says.`),
  )
}

/** Counts the cells whose text says that there is no value, by column, for one sentence each. */
export class NotGivenCells {
  readonly #columns = new Map<string, { count: number; readonly words: Set<string> }>()

  add(column: string, text: string): void {
    const known = this.#columns.get(column) ?? { count: 0, words: new Set<string>() }
    this.#columns.set(column, known)
    known.count++
    // A copy, because a part of a text holds the whole text in memory.
    if (known.words.size < wordsMax) known.words.add(Buffer.from(quoted(text)).toString())
  }

  get notes(): ImportNote[] {
    return [...this.#columns].map(([column, { count, words }]) => {
      const detail = `${column}: ${howMany(count, 'cell')} ${were(count)} read as empty: ${[...words].join(', ')}.`
      return { code: 'not_given' as const, column, detail, choices: [] }
    })
  }
}

/** The most words that a sentence lists. */
const wordsMax = 3

/** The question about refused rows with the id of a quote of another load; none without such rows. */
export function otherLoadsNotes(count: number, column: string | null): ImportNote[] {
  if (count === 0) return []
  const detail = `${howMany(count, 'row')} ${were(count)} refused: ${column} is that of a quote with another day.`
  return [
    {
      code: 'same_ids',
      column,
      detail,
      choices: [
        { map: 'same_ids=update', detail: 'The rows update these quotes' },
        { map: 'reference=', detail: `${column} is not read: each row is a quote of its own` },
      ],
    },
  ]
}

/** Why a row makes no new quote. */
export type LeftOut = 'superseded' | 'void' | 'skipped'
/** Rows that make no new quote, by the reason. */
export type LeftOutCounts = Readonly<Record<LeftOut, number>>

/** How many rows were left out because their quotes count in no figure, and because the map says so of their words. */
export function leftOutNotes({ superseded, void: voided, skipped }: LeftOutCounts): ImportNote[] {
  const note = (detail: string): ImportNote => ({
    code: 'quotes_left_out',
    column: null,
    detail,
    choices: [],
  })
  const parts = [
    ...(superseded === 0 ? [] : [howMany(superseded, 'superseded offer')]),
    ...(voided === 0 ? [] : [howMany(voided, 'void quote')]),
  ]
  return [
    ...(parts.length === 0
      ? []
      : [note(`Left out: ${parts.join(' and ')}, because such quotes count in no figure.`)]),
    ...(skipped === 0
      ? []
      : [note(`Left out: ${howMany(skipped, 'row')} with words that the map leaves out.`)]),
  ]
}

import { isUsualCode } from '#engine/equipment.ts'
import type { RowError } from '../database/schema/index.ts'
import { type TableFile, type TableRow, tablePieces } from '../tables/index.ts'
import type { ChangeOrder, RowInTurn } from './change-order.ts'
import { addLeftOut, type LeftOutLines, noneLeftOut } from './import-notes.ts'
import type { LowRates } from './low-rates.ts'
import type { UnknownPlaces } from './place-notes.ts'
import { noneRefused, type RefusedOutcomes } from './refused-outcomes.ts'
import { type ReadLine, readLine } from './returned-rows.ts'
import { bookingSaid, type rowIdentities } from './row-fingerprint.ts'
import type { RowContext } from './row-reader.ts'
import type { ImportedQuote, ReadRow } from './rows.ts'
import type { SavedRows, SettledBooking, SettledQuote, SettledReturn } from './saved-rows.ts'
import { type SharedIds, WaitingRows } from './shared-ids.ts'
import { type Word, wordsOf } from './word-meanings.ts'

/** Rows per transaction. A thousand rows take 0.2 s on a small machine; the statement time-out is 2 s. */
const rowsPerBatch = 1_000
/** A booking counts as this many rows, because it locks and changes its quote. */
const rowsPerBooking = 4
/** For each so many characters, a row counts as one more: a batch is in memory, and so is the next one. */
const charactersPerRow = 1_000

/** Rows of a file that are saved together. */
export interface Batch {
  weight: number
  readonly quotes: SettledQuote[]
  readonly bookings: SettledBooking[]
  readonly returned: SettledReturn[]
  readonly leftOut: SavedRows['leftOut']
  readonly refused: RowError[]
  /** Words whose meanings the map states, and words of refused rows that are not known. */
  readonly words: Word[]
  readonly refusedOutcomes: RefusedOutcomes
  /** The cells of the rows by line, for those that are refused. */
  readonly cells: Map<number, readonly string[]>
  rowsRead: number
  rowsRefused: number
  rowsRepeated: number
}

const emptyBatch = (): Batch => ({
  weight: 0,
  quotes: [],
  bookings: [],
  returned: [],
  leftOut: { superseded: 0, void: 0, skipped: 0 },
  refused: [],
  words: [],
  refusedOutcomes: noneRefused(),
  cells: new Map(),
  rowsRead: 0,
  rowsRefused: 0,
  rowsRepeated: 0,
})

/**
 * The rows of a file in batches, each with the bytes read and the lines left out so far. The last batch may be empty. Rows that share an id
 * are in one batch, in order: they wait for the last of them.
 */
export async function* batchesOf(
  csv: TableFile,
  settling: Settling,
): AsyncGenerator<{ readonly batch: Batch; readonly bytesRead: number; readonly leftOut: LeftOutLines }> {
  let batch = emptyBatch()
  let leftOut = noneLeftOut
  let bytesRead = csv.rowsStart.byte
  const waiting = new WaitingRows<TableRow>()
  for await (const piece of tablePieces(csv)) {
    leftOut = addLeftOut(leftOut, piece.leftOut)
    for (const row of piece.rows) {
      const shared = settling.ids.get(row.line)
      if (shared === undefined || shared.namesNone) settleRow(batch, { row, turn: row.line }, settling)
      else if (row.line !== shared.last) waiting.add(shared, row)
      else {
        const rows = settling.changeOrder.sorted([...waiting.take(shared), row], settling.context)
        for (const one of rows) settleRow(batch, one, settling)
      }
      if (batch.weight < rowsPerBatch) continue
      yield { batch, bytesRead, leftOut }
      batch = emptyBatch()
    }
    bytesRead = piece.bytesRead
  }
  yield { batch, bytesRead: csv.bytesTotal, leftOut }
}

/** What the rows of one file are read with. */
interface Settling {
  readonly context: RowContext
  readonly identify: ReturnType<typeof rowIdentities>
  readonly ids: SharedIds
  readonly unknownPlaces: UnknownPlaces
  readonly lowRates: LowRates
  readonly changeOrder: ChangeOrder
}

/** Reads one row into a batch, as a quote, a booking, a repeated row or errors. */
function settleRow(batch: Batch, { row, turn }: RowInTurn, settling: Settling): void {
  const { context, unknownPlaces, lowRates } = settling
  const characters = row.cells.reduce((sum, cell) => sum + cell.length, 0)
  batch.weight += 1 + Math.floor(characters / charactersPerRow)
  const { read, returned, leftOut, stated }: ReadLine = row.malformed
    ? { read: malformedRow(row), returned: null, leftOut: null, stated: [] }
    : readLine(row.cells, context)
  batch.words.push(...stated)
  batch.cells.set(row.line, row.cells)
  if (leftOut !== null && returned === null) {
    batch.leftOut[leftOut]++
    return
  }
  batch.rowsRead++
  const { line } = row
  if (read.kind === 'booking') {
    const { booking } = read
    batch.bookings.push({ line, booking, said: bookingSaid(booking) })
    batch.weight += rowsPerBooking - 1
    return
  }
  if (read.kind === 'quote') {
    unknownPlaces.add(line, read.quote.columns)
    lowRates.add(line, read.quote.columns)
  }
  const settled = read.kind === 'quote' ? settleQuote({ line, turn }, read.quote, settling) : read
  if (settled === 'repeated') batch.rowsRepeated++
  else if (returned !== null && !('sameId' in settled)) {
    const quote = 'kind' in settled ? null : settled
    const errors = 'kind' in settled ? settled.errors : []
    batch.returned.push({ line, turn, row: returned, quote, errors, leftOut })
  } else if ('kind' in settled) {
    batch.rowsRefused++
    batch.words.push(...wordsOf(settled.errors))
    if (settled.outcome != null) batch.refusedOutcomes[settled.outcome]++
    for (const { column, detail } of settled.errors) {
      batch.refused.push({ row: line, column: column === '' ? null : column, detail })
    }
  } else {
    batch.quotes.push(settled)
    batch.words.push(...ownEquipment(settled.quote, context, stated))
  }
}

/** The equipment code of a quote, if it is neither known nor stated in the map. */
function ownEquipment(
  { columns: { equipment_code: code } }: ImportedQuote,
  { columns }: RowContext,
  stated: readonly Word[],
): Word[] {
  const isStated =
    columns.constants.equipment !== undefined || stated.some(({ field }) => field === 'equipment')
  return isUsualCode(code) || isStated ? [] : [{ field: 'equipment', text: code, savedAs: code }]
}

type Refused = Extract<ReadRow, { kind: 'refused' }>

function malformedRow({ otherHeader }: TableRow): Refused {
  return refused(
    '',
    otherHeader === undefined
      ? 'A double quote is inside a value or is never closed; write it twice, or remove it.'
      : `The row is of another table: line ${otherHeader} is a header with other columns. Import each table as a file of its own.`,
  )
}

function refused(column: string, detail: string): Refused {
  return { kind: 'refused', errors: [{ column, detail }] }
}

/** A row with its identity, unless the row before it with the same id says the same, or the id names no single load. */
function settleQuote(
  { line, turn }: Pick<SettledQuote, 'line' | 'turn'>,
  quote: ImportedQuote,
  { context, identify, ids }: Settling,
): SettledQuote | 'repeated' | (Refused & { readonly sameId: true }) {
  const identity = identify(quote, line, ids.get(line))
  if ('fingerprint' in identity) return { line, turn, quote, ...identity }
  if (identity.saysTheSame) return 'repeated'
  const column = context.columns.names.reference ?? context.columns.names.lane_ref ?? 'reference'
  const detail = `${column} must name one load; line ${identity.sameIdAt} has the same one, as do too many rows of this file. Give each load a ${column} of its own, or leave the column out with the map reference=.`
  return { ...refused(column, detail), sameId: true }
}

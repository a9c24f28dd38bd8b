import type { Outcome } from '../history.ts'
import { type Steps, sortInSteps } from '../steps.ts'

/** Outcomes by their number in the outcome column. */
export const OUTCOMES: readonly Outcome[] = ['pending', 'won', 'lost']
export const PENDING = 0
export const WON = 1

/** A quote without its lane. `costCents` and `miles` are NaN if unknown; `outcome` is an index of `OUTCOMES`. */
export interface QuoteRow {
  readonly laneId: number
  readonly quotedAt: number
  readonly rateCents: number
  readonly costCents: number
  readonly outcome: number
  readonly miles: number
  /** The number of the customer; absent: 0. */
  readonly customer?: number
}

const NONE = -1
/** A table slot whose quote was removed. A search continues past it. */
const REMOVED = -2

/**
 * Quotes in columns, about 61 bytes each: entry n of every column is a value of row n. Quotes are found by `laneId`, and
 * by lane. Lanes are small consecutive numbers assigned by the caller.
 *
 * Rows are in no order. A removed row has lane -1 until another quote takes its place.
 *
 * @example
 * const columns = new QuoteColumns()
 * columns.put(0, { laneId: 7, quotedAt: 0, rateCents: 210000, costCents: Number.NaN, outcome: 1, miles: 780 })
 * columns.rowsOf(0) // Int32Array [0]
 */
export class QuoteColumns {
  lane = new Int32Array(0)
  laneId = new Float64Array(0)
  quotedAt = new Float64Array(0)
  rateCents = new Float64Array(0)
  costCents = new Float64Array(0)
  miles = new Float64Array(0)
  outcome = new Uint8Array(0)
  customer = new Int32Array(0)
  /** Rows in use or freed: every row number is below this. */
  rows = 0
  /** The number of quotes. */
  size = 0
  /** Increases with every change. */
  changes = 0
  /** The next row of the same lane. */
  #next = new Int32Array(0)
  readonly #first: number[] = []
  readonly #counts: number[] = []
  readonly #free: number[] = []
  /** Open addressing by laneId: a row, `NONE` or `REMOVED`. */
  #table = new Int32Array(16).fill(NONE)
  #filled = 0

  /** Allocates memory for this many quotes in advance. Without it, the columns are copied each time they grow. */
  reserve(quotes: number): void {
    if (quotes > this.lane.length) this.#resize(quotes)
    if (quotes * 3 >= this.#table.length * 2) this.#fillTable(slotsFor(quotes))
  }

  /** Adds a quote, or replaces the one with the same laneId, which is in the row `known` (-1: there is none). Returns its row. */
  put(lane: number, quote: QuoteRow, known = this.rowOf(quote.laneId)): number {
    this.changes++
    const row = known === NONE ? this.#newRow(quote.laneId) : known
    if (known !== NONE && this.lane[known] !== lane) this.#unlink(known)
    if (known === NONE || this.lane[known] !== lane) this.#link(row, lane)
    this.quotedAt[row] = quote.quotedAt
    this.rateCents[row] = quote.rateCents
    this.costCents[row] = quote.costCents
    this.outcome[row] = quote.outcome
    this.miles[row] = quote.miles
    this.customer[row] = quote.customer ?? 0
    return row
  }

  remove(laneId: number): void {
    const slot = this.#slotOf(laneId)
    const row = this.#table[slot] ?? NONE
    if (row < 0) return
    this.changes++
    this.#table[slot] = REMOVED
    this.#unlink(row)
    this.lane[row] = NONE
    this.#free.push(row)
    this.size--
  }

  /** The row of a quote, or -1. */
  rowOf(laneId: number): number {
    return Math.max(NONE, this.#table[this.#slotOf(laneId)] ?? NONE)
  }

  /** How many quotes a lane has. */
  countOf(lane: number): number {
    return this.#counts[lane] ?? 0
  }

  /** The rows of a lane in the order of `(quotedAt, laneId)`. */
  rowsOf(lane: number): Int32Array {
    const rows = new Int32Array(this.countOf(lane))
    // A lane's newest row is first in its chain, and quotes mostly come in the order of time.
    let at = rows.length
    for (let row = this.#first[lane] ?? NONE; row >= 0; row = this.#next[row] as number) rows[--at] = row
    // A book is opened newest quote first, which reverses the chain.
    if (rows.length > 1 && this.compare(rows[0] as number, rows[rows.length - 1] as number) > 0)
      rows.reverse()
    for (let i = 1; i < rows.length; i++) {
      if (this.compare(rows[i - 1] as number, rows[i] as number) > 0)
        return rows.sort((one, other) => this.compare(one, other))
    }
    return rows
  }

  /** Calls `see` with each row of a lane, in no order. */
  eachRowOf(lane: number, see: (row: number) => void): void {
    for (let row = this.#first[lane] ?? NONE; row >= 0; row = this.#next[row] as number) see(row)
  }

  /** All rows in the order of `(quotedAt, laneId)`. */
  *orderedRows(): Steps<Int32Array> {
    const rows = new Int32Array(this.size)
    let count = 0
    for (let row = 0; row < this.rows && count < rows.length; row++) {
      if ((this.lane[row] as number) >= 0) rows[count++] = row
      if (row % 50_000 === 0) yield
    }
    const found = rows.subarray(0, count)
    // A book is opened newest quote first.
    if (count > 0 && this.compare(found[0] as number, found[count - 1] as number) > 0) found.reverse()
    return yield* sortInSteps(found, (one, other) => this.compare(one, other))
  }

  /** The order of two rows by `(quotedAt, laneId)`. */
  compare(one: number, other: number): number {
    return (
      (this.quotedAt[one] as number) - (this.quotedAt[other] as number) ||
      (this.laneId[one] as number) - (this.laneId[other] as number)
    )
  }

  /** The memory that the columns take, in bytes. */
  bytes(): number {
    const columns = [this.lane, this.laneId, this.quotedAt, this.rateCents, this.costCents, this.miles]
    const bytes = [...columns, this.outcome, this.customer, this.#next, this.#table].reduce(
      (sum, one) => sum + one.byteLength,
      0,
    )
    return bytes + 16 * this.#first.length + 8 * this.#free.length
  }

  #newRow(laneId: number): number {
    if (this.#filled * 3 >= this.#table.length * 2) this.#rehash()
    const row = this.#free.pop() ?? this.rows++
    if (row >= this.lane.length) this.#resize(Math.max(64, Math.ceil(row * 1.125)))
    this.laneId[row] = laneId
    this.#table[this.#slotToFill(laneId)] = row
    this.#filled++
    this.size++
    return row
  }

  #link(row: number, lane: number): void {
    this.lane[row] = lane
    while (this.#first.length <= lane) {
      this.#first.push(NONE)
      this.#counts.push(0)
    }
    this.#next[row] = this.#first[lane] as number
    this.#first[lane] = row
    this.#counts[lane] = (this.#counts[lane] as number) + 1
  }

  #unlink(row: number): void {
    const lane = this.lane[row] as number
    const next = this.#next[row] as number
    if (this.#first[lane] === row) this.#first[lane] = next
    else {
      let before = this.#first[lane] as number
      while (this.#next[before] !== row) before = this.#next[before] as number
      this.#next[before] = next
    }
    this.#counts[lane] = (this.#counts[lane] as number) - 1
  }

  #hash(laneId: number): number {
    // Ids may exceed 2^32, so both halves are hashed.
    const low = Math.imul((laneId % 0x1_0000_0000) | 0, 0x9e37_79b1)
    const high = Math.imul(Math.floor(laneId / 0x1_0000_0000) | 0, 0x85eb_ca6b)
    return (low ^ high ^ (low >>> 15)) & (this.#table.length - 1)
  }

  /** The table slot of a quote, or the empty slot where the search for it ended. */
  #slotOf(laneId: number): number {
    let slot = this.#hash(laneId)
    for (;;) {
      const row = this.#table[slot] as number
      if (row === NONE || (row >= 0 && this.laneId[row] === laneId)) return slot
      slot = (slot + 1) & (this.#table.length - 1)
    }
  }

  #slotToFill(laneId: number): number {
    let slot = this.#hash(laneId)
    while ((this.#table[slot] as number) !== NONE) slot = (slot + 1) & (this.#table.length - 1)
    return slot
  }

  #rehash(): void {
    this.#fillTable(slotsFor(this.size + 1))
  }

  #fillTable(slots: number): void {
    this.#table = new Int32Array(slots).fill(NONE)
    for (let row = 0; row < this.rows; row++) {
      if ((this.lane[row] as number) >= 0) this.#table[this.#slotToFill(this.laneId[row] as number)] = row
    }
    this.#filled = this.size
  }

  #resize(rows: number): void {
    const grown = <Column extends Int32Array | Float64Array | Uint8Array>(old: Column, column: Column) => {
      column.set(old)
      return column
    }
    this.lane = grown(this.lane, new Int32Array(rows).fill(NONE))
    this.laneId = grown(this.laneId, new Float64Array(rows))
    this.quotedAt = grown(this.quotedAt, new Float64Array(rows))
    this.rateCents = grown(this.rateCents, new Float64Array(rows))
    this.costCents = grown(this.costCents, new Float64Array(rows))
    this.miles = grown(this.miles, new Float64Array(rows))
    this.outcome = grown(this.outcome, new Uint8Array(rows))
    this.customer = grown(this.customer, new Int32Array(rows))
    this.#next = grown(this.#next, new Int32Array(rows))
  }
}

/** Table slots for this many quotes: a power of two, at least 1.5 per quote. */
function slotsFor(quotes: number): number {
  let slots = 16
  while (slots < quotes * 1.5) slots *= 2
  return slots
}

import type { Outcome } from '../history.ts'
import type { RateType } from '../rate-type.ts'
import { type Steps, sortInSteps } from '../steps.ts'

/** Outcomes by their number in the outcome column. */
export const OUTCOMES: readonly Outcome[] = ['pending', 'won', 'lost', 'lost']
export const PENDING = 0
export const WON = 1
export const LOST = 2
/** A superseded offer whose rate the customer refused: the win curve counts it as lost, and nothing else counts it. */
export const REFUSED = 3

/**
 * The values of a quote, without its lane. Amounts are whole cents below 2^31. `costCents` and `miles` are NaN if unknown;
 * `outcome` is an index of `OUTCOMES`.
 */
export interface QuoteRow {
  readonly quoteId: number
  readonly quotedAt: number
  readonly rateCents: number
  readonly costCents: number
  readonly outcome: number
  readonly miles: number
  /** The number of the customer; absent: 0. */
  readonly customer?: number
  /** True for a contract quote. Absent: a spot quote. */
  readonly contract?: boolean
  /** True for a quote that was lost for another reason than its price. */
  readonly otherReason?: boolean
  /** The values that only statistics use. Absent: all are unknown. */
  readonly details?: QuoteDetails
}

/** The values of a quote that only statistics use. Amounts are whole cents; 0 is an unknown or a missing amount. */
export interface QuoteDetails {
  /** The quoted rate. `rateCents` is AR once that is booked. */
  readonly quotedCents: number
  /** The truck cost that was expected when the quote was made: the rep's estimate, else that of the brokerage's history. */
  readonly quotedCostCents: number
  readonly marketCents: number
  /** When the quote was decided, in epoch milliseconds; not before `quotedAt`. A pending quote has the time of the quote. */
  readonly decidedAt: number
  /** The numbers of the customer names and of the carrier in `QuoteNames`. */
  readonly names: number
  readonly carrier: number
  /** The user who quoted or imported it; 0 if it is not known. */
  readonly person: number
  /** Bits: see `FACTS`. */
  readonly facts: number
}

/** The bits of `facts`. */
export const FACTS = {
  /** `customerRate`: `rateCents` is AR. `truckCost`: `costCents` is AP. */
  customerRate: 1,
  truckCost: 2,
  /** `person` is the one who imported the quote, not the one who made it, because the file names no rep. */
  imported: 4,
  cancelled: 16,
  /** The quote has a booking, or a cancelled one. */
  booked: 32,
  /** Two bits: how the quote's amounts were converted, an index of `CONVERTED_BY`. */
  convertedBy: 64 | 128,
  /** An amount is in Canadian dollars. */
  inCad: 256,
  /** The quote expired: nobody reported its outcome. */
  expired: 512,
  /** The service itself decided the quote, as when it expired. */
  decidedByService: 1_024,
  /** AP is above AR: unconverted if they can be compared, else after the conversion. */
  atALoss: 2_048,
  /** AR or AP states its basis or its currency. */
  bookingTerms: 4_096,
  /** It has stops, or another mode than truckload: it counts nowhere, and statistics say how many such quotes there are. */
  notDirect: 8_192,
} as const
const CONVERTED_SHIFT = 6

/** How amounts were converted, by number in `facts`. */
export const CONVERTED_BY = [null, 'charges', 'schedule', 'exchange'] as const

/** @example convertedByOf(quote.facts) // 'charges' */
export function convertedByOf(facts: number): (typeof CONVERTED_BY)[number] {
  return CONVERTED_BY[(facts & FACTS.convertedBy) >> CONVERTED_SHIFT] ?? null
}

/** The bits of `facts` that `convertedByOf` reads. */
export function bitsOfConvertedBy(by: (typeof CONVERTED_BY)[number]): number {
  return CONVERTED_BY.indexOf(by) << CONVERTED_SHIFT
}

/** The bits of `traits` for the outcome, and the bits for a contract quote and for a loss for another reason than the price. */
const OUTCOME_BITS = 3
export const CONTRACT_BIT = 4
export const OTHER_REASON_BIT = 8

/**
 * Quotes in columns, each with its lane: entry n of every column is a value of quote n. Only the first `count` entries are
 * quotes.
 */
export interface QuotePortion {
  count: number
  readonly lane: Int32Array
  readonly quoteId: Float64Array
  readonly quotedAt: Float64Array
  readonly rateCents: Int32Array
  /** `UNKNOWN_COST` if unknown. */
  readonly costCents: Int32Array
  readonly miles: Float64Array
  /** An index of `OUTCOMES`, and the bits `CONTRACT_BIT` and `OTHER_REASON_BIT`. */
  readonly traits: Uint8Array
  readonly customer: Int32Array
  /** See `QuoteDetails`. */
  readonly quotedCents: Int32Array
  readonly quotedCostCents: Int32Array
  readonly marketCents: Int32Array
  readonly decidedAt: Float64Array
  readonly names: Int32Array
  readonly carrier: Int32Array
  readonly person: Int32Array
  readonly facts: Uint16Array
}

/** A cost that is not known, in a column. */
export const UNKNOWN_COST = -1

/** @example emptyPortion(20_000).count // 20000 */
export function emptyPortion(quotes: number): QuotePortion {
  return {
    count: quotes,
    lane: new Int32Array(quotes),
    quoteId: new Float64Array(quotes),
    quotedAt: new Float64Array(quotes),
    rateCents: new Int32Array(quotes),
    costCents: new Int32Array(quotes),
    miles: new Float64Array(quotes),
    traits: new Uint8Array(quotes),
    customer: new Int32Array(quotes),
    quotedCents: new Int32Array(quotes),
    quotedCostCents: new Int32Array(quotes),
    marketCents: new Int32Array(quotes),
    decidedAt: new Float64Array(quotes),
    names: new Int32Array(quotes),
    carrier: new Int32Array(quotes),
    person: new Int32Array(quotes),
    facts: new Uint16Array(quotes),
  }
}

/** @example quoteAt(portion, 0).quoteId // 7 */
export function quoteAt(portion: QuotePortion, at: number): QuoteRow {
  const costCents = portion.costCents[at]!
  const traits = portion.traits[at]!
  return {
    quoteId: portion.quoteId[at]!,
    quotedAt: portion.quotedAt[at]!,
    rateCents: portion.rateCents[at]!,
    costCents: costCents === UNKNOWN_COST ? Number.NaN : costCents,
    outcome: traits & OUTCOME_BITS,
    miles: portion.miles[at]!,
    customer: portion.customer[at]!,
    contract: (traits & CONTRACT_BIT) !== 0,
    otherReason: (traits & OTHER_REASON_BIT) !== 0,
    details: {
      quotedCents: portion.quotedCents[at]!,
      quotedCostCents: portion.quotedCostCents[at]!,
      marketCents: portion.marketCents[at]!,
      decidedAt: portion.decidedAt[at]!,
      names: portion.names[at]!,
      carrier: portion.carrier[at]!,
      person: portion.person[at]!,
      facts: portion.facts[at]!,
    },
  }
}

const COLUMNS = [
  'lane',
  'quoteId',
  'quotedAt',
  'rateCents',
  'costCents',
  'miles',
  'traits',
  'customer',
  'quotedCents',
  'quotedCostCents',
  'marketCents',
  'decidedAt',
  'names',
  'carrier',
  'person',
  'facts',
] as const

/** The memory of a quote in bytes: its columns, its link to the next row of its lane, and its place in the table. */
const BYTES_PER_QUOTE = 87
/** Joined columns have five percent more rows than quotes, enough for weeks, because a full column must be copied to grow. */
const ROOM = 1.05
const ROWS_PER_STEP = 10_000

const noDetails: QuoteDetails = {
  quotedCents: 0,
  quotedCostCents: 0,
  marketCents: 0,
  decidedAt: 0,
  names: 0,
  carrier: 0,
  person: 0,
  facts: 0,
}

const NONE = -1
/** A slot of the table whose quote was removed. A search continues past it. */
const REMOVED = -2

/**
 * Quotes in columns, about 87 bytes each: entry n of every column is a value of row n. Quotes are found by `quoteId`, and
 * by lane. Lanes are small consecutive numbers assigned by the caller.
 *
 * Rows are in no particular order. A removed row has lane -1 until another quote takes its place.
 *
 * @example
 * const columns = new QuoteColumns()
 * columns.put(0, { quoteId: 7, quotedAt: 0, rateCents: 210000, costCents: Number.NaN, outcome: 1, miles: 780 })
 * columns.rowsOf(0) // Int32Array [0]
 */
export class QuoteColumns {
  lane = new Int32Array(0)
  quoteId = new Float64Array(0)
  quotedAt = new Float64Array(0)
  rateCents = new Int32Array(0)
  /** `UNKNOWN_COST` if unknown. */
  costCents = new Int32Array(0)
  miles = new Float64Array(0)
  /** See `outcomeOf` and `rateTypeOf`. */
  traits = new Uint8Array(0)
  customer = new Int32Array(0)
  /** See `QuoteDetails`. */
  quotedCents = new Int32Array(0)
  quotedCostCents = new Int32Array(0)
  marketCents = new Int32Array(0)
  decidedAt = new Float64Array(0)
  names = new Int32Array(0)
  carrier = new Int32Array(0)
  person = new Int32Array(0)
  facts = new Uint16Array(0)
  /** The number of rows in use or freed: every row number is below it. */
  rows = 0
  size = 0
  changes = 0
  /** The next row of the same lane. */
  #next = new Int32Array(0)
  readonly #first: number[] = []
  readonly #counts: number[] = []
  readonly #free: number[] = []
  /** Open addressing by quoteId: a row, `NONE` or `REMOVED`. */
  #table = new Int32Array(16).fill(NONE)
  #filled = 0

  /** The portions that are not yet joined. */
  #portions: QuotePortion[] = []

  /** Allocates memory for this many quotes in advance. Without it, the columns are copied each time they grow. */
  reserve(quotes: number): void {
    if (quotes > this.lane.length) this.#resize(quotes)
    if (quotes * 3 >= this.#table.length * 2) this.#fillTable(slotsFor(quotes))
  }

  /**
   * Adds a portion to empty columns, newest quote first. Its quotes have no rows until `join` is called: the number of all
   * quotes is not known in advance, and columns that grow with each portion are copied again and again.
   */
  append(portion: QuotePortion): void {
    this.#portions.push(portion)
    this.size += portion.count
  }

  /** Joins the appended portions to columns, in steps. If a quoteId occurs more than once, one of its quotes remains. */
  *join(): Steps<void> {
    const portions = this.#portions
    this.#portions = []
    const rows = Math.ceil(this.size * ROOM)
    this.#allocate(rows)
    // The portions come newest first and are put from the end, because rows in the order of time need no sorting.
    for (let end = this.size; portions.length > 0; yield) {
      const portion = portions.shift() as QuotePortion
      end -= portion.count
      for (const name of COLUMNS) this[name].set(portion[name].subarray(0, portion.count).reverse(), end)
    }
    this.#table = new Int32Array(slotsFor(rows)).fill(NONE)
    this.rows = this.size
    for (let row = 0; row < this.rows; row++) {
      if (row % ROWS_PER_STEP === 0) yield
      const lane = this.lane[row]!
      const slot = this.#slotOf(this.quoteId[row]!)
      if (this.#table[slot] === NONE) {
        this.#table[slot] = row
        this.#link(row, lane)
      } else {
        this.lane[row] = NONE
        this.#free.push(row)
        this.size--
      }
    }
    this.#filled = this.size
    this.changes++
  }

  /** Adds a quote, or replaces the one with the same quoteId, which is in the row `known` (-1: there is none). Returns its row. */
  put(lane: number, quote: QuoteRow, known = this.rowOf(quote.quoteId)): number {
    this.changes++
    const row = known === NONE ? this.#newRow(quote.quoteId) : known
    if (known !== NONE && this.lane[known] !== lane) this.#unlink(known)
    if (known === NONE || this.lane[known] !== lane) this.#link(row, lane)
    this.quotedAt[row] = quote.quotedAt
    this.rateCents[row] = quote.rateCents
    this.costCents[row] = Number.isNaN(quote.costCents) ? UNKNOWN_COST : quote.costCents
    this.traits[row] =
      quote.outcome |
      (quote.contract === true ? CONTRACT_BIT : 0) |
      (quote.otherReason === true ? OTHER_REASON_BIT : 0)
    this.miles[row] = quote.miles
    this.customer[row] = quote.customer ?? 0
    this.#putDetails(row, quote.details ?? noDetails)
    return row
  }

  remove(quoteId: number): void {
    const slot = this.#slotOf(quoteId)
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
  rowOf(quoteId: number): number {
    return Math.max(NONE, this.#table[this.#slotOf(quoteId)] ?? NONE)
  }

  /** An index of `OUTCOMES`. */
  outcomeOf(row: number): number {
    return this.traits[row]! & OUTCOME_BITS
  }

  /** Whether a lost quote was lost for another reason than its price. */
  isForOtherReason(row: number): boolean {
    return (this.traits[row]! & OTHER_REASON_BIT) !== 0
  }

  rateTypeOf(row: number): RateType {
    return (this.traits[row]! & CONTRACT_BIT) === 0 ? 'spot' : 'contract'
  }

  countOf(lane: number): number {
    return this.#counts[lane] ?? 0
  }

  /** The rows of a lane in the order of `(quotedAt, quoteId)`. */
  rowsOf(lane: number): Int32Array {
    const rows = new Int32Array(this.countOf(lane))
    // Filled from the end: a lane's newest row is first in its chain, and quotes mostly come in the order of time.
    let at = rows.length
    for (let row = this.#first[lane] ?? NONE; row >= 0; row = this.#next[row]!) rows[--at] = row
    for (let i = 1; i < rows.length; i++) {
      if (this.compare(rows[i - 1]!, rows[i]!) > 0) return rows.sort((one, other) => this.compare(one, other))
    }
    return rows
  }

  /** Calls `see` with each row of a lane, in any order. */
  eachRowOf(lane: number, see: (row: number) => void): void {
    for (let row = this.#first[lane] ?? NONE; row >= 0; row = this.#next[row]!) see(row)
  }

  /** All rows in the order of `(quotedAt, quoteId)`. */
  *orderedRows(): Steps<Int32Array> {
    const rows = new Int32Array(this.size)
    let count = 0
    for (let row = 0; row < this.rows && count < rows.length; row++) {
      if (this.lane[row]! >= 0) rows[count++] = row
      if (row % 50_000 === 0) yield
    }
    return yield* sortInSteps(rows.subarray(0, count), (one, other) => this.compare(one, other))
  }

  /** The order of two rows by `(quotedAt, quoteId)`. */
  compare(one: number, other: number): number {
    return this.quotedAt[one]! - this.quotedAt[other]! || this.quoteId[one]! - this.quoteId[other]!
  }

  bytes(): number {
    const rows = Math.max(this.lane.length, this.size)
    return BYTES_PER_QUOTE * rows + 16 * this.#first.length + 8 * this.#free.length
  }

  #putDetails(row: number, details: QuoteDetails): void {
    this.quotedCents[row] = details.quotedCents
    this.quotedCostCents[row] = details.quotedCostCents
    this.marketCents[row] = details.marketCents
    this.decidedAt[row] = details.decidedAt
    this.names[row] = details.names
    this.carrier[row] = details.carrier
    this.person[row] = details.person
    this.facts[row] = details.facts
  }

  #newRow(quoteId: number): number {
    if (this.#filled * 3 >= this.#table.length * 2) this.#rehash()
    const row = this.#free.pop() ?? this.rows++
    if (row >= this.lane.length) this.#resize(Math.max(64, Math.ceil(row * 1.125)))
    this.quoteId[row] = quoteId
    this.#table[this.#slotToFill(quoteId)] = row
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
    this.#next[row] = this.#first[lane]!
    this.#first[lane] = row
    this.#counts[lane]!++
  }

  #unlink(row: number): void {
    const lane = this.lane[row]!
    const next = this.#next[row]!
    if (this.#first[lane] === row) this.#first[lane] = next
    else {
      let before = this.#first[lane]!
      while (this.#next[before] !== row) before = this.#next[before]!
      this.#next[before] = next
    }
    this.#counts[lane] = this.#counts[lane]! - 1
  }

  #hash(quoteId: number): number {
    // Ids may exceed 2^32, so both halves are hashed.
    const low = Math.imul((quoteId % 0x1_0000_0000) | 0, 0x9e37_79b1)
    const high = Math.imul(Math.floor(quoteId / 0x1_0000_0000) | 0, 0x85eb_ca6b)
    return (low ^ high ^ (low >>> 15)) & (this.#table.length - 1)
  }

  /** The table slot of a quote, or the empty slot where the search for it ended. */
  #slotOf(quoteId: number): number {
    let slot = this.#hash(quoteId)
    for (;;) {
      const row = this.#table[slot]!
      if (row === NONE || (row >= 0 && this.quoteId[row] === quoteId)) return slot
      slot = (slot + 1) & (this.#table.length - 1)
    }
  }

  #slotToFill(quoteId: number): number {
    let slot = this.#hash(quoteId)
    while (this.#table[slot]! !== NONE) slot = (slot + 1) & (this.#table.length - 1)
    return slot
  }

  #rehash(): void {
    this.#fillTable(slotsFor(this.size + 1))
  }

  #fillTable(slots: number): void {
    this.#table = new Int32Array(slots).fill(NONE)
    for (let row = 0; row < this.rows; row++) {
      if (this.lane[row]! >= 0) this.#table[this.#slotToFill(this.quoteId[row]!)] = row
    }
    this.#filled = this.size
  }

  #resize(rows: number): void {
    const before = COLUMNS.map((name) => this[name])
    const next = this.#next
    this.#allocate(rows)
    for (const [at, name] of COLUMNS.entries()) this[name].set(before[at] as Int32Array)
    this.#next.set(next)
  }

  #allocate(rows: number): void {
    const { count: _, ...columns } = emptyPortion(rows)
    Object.assign(this, columns)
    this.lane.fill(NONE)
    this.#next = new Int32Array(rows)
  }
}

/** Table slots for this many quotes: a power of two, at least 1.5 per quote. */
function slotsFor(quotes: number): number {
  let slots = 16
  while (slots < quotes * 1.5) slots *= 2
  return slots
}

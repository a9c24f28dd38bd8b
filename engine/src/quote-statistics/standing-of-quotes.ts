/**
 * Do you quote, win and pay above or below the market? Each quote is compared with the market rate of its own day. Sums, no
 * statistical method.
 * docs/market-rates.md, "Where you stand".
 */

import type { QuoteBook } from '../book/quote-book.ts'
import { type MarketHistory, marketRateAt, sameRateUntil, type WhyNoMarketRate } from '../market-history.ts'
import type { MarketRate } from '../market-rate.ts'
import type { AgainstMarket, Standing } from '../market-standing.ts'
import { FACTS, PENDING, type QuoteColumns, WON } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import { LocalMonths, monthName } from './months.ts'
import { ROWS_PER_STEP } from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

const dayMs = 86_400_000

/** The market rate of one kind to use on a day, or else why there is none. */
interface RateOfDay {
  readonly used: MarketRate | null
  readonly why: WhyNoMarketRate | null
}

interface RatesOfDay {
  readonly sell: RateOfDay
  readonly buy: RateOfDay
}

const noRate: RateOfDay = { used: null, why: null }

/**
 * The market rates of all lanes in the same areas, most specific area first, so that the rates of a day are compared once, and not
 * for each quote.
 */
export class MarketOfLanes {
  readonly #sell: readonly MarketHistory<MarketRate>[]
  readonly #buy: readonly MarketHistory<MarketRate>[]
  /** The last result of `on` is reused from `#from` until `#until`, because quotes mostly come in the order of time. */
  #from = Number.POSITIVE_INFINITY
  #until = Number.NEGATIVE_INFINITY
  #found: RatesOfDay = { sell: noRate, buy: noRate }

  constructor(sell: readonly MarketHistory<MarketRate>[], buy: readonly MarketHistory<MarketRate>[]) {
    this.#sell = sell
    this.#buy = buy
  }

  /** Whether no market rate is saved for these lanes. */
  get isEmpty(): boolean {
    return this.#sell.length + this.#buy.length === 0
  }

  /**
   * The rates at the last moment of a day, so that a rate published on the day counts for it.
   *
   * @param day in days since 1970
   * @param miles of the lane; null if they are not known
   */
  on(day: number, miles: () => number | null): RatesOfDay {
    const at = (day + 1) * dayMs - 1
    if (at >= this.#from && at < this.#until) return this.#found
    const found = { sell: marketRateAt(this.#sell, at, miles), buy: marketRateAt(this.#buy, at, miles) }
    this.#from = at
    this.#until = Math.min(sameRateUntil(this.#sell, at), sameRateUntil(this.#buy, at))
    this.#found = found
    return found
  }
}

/** A lane with market rates, and its sums. */
export interface StandingOfLane {
  /** Its number in the book. */
  readonly lane: number
  readonly sums: Standing
}

export interface StandingOfQuotes {
  readonly lanes: readonly StandingOfLane[]
  /** By month in UTC, such as `2026-03`, oldest first. */
  readonly months: ReadonlyMap<string, Standing>
  readonly totals: Standing
  /** Numbers of lanes, loads and quotes without a market rate, and of these loads by reason if rates are saved. */
  readonly without: Readonly<Record<'lanes' | 'loads' | 'quotes' | WhyNoMarketRate, number>>
}

/** The numbers of a `Standing`: loads, own cents and market cents of what was won, lost and paid. */
const NUMBERS = 9
const LOST_AT = 3
const PAID_AT = 6

/** Why an amount has no market rate to compare with; null if none is saved, false if it has a market rate, or if there is no amount. */
type Lacking = WhyNoMarketRate | null | false

/** Bits of a lane's state: it has a quote that was won, lost or paid; and one of these quotes has a market rate. */
const QUOTED = 1
const COMPARED = 2

/**
 * Compares the selected quotes that were won or lost, and the truck costs that were booked, with the market rates of their days.
 *
 * @param marketOf the market rates of a lane, by its number
 * @param milesOf the miles of a lane, to convert a rate of another basis; called only if needed
 */
export function* standingOfQuotes(
  book: QuoteBook,
  {
    isSelected,
    marketOf,
    milesOf,
  }: {
    readonly isSelected: IsSelected
    readonly marketOf: (lane: number) => MarketOfLanes
    readonly milesOf: (lane: number) => number | null
  },
): Steps<StandingOfQuotes> {
  const { columns, lanes } = book
  const ofLanes = new Float64Array(NUMBERS * lanes.length)
  const states = new Uint8Array(lanes.length)
  const local = new LocalMonths('UTC')
  const ofMonths: Float64Array[] = []
  const without = { lanes: 0, loads: 0, quotes: 0, other_basis: 0, other_currency: 0, stale: 0 }
  /** Counts a load once, whether its rate, its truck cost or both have no market rate. */
  const countWithout = ({ rate, paid }: { rate: Lacking; paid: Lacking }) => {
    if (rate !== false) without.quotes++
    if (rate === false && paid === false) return
    without.loads++
    const why = (rate === false ? null : rate) ?? (paid === false ? null : paid)
    if (why !== null) without[why]++
  }
  const markets = lanes.map(({ number }) => marketOf(number))
  yield
  for (let row = 0; row < columns.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    const lane = columns.lane[row]!
    if (lane < 0) continue
    const quote = pricedAt(columns, row)
    if (quote === null || !isSelected(columns, row)) continue
    states[lane] = states[lane]! | QUOTED
    const market = markets[lane] as MarketOfLanes
    const { own, isWon, paid } = quote
    if (market.isEmpty) {
      countWithout({ rate: own > 0 ? null : false, paid: paid > 0 ? null : false })
      continue
    }
    const at = columns.quotedAt[row]!
    const { sell, buy } = market.on(Math.floor(at / dayMs), () => milesOf(lane))
    const month = local.of(at).number
    ofMonths[month] ??= new Float64Array(NUMBERS)
    const add = (first: number, cents: number, rate: MarketRate) => {
      states[lane] = states[lane]! | COMPARED
      addLoad(ofLanes, NUMBERS * lane + first, cents, rate.midCents)
      addLoad(ofMonths[month] as Float64Array, first, cents, rate.midCents)
    }
    if (own > 0 && sell.used !== null) add(isWon ? 0 : LOST_AT, own, sell.used)
    if (paid > 0 && buy.used !== null) add(PAID_AT, paid, buy.used)
    countWithout({
      rate: own > 0 && sell.used === null ? sell.why : false,
      paid: paid > 0 && buy.used === null ? buy.why : false,
    })
  }
  return yield* summed({ ofLanes, ofMonths, states, local, without })
}

/** The result, after every quote was added to its lane and its month. */
function* summed({
  ofLanes,
  ofMonths,
  states,
  local,
  without,
}: {
  readonly ofLanes: Float64Array
  readonly ofMonths: readonly Float64Array[]
  readonly states: Uint8Array
  readonly local: LocalMonths
  readonly without: Record<keyof StandingOfQuotes['without'], number>
}): Steps<StandingOfQuotes> {
  const total = new Float64Array(NUMBERS)
  const found: StandingOfLane[] = []
  for (let lane = 0; lane < states.length; lane++) {
    if (lane % ROWS_PER_STEP === 0) yield
    if (states[lane] === QUOTED) without.lanes++
    if ((states[lane]! & COMPARED) === 0) continue
    found.push({ lane, sums: standingAt(ofLanes, NUMBERS * lane) })
    for (let nth = 0; nth < NUMBERS; nth++) {
      total[nth]! += ofLanes[NUMBERS * lane + nth]!
    }
  }
  const months = local.months
    .flatMap((month): [string, Standing][] => {
      const sums = ofMonths[month.number]
      if (sums === undefined || sums.every((one) => one === 0)) return []
      return [[monthName(month), standingAt(sums, 0)]]
    })
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return { lanes: found, months: new Map(months), totals: standingAt(total, 0), without }
}

/**
 * The newest market rate that a lane was compared with; null if there was none. On a day with won or lost quotes, it is what customers pay;
 * on a day with truck costs only, what carriers are paid.
 */
export function newestRateOf(
  { columns }: QuoteBook,
  lane: number,
  {
    isSelected,
    market,
    miles,
  }: { readonly isSelected: IsSelected; readonly market: MarketOfLanes; readonly miles: () => number | null },
): MarketRate | null {
  const days = new Map<number, { quotes: boolean; paid: boolean }>()
  columns.eachRowOf(lane, (row) => {
    const quote = pricedAt(columns, row)
    if (quote === null || !isSelected(columns, row)) return
    const day = Math.floor(columns.quotedAt[row]! / dayMs)
    const known = days.get(day) ?? { quotes: false, paid: false }
    days.set(day, { quotes: known.quotes || quote.own > 0, paid: known.paid || quote.paid > 0 })
  })
  let newest: MarketRate | null = null
  for (const [day, { quotes, paid }] of [...days].sort(([one], [other]) => one - other)) {
    const { sell, buy } = market.on(day, miles)
    const used = !quotes ? buy.used : !paid ? sell.used : (sell.used ?? buy.used)
    if (used !== null && (newest === null || used.asOf > newest.asOf)) newest = used
  }
  return newest
}

/** The average miles of the newest day of a lane on which they are known; null if they never are. */
export function newestMilesOf({ columns }: QuoteBook, lane: number, isSelected: IsSelected): number | null {
  let [newest, sum, count] = [Number.NEGATIVE_INFINITY, 0, 0]
  columns.eachRowOf(lane, (row) => {
    const miles = columns.miles[row]!
    if (Number.isNaN(miles) || pricedAt(columns, row) === null || !isSelected(columns, row)) return
    const day = Math.floor(columns.quotedAt[row]! / dayMs)
    if (day < newest) return
    if (day > newest) [newest, sum, count] = [day, 0, 0]
    sum += miles
    count++
  })
  return count === 0 ? null : sum / count
}

/**
 * The rate of a row that was won or lost, and the truck cost that was paid, in cents; 0 if there is none. Null if there is nothing to
 * compare.
 */
function pricedAt(
  columns: QuoteColumns,
  row: number,
): { readonly own: number; readonly isWon: boolean; readonly paid: number } | null {
  const outcome = columns.outcomeOf(row)
  const isPaid = (columns.facts[row]! & FACTS.truckCost) !== 0
  const paid = isPaid ? columns.costCents[row]! : 0
  const own = outcome === PENDING ? 0 : columns.rateCents[row]!
  return own === 0 && paid === 0 ? null : { own, isWon: outcome === WON, paid }
}

function addLoad(sums: Float64Array, at: number, ownCents: number, marketCents: number): void {
  sums[at]!++
  sums[at + 1]! += ownCents
  sums[at + 2]! += marketCents
}

function standingAt(sums: Float64Array, at: number): Standing {
  const of = (first: number): AgainstMarket => ({
    loads: sums[at + first]!,
    ownCents: sums[at + first + 1]!,
    marketCents: sums[at + first + 2]!,
  })
  return { won: of(0), lost: of(LOST_AT), paid: of(PAID_AT) }
}

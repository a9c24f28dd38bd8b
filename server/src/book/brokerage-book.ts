import { setTimeout as delay } from 'node:timers/promises'
import { KeptResults, type Result } from '#engine/book/kept-results.ts'
import { type Area, type LanePlaces, type PreparedAdvice, QuoteBook } from '#engine/book/quote-book.ts'
import type { QuoteRow } from '#engine/book/quote-columns.ts'
import { dayOf } from '#engine/estimate/day.ts'
import { prepareEstimatorInSteps } from '#engine/estimate/estimator.ts'
import { prepareCostsInSteps } from '#engine/estimate/expected-cost.ts'
import { type HaulLog, haulQuotesInSteps, rateByMilesInSteps } from '#engine/estimate/rate-by-miles.ts'
import type { Steps } from '#engine/steps.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import type { QuoteSink } from './quote-rows.ts'

/** What was prepared, of which quotes, for which day, and when it was ready (monotonic milliseconds). */
interface Prepared extends PreparedAdvice {
  readonly revision: number
  readonly day: number
  readonly readyAt: number
}

/** A brokerage with at most this many quotes waits for its preparation (some 30 ms), so every lane counts in the next answer. */
const quickQuotesMax = 1_000
/** After a preparation there is none for three times as long as it took: where quotes change all the time, it takes a quarter of a core. */
const restShare = 3
const restMsMax = 30_000
/** The oldest preparation that is answered from while a newer one is on its way. */
const staleMaxMs = 60_000

/**
 * A brokerage's book in this process: its quotes, results computed from them, and what is prepared of them for estimates.
 *
 * A lane's own quotes count in the next answer. What other lanes say is prepared behind the answers, within `staleMaxMs`:
 * a preparation takes about a second and a half for 100,000 quotes. A small brokerage waits for its preparation.
 */
export class BrokerageBook implements QuoteSink {
  readonly quotes = new QuoteBook()
  readonly #kept = new KeptResults()
  #prepared: Prepared | null = null
  #preparing: Promise<void> | null = null
  #restMs = 0

  /** The memory it takes, in bytes: its quotes, and the sums of each scope (two lists of 615 numbers). */
  bytes(): number {
    return this.quotes.bytes() + (this.#prepared?.estimator.scopes.size ?? 0) * 2 * 615 * 8
  }

  get size(): number {
    return this.quotes.size
  }

  lane(places: LanePlaces): number {
    return this.quotes.lane(places)
  }

  put(lane: number, quote: QuoteRow): void {
    this.quotes.put(lane, quote)
  }

  reserve(quotes: number): void {
    this.quotes.reserve(quotes)
  }

  remove(laneId: number): void {
    this.quotes.remove(laneId)
  }

  /** A result that is kept and still stands, or else is computed. */
  *result<Value>(key: string, area: Area, now: number, compute: () => Steps<Result<Value>>): Steps<Value> {
    const known = this.#kept.get<Value>(key, area, now)
    if (known !== undefined) return known
    const { revision } = area
    const found = yield* compute()
    this.#kept.keep(key, { revision, now }, found)
    return found.value
  }

  /** The brokerage's curve by miles on the day of `now`. */
  haulLog(now: number): Steps<HaulLog> {
    const { columns, all } = this.quotes
    const day = dayOf(now)
    return this.result('haul', all, now, function* () {
      const quotes = yield* haulQuotesInSteps(columns, day)
      return { value: yield* rateByMilesInSteps(quotes, day), until: (day + 1) * dayMs }
    })
  }

  /** What estimates and expected costs are made of on the day of `now`. */
  async advice(now: number): Promise<PreparedAdvice> {
    for (;;) {
      const prepared = this.#prepared
      const { revision } = this.quotes
      if (prepared?.revision === revision && prepared.day === dayOf(now)) return prepared
      this.#preparing ??= this.#prepare(now).finally(() => {
        this.#preparing = null
      })
      if (prepared !== null && this.#mayAnswer(prepared, now)) {
        // A reader that waits for the next preparation gets its error.
        this.#preparing.catch(() => {})
        return prepared
      }
      await this.#preparing
      const made = this.#prepared
      // When quotes change all the time, a preparation that ended after the question is new enough.
      if (made !== null && made.day === dayOf(now) && !this.#isQuick()) return made
    }
  }

  #mayAnswer({ day, readyAt }: Prepared, now: number): boolean {
    const isFresh = Math.abs(day - dayOf(now)) <= 1 && performance.now() - readyAt <= staleMaxMs
    return isFresh && !this.#isQuick()
  }

  #isQuick(): boolean {
    return this.quotes.size <= quickQuotesMax
  }

  async #prepare(now: number): Promise<void> {
    if (this.#prepared !== null && this.#mayAnswer(this.#prepared, now)) await delay(this.#restMs)
    const began = performance.now()
    const { quotes } = this
    const { revision } = quotes
    const rows = await yieldBetweenSteps(quotes.columns.orderedRows())
    const { steps, begun } = prepareEstimatorInSteps(quotes, now, rows)
    let prepared: Partial<PreparedAdvice> = {}
    const unlisten = quotes.listen(() => {
      const estimator = begun()
      return estimator === null ? prepared : { ...prepared, estimator }
    })
    try {
      const estimator = await yieldBetweenSteps(steps)
      const costs = await yieldBetweenSteps(prepareCostsInSteps(quotes, now, rows))
      prepared = { costs }
      this.#unlisten()
      this.#unlisten = unlisten
      const readyAt = performance.now()
      this.#restMs = Math.min(restMsMax, restShare * (readyAt - began))
      this.#prepared = { estimator, costs, revision, day: estimator.day, readyAt }
    } catch (error) {
      unlisten()
      throw error
    }
  }

  #unlisten: () => void = () => {}
}

const dayMs = 86_400_000

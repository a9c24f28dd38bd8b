import { setTimeout as delay } from 'node:timers/promises'
import { CachedResults, type Result } from '#engine/book/cached-results.ts'
import { type Area, type LanePlaces, QuoteBook } from '#engine/book/quote-book.ts'
import type { QuoteNames } from '#engine/book/quote-names.ts'
import { dayOf } from '#engine/day.ts'
import { type CustomerEffects, customerEffectsInSteps } from '#engine/estimate/customer-effect.ts'
import type { Estimator } from '#engine/estimate/estimator.ts'
import { type CostsByType, costsByTypeInSteps } from '#engine/estimate/expected-cost.ts'
import { followChanges, type ModelsByType, modelsFor } from '#engine/estimate/prepared-models.ts'
import { type HaulLog, haulQuotesInSteps, rateByMilesInSteps } from '#engine/estimate/rate-by-miles.ts'
import { estimatorsByTypeInSteps } from '#engine/estimate/rate-type-estimators.ts'
import type { CustomerRecords } from '#engine/quote-statistics/customer-records.ts'
import type { QuotePortion, QuoteRow } from '#engine/quotes/quote-columns.ts'
import { inPool } from '#engine/quotes/quoted-lanes.ts'
import { type Pool, type RateType, rateTypes } from '#engine/rate-type.ts'
import type { Steps } from '#engine/steps.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import type { QuoteSink } from './quote-rows.ts'

/** A preparation of the models, with the revision of its quotes, its day, and when it was ready (monotonic milliseconds). */
interface Prepared extends ModelsByType {
  readonly revision: number
  readonly day: number
  readonly readyAt: number
}

/** The effects of customers by one estimator, and the merged customers that it counts as one. */
interface KnownEffects {
  readonly estimator: Estimator
  readonly merged: string
  readonly effects: Promise<CustomerEffects>
}

/** The effects of customers on win probabilities, for each rate type. */
export type EffectsByType = Readonly<Record<RateType, CustomerEffects>>

/** With up to this many quotes, every answer waits for a current preparation (some 30 ms), which includes all changes of all lanes. */
const quickQuotesMax = 1_000
/**
 * After a preparation, the next one waits three times its duration, with that of the effects of customers. Constant changes then use at
 * most a quarter of a core.
 */
const restShare = 3
const restMsMax = 30_000
/** The maximum age of a preparation that answers requests while a newer one is made. */
const staleMaxMs = 60_000
/** The most memory of cached statistics: some pages of a large brokerage. */
const statisticsBytesMax = 4_000_000

/**
 * A brokerage's book in this process: its quotes, results computed from them, and the preparation for estimates.
 *
 * A lane's own quotes count in the next answer. The influence of other lanes is prepared in the background and is at most
 * `staleMaxMs` old. A preparation takes about a second of processor time for 100,000 quotes on 6,000 lanes. The first
 * answer, and every answer of a small brokerage, waits for it.
 */
export class BrokerageBook implements QuoteSink {
  readonly quotes = new QuoteBook()
  readonly #kept = new CachedResults()
  readonly #known = new Map<
    string,
    { readonly state: string; readonly value: unknown; readonly bytes: number }
  >()
  #records: { readonly access: number; readonly value: Promise<CustomerRecords> } | null = null
  #prepared: Prepared | null = null
  #preparing: Promise<void> | null = null
  #restMs = 0
  /** How long the effects of customers of the last preparation took. */
  #effectsMs = 0
  readonly #customers = new Map<RateType, KnownEffects>()
  readonly #renewing = new Set<RateType>()

  /** Approximate memory in bytes: the quotes, and the totals of each scope (two arrays of 615 numbers). */
  bytes(): number {
    const scopes = rateTypes.reduce(
      (sum, rateType) => sum + (this.#prepared?.[rateType]?.estimator.scopes.size ?? 0),
      0,
    )
    return this.quotes.bytes() + scopes * 2 * 615 * 8
  }

  get size(): number {
    return this.quotes.size
  }

  lane(places: LanePlaces): number {
    return this.quotes.lane(places)
  }

  get names(): QuoteNames {
    return this.quotes.names
  }

  put(lane: number, quote: QuoteRow): void {
    this.quotes.put(lane, quote)
  }

  putApart(lane: number, quote: QuoteRow): void {
    this.quotes.putApart(lane, quote)
  }

  append(portion: QuotePortion, apart: QuotePortion): void {
    this.quotes.append(portion, apart)
  }

  join(): Steps<void> {
    return this.quotes.join()
  }

  remove(quoteId: number): void {
    this.quotes.remove(quoteId)
  }

  /** A cached result that is still valid; otherwise computes and caches it. */
  *result<Value>(key: string, area: Area, now: number, compute: () => Steps<Result<Value>>): Steps<Value> {
    const known = this.#kept.get<Value>(key, area, now)
    if (known !== undefined) return known
    const { revision } = area
    const found = yield* compute()
    this.#kept.keep(key, { revision, now }, found)
    return found.value
  }

  /**
   * A result over all quotes that depends on the version of access, such as who sees which customer. Unlike other work on the book,
   * it never runs while changes are applied, so that its totals are of one moment. The newest results are cached until a quote or the
   * access changes.
   *
   * @param bytesOf the memory that a result takes
   */
  statistics<Value>(
    key: string,
    access: number,
    compute: (quotes: QuoteBook) => Steps<Value>,
    bytesOf: (value: Value) => number,
  ): Promise<Value> {
    return yieldBetweenSteps(this.#statistics(key, access, compute, bytesOf), this)
  }

  /** Like `statistics`, but not cached. */
  reading<Value>(compute: (quotes: QuoteBook) => Steps<Value>): Promise<Value> {
    return yieldBetweenSteps(compute(this.quotes), this)
  }

  *#statistics<Value>(
    key: string,
    access: number,
    compute: (quotes: QuoteBook) => Steps<Value>,
    bytesOf: (value: Value) => number,
  ): Steps<Value> {
    const state = `${access} ${this.quotes.revision} ${this.quotes.apart.changes}`
    const known = this.#known.get(key)
    if (known?.state === state) return known.value as Value
    const value = yield* compute(this.quotes)
    this.#known.delete(key)
    this.#known.set(key, { state, value, bytes: bytesOf(value) })
    let bytes = this.#known.values().reduce((sum, one) => sum + one.bytes, 0)
    for (const [other, one] of this.#known) {
      if (bytes <= statisticsBytesMax && one.state === state) continue
      this.#known.delete(other)
      bytes -= one.bytes
    }
    return value
  }

  /** The customers and teams of the brokerage at a version of access; `read` reads them if they are not known. */
  customerRecords(access: number, read: () => Promise<CustomerRecords>): Promise<CustomerRecords> {
    if (this.#records?.access === access) return this.#records.value
    const made = { access, value: read() }
    this.#records = made
    made.value.catch(() => {
      if (this.#records === made) this.#records = null
    })
    return made.value
  }

  /** The curve of a pool's rates by miles on the day of `now`. */
  haulLog(pool: Pool, now: number): Steps<HaulLog> {
    const { quotes: book } = this
    const day = dayOf(now)
    return this.result(`haul ${pool}`, book.all, now, function* () {
      const quotes = yield* haulQuotesInSteps(inPool(book, pool), day)
      return { value: yield* rateByMilesInSteps(quotes, day), until: (day + 1) * dayMs }
    })
  }

  /** The preparation that estimates and expected costs read, for the day of `now`. */
  async advice(now: number): Promise<ModelsByType> {
    for (;;) {
      const prepared = this.#prepared
      const { revision } = this.quotes
      if (prepared?.revision === revision && prepared.day === dayOf(now)) return prepared
      this.#preparing ??= this.#prepare(now).finally(() => {
        this.#preparing = null
      })
      if (prepared !== null && this.#mayAnswer(prepared, now)) {
        // This reader does not wait for the next preparation, so its errors are left to the readers that do.
        this.#preparing.catch(() => {})
        return prepared
      }
      await this.#preparing
      const made = this.#prepared
      // A newer revision may exist already. A preparation that ended after the request arrived is current enough.
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

  /**
   * The effects of customers, by the hash of their key. Computed when an offer names a customer, for each preparation. In a large
   * brokerage, those of the preparation before answer until they are ready.
   */
  async customerEffects(
    prepared: ModelsByType,
    mergedInto: ReadonlyMap<number, number>,
  ): Promise<EffectsByType> {
    return {
      spot: await this.#effectsOf(modelsFor(prepared, 'spot'), mergedInto),
      contract: await this.#effectsOf(modelsFor(prepared, 'contract'), mergedInto),
    }
  }

  async #effectsOf(
    { estimator, rateType }: ReturnType<typeof modelsFor>,
    mergedInto: ReadonlyMap<number, number>,
  ): Promise<CustomerEffects> {
    const merged = [...mergedInto].join(';')
    const known = this.#customers.get(rateType)
    if (known?.estimator === estimator && known.merged === merged) return known.effects
    const mayAnswer = known?.merged === merged && known.estimator.day === estimator.day && !this.#isQuick()
    if (!mayAnswer) {
      const made = this.#computeEffects({ estimator, merged }, mergedInto)
      this.#customers.set(rateType, made)
      made.effects.catch(() => {
        if (this.#customers.get(rateType) === made) this.#customers.delete(rateType)
      })
      return made.effects
    }
    // A reader with the preparation before must not replace newer effects.
    const isNewest = [this.#prepared?.spot, this.#prepared?.contract].some(
      (one) => one?.estimator === estimator,
    )
    if (isNewest && !this.#renewing.has(rateType))
      this.#renewEffects(rateType, { estimator, merged }, mergedInto)
    return known.effects
  }

  #renewEffects(
    rateType: RateType,
    of: Omit<KnownEffects, 'effects'>,
    mergedInto: ReadonlyMap<number, number>,
  ): void {
    const began = performance.now()
    const made = this.#computeEffects(of, mergedInto)
    this.#renewing.add(rateType)
    void made.effects
      .then(() => {
        this.#customers.set(rateType, made)
        this.#effectsMs = performance.now() - began
      })
      // The readers have other effects. The next reader tries again.
      .catch(() => {})
      .finally(() => this.#renewing.delete(rateType))
  }

  #computeEffects(of: Omit<KnownEffects, 'effects'>, mergedInto: ReadonlyMap<number, number>): KnownEffects {
    const { columns } = this.quotes
    const effects = yieldBetweenSteps(
      customerEffectsInSteps(of.estimator, (row) => {
        const hash = columns.customer[row] as number
        return mergedInto.get(hash) ?? hash
      }),
      this.quotes,
    )
    return { ...of, effects }
  }

  async #prepare(now: number): Promise<void> {
    if (this.#prepared !== null && this.#mayAnswer(this.#prepared, now)) await delay(this.#restMs)
    const began = performance.now()
    const { quotes } = this
    const { revision } = quotes
    // The steps are queued for `quotes`, not for the book, so that requests and the reading of changes do not wait for them.
    const rows = await yieldBetweenSteps(quotes.columns.orderedRows(), quotes)
    const { steps, begun } = estimatorsByTypeInSteps(quotes, now, rows)
    let costs: Partial<CostsByType> = {}
    const unlisten = quotes.listen(followChanges(quotes, () => ({ estimators: begun(), costs })))
    try {
      const estimators = await yieldBetweenSteps(steps, quotes)
      const ready = await yieldBetweenSteps(costsByTypeInSteps(quotes, now, rows), quotes)
      costs = ready
      const adviceOf = (rateType: RateType) => {
        const estimator = estimators[rateType]
        return estimator === null ? null : { estimator, costs: ready[rateType] }
      }
      this.#unlisten()
      this.#unlisten = unlisten
      const readyAt = performance.now()
      this.#restMs = Math.min(restMsMax, restShare * (readyAt - began + this.#effectsMs))
      this.#prepared = {
        spot: adviceOf('spot'),
        contract: adviceOf('contract'),
        revision,
        day: dayOf(now),
        readyAt,
      }
    } catch (error) {
      unlisten()
      throw error
    }
  }

  #unlisten: () => void = () => {}
}

const dayMs = 86_400_000

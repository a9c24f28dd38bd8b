import type { Area } from './quote-book.ts'

/** A result computed from an area's quotes, valid until `until` (epoch milliseconds) if the quotes do not change. */
export interface Result<Value> {
  readonly value: Value
  readonly until: number
}

interface Kept extends Result<unknown> {
  readonly revision: number
  /** The time that the result was computed for. If a clock is set back before it, the result is not valid. */
  readonly from: number
}

/** The most results in the cache: about three kilobytes each. */
const CACHED_MAX = 3_000

/**
 * A cache of results that were computed from a book. A result is valid until a quote of its area changes.
 *
 * @example
 * const kept = new CachedResults()
 * kept.keep('rates DAL>ATL', { revision: corridor.revision, now }, { value: rates, until: Number.POSITIVE_INFINITY })
 * kept.get('rates DAL>ATL', corridor, now) // rates, until a quote of the corridor changes
 */
export class CachedResults {
  readonly #kept = new Map<string, Kept>()

  get<Value>(key: string, area: Area, now: number): Value | undefined {
    const known = this.#kept.get(key)
    if (known === undefined || known.revision !== area.revision) return undefined
    return now >= known.from && now < known.until ? (known.value as Value) : undefined
  }

  keep(key: string, { revision, now }: { revision: number; now: number }, result: Result<unknown>): void {
    this.#kept.delete(key)
    this.#kept.set(key, { ...result, revision, from: now })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > CACHED_MAX && oldest !== undefined) this.#kept.delete(oldest)
  }
}

import type { PastQuote } from '../history.ts'
import type { Pool, RateType } from '../rate-type.ts'
import type { LaneIdentity } from './lane-identity.ts'
import { OUTCOMES, QuoteColumns } from './quote-columns.ts'

/** Quotes in columns, of which only those of a pool (spot, contract or all) count. */
export interface PooledQuotes {
  readonly columns: QuoteColumns
  readonly pool: Pool
}

/** A brokerage's quotes in columns. Each lane has a number and an identity. */
export interface QuotedLanes extends PooledQuotes {
  /** Lane numbers are 0 to `laneCount - 1`. */
  readonly laneCount: number
  identity(lane: number): LaneIdentity
  /** The number of the lane with a given key; undefined for a lane never quoted. */
  laneOf(key: string): number | undefined
}

/** A listener that a book of quotes notifies of each change. */
export interface QuoteListener {
  /** Called before a quote of the lane is added, replaced or removed. */
  changing(lane: number): void
  /** Called when the quote in this row of the columns was just added (1), or is about to be removed (-1). */
  counting(row: number, by: 1 | -1): void
}

export function isPooled({ columns, pool }: PooledQuotes, row: number): boolean {
  return pool === 'all' || columns.rateTypeOf(row) === pool
}

/** The rows of a lane that are in the pool, in the order of `(quotedAt, quoteId)`. */
export function pooledRows(quoted: PooledQuotes, lane: number): Int32Array {
  const rows = quoted.columns.rowsOf(lane)
  return quoted.pool === 'all' ? rows : rows.filter((row) => isPooled(quoted, row))
}

/** The same lanes with the quotes of another pool. */
export function inPool(quoted: QuotedLanes, pool: Pool): QuotedLanes {
  return {
    columns: quoted.columns,
    pool,
    get laneCount() {
      return quoted.laneCount
    },
    identity: (lane) => quoted.identity(lane),
    laneOf: (key) => quoted.laneOf(key),
  }
}

export interface LaneQuote extends PastQuote {
  readonly lane: LaneIdentity
  /** Absent: spot. */
  readonly rateType?: RateType
  /** True for a quote that was lost for another reason than its price. */
  readonly otherReason?: boolean
}

/**
 * Converts a list of quotes to columns.
 *
 * @example quotedLanes([]).laneCount // 0
 */
export function quotedLanes(quotes: readonly LaneQuote[]): QuotedLanes {
  const columns = new QuoteColumns()
  const identities: LaneIdentity[] = []
  const lanes = new Map<string, number>()
  columns.reserve(quotes.length)
  for (const {
    quoteId,
    rateCents,
    costCents,
    outcome,
    quotedAt,
    miles,
    lane: identity,
    rateType,
    otherReason,
  } of quotes) {
    let lane = lanes.get(identity.key)
    if (lane === undefined) {
      lane = identities.push(identity) - 1
      lanes.set(identity.key, lane)
    }
    columns.put(lane, {
      quoteId,
      quotedAt,
      rateCents,
      costCents: costCents ?? Number.NaN,
      outcome: OUTCOMES.indexOf(outcome),
      miles: miles ?? Number.NaN,
      contract: rateType === 'contract',
      otherReason: otherReason === true,
    })
  }
  return {
    columns,
    pool: 'all',
    laneCount: identities.length,
    identity: (lane) => {
      const identity = identities[lane]
      if (identity === undefined) throw new RangeError(`There is no lane ${lane}.`)
      return identity
    },
    laneOf: (key) => lanes.get(key),
  }
}

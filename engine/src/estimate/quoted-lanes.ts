import type { QuoteColumns } from '../book/quote-columns.ts'
import { QuoteColumns as Columns, OUTCOMES } from '../book/quote-columns.ts'
import type { PastQuote } from '../history.ts'
import type { LaneIdentity } from './lane-identity.ts'

/** A tenant's quotes in columns. Lanes have numbers and identities. */
export interface QuotedLanes {
  readonly columns: QuoteColumns
  /** Lane numbers are 0 to `laneCount - 1`. */
  readonly laneCount: number
  identity(lane: number): LaneIdentity
  /** The number of the lane with a given key; undefined for a lane never quoted. */
  laneOf(key: string): number | undefined
}

/** A past quote and its lane. */
export interface LaneQuote extends PastQuote {
  readonly lane: LaneIdentity
  /** True for a pickup on a Saturday or Sunday. False for another day or an unknown one. */
  readonly weekendPickup?: boolean
}

/**
 * Converts a list of quotes to columns.
 *
 * @example quotedLanes([]).laneCount // 0
 */
export function quotedLanes(quotes: readonly LaneQuote[]): QuotedLanes {
  const columns = new Columns()
  const identities: LaneIdentity[] = []
  const lanes = new Map<string, number>()
  columns.reserve(quotes.length)
  for (const { laneId, rateCents, costCents, outcome, quotedAt, miles, lane: identity } of quotes) {
    let lane = lanes.get(identity.key)
    if (lane === undefined) {
      lane = identities.push(identity) - 1
      lanes.set(identity.key, lane)
    }
    columns.put(lane, {
      laneId,
      quotedAt,
      rateCents,
      costCents: costCents ?? Number.NaN,
      outcome: OUTCOMES.indexOf(outcome),
      miles: miles ?? Number.NaN,
    })
  }
  return {
    columns,
    laneCount: identities.length,
    identity: (lane) => {
      const identity = identities[lane]
      if (identity === undefined) throw new RangeError(`There is no lane ${lane}.`)
      return identity
    },
    laneOf: (key) => lanes.get(key),
  }
}

/**
 * The quotes that a lane insight is computed from, from most to least trusted:
 *
 * - `equipment`: the city pair with this equipment
 * - `corridor`: the city pair with all equipment
 * - `market`: lanes between the same two markets (3-digit ZIP areas or 50 miles)
 * - `state_pair`: lanes between the same two states
 * - `region`: lanes between the same two regions
 * - `tenant`: all quotes of the brokerage
 *
 * From `market` on, only quotes with the requested equipment are used, if one was requested.
 */
export type LaneScope = 'equipment' | 'corridor' | 'market' | 'state_pair' | 'region' | 'tenant'

/** The number of quotes in a scope, of decided quotes, and of city pairs with a decided quote. */
export interface ScopeCounts {
  readonly quotes: number
  readonly decided: number
  readonly lanes: number
}

/**
 * The scopes, most trusted first, and the minimum evidence for each. One quote is enough on the lane itself. A market
 * needs two lanes, because data from a single other lane does not describe a market.
 */
export const SCOPES: readonly { readonly scope: LaneScope; readonly minimum: ScopeCounts }[] = [
  { scope: 'equipment', minimum: { quotes: 1, decided: 0, lanes: 0 } },
  { scope: 'corridor', minimum: { quotes: 1, decided: 0, lanes: 0 } },
  { scope: 'market', minimum: { quotes: 0, decided: 3, lanes: 2 } },
  { scope: 'state_pair', minimum: { quotes: 0, decided: 3, lanes: 0 } },
  { scope: 'region', minimum: { quotes: 0, decided: 5, lanes: 0 } },
  { scope: 'tenant', minimum: { quotes: 0, decided: 5, lanes: 0 } },
]

/**
 * The scopes to try, in order. A request without equipment is corridor-wide, so it skips `equipment`.
 *
 * @example scopesFor(false) // ['corridor', 'market', 'state_pair', 'region', 'tenant']
 */
export function scopesFor(equipmentGiven: boolean): LaneScope[] {
  return SCOPES.map(({ scope }) => scope).filter((scope) => equipmentGiven || scope !== 'equipment')
}

/**
 * Whether a scope has enough evidence to be used.
 *
 * @example isEnough('market', { quotes: 9, decided: 4, lanes: 1 }) // false: all decided quotes are on one lane
 */
export function isEnough(scope: LaneScope, counts: ScopeCounts): boolean {
  const minimum = SCOPES.find((level) => level.scope === scope)?.minimum
  return (
    minimum !== undefined &&
    counts.quotes >= minimum.quotes &&
    counts.decided >= minimum.decided &&
    counts.lanes >= minimum.lanes
  )
}

/**
 * Where a lane's insight was taken from, trust falling:
 *
 * - `equipment`: the city pair with this equipment
 * - `corridor`: the city pair, all equipment
 * - `market`: both ends in the same market (3-digit ZIP areas or 50 miles)
 * - `state_pair`: the pair of states
 * - `region`: the pair of regions
 * - `tenant`: every quote of the tenant
 *
 * From `market` on, with the same equipment when one was asked for.
 */
export type LaneScope = 'equipment' | 'corridor' | 'market' | 'state_pair' | 'region' | 'tenant'

/** What a scope holds: quotes, how many of them are decided, and on how many city pairs those decided ones lie. */
export interface ScopeCounts {
  readonly quotes: number
  readonly decided: number
  readonly lanes: number
}

/**
 * The scopes, most trusted first, and the evidence each needs before it is believed. One quote is enough where it is
 * the lane's own; a market needs two lanes, or it would be one other lane under a wider name.
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
 * The scopes to try, in order. Without an equipment the question is corridor-wide, so the first is left out.
 *
 * @example scopesFor(false) // ['corridor', 'market', 'state_pair', 'region', 'tenant']
 */
export function scopesFor(equipmentGiven: boolean): LaneScope[] {
  return SCOPES.map(({ scope }) => scope).filter((scope) => equipmentGiven || scope !== 'equipment')
}

/**
 * Whether a scope holds enough to answer from.
 *
 * @example isEnough('market', { quotes: 9, decided: 4, lanes: 1 }) // false: all on one lane
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

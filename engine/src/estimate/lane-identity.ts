/** A wider scope a lane belongs to, by the interface's name for it. */
export interface Scope {
  readonly name: string
  readonly key: string
}

/** A lane as the estimate sees it: its own key, and what it can borrow from. */
export interface LaneIdentity {
  /** City pair and equipment together: quotes with equal keys are quotes on the same lane. */
  readonly key: string
  /** Wider scopes for the win probability, widest first, without the tenant itself. */
  readonly scopes: readonly Scope[]
  /** Keys of the cost chain, widest first, without the tenant itself. */
  readonly costKeys: readonly string[]
}

/** One end of a lane: any text that stands for the city, its state or province, and its region. */
export interface LaneEnd {
  readonly city: string
  readonly state: string
  readonly region: string
}

/**
 * The identity of a freight lane. Direction is kept: Dallas to Atlanta and Atlanta to Dallas are two lanes, in two state
 * pairs and two region pairs. Win probability borrows over all equipment of a state pair; cost never crosses equipment
 * but within the corridor, since a reefer costs more than a van.
 *
 * @example freightLane({ origin: { city: 'dallas tx', state: 'TX', region: 'SC' },
 *   destination: { city: 'atlanta ga', state: 'GA', region: 'SE' }, equipment: 'V' }).key // 'dallas tx>atlanta ga|V'
 */
export function freightLane(lane: {
  origin: LaneEnd
  destination: LaneEnd
  equipment: string | null
}): LaneIdentity {
  const equipment = lane.equipment ?? ''
  const corridor = `${lane.origin.city}>${lane.destination.city}`
  const states = `${lane.origin.state}>${lane.destination.state}`
  const regions = `${lane.origin.region}>${lane.destination.region}`
  return {
    key: `${corridor}|${equipment}`,
    scopes: [
      { name: 'region', key: regions },
      { name: 'state_pair', key: states },
    ],
    costKeys: [
      `region ${regions}|${equipment}`,
      `from ${lane.origin.state}|${equipment}`,
      `to ${lane.destination.state}|${equipment}`,
      `states ${states}|${equipment}`,
      `corridor ${corridor}`,
      `lane ${corridor}|${equipment}`,
    ],
  }
}

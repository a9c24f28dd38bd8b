/** A wider scope that contains a lane. `name` is its name in the API. */
export interface Scope {
  readonly name: string
  readonly key: string
}

/** The keys of a lane and of the scopes it can borrow from. */
export interface LaneIdentity {
  /** City pair and equipment. Quotes with equal keys are on the same lane. */
  readonly key: string
  /** Wider scopes for the win probability, widest first, excluding the brokerage. */
  readonly scopes: readonly Scope[]
  /** Scope keys for the expected cost, widest first, excluding the brokerage. */
  readonly costKeys: readonly string[]
}

/** One end of a lane. Each field is any text that identifies the city, state or province, or region. */
export interface LaneEnd {
  readonly city: string
  readonly state: string
  readonly region: string
}

/**
 * The identity of a freight lane. Lanes have a direction: Dallas to Atlanta and Atlanta to Dallas are two lanes. The win
 * probability borrows from all equipment types of a state pair. The expected cost borrows from other equipment types only within
 * the corridor, because a reefer costs more than a van.
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

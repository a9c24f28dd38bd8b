/** A lane of one round, as rounds are compared. */
export interface RoundLane {
  readonly lane: number
  /** The shipper's own name of the lane; null without one. */
  readonly key: string | null
  readonly origin: string | null
  readonly destination: string | null
  /** Null: any. */
  readonly equipment: string | null
  readonly loads: number | null
}

/**
 * The lane of the round before for each lane that it continues: the one with the same ID, and, for the rest, the one with the same
 * places and equipment. An ID, or a pair of places, that several lanes of one round have joins nothing.
 *
 * @returns lane numbers of the round before, by lane number
 * @example joinedLanes([{ lane: 1, key: 'H-7', ... }], [{ lane: 3, key: 'h-7', ... }]).get(1) // 3
 */
export function joinedLanes(
  lanes: readonly RoundLane[],
  previous: readonly RoundLane[],
): ReadonlyMap<number, number> {
  const joined = new Map<number, number>()
  const taken = new Set<number>()
  for (const nameOf of [idOf, loadOf]) {
    const before = uniqueBy(
      previous.filter(({ lane }) => !taken.has(lane)),
      nameOf,
    )
    const now = uniqueBy(
      lanes.filter(({ lane }) => !joined.has(lane)),
      nameOf,
    )
    for (const [name, lane] of now) {
      const found = before.get(name)
      if (found === undefined) continue
      joined.set(lane.lane, found.lane)
      taken.add(found.lane)
    }
  }
  return joined
}

const idOf = ({ key }: RoundLane) => key?.trim().toLowerCase() || null
const loadOf = ({ origin, destination, equipment }: RoundLane) =>
  origin === null || destination === null ? null : `${origin}|${destination}|${equipment}`

/** The lanes by name, without those whose name is null or that of another lane, too. */
function uniqueBy(
  lanes: readonly RoundLane[],
  nameOf: (lane: RoundLane) => string | null,
): Map<string, RoundLane> {
  const found = new Map<string, RoundLane>()
  const repeated = new Set<string>()
  for (const lane of lanes) {
    const name = nameOf(lane)
    if (name === null) continue
    if (found.has(name)) repeated.add(name)
    found.set(name, lane)
  }
  for (const name of repeated) found.delete(name)
  return found
}

/** True if a lane is the same work as before, so that its rate still counts: the volume may differ. */
export function isSameWork(lane: RoundLane, before: RoundLane): boolean {
  return (
    lane.origin !== null &&
    lane.origin === before.origin &&
    lane.destination === before.destination &&
    lane.equipment === before.equipment
  )
}

/** What a shipper changed in a lane between two rounds. */
export interface RoundChange {
  readonly lane: number
  readonly field: 'origin' | 'destination' | 'equipment' | 'loads'
  readonly before: string | number | null
  readonly after: string | number | null
}

/** The differences between a round and the one before. */
export interface RoundDifference {
  /** Lanes that the round before did not have. */
  readonly added: readonly number[]
  /** Lanes of the round before that are gone, by their numbers there. */
  readonly removed: readonly number[]
  readonly changed: readonly RoundChange[]
}

const comparedFields = ['origin', 'destination', 'equipment', 'loads'] as const

/**
 * What a shipper changed since the round before.
 *
 * @param joined as `joinedLanes` returns it
 * @example roundDifference(lanes, previous, joined).changed // [{ lane: 1, field: 'loads', before: 52, after: 26 }]
 */
export function roundDifference(
  lanes: readonly RoundLane[],
  previous: readonly RoundLane[],
  joined: ReadonlyMap<number, number>,
): RoundDifference {
  const before = new Map(previous.map((lane) => [lane.lane, lane]))
  const continued = new Set(joined.values())
  return {
    added: lanes.flatMap(({ lane }) => (joined.has(lane) ? [] : [lane])),
    removed: previous.flatMap(({ lane }) => (continued.has(lane) ? [] : [lane])),
    changed: lanes.flatMap((lane) => {
      const old = before.get(joined.get(lane.lane) ?? 0)
      return old === undefined
        ? []
        : comparedFields.flatMap((field): RoundChange[] =>
            lane[field] === old[field]
              ? []
              : [{ lane: lane.lane, field, before: old[field], after: lane[field] }],
          )
    }),
  }
}

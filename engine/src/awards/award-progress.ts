/** An awarded lane, and what was promised for it. */
export interface PromisedLane {
  readonly lane: number
  readonly originKey: string
  readonly destinationKey: string
  /** Null: any. */
  readonly equipmentCode: string | null
  /** Loads over the contract; null if they are not known. */
  readonly loads: number | null
}

/** Loads that a shipper tendered on a lane in a week of the contract, and those of them that were booked. */
export interface TenderedLoads {
  readonly originKey: string
  readonly destinationKey: string
  readonly equipmentCode: string
  /** The week since the contract began, from 0. */
  readonly week: number
  readonly tendered: number
  readonly booked: number
}

export interface Volume {
  /** The loads that the award promised until now. A fraction within a week. */
  readonly promised: number
  readonly tendered: number
  readonly booked: number
}

export interface AwardProgress {
  readonly lanes: ReadonlyMap<number, Volume>
  /** From the first week to the present one. */
  readonly weeks: readonly Volume[]
}

/**
 * Promised, tendered and booked loads by lane and by week. A load counts for the lane that `laneFinder` finds. Promised loads are spread evenly over the weeks of the contract.
 *
 * @param today the week of the contract that it is, from 0; below 0 before it began
 * @param weeks of the contract
 * @example awardProgress([{ ...lane, loads: 52 }], [], { today: 12, weeks: 52 }).lanes.get(1)?.promised // 13
 */
export function awardProgress(
  lanes: readonly PromisedLane[],
  loads: readonly TenderedLoads[],
  { today, weeks }: { readonly today: number; readonly weeks: number },
): AwardProgress {
  const begun = Math.max(0, Math.min(today + 1, weeks))
  const laneOf = laneFinder(lanes)
  const found = new Map(
    lanes.map(({ lane, loads: promised }) => [
      lane,
      { promised: ((promised ?? 0) * begun) / weeks, tendered: 0, booked: 0 },
    ]),
  )
  const perWeek = lanes.reduce((sum, lane) => sum + (lane.loads ?? 0), 0) / weeks
  const byWeek = Array.from({ length: begun }, () => ({ promised: perWeek, tendered: 0, booked: 0 }))
  for (const load of loads) {
    const { week, tendered, booked } = load
    const lane = laneOf(load)
    if (lane === undefined) continue
    for (const sum of [found.get(lane.lane), byWeek[week]]) {
      if (sum === undefined) continue
      sum.tendered += tendered
      sum.booked += booked
    }
  }
  return { lanes: found, weeks: byWeek }
}

type Places = Pick<PromisedLane, 'originKey' | 'destinationKey'>

const placesKey = ({ originKey, destinationKey }: Places) => `${originKey}\n${destinationKey}`

/**
 * Finds the lane that a load counts for: the first with its places and its equipment, else the first with its places that takes any
 * equipment.
 *
 * @example laneFinder(lanes)({ originKey: 'dallas|TX', destinationKey: 'atlanta|GA', equipmentCode: 'V' })?.lane // 1
 */
export function laneFinder(
  lanes: readonly PromisedLane[],
): (load: Places & { readonly equipmentCode: string }) => PromisedLane | undefined {
  const byPlaces = Map.groupBy(lanes, placesKey)
  return (load) => {
    const there = byPlaces.get(placesKey(load)) ?? []
    return (
      there.find(({ equipmentCode }) => equipmentCode === load.equipmentCode) ??
      there.find(({ equipmentCode }) => equipmentCode === null)
    )
  }
}

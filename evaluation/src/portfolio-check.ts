import { type BidLane, type BidLimits, expectedOf } from '#engine/portfolio/bid-lanes.ts'
import { type Portfolio, portfolioInSteps } from '#engine/portfolio/portfolio.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { finished } from '#engine/steps.ts'
import type { Bar } from './bar.ts'
import { normal } from './simulation.ts'

const round = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits

/** A simulated bid. */
export interface SimulatedBid {
  readonly lanes: readonly BidLane[]
  readonly limits: BidLimits
  /** The true chance of an award on a lane at a rate. The menu has an estimate of it. */
  readonly trueAward: (lane: number, rateCents: number) => number
}

const bestAlone = (lane: BidLane) =>
  expectedOf(lane).reduce((most, one) => (one.marginCents > most.marginCents ? one : most))

/** How a bid is simulated. */
export interface BidPlan {
  readonly seed: number
  readonly lanes: number
  readonly rates: number
  readonly regions: number
  /** The cap of each region as a share of the loads that the lanes' own best rates would bring in its busiest week. Above 1, it does not bind. */
  readonly capShare: number
  /** Lanes that run in some quarters of the year only. */
  readonly seasonal?: boolean
}

/**
 * A bid of lanes with logistic award curves, and estimates of them that are off by a standard deviation of 0.3 in level and 20 % in
 * steepness. Volumes are log-normal: many lanes with a few loads a year, few with many.
 */
export function simulatedBid({
  seed,
  lanes: count,
  rates,
  regions,
  capShare,
  seasonal,
}: BidPlan): SimulatedBid {
  const random = seededNumbers(seed)
  const customers = Array.from({ length: 4 }, () => round(0.2 + 0.7 * random(), 3))
  const curves: { cost: number; level: number; steepness: number }[] = []
  const chance = (level: number, steepness: number, markup: number) =>
    1 / (1 + Math.exp(steepness * (markup - 0.12) - level))
  const lanes = Array.from({ length: count }, (_, nth): BidLane => {
    const cost = Math.round(60_000 + 300_000 * random())
    const curve = { cost, level: 0.8 * normal(random) - 0.4, steepness: 12 * Math.exp(0.3 * normal(random)) }
    curves.push(curve)
    const seen = {
      level: curve.level + 0.3 * normal(random),
      steepness: curve.steepness * Math.exp(0.2 * normal(random)),
    }
    const firstWeek = seasonal === true ? 1 + 13 * Math.floor(3 * random()) : 1
    return {
      id: `lane ${nth + 1}`,
      costCents: cost,
      loadsPerWeek: round(Math.exp(1.1 * normal(random) - 0.7), 2),
      firstWeek,
      lastWeek: seasonal === true ? firstWeek + 12 + 13 * Math.floor(2 * random()) : 52,
      tendered: customers[Math.floor(4 * random())] ?? 0.5,
      regions: [`region ${Math.floor(regions * random())}`],
      menu: Array.from({ length: rates }, (_, at) => {
        const markup = -0.04 + (0.38 * at) / Math.max(1, rates - 1)
        return {
          rateCents: Math.round(cost * (1 + markup)),
          award: chance(seen.level, seen.steepness, markup),
        }
      }),
    }
  })
  const quarters = [1, 14, 27, 40]
  const caps = Array.from({ length: regions }, (_, nth) => {
    const region = `region ${nth}`
    const loads = quarters.map((week) =>
      lanes
        .filter((lane) => lane.regions.includes(region) && lane.firstWeek <= week && week <= lane.lastWeek)
        .reduce((sum, lane) => sum + bestAlone(lane).weekLoads / 1_000, 0),
    )
    return { region, loadsPerWeek: round(capShare * Math.max(...loads), 3) }
  })
  return {
    lanes,
    limits: { caps },
    trueAward: (lane, rateCents) => {
      const { cost, level, steepness } = curves[lane] ?? { cost: 1, level: 0, steepness: 1 }
      return chance(level, steepness, rateCents / cost - 1)
    },
  }
}

/** The bid's rates, as far as the work permits. @throws if the bid has none */
export function chosenRates(
  bid: { readonly lanes: readonly BidLane[]; readonly limits: BidLimits },
  stopping: { readonly isLate?: () => boolean; readonly casesMax?: number } = {},
): Portfolio {
  const found = finished(portfolioInSteps(bid, stopping))
  if (found.state !== 'chosen') throw new Error(`The bid has no rates: ${found.state}.`)
  return found
}

/** The largest expected margin by trying everything; null if nothing keeps the limits. Written apart from the engine's solver. */
export function bestByBruteForce({
  lanes,
  limits,
}: {
  readonly lanes: readonly BidLane[]
  readonly limits: BidLimits
}): number | null {
  const choices = lanes.map((lane) => expectedOf(lane, limits))
  const caps = (limits.caps ?? []).map(({ region, loadsPerWeek }) => ({
    region,
    most: Math.floor(1_000 * loadsPerWeek),
  }))
  const weeks = [...new Set(lanes.map(({ firstWeek }) => firstWeek))]
  const slots = caps.flatMap((cap) => weeks.map((week) => ({ ...cap, week })))
  const uses = lanes.map((lane) =>
    slots.map(
      ({ region, week }) => lane.regions.includes(region) && lane.firstWeek <= week && week <= lane.lastWeek,
    ),
  )
  const used = slots.map(() => 0)
  const share = Math.round(1_000 * (limits.marginShareMin ?? 0))
  let best: number | null = null
  const tryFrom = (lane: number, sums: { margin: number; revenue: number; loads: number }): void => {
    if (slots.some(({ most }, slot) => (used[slot] ?? 0) > most)) return
    const options = choices[lane]
    if (options === undefined) {
      const isEnough = sums.loads >= Math.ceil(1_000 * (limits.loadsMin ?? 0))
      const isShare = limits.marginShareMin === undefined || share * sums.revenue <= 1_000 * sums.margin
      if (isEnough && isShare && (best === null || sums.margin > best)) best = sums.margin
      return
    }
    for (const one of options) {
      for (const [slot, uses_] of (uses[lane] ?? []).entries())
        if (uses_) used[slot] = (used[slot] ?? 0) + one.weekLoads
      tryFrom(lane + 1, {
        margin: sums.margin + one.marginCents,
        revenue: sums.revenue + one.revenueCents,
        loads: sums.loads + one.termLoads,
      })
      for (const [slot, uses_] of (uses[lane] ?? []).entries())
        if (uses_) used[slot] = (used[slot] ?? 0) - one.weekLoads
    }
  }
  tryFrom(0, { margin: 0, revenue: 0, loads: 0 })
  return best
}

/** A small bid with some of the limits, which are sometimes impossible. */
export function smallBid(seed: number): SimulatedBid {
  const random = seededNumbers(seed)
  const bid = simulatedBid({
    seed,
    lanes: 2 + Math.floor(5 * random()),
    rates: 1 + Math.floor(5 * random()),
    regions: 1 + Math.floor(2 * random()),
    capShare: 0.2 + 1.1 * random(),
    seasonal: random() < 0.4,
  })
  const loads = bid.lanes.reduce(
    (sum, one) => sum + Math.max(...expectedOf(one).map(({ termLoads }) => termLoads)),
    0,
  )
  const limits: BidLimits = {
    ...bid.limits,
    ...(random() < 0.3 ? { marginShareMin: round(0.25 * random(), 3) } : {}),
    ...(random() < 0.3 ? { loadsMin: round((0.7 * random() * loads) / 1_000, 3) } : {}),
    ...(random() < 0.2 ? { laneMarginShareMin: round(0.1 * random(), 3) } : {}),
  }
  return { ...bid, limits }
}

/** How many of some small bids have the same margin as trying everything, with a bound that proves it. */
export function sameAsBruteForce(bids: number): number {
  let same = 0
  for (let seed = 1; seed <= bids; seed++) {
    const bid = smallBid(seed)
    const best = bestByBruteForce(bid)
    const found = finished(portfolioInSteps(bid))
    const isSame =
      found.state === 'chosen'
        ? found.marginCents === best && found.boundCents === best
        : best === null && found.state === 'impossible'
    if (isSame) same++
  }
  return same
}

/** The chosen rates compared with lane by lane. */
export interface AgainstLaneByLane {
  readonly capsBind: boolean
  /** By how much the expected margin is larger, as a share. */
  readonly more: number
  /** The same at the true chances. */
  readonly moreInTruth: number
}

/** Simulates bids, half of them with caps that bind, and compares the rates with the choice lane by lane. */
export function againstLaneByLane(bids: number, seed: number): AgainstLaneByLane[] {
  return Array.from({ length: bids }, (_, nth) => {
    const plan = { seed: seed + nth, lanes: 60, rates: 15, regions: 4, seasonal: nth % 3 === 0 }
    const capsBind = nth % 2 === 0
    const bid = simulatedBid({ ...plan, capShare: capsBind ? 0.4 + 0.5 * ((nth % 20) / 20) : 1.6 })
    const found = chosenRates(bid, { casesMax: 15 })
    const { laneByLane } = found
    if (laneByLane === null) throw new Error('Not to bid is always possible here.')
    const truth = (places: readonly (number | null)[]) =>
      places.reduce<number>((sum, place, lane) => {
        const one = bid.lanes[lane]
        const rate = place === null ? undefined : one?.menu[place]
        if (one === undefined || rate === undefined) return sum
        const loads = one.tendered * one.loadsPerWeek * (one.lastWeek - one.firstWeek + 1)
        return sum + bid.trueAward(lane, rate.rateCents) * loads * (rate.rateCents - one.costCents)
      }, 0)
    const chosen = found.lanes.map(({ place }) => place)
    return {
      capsBind,
      more: found.marginCents / laneByLane.marginCents - 1,
      moreInTruth: truth(chosen) / truth(laneByLane.places) - 1,
    }
  })
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const BRUTE_BIDS = 1_000
const SIMULATED_BIDS = 200

/** The bars of the portfolio. Most of the time is that of 200 bids of 60 lanes. */
export function portfolioBars(seed: number): Bar[] {
  const check = 'portfolio, simulated'
  const started = performance.now()
  const large = chosenRates(simulatedBid({ seed, lanes: 5_000, rates: 15, regions: 15, capShare: 0.6 }), {
    isLate: () => performance.now() - started > 19_000,
  })
  const seconds = (performance.now() - started) / 1_000
  const compared = againstLaneByLane(SIMULATED_BIDS, seed)
  const bound = compared.filter(({ capsBind }) => capsBind)
  return [
    {
      check,
      measure: `small bids equal to brute force, of ${BRUTE_BIDS}`,
      value: sameAsBruteForce(BRUTE_BIDS),
      least: BRUTE_BIDS,
    },
    {
      check,
      measure: '5,000 lanes: share below the bound',
      value: 1 - large.marginCents / large.boundCents,
      most: 0.005,
    },
    { check, measure: '5,000 lanes: seconds', value: seconds, most: 20 },
    {
      check,
      measure: 'least gain over lane by lane',
      value: Math.min(...compared.map(({ more }) => more)),
      least: 0,
    },
    {
      check,
      measure: 'least gain where caps bind',
      value: Math.min(...bound.map(({ more }) => more)),
      least: 0.03,
    },
    {
      check,
      measure: 'mean gain at the true chances where caps bind',
      value: mean(bound.map(({ moreInTruth }) => moreInTruth)),
      least: 0.03,
    },
  ]
}

import type { Steps } from '../steps.ts'
import { type BestChoice, bestChoiceInSteps, type Stopping } from './best-choice.ts'
import {
  type BidLane,
  type BidLimits,
  type BidProblem,
  bidProblemInSteps,
  type Expected,
  type LimitRow,
} from './bid-lanes.ts'
import { type Certificate, certificateInSteps, exactBoundInSteps } from './certificate.ts'
import { addUses, isWithin, usedBy, worthOf } from './choice-problem.ts'

/** What a limit that binds costs: how much more margin one more unit of it would permit, at the margin. */
export interface LimitPrice {
  readonly limit: LimitRow
  /** The use of the limit by the chosen rates, in its units: thousandths of a load, or cents for the margin share. */
  readonly used: number
  /** Cents per load for loads; for the margin share, cents of margin per cent of margin that is missing. */
  readonly price: number
}

/** A lane in the portfolio. */
export interface ChosenLane extends Expected {
  readonly id: string
  /** The rate that is best for the lane alone; null: not to bid. Equal to `place` where no limit changed it. */
  readonly placeAlone: number | null
}

/** Rates for all lanes of a bid together. */
export interface Portfolio {
  readonly state: 'chosen'
  readonly lanes: readonly ChosenLane[]
  /** Sums over the lanes. */
  readonly marginCents: number
  readonly revenueCents: number
  /** Thousandths of a load of the term. */
  readonly termLoads: number
  /** No rates within the limits have a larger expected margin. Equal to `marginCents`: these are the best rates. */
  readonly boundCents: number
  /** What each lane's own best rate earns, with lanes left out until the limits hold. Null if that fails. */
  readonly laneByLane: { readonly places: readonly (number | null)[]; readonly marginCents: number } | null
  readonly prices: readonly LimitPrice[]
  readonly certificate: Certificate
}

/** No rates keep the limits, or none were found in time. */
export interface NoPortfolio {
  readonly state: 'impossible' | 'not_found'
  /** At most so many thousandths of a load can be expected within the limits other than the least loads. */
  readonly mostTermLoads: number
}

/** Cases that are examined, times the size of the problem: a second or two of work. The result does not depend on the machine. */
const WORK_MAX = 1_500_000
const CASES_MIN = 3

/** How long a bid is computed at most. Without `isLate`, only the work is limited. */
export interface PortfolioStopping {
  readonly isLate?: () => boolean
  readonly casesMax?: number
}

function stoppingFor(
  { problem }: BidProblem,
  { isLate = () => false, casesMax }: PortfolioStopping,
): Stopping {
  const size = problem.values.length + problem.uses.length
  return { isLate, casesMax: casesMax ?? Math.max(CASES_MIN, Math.floor(WORK_MAX / (size + 1))) }
}

/**
 * Chooses one rate for each lane of a bid, or not to bid it, so that the expected margin is the largest that the limits permit:
 * P(award) x P(tendered after award) x loads x (rate - cost), summed over the lanes. The loads of different lanes compete for
 * the caps, so the best rates together are not the best rates of each lane. The result has a bound, and a certificate from
 * which recipes/verify-portfolio.mjs verifies both without the service. docs/bids-portfolio.md describes the method.
 *
 * @throws RangeError for a lane or a limit that is not possible, with its name
 * @example finished(portfolioInSteps({ lanes, limits: { caps: [{ region: 'SE', loadsPerWeek: 20 }] } }))
 */
export function* portfolioInSteps(
  asked: { readonly lanes: readonly BidLane[]; readonly limits: BidLimits },
  stopping: PortfolioStopping = {},
): Steps<Portfolio | NoPortfolio> {
  const bid = yield* bidProblemInSteps(asked.lanes, asked.limits)
  const alone = bestAlone(bid)
  const start = laneByLane(bid, alone)
  const found = yield* bestChoiceInSteps(bid.problem, start ?? nothingBid(bid), stoppingFor(bid, stopping))
  if (found.chosen !== null)
    return yield* portfolioOf(asked, bid, { found: { ...found, chosen: found.chosen }, alone, start })
  return yield* whyNone(asked, stopping)
}

function nothingBid({ problem }: BidProblem): Int32Array<ArrayBuffer> {
  return problem.first.slice(1).map((end) => end - 1)
}

function bestAlone({ problem: { groups, first, values } }: BidProblem): Int32Array<ArrayBuffer> {
  return Int32Array.from({ length: groups }, (_, group) => {
    // Not to bid, unless a rate earns something. The lowest of equally good rates.
    let best = (first[group + 1] as number) - 1
    for (let choice = (first[group + 1] as number) - 2; choice >= (first[group] as number); choice--)
      if ((values[choice] as number) > 0 && (values[choice] as number) >= (values[best] as number))
        best = choice
    return best
  })
}

/**
 * Rates chosen lane by lane: each lane takes the rate with its largest expected margin. While a limit is exceeded, the lane is left out
 * that earns least for what it uses of the limit. Null if that does not lead to permitted rates.
 */
function laneByLane({ problem }: BidProblem, alone: Int32Array): Int32Array<ArrayBuffer> | null {
  const { first, limits, rowStart, groupRows, useStart, uses, values } = problem
  const chosen = Int32Array.from(alone)
  const used = usedBy(problem, chosen)
  for (let row = 0; row < limits.length; row++) {
    if ((used[row] as number) <= (limits[row] as number)) continue
    const candidates: { group: number; earned: number }[] = []
    for (let group = 0; group < problem.groups; group++) {
      const choice = chosen[group] as number
      for (let at = rowStart[group] as number; at < (rowStart[group + 1] as number); at++) {
        if (groupRows[at] !== row) continue
        const use = uses[(useStart[choice] as number) + at - (rowStart[group] as number)] as number
        if (use > 0) candidates.push({ group, earned: (values[choice] as number) / use })
      }
    }
    candidates.sort((one, other) => one.earned - other.earned)
    for (const { group } of candidates) {
      if ((used[row] as number) <= (limits[row] as number)) break
      addUses(problem, { group, choice: chosen[group] as number }, used, -1)
      chosen[group] = (first[group + 1] as number) - 1
    }
  }
  return isWithin(problem, used) ? chosen : null
}

function* portfolioOf(
  asked: { readonly lanes: readonly BidLane[]; readonly limits: BidLimits },
  bid: BidProblem,
  {
    found,
    alone,
    start,
  }: {
    readonly found: BestChoice & { readonly chosen: Int32Array<ArrayBuffer> }
    readonly alone: Int32Array
    readonly start: Int32Array | null
  },
): Steps<Portfolio> {
  const { problem, rows, expected } = bid
  const at = (chosen: Int32Array, lane: number) =>
    expected[lane]?.[(chosen[lane] as number) - (problem.first[lane] as number)] as Expected
  const lanes = asked.lanes.map(({ id }, lane) => ({
    id,
    ...at(found.chosen, lane),
    placeAlone: at(alone, lane).place,
  }))
  const sum = (of: (lane: Expected) => number) => lanes.reduce((total, lane) => total + of(lane), 0)
  const used = usedBy(problem, found.chosen)
  const certificate = yield* certificateInSteps(asked, bid, found)
  return {
    state: 'chosen',
    lanes,
    marginCents: found.value,
    revenueCents: sum(({ revenueCents }) => revenueCents),
    termLoads: sum(({ termLoads }) => termLoads),
    boundCents: certificate.boundCents,
    laneByLane:
      start === null
        ? null
        : {
            places: asked.lanes.map((_, lane) => at(start, lane).place),
            marginCents: worthOf(problem, start),
          },
    prices: rows.map((limit, row) => ({
      limit,
      used: used[row] as number,
      price: (found.prices[row] as number) * 1_000,
    })),
    certificate,
  }
}

/**
 * The most loads of the term, in thousandths, that rates within the limits can be expected to bring: a bound, without a least number of loads.
 *
 * @example finished(mostTermLoadsInSteps({ lanes, limits: { caps: [{ region: 'SE', loadsPerWeek: 20 }] } }))
 */
export function* mostTermLoadsInSteps(
  {
    lanes,
    limits: { loadsMin: _, ...limits },
  }: { readonly lanes: readonly BidLane[]; readonly limits: BidLimits },
  stopping: PortfolioStopping = {},
): Steps<number> {
  const bid = yield* bidProblemInSteps(lanes, limits, 'loads')
  const { proof } = yield* bestChoiceInSteps(bid.problem, nothingBid(bid), stoppingFor(bid, stopping))
  return yield* exactBoundInSteps(bid, proof)
}

function* whyNone(
  asked: { readonly lanes: readonly BidLane[]; readonly limits: BidLimits },
  stopping: PortfolioStopping,
): Steps<NoPortfolio> {
  const most = yield* mostTermLoadsInSteps(asked, stopping)
  const least = Math.ceil(1_000 * (asked.limits.loadsMin ?? 0))
  return { state: least > most ? 'impossible' : 'not_found', mostTermLoads: most }
}

/** A point of a frontier: the limit that was added, and the best rates within it. */
export interface FrontierPoint {
  readonly limits: BidLimits
  readonly marginCents: number
  readonly revenueCents: number
  readonly termLoads: number
  readonly boundCents: number
}

/**
 * The largest expected margin for each of several limits that are added to those of the bid, such as loads of the term or margin
 * shares. Points that are not possible are left out.
 *
 * @example finished(frontierInSteps({ lanes, limits }, [{ loadsMin: 500 }, { loadsMin: 600 }]))
 */
export function* frontierInSteps(
  { lanes, limits }: { readonly lanes: readonly BidLane[]; readonly limits: BidLimits },
  added: readonly BidLimits[],
  stopping: PortfolioStopping = {},
): Steps<FrontierPoint[]> {
  const points: FrontierPoint[] = []
  for (const more of added) {
    const all = { ...limits, ...more }
    const found = yield* portfolioInSteps({ lanes, limits: all }, stopping)
    if (found.state !== 'chosen') continue
    const { marginCents, revenueCents, termLoads, boundCents } = found
    points.push({ limits: all, marginCents, revenueCents, termLoads, boundCents })
  }
  return points
}

/**
 * The limits of a frontier of margin against loads: from half of the loads of the best rates to the most loads that the other limits
 * permit. Fewer loads than those of the best rates are a limit from above, more are one from below.
 *
 * @param bestTermLoads of the portfolio without these limits, in thousandths
 * @param mostTermLoads the most that is possible, in thousandths
 */
export function loadsFrontier(
  { bestTermLoads, mostTermLoads }: { readonly bestTermLoads: number; readonly mostTermLoads: number },
  points: number,
): BidLimits[] {
  const from = bestTermLoads / 2
  return Array.from({ length: points }, (_, nth) => {
    const loads = from + ((mostTermLoads - from) * nth) / (points - 1)
    return loads <= bestTermLoads
      ? { loadsMax: Math.floor(loads) / 1_000 }
      : { loadsMin: Math.floor(loads) / 1_000 }
  })
}

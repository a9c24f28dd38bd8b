import type { Steps } from '../steps.ts'
import { type ChoiceGroup, type ChoiceProblem, choiceProblemInSteps } from './choice-problem.ts'

/** A rate that may be bid on a lane, and the probability that the lane is awarded at it. */
export interface MenuRate {
  readonly rateCents: number
  readonly award: number
}

/** A lane of a bid, with the rates that may be bid. */
export interface BidLane {
  readonly id: string
  /** Whole cents per load. */
  readonly costCents: number
  /** The loads per week that the shipper states, in weeks `firstWeek` to `lastWeek` of the term. */
  readonly loadsPerWeek: number
  readonly firstWeek: number
  readonly lastWeek: number
  /** The share of awarded loads that the customer tenders: `tenderedShare` of engine/src/portfolio/ghost-lanes.ts. */
  readonly tendered: number
  /** The regions whose loads are capped, such as that of the origin. */
  readonly regions: readonly string[]
  /** By rate, lowest first. */
  readonly menu: readonly MenuRate[]
}

/** At most so many expected loads of a region in each week. */
export interface RegionCap {
  readonly region: string
  readonly loadsPerWeek: number
}

/** What the rates of a bid must keep. An absent limit does not apply. */
export interface BidLimits {
  readonly caps?: readonly RegionCap[]
  /** The expected margin of the whole bid is at least this share of its expected revenue, to a tenth of a percent. */
  readonly marginShareMin?: number
  /** No lane is bid at a rate whose margin is a smaller share of the rate. */
  readonly laneMarginShareMin?: number
  /** The expected loads of the whole term. */
  readonly loadsMin?: number
  readonly loadsMax?: number
}

/** Whole numbers of a lane at a rate. A lane that is not bid has zeros. */
export interface Expected {
  /** The place of the rate on the menu; null: the lane is not bid. */
  readonly place: number | null
  /** Thousandths of a load per week, and of the term. */
  readonly weekLoads: number
  readonly termLoads: number
  /** Cents of the term. */
  readonly revenueCents: number
  readonly marginCents: number
}

/** A margin share counts in tenths of a percent. */
const SHARES = 1_000
const MILLION = 1_000_000n
const LANES_PER_STEP = 50

const notBid: Expected = { place: null, weekLoads: 0, termLoads: 0, revenueCents: 0, marginCents: 0 }

/** Divides and rounds to the nearest whole number; half away from zero. */
function divided(amount: bigint, by: bigint): number {
  const size = amount < 0n ? -amount : amount
  const rounded = Number((2n * size + by) / (2n * by))
  return amount < 0n && rounded > 0 ? -rounded : rounded
}

const millionths = (share: number) => BigInt(Math.round(1e6 * share))

/**
 * What is expected of a lane at each rate of its menu, in whole numbers, and of not bidding it, which is the last entry. Rates below
 * the least margin share are left out. Probabilities count in millionths and loads in thousandths, and each amount is rounded once, so that another program can
 * compute the same numbers: loads = award x tendered x loads, revenue = award x tendered x loads of the term x rate, margin =
 * award x tendered x loads of the term x (rate - cost).
 *
 * @example
 * const menu = [{ rateCents: 120000, award: 0.5 }]
 * expectedOf({ ...lane, menu, costCents: 100000, loadsPerWeek: 2, firstWeek: 1, lastWeek: 10, tendered: 0.5 })[0]
 * // { place: 0, weekLoads: 500, termLoads: 5000, revenueCents: 600000, marginCents: 100000 }
 */
export function expectedOf(
  { costCents, loadsPerWeek, firstWeek, lastWeek, tendered, menu }: BidLane,
  { laneMarginShareMin }: BidLimits = {},
): Expected[] {
  const loads = BigInt(Math.round(1_000 * loadsPerWeek))
  const weeks = BigInt(lastWeek - firstWeek + 1)
  const share = millionths(tendered)
  const found = menu.flatMap(({ rateCents, award }, place): Expected[] => {
    const tooLow =
      laneMarginShareMin !== undefined &&
      SHARES * (rateCents - costCents) < Math.round(SHARES * laneMarginShareMin) * rateCents
    if (tooLow) return []
    const expected = millionths(award) * share * loads
    const term = expected * weeks
    return [
      {
        place,
        weekLoads: divided(expected, MILLION * MILLION),
        termLoads: divided(term, MILLION * MILLION),
        revenueCents: divided(term * BigInt(rateCents), 1_000n * MILLION * MILLION),
        marginCents: divided(term * BigInt(rateCents - costCents), 1_000n * MILLION * MILLION),
      },
    ]
  })
  return [...found, notBid]
}

/** A row of the problem in the words of the bid. */
export type LimitRow =
  | {
      readonly kind: 'region'
      readonly region: string
      readonly weeks: readonly number[]
      readonly limit: number
    }
  | { readonly kind: 'loads_max' | 'loads_min' | 'margin_share'; readonly limit: number }

/** A bid as a problem of choices. */
export interface BidProblem {
  readonly problem: ChoiceProblem
  readonly rows: readonly LimitRow[]
  /** What is expected of each lane, by choice: its rates, and not bidding it. */
  readonly expected: readonly (readonly Expected[])[]
}

/** What the bid maximizes: its expected margin; or its expected loads, to find out how many are possible. */
export type BidGoal = 'margin' | 'loads'

/**
 * Writes a bid as a problem of choices. A cap has a row for each week, but weeks in which the same lanes run share one, and a cap that
 * even the most loads keep has none.
 *
 * @throws RangeError for a lane or a limit that is not possible, with its name
 */
export function* bidProblemInSteps(
  lanes: readonly BidLane[],
  limits: BidLimits,
  goal: BidGoal = 'margin',
): Steps<BidProblem> {
  for (const lane of lanes) checkLane(lane)
  const expected: Expected[][] = []
  for (const lane of lanes) {
    expected.push(expectedOf(lane, limits))
    if (expected.length % LANES_PER_STEP === 0) yield
  }
  const rows: LimitRow[] = []
  const rowsOfLane: number[][] = lanes.map(() => [])
  for (const cap of limits.caps ?? []) {
    capRows(lanes, expected, cap, { rows, rowsOfLane })
    yield
  }
  const everywhere: number[] = []
  const add = (row: LimitRow) => everywhere.push(rows.push(row) - 1)
  const { loadsMax, loadsMin, marginShareMin } = limits
  if (loadsMax !== undefined)
    add({ kind: 'loads_max', limit: Math.floor(1_000 * atLeastZero('loadsMax', loadsMax)) })
  if (loadsMin !== undefined)
    add({ kind: 'loads_min', limit: -Math.ceil(1_000 * atLeastZero('loadsMin', loadsMin)) })
  const share = Math.round(SHARES * (marginShareMin ?? 0))
  if (marginShareMin !== undefined) add({ kind: 'margin_share', limit: 0 })
  const useOf = (row: LimitRow, one: Expected) => {
    switch (row.kind) {
      case 'region':
        return one.weekLoads
      case 'loads_max':
        return one.termLoads
      case 'loads_min':
        return -one.termLoads
      case 'margin_share':
        return share * one.revenueCents - SHARES * one.marginCents
    }
  }
  const groupAt = (nth: number): ChoiceGroup => {
    const own = [...(rowsOfLane[nth] ?? []), ...everywhere]
    return {
      rows: own,
      choices: (expected[nth] ?? []).map((one) => ({
        value: goal === 'margin' ? one.marginCents : one.termLoads,
        uses: own.map((row) => useOf(rows[row] as LimitRow, one)),
      })),
    }
  }
  const packed = choiceProblemInSteps(
    lanes.length,
    groupAt,
    rows.map(({ limit }) => limit),
  )
  return { problem: yield* packed, rows, expected }
}

function capRows(
  lanes: readonly BidLane[],
  expected: readonly (readonly Expected[])[],
  { region, loadsPerWeek }: RegionCap,
  to: { readonly rows: LimitRow[]; readonly rowsOfLane: number[][] },
): void {
  const limit = Math.floor(1_000 * atLeastZero(`The cap of ${region}`, loadsPerWeek))
  const members = lanes.flatMap((lane, nth) => (lane.regions.includes(region) ? [{ lane, nth }] : []))
  const boundaries = new Set(members.flatMap(({ lane }) => [lane.firstWeek, lane.lastWeek + 1]))
  const starts = [...boundaries].sort((one, other) => one - other)
  const seen = new Map<string, { weeks: number[]; running: number[] }>()
  for (const [at, start] of starts.entries()) {
    const running = members.flatMap(({ lane, nth }) =>
      lane.firstWeek <= start && lane.lastWeek >= start ? [nth] : [],
    )
    const most = running.reduce(
      (sum, nth) => sum + Math.max(...(expected[nth] ?? []).map(({ weekLoads }) => weekLoads)),
      0,
    )
    if (most <= limit) continue
    const key = running.join()
    const weeks = Array.from({ length: (starts[at + 1] ?? start + 1) - start }, (_, more) => start + more)
    const same = seen.get(key)
    if (same === undefined) seen.set(key, { weeks, running })
    else same.weeks.push(...weeks)
  }
  for (const { weeks, running } of seen.values()) {
    const row = to.rows.push({ kind: 'region', region, weeks, limit }) - 1
    for (const nth of running) to.rowsOfLane[nth]?.push(row)
  }
}

function atLeastZero(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 0) return value
  throw new RangeError(`${name} is ${value}; it must be 0 or more.`)
}

/** The largest loads per week and number of weeks of a lane, and rates of its menu. Larger ones are typos. */
export const BID_LIMITS = { loadsPerWeek: 10_000, weeks: 520, rates: 100 } as const

function checkLane(lane: BidLane): void {
  const wrong = (what: string) => {
    throw new RangeError(`Lane ${lane.id}: ${what}`)
  }
  const isShare = (value: number) => value >= 0 && value <= 1
  if (!isShare(lane.tendered)) wrong(`tendered is ${lane.tendered}; it must be from 0 to 1.`)
  if (!(lane.loadsPerWeek >= 0 && lane.loadsPerWeek <= BID_LIMITS.loadsPerWeek))
    wrong(`loadsPerWeek is ${lane.loadsPerWeek}; it must be from 0 to ${BID_LIMITS.loadsPerWeek}.`)
  const weeks = lane.lastWeek - lane.firstWeek + 1
  const areWeeks = Number.isInteger(lane.firstWeek) && Number.isInteger(lane.lastWeek)
  if (!(areWeeks && weeks >= 1 && weeks <= BID_LIMITS.weeks))
    wrong(`weeks ${lane.firstWeek} to ${lane.lastWeek}; there must be 1 to ${BID_LIMITS.weeks} whole weeks.`)
  if (!Number.isInteger(lane.costCents) || lane.costCents < 0)
    wrong(`costCents is ${lane.costCents}; it must be whole cents, 0 or more.`)
  if (lane.menu.length > BID_LIMITS.rates)
    wrong(`the menu has ${lane.menu.length} rates; at most ${BID_LIMITS.rates} are possible.`)
  let before = 0
  for (const { rateCents, award } of lane.menu) {
    if (!Number.isInteger(rateCents) || rateCents <= before)
      wrong(`rateCents is ${rateCents} after ${before}; rates must be whole cents above 0, lowest first.`)
    if (!isShare(award)) wrong(`award is ${award}; it must be from 0 to 1.`)
    before = rateCents
  }
}

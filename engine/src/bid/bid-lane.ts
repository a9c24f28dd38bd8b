import type { Outside } from '../rules/pricing-rules.ts'

/** A rate in cents, the chance to win at it, and the ends of its 80 % interval. */
export type CurvePoint = readonly [rateCents: number, probability: number, low: number, high: number]

/** What an appraisal says about a lane of a bid, whatever its rate. Amounts are cents per load. */
export interface PricedLane {
  /** The rate to quote: the target of the rules, else the best rate, else the going rate. Null if nothing is known. */
  readonly suggestedCents: number | null
  /** Null if unknown. */
  readonly costCents: number | null
  /** The range of the cost four weeks ahead, the longest time that past errors say something about. */
  readonly costLowCents: number | null
  readonly costHighCents: number | null
  /** The market rate of the lane; null if none is stored. */
  readonly marketCents: number | null
  /** The lowest rate that the rules allow; null without one. */
  readonly minimumCents: number | null
  /** What the rules do with a rate below the minimum. Absent without one, and in prices of earlier versions, which warn. */
  readonly belowMinimum?: Outside | null
  readonly miles: number | null
  /** The equipment that it was priced for: that of the lane, else the most quoted one of its city pair. */
  readonly equipment: string | null
  /** Where the chance comes from: quotes of this lane, or of others. */
  readonly scope: 'lane' | 'borrowed' | 'none'
  /** Decided contract quotes of the lane. */
  readonly decided: number
  readonly reasons: readonly string[]
  /** The chance at some rates, in rising order. Empty if it is not known. */
  readonly curve: readonly CurvePoint[]
}

/** A lane as its sums are computed. */
export interface BidLane {
  readonly lane: number
  readonly originState: string | null
  readonly destinationState: string | null
  readonly equipment: string | null
  /** Loads over the contract; null if the shipper does not say. */
  readonly loads: number | null
  /** The rate that the shipper names; null without one. */
  readonly targetCents?: number | null
  readonly rateCents: number | null
  readonly priced: PricedLane | null
}

export interface Chance {
  readonly probability: number
  readonly low: number
  readonly high: number
}

/** The rates, relative to a middle, at which the chance of a lane is kept: nine, 7 % apart. */
export const curveSteps: readonly number[] = Array.from({ length: 9 }, (_, at) => 0.72 + 0.07 * at)

/**
 * The chance at a rate: straight between the points of a curve, and beyond them that of the last point. Every page, preview and sum
 * takes it from here, so that they cannot differ. Null without a curve.
 *
 * @example chanceAt([[100000, 0.6, 0.5, 0.7], [110000, 0.4, 0.3, 0.5]], 105000)?.probability // 0.5
 */
export function chanceAt(curve: readonly CurvePoint[], rateCents: number): Chance | null {
  const above = curve.findIndex(([cents]) => cents >= rateCents)
  const upper = above < 0 ? curve.at(-1) : curve[above]
  if (upper === undefined) return null
  const lower = above > 0 ? (curve[above - 1] ?? upper) : upper
  const share = upper[0] === lower[0] ? 0 : (rateCents - lower[0]) / (upper[0] - lower[0])
  const between = (at: 1 | 2 | 3) => rounded(lower[at] + share * (upper[at] - lower[at]))
  return { probability: between(1), low: between(2), high: between(3) }
}

const rounded = (share: number) => Math.round(share * 1e4) / 1e4

/** The figures of a lane over the contract, in whole cents; null where something is not known. */
export interface LaneFigures {
  readonly chance: Chance | null
  readonly revenueCents: number | null
  readonly costCents: number | null
  readonly marginCents: number | null
  /** The margin times the chance, rounded to a cent: sums are sums of these. */
  readonly expectedMarginCents: number | null
  readonly isBelowMinimum: boolean
}

/** Whether a rate is below the minimum of the rules. */
function isBelowMinimum(rateCents: number | null, priced: PricedLane | null): boolean {
  const minimum = priced?.minimumCents ?? null
  return rateCents !== null && minimum !== null && rateCents < minimum
}

/**
 * What the rules demand at a rate: an approval, or another rate (`block`). Null if they allow it, or only warn.
 *
 * @example outsideAt(150000, { ...priced, minimumCents: 171380, belowMinimum: 'approval' }) // 'approval'
 */
export function outsideAt(
  rateCents: number | null,
  priced: PricedLane | null,
): Exclude<Outside, 'warn'> | null {
  const below = priced?.belowMinimum ?? 'warn'
  return below !== 'warn' && isBelowMinimum(rateCents, priced) ? below : null
}

/**
 * The figures of a lane at its rate.
 *
 * @example laneFigures({ ...lane, loads: 52, rateCents: 210000 }).revenueCents // 10920000
 */
export function laneFigures({
  loads,
  rateCents,
  priced,
}: Pick<BidLane, 'loads' | 'rateCents' | 'priced'>): LaneFigures {
  const chance = rateCents === null || priced === null ? null : chanceAt(priced.curve, rateCents)
  const cost = priced?.costCents ?? null
  const times = (cents: number | null) => (cents === null || loads === null ? null : cents * loads)
  const marginCents = rateCents === null || cost === null ? null : times(rateCents - cost)
  return {
    chance,
    revenueCents: times(rateCents),
    costCents: times(cost),
    marginCents,
    expectedMarginCents:
      marginCents === null || chance === null ? null : Math.round(chance.probability * marginCents),
    isBelowMinimum: isBelowMinimum(rateCents, priced),
  }
}

/** The sums of a bid. Each amount is the sum of its lanes, to the cent; a lane whose figure is not known adds nothing. */
export interface BidTotals {
  readonly lanes: number
  readonly priced: number
  readonly rated: number
  /** Lanes without loads: they add nothing to the amounts. */
  readonly withoutLoads: number
  readonly loads: number
  readonly revenueCents: number
  readonly costCents: number
  readonly marginCents: number
  readonly expectedMarginCents: number
  /** The expected share of the loads of lanes with a chance that is won; null without one. */
  readonly expectedShare: number | null
  readonly belowMinimum: number
  /** Lanes whose rate is below their expected cost. */
  readonly belowCost: number
}

/**
 * The sums of lanes.
 *
 * @example bidTotals(lanes).revenueCents // the sum of laneFigures(lane).revenueCents
 */
export function bidTotals(lanes: Iterable<Pick<BidLane, 'loads' | 'rateCents' | 'priced'>>): BidTotals {
  const sum = {
    lanes: 0,
    priced: 0,
    rated: 0,
    withoutLoads: 0,
    loads: 0,
    revenueCents: 0,
    costCents: 0,
    marginCents: 0,
    expectedMarginCents: 0,
    belowMinimum: 0,
    belowCost: 0,
  }
  let [won, chanced] = [0, 0]
  for (const lane of lanes) {
    const figures = laneFigures(lane)
    const { loads, rateCents, priced } = lane
    sum.lanes++
    if (priced !== null) sum.priced++
    if (rateCents !== null) sum.rated++
    if (loads === null) sum.withoutLoads++
    sum.loads += loads ?? 0
    sum.revenueCents += figures.revenueCents ?? 0
    // The cost of lanes with a rate, so that revenue less cost is the margin of the same lanes where both are known.
    if (rateCents !== null) sum.costCents += figures.costCents ?? 0
    sum.marginCents += figures.marginCents ?? 0
    sum.expectedMarginCents += figures.expectedMarginCents ?? 0
    if (figures.isBelowMinimum) sum.belowMinimum++
    if (rateCents !== null && priced?.costCents != null && rateCents < priced.costCents) sum.belowCost++
    if (figures.chance !== null) {
      won += figures.chance.probability * (loads ?? 0)
      chanced += loads ?? 0
    }
  }
  return { ...sum, expectedShare: chanced === 0 ? null : rounded(won / chanced) }
}

import { prepareEstimator } from '#engine/estimate/estimator.ts'
import type { LaneIdentity } from '#engine/quotes/lane-identity.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import type { Bar } from './bar.ts'
import { type EstimateQuality, estimateQuality } from './estimate-quality.ts'
import { normal } from './simulation.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 1)
const DAYS = 120

/** How a simulated brokerage loses quotes, and what it says about it. */
export interface OtherLossesPlan {
  readonly name: string
  readonly seed: number
  readonly quotes: number
  /** The share of quotes that are lost for other reasons than the price. */
  readonly share: number
  /** How lanes differ: every other lane loses `1 + differing` times the share, the others `1 - differing` times. */
  readonly differing: number
  /** The share of such losses with their reason; the others have none. */
  readonly labeled: number
  /** The share of losses about the price that have another reason. */
  readonly mislabeled: number
}

interface TrueLane {
  readonly identity: LaneIdentity
  readonly logMarket: number
  readonly level: number
  readonly steepness: number
  readonly share: number
}

function simulatedLanes(plan: OtherLossesPlan, random: () => number): TrueLane[] {
  const tenant = { level: 0.5 + 0.5 * normal(random), logSteepness: Math.log(9) + 0.3 * normal(random) }
  const pairs = Array.from({ length: 6 }, () => tenant.level + 0.5 * normal(random))
  return Array.from({ length: 30 }, (_, n) => ({
    identity: {
      key: `lane ${n}`,
      scopes: [
        { name: 'region', key: `region ${n % 3}` },
        { name: 'state_pair', key: `pair ${n % 6}` },
      ],
      costKeys: [],
    },
    logMarket: Math.log(200_000) + 0.2 * normal(random),
    level: (pairs[n % 6] as number) + 0.5 * normal(random),
    steepness: Math.exp(tenant.logSteepness + 0.2 * normal(random)),
    share: plan.share * (n % 2 === 0 ? 1 + plan.differing : 1 - plan.differing),
  }))
}

const chanceOf = ({ level, steepness, share }: TrueLane, x: number) =>
  (1 - share) / (1 + Math.exp(steepness * x - level))

function simulatedQuotes(
  plan: OtherLossesPlan,
  lanes: readonly TrueLane[],
  random: () => number,
): LaneQuote[] {
  return Array.from({ length: plan.quotes }, (_, n) => {
    const lane = lanes[Math.floor(random() ** 1.5 * lanes.length)] as TrueLane
    const x = 0.08 * normal(random)
    const [other, won, label] = [
      random() < lane.share,
      random() < chanceOf({ ...lane, share: 0 }, x),
      random(),
    ]
    return {
      quoteId: n + 1,
      rateCents: Math.round(Math.exp(lane.logMarket + x)),
      costCents: null,
      outcome: won && !other ? 'won' : 'lost',
      otherReason: other ? label < plan.labeled : !won && label < plan.mislabeled,
      quotedAt: NOW - (1 + Math.floor(random() * DAYS)) * DAY,
      miles: null,
      lane: lane.identity,
    }
  })
}

/** Estimates of one brokerage with the reasons and without them, compared with the truth. */
export interface ReasonsCompared {
  readonly withReasons: EstimateQuality
  readonly without: EstimateQuality
}

/** Simulates brokerages, and compares estimates with the reasons and without them with the truth. */
export function checkOtherLosses(plan: OtherLossesPlan, brokerages: number): ReasonsCompared[] {
  return Array.from({ length: brokerages }, (_, n) => {
    const random = seededNumbers(plan.seed + n)
    const lanes = simulatedLanes(plan, random)
    const quotes = simulatedQuotes(plan, lanes, random)
    const truths = lanes.map((lane) => ({ ...lane, chanceAt: (x: number) => chanceOf(lane, x) }))
    const unlabeled = quotes.map((quote) => ({ ...quote, otherReason: false }))
    const qualityOf = (of: LaneQuote[]) => estimateQuality(prepareEstimator({ quotes: of, now: NOW }), truths)
    return { withReasons: qualityOf(quotes), without: qualityOf(unlabeled) }
  })
}

/** The mean over the brokerages of a measure with the reasons minus without them, and its standard error. */
export function differenceOf(
  found: readonly ReasonsCompared[],
  measure: keyof EstimateQuality,
): { readonly mean: number; readonly standardError: number } {
  const differences = found.map(({ withReasons, without }) => withReasons[measure] - without[measure])
  const count = differences.length
  const mean = differences.reduce((sum, one) => sum + one, 0) / count
  const squares = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0)
  return { mean, standardError: Math.sqrt(squares / (count - 1) / count) }
}

const usualPlan = { quotes: 800, share: 0.15, differing: 0.4 }

/** Reasons that are right, wrong in part, and all wrong. */
export const otherLossesPlans: readonly OtherLossesPlan[] = [
  { name: 'no reasons', seed: 1, ...usualPlan, labeled: 0, mislabeled: 0 },
  { name: 'right', seed: 1_000, ...usualPlan, labeled: 1, mislabeled: 0 },
  { name: 'a third wrong', seed: 2_000, ...usualPlan, labeled: 2 / 3, mislabeled: 1 / 3 },
  {
    name: 'all about price, all say no response',
    seed: 4_000,
    ...usualPlan,
    share: 0,
    labeled: 1,
    mislabeled: 1,
  },
  { name: 'right, few quotes', seed: 5_000, ...usualPlan, quotes: 120, labeled: 1, mislabeled: 0 },
  {
    name: 'a third wrong, few quotes',
    seed: 6_000,
    ...usualPlan,
    quotes: 120,
    labeled: 2 / 3,
    mislabeled: 1 / 3,
  },
  {
    name: 'right, only on every other lane',
    seed: 7_000,
    ...usualPlan,
    differing: 1,
    labeled: 1,
    mislabeled: 0,
  },
]

/** The bars of the plans: reasons must not make the estimate worse, also if many are wrong. */
export function otherLossesBars(brokerages: number): Bar[] {
  return otherLossesPlans.flatMap((plan): Bar[] => {
    const found = checkOtherLosses(plan, brokerages)
    const check = `simulated losses, ${plan.name}`
    const [logLoss, earned] = [differenceOf(found, 'logLoss'), differenceOf(found, 'earned')]
    const worded = (what: string, { standardError }: typeof logLoss) =>
      `${what}, with reasons minus without (standard error ${standardError.toFixed(4)})`
    // With a third wrong, reasons must still be better than none. Elsewhere, chance may explain that they look worse.
    const errors = plan.name === 'a third wrong' ? 0 : 2
    return [
      {
        check,
        measure: worded('log loss', logLoss),
        value: logLoss.mean,
        most: errors * logLoss.standardError,
      },
      {
        check,
        measure: worded('share of the best margin', earned),
        value: earned.mean,
        least: -errors * earned.standardError,
      },
    ]
  })
}

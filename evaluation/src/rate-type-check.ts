import { type Estimator, prepareEstimator } from '#engine/estimate/estimator.ts'
import type { LaneIdentity } from '#engine/estimate/lane-identity.ts'
import type { LaneQuote } from '#engine/estimate/quoted-lanes.ts'
import { estimatorsByType } from '#engine/estimate/rate-type-estimators.ts'
import { type RateType, rateTypes } from '#engine/rate-type.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import type { Bar } from './bar.ts'
import { type EstimateQuality, estimateQuality } from './estimate-quality.ts'
import { normal } from './simulation.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 1)
const DAYS = 120

/** How contract quotes differ from spot quotes in a simulated brokerage. */
export interface RateTypePlan {
  readonly name: string
  readonly seed: number
  readonly spot: number
  readonly contract: number
  /** ln of contract rates divided by spot rates: the usual difference, and the standard deviation of lanes around it. */
  readonly offset: number
  readonly offsetSpread: number
  /** The difference of levels in log odds, and the factor of steepness. */
  readonly level: number
  readonly steeper: number
}

/** How an estimate is made: of all quotes together, of those of the type alone, or of those with what they borrow. */
export const waysToEstimate = ['one pool', 'apart', 'borrowing'] as const
export type WayToEstimate = (typeof waysToEstimate)[number]

interface TrueLane {
  readonly identity: LaneIdentity
  readonly of: Readonly<
    Record<RateType, { readonly logMarket: number; readonly a: number; readonly steepness: number }>
  >
}

function simulatedLanes(plan: RateTypePlan, random: () => number): TrueLane[] {
  const tenant = { a: 0.3 + 0.5 * normal(random), b: Math.log(9) + 0.3 * normal(random) }
  const pairs = Array.from({ length: 6 }, () => tenant.a + 0.5 * normal(random))
  return Array.from({ length: 30 }, (_, n) => {
    const pair = n % pairs.length
    const level = (pairs[pair] as number) + 0.5 * normal(random)
    const steepness = Math.exp(tenant.b + 0.2 * normal(random))
    const logMarket = Math.log(200_000) + 0.2 * normal(random)
    const difference = plan.offset + plan.offsetSpread * normal(random)
    return {
      identity: {
        key: `lane ${n}`,
        scopes: [
          { name: 'region', key: `region ${pair % 3}` },
          { name: 'state_pair', key: `pair ${pair}` },
        ],
        costKeys: [],
      },
      of: {
        spot: { logMarket, a: level, steepness },
        contract: {
          logMarket: logMarket + difference,
          a: level + plan.level,
          steepness: steepness * plan.steeper,
        },
      },
    }
  })
}

const chanceOf = ({ a, steepness }: { a: number; steepness: number }, x: number) =>
  1 / (1 + Math.exp(steepness * x - a))

function simulatedQuotes(plan: RateTypePlan, lanes: readonly TrueLane[], random: () => number): LaneQuote[] {
  const quotes: LaneQuote[] = []
  for (const rateType of rateTypes) {
    for (let n = 0; n < plan[rateType]; n++) {
      const lane = lanes[Math.floor(random() ** 1.5 * lanes.length)] as TrueLane
      const x = 0.08 * normal(random)
      quotes.push({
        laneId: quotes.length + 1,
        rateCents: Math.round(Math.exp(lane.of[rateType].logMarket + x)),
        costCents: null,
        outcome: random() < chanceOf(lane.of[rateType], x) ? 'won' : 'lost',
        quotedAt: NOW - (1 + Math.floor(random() * DAYS)) * DAY,
        miles: null,
        lane: lane.identity,
        rateType,
      })
    }
  }
  return quotes
}

/** The quality of an estimator for a rate type, over all lanes. */
function measured(estimator: Estimator, lanes: readonly TrueLane[], rateType: RateType): EstimateQuality {
  return estimateQuality(
    estimator,
    lanes.map(({ identity, of: { [rateType]: truth } }) => ({
      identity,
      logMarket: truth.logMarket,
      chanceAt: (x: number) => chanceOf(truth, x),
    })),
  )
}

type Compared = Record<RateType, Record<WayToEstimate, EstimateQuality>>

const noQualities = (): Record<RateType, Record<WayToEstimate, { logLoss: number; earned: number }>> => {
  const none = () => ({ logLoss: 0, earned: 0 })
  const ways = () => ({ 'one pool': none(), apart: none(), borrowing: none() })
  return { spot: ways(), contract: ways() }
}

/** Simulates brokerages, and compares the three ways to estimate with the truth, for each rate type: one result per brokerage. */
function simulated(plan: RateTypePlan, brokerages: number): Compared[] {
  return Array.from({ length: brokerages }, (_, n) => {
    const found = noQualities()
    const random = seededNumbers(plan.seed + n)
    const lanes = simulatedLanes(plan, random)
    const quotes = simulatedQuotes(plan, lanes, random)
    const together = prepareEstimator({ quotes, now: NOW })
    const both = estimatorsByType({ quotes, now: NOW })
    for (const rateType of rateTypes) {
      const own = quotes.filter((quote) => quote.rateType === rateType)
      const ways: Record<WayToEstimate, Estimator | null> = {
        'one pool': together,
        apart: prepareEstimator({ quotes: own, now: NOW }),
        borrowing: both[rateType],
      }
      for (const way of waysToEstimate) {
        const estimator = ways[way]
        if (estimator === null) throw new Error('Each simulated brokerage has quotes of both types.')
        found[rateType][way] = measured(estimator, lanes, rateType)
      }
    }
    return found
  })
}

function meansOf(all: readonly Compared[]): Compared {
  const means = noQualities()
  for (const one of all)
    for (const rateType of rateTypes)
      for (const way of waysToEstimate) {
        means[rateType][way].logLoss += one[rateType][way].logLoss / all.length
        means[rateType][way].earned += one[rateType][way].earned / all.length
      }
  return means
}

/** The means over simulated brokerages. */
export function checkRateTypes(plan: RateTypePlan, brokerages: number): Compared {
  return meansOf(simulated(plan, brokerages))
}

/** The standard error of a mean. @example standardErrorOf([1, 3]) // 1 */
function standardErrorOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return Math.sqrt(squares / (values.length - 1) / values.length)
}

/** No difference, a known difference with enough quotes of both, and the same with few contract quotes. */
export const rateTypePlans: readonly RateTypePlan[] = [
  {
    name: 'no difference',
    seed: 500,
    spot: 600,
    contract: 200,
    offset: 0,
    offsetSpread: 0,
    level: 0,
    steeper: 1,
  },
  {
    name: 'contract 10 % lower and steeper',
    seed: 600,
    spot: 600,
    contract: 300,
    offset: Math.log(0.9),
    offsetSpread: 0.04,
    level: 0,
    steeper: 1.6,
  },
  {
    name: 'the same, contract rare',
    seed: 700,
    spot: 800,
    contract: 40,
    offset: Math.log(0.9),
    offsetSpread: 0.04,
    level: 0,
    steeper: 1.6,
  },
]

/**
 * The bars of the three plans: borrowing must not be worse than either other way where the types differ. A difference from one pool
 * that must not be above zero can be zero, as for spot quotes beside few contract quotes. Then half of all samples are above zero, so
 * this bar is about the difference less two standard errors: what is surely worse.
 */
export function rateTypeBars(brokerages: number): Bar[] {
  return rateTypePlans.flatMap((plan) => {
    const all = simulated(plan, brokerages)
    const found = meansOf(all)
    return rateTypes.flatMap((rateType): Bar[] => {
      const { 'one pool': onePool, apart, borrowing } = found[rateType]
      const check = `simulated ${rateType} quotes, ${plan.name}`
      const isSame = plan.offset === 0
      return [
        {
          check,
          measure: 'log loss, borrowing minus apart',
          value: borrowing.logLoss - apart.logLoss,
          most: rateType === 'spot' ? 0.001 : 0,
        },
        isSame
          ? {
              check,
              measure: 'log loss, borrowing minus one pool',
              value: borrowing.logLoss - onePool.logLoss,
              most: 0.02,
            }
          : {
              check,
              measure: 'log loss, borrowing minus one pool, less two standard errors',
              value:
                borrowing.logLoss -
                onePool.logLoss -
                2 *
                  standardErrorOf(
                    all.map(({ [rateType]: one }) => one.borrowing.logLoss - one['one pool'].logLoss),
                  ),
              most: 0,
            },
        {
          check,
          measure: 'share of the best margin, borrowing minus apart',
          value: borrowing.earned - apart.earned,
          least: -0.02,
        },
      ]
    })
  })
}

import { type Estimator, prepareEstimator } from '#engine/estimate/estimator.ts'
import { estimatorsByType } from '#engine/estimate/rate-type-estimators.ts'
import type { LaneIdentity } from '#engine/quotes/lane-identity.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { type RateType, rateTypes } from '#engine/rate-type.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import type { Bar } from './bar.ts'
import { type EstimateQuality, estimateQuality } from './estimate-quality.ts'
import { normal } from './simulation.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 1)
const DAYS = 120

/** A simulated brokerage whose contract quotes differ from its spot quotes. */
export interface RateTypePlan {
  readonly name: string
  readonly seed: number
  readonly spot: number
  readonly contract: number
  /** ln of contract rates divided by spot rates: the usual difference, and the standard deviation of lanes around it. */
  readonly offset: number
  readonly offsetSpread: number
  /** The contract win curves: added log odds, and a factor of the steepness. */
  readonly level: number
  readonly steeper: number
}

/** The quotes behind an estimate: all together, those of its rate type alone, or those with what they borrow from the other type. */
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
        quoteId: quotes.length + 1,
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

/** The quality of the estimates of a rate type. */
function measured(estimator: Estimator, lanes: readonly TrueLane[], rateType: RateType): EstimateQuality {
  const truths = lanes.map(({ identity, of }) => {
    const truth = of[rateType]
    return { identity, logMarket: truth.logMarket, chanceAt: (x: number) => chanceOf(truth, x) }
  })
  return estimateQuality(estimator, truths)
}

/** Simulates brokerages, and compares the three ways to estimate with the truth, for each rate type. */
export function checkRateTypes(
  plan: RateTypePlan,
  brokerages: number,
): Record<RateType, Record<WayToEstimate, EstimateQuality>> {
  const sums = Object.fromEntries(
    rateTypes.map((rateType) => [
      rateType,
      Object.fromEntries(waysToEstimate.map((way) => [way, { logLoss: 0, earned: 0 }])),
    ]),
  ) as Record<RateType, Record<WayToEstimate, { logLoss: number; earned: number }>>
  for (let n = 0; n < brokerages; n++) {
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
        const { logLoss, earned } = measured(estimator, lanes, rateType)
        sums[rateType][way].logLoss += logLoss / brokerages
        sums[rateType][way].earned += earned / brokerages
      }
    }
  }
  return sums
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

/** The limits for the plans: where spot and contract differ, borrowing must be about as good as both other ways. */
export function rateTypeBars(brokerages: number): Bar[] {
  return rateTypePlans.flatMap((plan) => {
    const found = checkRateTypes(plan, brokerages)
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
        {
          check,
          measure: 'log loss, borrowing minus one pool',
          value: borrowing.logLoss - onePool.logLoss,
          most: isSame ? 0.02 : 0,
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

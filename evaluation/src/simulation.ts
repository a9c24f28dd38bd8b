import { prepareEstimator } from '#engine/estimate/estimator.ts'
import { intervalCurve, intervalsAt } from '#engine/estimate/interval.ts'
import { lanePosterior } from '#engine/estimate/lane-posterior.ts'
import { referenceRateCents } from '#engine/estimate/lane-reference.ts'
import { winMean } from '#engine/estimate/posterior.ts'
import { relativeRate } from '#engine/estimate/price-response.ts'
import type { LaneIdentity } from '#engine/quotes/lane-identity.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 1)

/** A random number from the standard normal distribution. */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** A simulated lane with its true win probabilities. */
export interface SimulatedLane {
  readonly identity: LaneIdentity
  readonly decided: number
  /** The true win probability today at `logRate` = ln(rate in cents). */
  readonly truth: (logRate: number) => number
  /** ln of today's true market rate in cents. */
  readonly logMarket: number
}

export interface SimulatedTenant {
  readonly now: number
  readonly quotes: readonly LaneQuote[]
  readonly lanes: readonly SimulatedLane[]
}

export interface SimulationPlan {
  readonly seed: number
  /** Numbers of decided quotes per lane, used cyclically. */
  readonly laneSizes: readonly number[]
  readonly days: number
  /** `logistic` is the model's own form; `probit` has lighter tails. */
  readonly shape: 'logistic' | 'probit'
}

/** The normal distribution function, by Abramowitz and Stegun 26.2.17 (error below 7.5e-8). */
function normalBelow(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const tail =
    0.3989422804 *
    Math.exp((-z * z) / 2) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return z > 0 ? 1 - tail : tail
}

/**
 * Simulates a broker with three region pairs, three state pairs in each, and eight lanes per state pair. Rates vary
 * by 8 % around a market rate that follows a random walk (0.4 % per day). Each lane has a decreasing win curve that
 * the broker does not know.
 */
export function simulateTenant(plan: SimulationPlan): SimulatedTenant {
  const random = seededNumbers(plan.seed)
  const walk: number[] = [0]
  for (let d = 1; d <= plan.days; d++) walk.push((walk[d - 1] ?? 0) + 0.004 * normal(random))
  const tenant = { a: 0.5 + 1.5 * normal(random), b: Math.log(8) + 0.7 * normal(random) }
  const quotes: LaneQuote[] = []
  const lanes: SimulatedLane[] = []
  for (let region = 0; region < 3; region++) {
    const regionA = tenant.a + 0.5 * normal(random)
    for (let pair = 0; pair < 3; pair++) {
      const pairA = regionA + 0.5 * normal(random)
      for (let n = 0; n < 8; n++) {
        const curve = {
          a: pairA + 0.7 * normal(random),
          steepness: Math.exp(tenant.b + 0.4 * normal(random)),
        }
        const level = Math.log(200_000) + 0.4 * normal(random)
        const decided = plan.laneSizes[lanes.length % plan.laneSizes.length] ?? 0
        const identity: LaneIdentity = {
          key: `lane ${lanes.length}`,
          scopes: [
            { name: 'region', key: `region ${region}` },
            { name: 'state_pair', key: `pair ${region}-${pair}` },
          ],
          costKeys: [],
        }
        const chance = (x: number) => {
          const logOdds = curve.a - curve.steepness * x
          return plan.shape === 'probit' ? normalBelow(logOdds / 1.702) : 1 / (1 + Math.exp(-logOdds))
        }
        for (let q = 0; q < decided; q++) {
          const age = 1 + Math.floor(random() * plan.days)
          const x = 0.08 * normal(random)
          quotes.push({
            quoteId: quotes.length + 1,
            rateCents: Math.round(Math.exp(level + (walk[plan.days - age] ?? 0) + x)),
            costCents: null,
            outcome: random() < chance(x) ? 'won' : 'lost',
            quotedAt: NOW - age * DAY,
            miles: null,
            lane: identity,
          })
        }
        const logMarket = level + (walk[plan.days] ?? 0)
        lanes.push({ identity, decided, truth: (logRate) => chance(logRate - logMarket), logMarket })
      }
    }
  }
  return { now: NOW, quotes, lanes }
}

/** How often intervals contain the true win probability, for lanes with a given number of decided quotes. */
export interface Coverage {
  readonly decided: number
  readonly offers: number
  readonly within80: number
  readonly within95: number
  readonly width80: number
  readonly width95: number
  readonly meanError: number
}

/**
 * Simulates brokerages, and counts how often the 80 % and 95 % intervals contain the true win probability, for offers with a
 * probability from .05 to .95.
 */
export function simulateCoverage(options: {
  tenants: number
  seed: number
  /**
   * The period of the past quotes in days. Older quotes have less weight, so a longer period means less information.
   */
  days: number
  onTenant?: (done: number) => void
}): Coverage[] {
  const laneSizes = [3, 8, 15, 60]
  const sums = new Map(
    laneSizes.map((n) => [n, { offers: 0, in80: 0, in95: 0, width80: 0, width95: 0, error: 0 }]),
  )
  for (let t = 0; t < options.tenants; t++) {
    const shape = t % 2 === 0 ? 'logistic' : 'probit'
    const tenant = simulateTenant({ seed: options.seed + t, laneSizes, days: options.days, shape })
    const model = prepareEstimator({ quotes: tenant.quotes, now: tenant.now })
    for (const lane of tenant.lanes) {
      const sum = sums.get(lane.decided)
      const reference = referenceRateCents(model, lane.identity, null)
      if (!sum || reference === null) continue
      const posterior = lanePosterior(model, lane.identity)
      const intervals = intervalCurve(posterior)
      for (const step of [-0.16, -0.1, -0.05, 0, 0.05, 0.1, 0.16]) {
        const truth = lane.truth(lane.logMarket + step)
        if (truth < 0.05 || truth > 0.95) continue
        const x = relativeRate(Math.exp(lane.logMarket + step), reference)
        const mean = winMean(posterior, x)
        const { interval80, interval95 } = intervalsAt(intervals, { x, mean })
        sum.offers++
        if (truth >= interval80.low && truth <= interval80.high) sum.in80++
        if (truth >= interval95.low && truth <= interval95.high) sum.in95++
        sum.width80 += interval80.high - interval80.low
        sum.width95 += interval95.high - interval95.low
        sum.error += mean - truth
      }
    }
    options.onTenant?.(t + 1)
  }
  return [...sums].map(([decided, sum]) => ({
    decided,
    offers: sum.offers,
    within80: sum.in80 / sum.offers,
    within95: sum.in95 / sum.offers,
    width80: sum.width80 / sum.offers,
    width95: sum.width95 / sum.offers,
    meanError: sum.error / sum.offers,
  }))
}

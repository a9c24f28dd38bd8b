import type { Answer } from '../api/index.ts'

export type MarginRisk = NonNullable<Answer<'quote-advice'>['risk']>

/** The possible margins of a quote at one rate, in dollars. */
export interface RiskAtRate {
  readonly rate: number
  readonly low: number
  readonly median: number
  readonly high: number
  readonly lossChance: number
  /** True if the rate is outside the known distribution of costs, so that the chance of a loss is only a limit. */
  readonly beyond: boolean
  readonly safeRate: number
  /** Bars of equal width, lowest margin first: the share of loads with a margin from `from` to `to`. */
  readonly bars: readonly { readonly from: number; readonly to: number; readonly share: number }[]
}

const barCount = 28

type Costs = MarginRisk['costs']

/** The share of loads whose cost is at most an amount, interpolated between the known shares. */
function shareBelow(costs: Costs, amount: number): number {
  const [first, last] = [costs[0], costs.at(-1)]
  if (first === undefined || last === undefined) return Number.NaN
  if (amount <= first.amount) return amount < first.amount ? 0 : first.share
  if (amount >= last.amount) return amount > last.amount ? 1 : last.share
  const at = costs.findIndex((cost) => cost.amount >= amount)
  const [low, high] = [costs[at - 1] ?? first, costs[at] ?? last]
  const part = high.amount === low.amount ? 0 : (amount - low.amount) / (high.amount - low.amount)
  return low.share + part * (high.share - low.share)
}

/**
 * The risk of a rate, computed at every key press from the cost distribution of the loaded advice. A typed cost shifts the whole
 * distribution. Null without a distribution.
 */
export function riskAt(
  risk: MarginRisk | null | undefined,
  { rate, typedCost }: { readonly rate: number; readonly typedCost: number | null },
): RiskAtRate | null {
  if (!risk || !(rate > 0) || !(risk.cost > 0)) return null
  const factor = typedCost === null || typedCost <= 0 ? 1 : typedCost / risk.cost
  const costs = risk.costs.map(({ share, amount }) => ({ share, amount: amount * factor }))
  const at = (share: number) =>
    costs.find((cost) => Math.abs(cost.share - share) < 1e-9)?.amount ?? Number.NaN
  const [lowest = 0, highest = 0] = [costs[0]?.amount, costs.at(-1)?.amount]
  const width = (highest - lowest) / barCount
  return {
    rate,
    low: rate - at(0.9),
    median: rate - at(0.5),
    high: rate - at(0.1),
    lossChance: Math.min(0.99, Math.max(0.01, 1 - shareBelow(costs, rate))),
    beyond: rate < lowest || rate > highest,
    safeRate: at(0.9),
    bars: Array.from({ length: barCount }, (_, bar) => {
      const [dearest, cheapest] = [highest - bar * width, highest - (bar + 1) * width]
      return {
        from: rate - dearest,
        to: rate - cheapest,
        share: Math.max(0, shareBelow(costs, dearest) - shareBelow(costs, cheapest)),
      }
    }),
  }
}

/** @example chanceInWords({ lossChance: 0.01, beyond: true }) // 'less than 1%' */
export function chanceInWords({ lossChance, beyond }: Pick<RiskAtRate, 'lossChance' | 'beyond'>): string {
  if (!beyond) return `${Math.round(100 * lossChance)}%`
  return lossChance < 0.5 ? 'less than 1%' : 'more than 99%'
}

import type { Answer } from '../api/index.ts'

export type LaneRecord = Answer<'lane-record'>
export type LanePoint = LaneRecord['points'][number]
export type LaneMonth = LaneRecord['months'][number]
export type FoundInsight = Extract<Answer<'lane-advice'>, { found: true }>
export type FoundAdvice = Extract<Answer<'quote-advice'>, { found: true }>

/** The history of each selection of quotes that an insight looked at. */
export interface InsightLevel {
  readonly scope: string
  readonly quotes: number
  readonly decided: number
  readonly lanes: number
}

/** The levels of an insight, whose evidence the contract leaves untyped; empty if the request did not include it. */
export function insightLevels(insight: FoundInsight): readonly InsightLevel[] {
  return (insight.evidence as { levels?: readonly InsightLevel[] } | undefined)?.levels ?? []
}

/** The counts behind the win probability, and the basis of the suggested rate. */
export interface AdviceEvidence {
  readonly wins_at_or_below: number
  readonly decided_at_or_below: number
  readonly decided: number
  readonly wins: number
  readonly suggestion: { readonly basis: string; readonly capped_by: number | null } | null
}

export function adviceEvidence(advice: FoundAdvice): AdviceEvidence | null {
  return (advice.evidence as unknown as AdviceEvidence | undefined) ?? null
}

/** The median rate of the lane's quotes, in whole dollars; null without rates. */
export function middleRate(points: readonly Pick<LanePoint, 'rate'>[]): number | null {
  const rates = points.map(({ rate }) => rate).filter((rate) => rate > 0)
  rates.sort((one, other) => one - other)
  const [low, high] = [rates[Math.floor((rates.length - 1) / 2)], rates[Math.floor(rates.length / 2)]]
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2)
}

/** How much history supports a number, by the count of decided quotes. */
export type Confidence = 'high' | 'medium' | 'low' | 'none'

/** Minimum number of decided quotes for each level, highest level first. */
export const CONFIDENCE_LEVELS: readonly { readonly level: Confidence; readonly decidedMin: number }[] = [
  { level: 'high', decidedMin: 15 },
  { level: 'medium', decidedMin: 5 },
  { level: 'low', decidedMin: 1 },
  { level: 'none', decidedMin: 0 },
]

/**
 * Is there enough history to rely on? The level for a lane with this many decided (won or lost) quotes: a rule of thumb, no
 * statistical confidence (docs/model.md, "Confidence"). estimate/trust.ts says how far a single estimate can be trusted.
 *
 * @example confidence(14) // 'medium'
 */
export function confidence(decidedCount: number): Confidence {
  return CONFIDENCE_LEVELS.find(({ decidedMin }) => decidedCount >= decidedMin)?.level ?? 'none'
}

/**
 * How many more decided quotes are needed to reach the next confidence level, or null at the highest level.
 *
 * @example decidedToNextConfidence(11) // 4
 */
export function decidedToNextConfidence(decidedCount: number): number | null {
  const next = CONFIDENCE_LEVELS.findLast(({ decidedMin }) => decidedMin > decidedCount)
  return next === undefined ? null : next.decidedMin - decidedCount
}

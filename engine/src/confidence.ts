/** How much history stands behind a number, by the count of decided quotes. */
export type Confidence = 'high' | 'medium' | 'low' | 'none'

/** Decided quotes needed for each level, the most trusted first. */
export const CONFIDENCE_LEVELS: readonly { readonly level: Confidence; readonly decidedMin: number }[] = [
  { level: 'high', decidedMin: 15 },
  { level: 'medium', decidedMin: 5 },
  { level: 'low', decidedMin: 1 },
  { level: 'none', decidedMin: 0 },
]

/**
 * The confidence of a lane with so many decided (won or lost) quotes.
 *
 * @example confidence(14) // 'medium'
 */
export function confidence(decidedCount: number): Confidence {
  return CONFIDENCE_LEVELS.find(({ decidedMin }) => decidedCount >= decidedMin)?.level ?? 'none'
}

/**
 * How many more decided quotes would raise the confidence by one level, or null at the top.
 *
 * @example decidedToNextConfidence(11) // 4
 */
export function decidedToNextConfidence(decidedCount: number): number | null {
  const next = CONFIDENCE_LEVELS.findLast(({ decidedMin }) => decidedMin > decidedCount)
  return next === undefined ? null : next.decidedMin - decidedCount
}

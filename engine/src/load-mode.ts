/** How a load moves. A quote that does not say it is a truckload. */
export const modes = ['truckload', 'partial', 'ltl', 'drayage', 'intermodal'] as const
export type Mode = (typeof modes)[number]

/** Words for a mode, without spaces and hyphens. */
const MODE_OF_WORD: ReadonlyMap<string, Mode> = new Map<string, Mode>([
  ...['truckload', 'tl', 'ftl', 'fulltruckload', 'full', 'truck', 'otr', 'road'].map(
    (word) => [word, 'truckload'] as const,
  ),
  ...['partial', 'ptl', 'partialtruckload'].map((word) => [word, 'partial'] as const),
  ...['ltl', 'lessthantruckload', 'volumeltl'].map((word) => [word, 'ltl'] as const),
  ...['drayage', 'dray'].map((word) => [word, 'drayage'] as const),
  ...['intermodal', 'imdl', 'rail'].map((word) => [word, 'intermodal'] as const),
])

/**
 * The mode that a word means; null for any other text.
 *
 * @example modeOfWord('Full Truckload') // 'truckload'
 */
export function modeOfWord(text: string): Mode | null {
  return MODE_OF_WORD.get(text.toLowerCase().replaceAll(/[\s_-]+/g, '')) ?? null
}

/**
 * Whether a load is a direct truckload: from its origin to its destination, without a stop in between. Only these are in the
 * statistics of a lane.
 *
 * @example isDirect({ mode: null, stops: null }) // true
 * @example isDirect({ mode: 'ltl', stops: null }) // false
 */
export function isDirect({
  mode,
  stops,
}: {
  readonly mode?: Mode | null | undefined
  readonly stops?: string | null | undefined
}): boolean {
  return (mode ?? 'truckload') === 'truckload' && (stops ?? null) === null
}

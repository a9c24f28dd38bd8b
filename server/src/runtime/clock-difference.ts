/**
 * By how much two clocks differ at least, in milliseconds: 0 if the other one told a time between the question and the answer. A slow
 * answer is no difference.
 */
export function clockDifferenceMs(toldMs: number, askedAtMs: number, answeredAtMs: number): number {
  return Math.max(0, askedAtMs - toldMs, toldMs - answeredAtMs)
}

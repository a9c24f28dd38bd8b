/**
 * The least number of milliseconds by which two clocks differ. It is 0 if the other clock's time is between our times of the
 * question and of the answer, so that a slow answer is no difference.
 */
export function clockDifferenceMs(toldMs: number, askedAtMs: number, answeredAtMs: number): number {
  return Math.max(0, askedAtMs - toldMs, toldMs - answeredAtMs)
}

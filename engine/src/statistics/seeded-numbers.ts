/**
 * A pseudo-random generator of numbers between 0 and 1 (mulberry32). The same seed gives the same numbers on every
 * machine, so that a backtest has the same range each time. Suitable for sampling, not for security.
 *
 * @example seededNumbers(1)() // 0.6270739405881613
 */
export function seededNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A repeatable random source: the same seed gives the same numbers on every machine. */
export interface SeededRandom {
  /** Uniform, 0 <= value < 1. */
  readonly uniform: () => number
  /** Normal, by the Box-Muller method. */
  readonly normal: (mean: number, sd: number) => number
  /** Exponential, with the given mean. */
  readonly exponential: (mean: number) => number
  /** Poisson, with the given mean. */
  readonly poisson: (mean: number) => number
  /** True with the given probability. */
  readonly chance: (probability: number) => boolean
  /** An index, with a probability proportional to its weight. */
  readonly weighted: (weights: readonly number[]) => number
  /** A uniformly chosen element. Throws RangeError on an empty list. */
  readonly pick: <T>(list: readonly T[]) => T
}

/**
 * A repeatable random source from a whole-number seed, by mulberry32. Its 32 bits of state are enough for sample data,
 * never for secrets.
 *
 * @example seededRandom(1).uniform() // 0.6270739405881613
 */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const normal = (mean: number, sd: number) =>
    mean + sd * Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  const poisson = (mean: number) => {
    const limit = Math.exp(-mean)
    let count = 0
    for (let product = uniform(); product > limit; product *= uniform()) count++
    return count
  }
  const weighted = (weights: readonly number[]) => {
    let left = uniform() * weights.reduce((sum, weight) => sum + weight, 0)
    const found = weights.findIndex((weight) => {
      left -= weight
      return left < 0
    })
    return found === -1 ? weights.length - 1 : found
  }
  const pick = <T>(list: readonly T[]): T => {
    const chosen = list[Math.floor(uniform() * list.length)]
    if (chosen === undefined) throw new RangeError('nothing to pick from')
    return chosen
  }
  return {
    uniform,
    normal,
    exponential: (mean) => -mean * Math.log(1 - uniform()),
    poisson,
    chance: (probability) => uniform() < probability,
    weighted,
    pick,
  }
}

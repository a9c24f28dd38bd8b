import type { Interval } from './interval.ts'
import type { WinCurve } from './optimum.ts'
import { brake, effectiveRate, sigmoid } from './price-response.ts'

/** A rate that was quoted, and the lower one that the customer named instead. In cents. */
export interface CounterOffer {
  readonly quotedCents: number
  readonly counterCents: number
}

/** The chance of a rate after a counter-offer. The range covers 80 % of the possible curves. */
export interface ChanceAfterCounter {
  readonly probability: number
  readonly interval80: Interval
}

/** If the limit of a customer is between the two rates with a smaller probability than this, the curve is taken as flat there. */
const LEAST_SPREAD = 1e-4
const QUANTILES = { low: 0.1, high: 0.9 } as const

/**
 * The chance of each rate after the customer refused a quoted rate and named a lower one: the customer would pay the named
 * rate, and not the quoted one, so the highest rate that this customer pays for this load is between them. The curve says where:
 * with P the chance of a rate without this evidence,
 *
 *     chance(r) = (P(r) - P(quoted)) / (P(counter) - P(quoted))   for a rate between them,
 *
 * 1 at the named rate and below, 0 at the quoted rate and above. Where the curve is flat, the chance falls evenly.
 *
 * @example counterChances(belief, { quotedCents: 230000, counterCents: 205000 })(205000).probability // 1
 */
export function counterChances(
  { posterior, referenceCents, priceWeight }: WinCurve,
  { quotedCents, counterCents }: CounterOffer,
): (rateCents: number) => ChanceAfterCounter {
  const { levels, steepness, weights, shape } = posterior
  /** The chance of each curve at a rate, without the ceiling, which cancels. */
  const chances = (rateCents: number) => {
    const x = priceWeight * Math.log(rateCents / referenceCents)
    const [stop, rate] = [brake(x), effectiveRate(x, shape)]
    return levels.map((level, curve) => sigmoid(level - (steepness[curve] ?? 0) * rate - stop))
  }
  const [atCounter, atQuoted] = [chances(counterCents), chances(quotedCents)]
  /** The weight of each curve after the counter-offer: its weight before, times the chance that the limit is between the rates. */
  const spreads = weights.map(
    (share, curve) => share * Math.max(0, (atCounter[curve] ?? 0) - (atQuoted[curve] ?? 0)),
  )
  const total = spreads.reduce((sum, spread) => sum + spread, 0)
  return (rateCents) => {
    if (rateCents <= counterCents) return { probability: 1, interval80: { low: 1, high: 1 } }
    if (rateCents >= quotedCents) return { probability: 0, interval80: { low: 0, high: 0 } }
    if (total < LEAST_SPREAD) {
      const probability = (quotedCents - rateCents) / (quotedCents - counterCents)
      return { probability, interval80: { low: 0, high: 1 } }
    }
    const at = chances(rateCents)
    const shares = Array.from(spreads, (spread, curve) => {
      const [low, here, high] = [atQuoted[curve] ?? 0, at[curve] ?? 0, atCounter[curve] ?? 0]
      return { spread, share: high > low ? (here - low) / (high - low) : 0 }
    })
    const probability = shares.reduce((sum, { spread, share }) => sum + spread * share, 0) / total
    const ordered = shares.toSorted((one, other) => one.share - other.share)
    const quantile = (level: number) => {
      let left = level * total
      for (const { spread, share } of ordered) {
        left -= spread
        if (left <= 0) return share
      }
      return 1
    }
    return {
      probability,
      interval80: {
        low: Math.min(probability, quantile(QUANTILES.low)),
        high: Math.max(probability, quantile(QUANTILES.high)),
      },
    }
  }
}

/** What rates between a counter-offer and the quoted rate may be. */
export interface BetweenTerms extends CounterOffer {
  /** The lowest and the highest rate that the rules allow, and the multiple of rates; null without such a rule. */
  readonly lowCents: number | null
  readonly highCents: number | null
  readonly roundToCents: number | null
}

/** The most rates that are compared. Between two rates that are further apart, they are at even distances. */
const RATES_MAX = 400
const DOLLAR = 100

/** The rates that one may counter with, lowest first: multiples of the rules, or whole dollars. */
function ratesBetween({
  quotedCents,
  counterCents,
  lowCents,
  highCents,
  roundToCents,
}: BetweenTerms): number[] {
  const unit = roundToCents ?? DOLLAR
  // The limits of the rules are allowed rates; the named and the quoted rate are not.
  const first = Math.floor(Math.max(counterCents, (lowCents ?? 0) - 1) / unit) + 1
  const last = Math.ceil(Math.min(quotedCents, (highCents ?? Number.POSITIVE_INFINITY) + 1) / unit) - 1
  const step = Math.max(1, Math.ceil((last - first + 1) / RATES_MAX))
  const rates = []
  for (let multiple = first; multiple <= last; multiple += step) rates.push(multiple * unit)
  return rates
}

/**
 * The rate between a counter-offer and the quoted rate with the best expected margin, within the rules if there is one; without
 * a cost, the one in the middle. Null if the two are so close that no rate is between them.
 *
 * @param worth the expected margin of a rate, in cents; null without a cost
 * @example bestBetween(terms, (rate) => chance(rate).probability * (rate - cost)) // 214700
 */
export function bestBetween(
  terms: BetweenTerms,
  worth: ((rateCents: number) => number) | null,
): number | null {
  const { quotedCents, counterCents } = terms
  const free = { quotedCents, counterCents, lowCents: null, highCents: null }
  const rates = [
    ratesBetween(terms),
    ratesBetween({ ...free, roundToCents: terms.roundToCents }),
    ratesBetween({ ...free, roundToCents: null }),
  ].find((found) => found.length > 0)
  if (rates === undefined) return null
  const middle = (quotedCents + counterCents) / 2
  const value = worth ?? ((rate: number) => -Math.abs(rate - middle))
  return rates.reduce((best, rate) => (value(rate) > value(best) ? rate : best))
}

/** A choice that does not exist, or that a rule blocks: it is never the best. */
export const NO_CHOICE = Number.NEGATIVE_INFINITY

/**
 * The choice after a counter-offer that earns most on average; walking away earns nothing. Accepting is best if choices earn
 * the same. Null if the worth of a choice is not known.
 *
 * @param accept the expected margin of accepting, in any unit of money; null if it is not known, or `NO_CHOICE`
 * @param counter that of countering, in the same unit
 * @example bestChoice(230, 140) // 'accept'
 */
export function bestChoice(
  accept: number | null,
  counter: number | null,
): 'accept' | 'counter' | 'walk_away' | null {
  if (accept === null || counter === null) return null
  if (Math.max(accept, counter) < 0) return 'walk_away'
  return counter > accept ? 'counter' : 'accept'
}

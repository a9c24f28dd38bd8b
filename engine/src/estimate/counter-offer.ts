/**
 * You quoted $2,300, and the customer named $2,050: accept, counter in between, or walk away? The customer's highest rate for
 * this load is between the two, and the win curve says where it likely is. Method: the distribution of a reservation price
 * (https://en.wikipedia.org/wiki/Reservation_price), truncated to that range.
 * docs/decisions/0122-one-load-won-once.md.
 */

import type { Interval } from './interval.ts'
import type { WinCurve } from './optimum.ts'
import { brake, curvePosition, effectiveRate, sigmoid } from './price-response.ts'

/** A rate that was quoted, and the lower one that the customer named instead. In cents. */
export interface CounterOffer {
  readonly quotedCents: number
  readonly counterCents: number
}

/** The chance that the customer accepts a rate after naming a lower one. The range covers 80 % of the possible win curves. */
export interface ChanceAfterCounter {
  readonly probability: number
  readonly interval80: Interval
}

/** If fewer customers than this share have their highest rate between the two rates, the curve is taken as flat there. */
const LEAST_SPREAD = 1e-4
const QUANTILES = { low: 0.1, high: 0.9 } as const

/**
 * The share of customers who name a rate as their last word and refuse any increase, with its 80 % range (of a beta distribution with 3 and
 * 9). The share is assumed, because no data of counter-offers and their answers exist yet: see
 * docs/decisions/0122-one-load-won-once.md.
 */
export const REFUSES_ANY_INCREASE = { share: 0.25, low: 0.11, high: 0.41 } as const

/**
 * The chance that the customer accepts a rate, after refusing a quoted rate and naming a lower one: the highest rate that this customer
 * pays for this load is between them. The curve says where: with P the chance of a rate without this evidence, and f the share of customers
 * who refuse any increase,
 *
 *     chance(r) = (1 - f) x (P(r) - P(quoted)) / (P(counter) - P(quoted))   for a rate between them,
 *
 * 1 at the named rate and below, 0 at the quoted rate and above. Where the curve is flat, the chance falls evenly. The first dollar
 * above the named rate lowers the chance by f: asking for more at all is a risk.
 *
 * @example counterChances(belief, { quotedCents: 230000, counterCents: 205000 })(205000).probability // 1
 */
export function counterChances(
  curve: WinCurve,
  { quotedCents, counterCents }: CounterOffer,
): (rateCents: number) => ChanceAfterCounter {
  const { levels, steepness, weights, shape } = curve.posterior
  /** The win chance by each possible curve, without the ceiling, which cancels in the ratio below. */
  const chances = (rateCents: number) => {
    const x = curvePosition(curve, rateCents)
    const [stop, rate] = [brake(x), effectiveRate(x, shape)]
    return levels.map((level, nth) => sigmoid(level - (steepness[nth] ?? 0) * rate - stop))
  }
  const [atCounter, atQuoted] = [chances(counterCents), chances(quotedCents)]
  /**
   * How likely each curve is after the counter-offer: its weight before, times its chance that the customer's limit is between the
   * rates.
   */
  const spreads = weights.map(
    (share, curve) => share * Math.max(0, (atCounter[curve] ?? 0) - (atQuoted[curve] ?? 0)),
  )
  const total = spreads.reduce((sum, spread) => sum + spread, 0)
  return (rateCents) => {
    if (rateCents <= counterCents) return { probability: 1, interval80: { low: 1, high: 1 } }
    if (rateCents >= quotedCents) return { probability: 0, interval80: { low: 0, high: 0 } }
    if (total < LEAST_SPREAD) {
      const share = (quotedCents - rateCents) / (quotedCents - counterCents)
      return ofThoseWhoPayMore(share, { low: 0, high: 1 })
    }
    const at = chances(rateCents)
    const shares = Array.from(spreads, (spread, curve) => {
      const [low, here, high] = [atQuoted[curve] ?? 0, at[curve] ?? 0, atCounter[curve] ?? 0]
      return { spread, share: high > low ? (here - low) / (high - low) : 0 }
    })
    const mean = shares.reduce((sum, { spread, share }) => sum + spread * share, 0) / total
    const ordered = shares.toSorted((one, other) => one.share - other.share)
    const quantile = (level: number) => {
      let left = level * total
      for (const { spread, share } of ordered) {
        left -= spread
        if (left <= 0) return share
      }
      return 1
    }
    return ofThoseWhoPayMore(mean, {
      low: Math.min(mean, quantile(QUANTILES.low)),
      high: Math.max(mean, quantile(QUANTILES.high)),
    })
  }
}

/** A chance among all customers, from the chance among those who would pay more than they named. */
function ofThoseWhoPayMore(share: number, { low, high }: Interval): ChanceAfterCounter {
  const refuse = REFUSES_ANY_INCREASE
  return {
    probability: (1 - refuse.share) * share,
    interval80: { low: (1 - refuse.high) * low, high: (1 - refuse.low) * high },
  }
}

/** The limits of a rate between a counter-offer and the quoted rate. */
export interface BetweenTerms extends CounterOffer {
  /** The lowest and the highest rate that the rules allow, and the multiple of rates; null without such a rule. */
  readonly lowCents: number | null
  readonly highCents: number | null
  readonly roundToCents: number | null
}

/** The most rates that are compared. If there are more, only every second, every third and so on is. */
const RATES_MAX = 400
const DOLLAR = 100

/** A requote must be above the named rate by at least this share of it, or by half of the difference if that is less. */
const LEAST_INCREASE = 0.01
/** If the two rates are closer, no rate between them is worth asking for: nobody counters with a dollar more. */
const LEAST_DIFFERENCE = 4 * DOLLAR

/** The lowest rate that is worth asking for, in cents; null if the two rates are too close. */
function leastCounter({ quotedCents, counterCents }: CounterOffer): number | null {
  const difference = quotedCents - counterCents
  if (difference < LEAST_DIFFERENCE) return null
  return counterCents + Math.min(LEAST_INCREASE * counterCents, difference / 2)
}

/** The rates that one may counter with, lowest first: multiples of the rules, or whole dollars. */
function ratesBetween(
  { quotedCents, lowCents, highCents, roundToCents }: BetweenTerms,
  leastCents: number,
): number[] {
  const unit = roundToCents ?? DOLLAR
  // The limits themselves are allowed rates; the quoted rate is not.
  const first = Math.ceil(Math.max(leastCents, lowCents ?? 0) / unit)
  const last = Math.ceil(Math.min(quotedCents, (highCents ?? Number.POSITIVE_INFINITY) + 1) / unit) - 1
  const step = Math.max(1, Math.ceil((last - first + 1) / RATES_MAX))
  const rates = []
  for (let multiple = first; multiple <= last; multiple += step) rates.push(multiple * unit)
  return rates
}

/**
 * The rate between a counter-offer and the quoted rate with the best expected margin, within the rules if they allow one; without a cost,
 * the rate nearest to the middle. It is at least one percent above the named rate, or half of the difference. Null if the two are so close
 * that no rate between them is worth asking for.
 *
 * @param worth the expected margin of a rate, in cents; null without a cost
 * @example bestBetween(terms, (rate) => chance(rate).probability * (rate - cost)) // 214700
 */
export function bestBetween(
  terms: BetweenTerms,
  worth: ((rateCents: number) => number) | null,
): number | null {
  const { quotedCents, counterCents } = terms
  const least = leastCounter(terms)
  if (least === null) return null
  const free = { quotedCents, counterCents, lowCents: null, highCents: null }
  const rates = [terms, { ...free, roundToCents: terms.roundToCents }, { ...free, roundToCents: null }]
    .map((one) => ratesBetween(one, least))
    .find((found) => found.length > 0)
  if (rates === undefined) return null
  const middle = (quotedCents + counterCents) / 2
  const value = worth ?? ((rate: number) => -Math.abs(rate - middle))
  return rates.reduce((best, rate) => (value(rate) > value(best) ? rate : best))
}

/** The worth of an answer that does not exist, or that a rule blocks: it is never the best. */
export const NO_CHOICE = Number.NEGATIVE_INFINITY

/**
 * The answer to a counter-offer that earns most on average; declining it earns nothing. Accepting is best if answers earn the same.
 * Null if the worth of an answer is not known.
 *
 * @param accept the expected margin of accepting, in any unit of money; null if it is not known, or `NO_CHOICE`
 * @param requote the expected margin of another rate, in the same unit
 * @example bestChoice(230, 140) // 'accept'
 */
export function bestChoice(
  accept: number | null,
  requote: number | null,
): 'accept' | 'requote' | 'decline' | null {
  if (accept === null || requote === null) return null
  if (Math.max(accept, requote) < 0) return 'decline'
  return requote > accept ? 'requote' : 'accept'
}

import { daysSince, nearbyDecided, TRUST_RULE, type Trust, trustOf } from '#engine/estimate/trust.ts'
import type { Answer } from '../api/index.ts'
import {
  basedOn,
  counted,
  dollars,
  percent,
  probability,
  range,
  rateTypeNames,
  roundDollars,
  signedDollars,
} from '../shared-ui/index.ts'
import { type Pricing, type RateValue, standingOf } from './desk-pricing.ts'

type Advice = Answer<'quote-advice'>
type Estimate = NonNullable<Advice['estimate']>

const flagWords: Readonly<Record<string, string>> = {
  bad_offer: 'This rate cannot be priced.',
  no_quotes: 'Your brokerage has no quotes to learn from yet.',
  no_ground: 'An end of this lane is not a known place, and the lane has fewer than 5 answered quotes.',
  unseen_lane: 'You have not quoted this lane with this equipment before.',
  no_decided_quotes: 'None of your quotes on this lane is decided yet.',
  few_quotes: 'This lane has few decided quotes, so most of the estimate is based on other lanes.',
  all_won: 'You have won every decided quote on this lane, so the highest rate that wins is unknown.',
  all_lost: 'You have lost every decided quote on this lane, so the rate that wins is unknown.',
  one_rate: 'All decided quotes on this lane have the same rate, so the effect of other rates is unknown.',
  far_from_reference: 'This rate is far from the going rate, so the estimate is an extrapolation.',
  outliers_left_out:
    'The estimate excludes some quotes with rates far from all others, or undecided ones with nothing to compare them with.',
  bad_rates_left_out: 'The estimate excludes some quotes without a rate.',
  future_quotes_left_out: 'The estimate excludes some quotes dated in the future.',
  no_outcomes: 'None of your quotes is won or lost yet.',
  only_won: 'None of your quotes was lost on price, so no rate is known to be too high.',
  only_lost: 'None of your quotes was won, so no rate is known to win.',
  no_rate_earns: 'The cost is above all rates that this lane is likely to pay, so there is no rate to quote.',
  no_cost: 'There is no expected cost. Import or enter booked costs to see margins and a best rate.',
  optimum_at_edge:
    'The best rate is at the limit of the rates that were evaluated. The true best rate may be beyond it.',
  cost_above_market: 'The expected cost is above the going rate, so a margin is unlikely.',
  only_old_quotes: 'All of your quotes on this lane are old and have almost no weight.',
  optimum_beyond_quotes: 'The best rate is outside the range of rates that you have quoted on this lane.',
  miles_unknown: 'The miles are unknown. Check the spelling of both places.',
  short_haul:
    'Short haul under 250 miles: carriers price it by the day, so the rate per mile is not meaningful.',
  default_cost_curve: 'How the cost grows with distance is a default, not learned from your loads.',
}

/** The service's flags of an estimate, in words. */
export function flagsInWords(flags: readonly string[]): string[] {
  return flags.map((flag) => flagWords[flag] ?? flag.replaceAll('_', ' '))
}

const scopeWords: Readonly<Record<string, string>> = {
  equipment: 'this lane with this equipment',
  corridor: 'this city pair, all equipment',
  market: 'lanes between the same two markets',
  state_pair: 'lanes between the same two states',
  region: 'lanes between the same two regions',
  tenant: 'all lanes of your brokerage',
}

export function scopeInWords(scope: string): string {
  return scopeWords[scope] ?? scope
}

/** @example borrowedInWords(estimate) // '38% comes from other lanes, nearest 20 decided quotes from lanes between the same two states' */
export function borrowedInWords({ borrowed_share, borrowed_from, used }: Estimate): string | null {
  if (borrowed_share === null || borrowed_share < 0.005) return null
  const nearest = borrowed_from.find(({ decided }) => decided > 0)
  const from =
    nearest === undefined
      ? null
      : `${counted(nearest.decided, 'decided quote')} from ${scopeInWords(nearest.scope)}`
  if (used.decided === 0) return from === null ? null : `Nearest: ${from}`
  const percent = Math.max(1, Math.round(borrowed_share * 100))
  const share = `${percent}% of the estimate comes from other lanes`
  return from === null ? share : `${share}, nearest ${from}`
}

/** @example poolInWords(estimate) // 'Contract quotes answer, with up to 34% from spot quotes' */
export function poolInWords({ pool }: Estimate): string | null {
  const { rate_type: asked, answered_by: answered, borrowed } = pool
  if (asked !== answered) return `Your ${answered} quotes answer, because there are no ${asked} quotes`
  const other = asked === 'spot' ? 'contract' : 'spot'
  const share = Math.round(100 * Math.max(borrowed?.curve_share ?? 0, borrowed?.rate_share ?? 0))
  const name = `${rateTypeNames[asked]} quotes answer`
  if (share > 0) return `${name}, with up to ${share}% from ${other} quotes`
  return borrowed === null && asked === 'spot' ? null : name
}

/** @example lossesInWords(estimate) // '12 of 40 losses were not about price' */
function lossesInWords({ losses }: Estimate): string | null {
  if (losses.not_about_price === 0) return null
  const were = losses.not_about_price === 1 ? 'was' : 'were'
  const all = `${losses.not_about_price} of ${counted(losses.lost, 'loss', 'losses')} ${were} not about price`
  const share = Math.round(100 * losses.about_price_share)
  return share === 0
    ? all
    : `${all}, say their reasons; their rates are so high that about ${share}% of them count as about price`
}

const trustWords: Readonly<Record<Trust, string>> = { good: 'Good', fair: 'Fair', weak: 'Weak', none: 'None' }

/** The quotes that an estimate uses, as the start of a sentence. */
function quotesInWords(estimate: Estimate): string {
  const basis = basedOn(estimate)
  if (estimate.decided === 0) return `${basis.charAt(0).toUpperCase()}${basis.slice(1)}`
  return estimate.used.decided === 0 ? `Estimated ${basis}` : `Based on ${basis}`
}

/** The trust in an estimate at a rate with this interval: a word, and the quotes that the estimate uses. */
export function trustInWords(
  estimate: Estimate,
  interval80: { readonly low: number; readonly high: number },
  now: number,
): { readonly trust: Trust; readonly word: string; readonly basis: string } {
  const { used, borrowed_share: borrowedShare, borrowed_from: borrowedFrom } = estimate
  const newest = used.newest_quoted_at === null ? null : Date.parse(used.newest_quoted_at)
  const newestDays = newest === null ? null : daysSince(newest, now)
  const nearby = nearbyDecided(used, borrowedFrom)
  const trust = trustOf({ interval80, borrowedShare, newestDays, nearby })
  const isFarAway = nearby < TRUST_RULE.fair.nearbyMin
  const age =
    newestDays === null
      ? ''
      : `, the newest ${newestDays === 0 ? 'today' : `${counted(newestDays, 'day')} ago`}`
  const borrowed = borrowedInWords(estimate)
  const losses = lossesInWords(estimate)
  const pool = poolInWords(estimate)
  const basis = [
    ...(trust === 'weak'
      ? [isFarAway ? 'Hardly any decided quotes near this lane' : `The range of ${range(interval80)} is wide`]
      : []),
    `${quotesInWords(estimate)}${age}`,
    ...(losses === null ? [] : [losses]),
    ...(borrowed === null ? [] : [borrowed]),
    ...(pool === null ? [] : [pool]),
  ].join('. ')
  return { trust, word: trustWords[trust], basis: `${basis}.` }
}

const changes: Readonly<Record<string, string>> = {
  next_won: 'The next quote here is won',
  next_lost: 'The next quote here is lost',
  market_up_5_pct: 'The market rises by 5%',
  market_down_5_pct: 'The market falls by 5%',
}

/** @example signedPoints(-2.4) // '−2 points' */
function signedPoints(points: number): string {
  const whole = Math.round(points)
  return `${whole > 0 ? '+' : whole < 0 ? '−' : ''}${counted(Math.abs(whole), 'point')}`
}

/** How the estimate would change with other rates, the next outcome, or the market. */
export function changesInWords({ at_other_rates, would_change_answer, undecided }: Estimate): string[] {
  return [
    ...at_other_rates.map(
      ({ rate, probability: chance, points, dollars: more }) =>
        `At ${roundDollars(rate)} (${signedDollars(Math.round(more))}): ${probability(chance)}, ${signedPoints(points)}`,
    ),
    ...would_change_answer.map(
      ({ change, probability: chance }) => `${changes[change] ?? change}: ${probability(chance)}`,
    ),
    ...(undecided === null
      ? []
      : [
          `The ${counted(undecided.quotes, 'pending quote')} here ${undecided.quotes === 1 ? 'is' : 'are'} lost: ${probability(undecided.if_lost)}; won as often as the decided ones: ${probability(undecided.if_won_alike)}`,
        ]),
  ]
}

export function raisesInWords({ would_raise_confidence }: Estimate): string[] {
  return would_raise_confidence.flatMap(({ more_decided_quotes, width_80_now, width_80_then }) => {
    const [now, then] = [Math.round(width_80_now * 100), Math.round(width_80_then * 100)]
    if (then >= now) return []
    const more = counted(more_decided_quotes, 'more decided quote')
    return [`${more} on this lane: the 80% range narrows from ${now} to ${then} points`]
  })
}

interface Counted {
  readonly method: string
  readonly wins_at_or_below: number
  readonly decided_at_or_below: number
  readonly decided: number
  readonly wins: number
}

/** The counts behind win_probability, from the evidence; null without evidence. */
export function countsOf(advice: Advice): Counted | null {
  const evidence = advice.evidence as Partial<Record<keyof Counted, unknown>> | undefined
  if (evidence === undefined) return null
  const { method, wins_at_or_below, decided_at_or_below, decided, wins } = evidence
  if (typeof wins_at_or_below !== 'number' || typeof decided_at_or_below !== 'number') return null
  return {
    method: typeof method === 'string' ? method : 'at_or_below',
    wins_at_or_below,
    decided_at_or_below,
    decided: typeof decided === 'number' ? decided : 0,
    wins: typeof wins === 'number' ? wins : 0,
  }
}

/**
 * @example countInWords({ method: 'at_or_below', wins_at_or_below: 17, decided_at_or_below: 26, ... }, 0.65)
 * // 'won 17 of 26 decided at this rate or lower'
 */
export function countInWords(counts: Counted, share: number): string {
  const { method, wins_at_or_below, decided_at_or_below, decided, wins } = counts
  switch (method) {
    case 'literal':
      return `${wins_at_or_below} won at this rate or lower, of ${decided} decided quotes in total`
    case 'revealed':
      return `wins at this rate or higher vs losses at this rate or lower; won ${wins} of ${decided} decided quotes in total`
    default: {
      if (decided_at_or_below === 0) return `none of ${decided} decided quotes is at this rate or lower`
      const raw = probability(wins_at_or_below / decided_at_or_below)
      const smoothed = raw === probability(share) ? '' : ` (${raw} before smoothing)`
      return `won ${wins_at_or_below} of ${decided_at_or_below} decided at this rate or lower${smoothed}`
    }
  }
}

/** A rate with its chance, range, margin and expected profit, in one line. */
export function valueInWords(value: RateValue): string {
  const chance = `${value.beyond === 'below' ? 'at least ' : value.beyond === 'above' ? 'at most ' : ''}${probability(value.chance)}`
  return [
    `win ${chance} (${range(value.interval80)})`,
    ...(value.margin === null ? [] : [`margin ${dollars(value.margin)} (${percent(value.marginPct)})`]),
    ...(value.worth === null ? [] : [`expected profit ${roundDollars(value.worth)}`]),
  ].join(' · ')
}

/** Where the rate to quote comes from. @example 'the best expected margin, rounded to $25 by rule 3 (over 700 miles)' */
export function basisInWords({ basis, changed, cost }: Pricing): string {
  const from =
    basis === 'best'
      ? `the best expected margin${cost?.isTyped ? ' over your cost' : ''}`
      : basis === 'going'
        ? 'the going rate; no truck cost is known'
        : ''
  return [from, changed].filter((words) => words !== '').join(', ')
}

/** How a typed rate compares with the rate to quote, after its value. Empty when there is nothing to add. */
export function standingInWords(typed: RateValue, pricing: Pricing): string {
  const { quote, floor, ceiling } = pricing
  const than = dollars(quote.rate)
  const difference =
    typed.worth === null || quote.worth === null ? null : Math.round(quote.worth) - Math.round(typed.worth)
  const less =
    difference === null || difference <= 0
      ? ''
      : `: earns ${dollars(difference)} less per quote, on average, than ${than}`
  switch (standingOf(typed, pricing)) {
    case 'same':
      return ': this is the rate above'
    case 'near':
      return pricing.zone === null ? '' : `: nearly as good as ${than}`
    case 'off':
      return typed.worth === null && typed.margin !== null
        ? ': above the rates of the curve, so its expected profit is not known'
        : less
    case 'low':
      return typed.margin !== null && typed.margin < 0
        ? `: a loss of ${dollars(-typed.margin)} if you win`
        : `: below your minimum of ${dollars(floor)}`
    case 'high':
      return `: above your maximum of ${dollars(ceiling)}`
  }
}

/** The announcement of new advice for screen readers. */
export function spokenAdvice(pricing: Pricing | null, typed: RateValue | null): string {
  if (pricing === null) return 'No rate to quote for this lane.'
  const { quote } = pricing
  const parts = [`Quote ${dollars(quote.rate)}: ${valueInWords(quote)}`]
  if (typed !== null) {
    parts.push(`Your ${dollars(typed.rate)}: ${valueInWords(typed)}${standingInWords(typed, pricing)}`)
  }
  return `${parts.join('. ').replaceAll(' · ', ', ')}.`
}

/**
 * The customer of an estimate, if it changes the estimate. The chance for all customers is at the typed rate.
 *
 * @param rate the typed rate that the estimate is for; null without one
 * @example customerInWords(estimate, 2480)
 * // 'For Harvest, which bought 12 of 40 quotes that price decided in a year; for all customers, the chance at $2,480 is 48%.'
 */
export function customerInWords({ customer }: Pick<Estimate, 'customer'>, rate: number | null): string {
  if (customer === undefined || !customer.differ || customer.probability_of_all === null) return ''
  const { name, decided, won, probability_of_all: ofAll } = customer
  const known =
    decided === 0
      ? 'a customer without decided quotes'
      : `which bought ${won} of ${decided} quotes that price decided in a year`
  const all =
    rate === null ? '' : `; for all customers, the chance at ${dollars(rate)} is ${probability(ofAll)}`
  return `For ${name}, ${known}${all}.`
}

import type { Answer } from '../api/index.ts'
import {
  counted,
  dollars,
  probability,
  range,
  restsOn,
  roundDollars,
  signedDollars,
} from '../shared-ui/index.ts'

type Advice = Answer<'quote-advice'>
type Estimate = NonNullable<Advice['estimate']>

const flagWords: Readonly<Record<string, string>> = {
  bad_offer: 'This rate cannot be priced.',
  no_quotes: 'Your brokerage has no quotes to learn from yet.',
  unseen_lane: 'You have not quoted this lane with this equipment before.',
  no_decided_quotes: 'None of your quotes on this lane is decided yet.',
  few_quotes: 'Few decided quotes on this lane: most of the estimate comes from other lanes.',
  all_won: 'You have won every decided quote here: how high the rate can go is not known.',
  all_lost: 'You have lost every decided quote here: how low the rate must go is not known.',
  one_rate: 'Every decided quote here had one rate: what another rate does is not known.',
  far_from_reference: 'This rate is far from the going rate: the estimate reaches beyond what was seen.',
  outliers_left_out: 'Some quotes with rates far from all others were left out of the estimate.',
  bad_rates_left_out: 'Some quotes without a rate were left out of the estimate.',
  future_quotes_left_out: 'Some quotes dated in the future were left out of the estimate.',
  no_cost: 'No expected cost: enter or import booked costs to see margins and a best rate.',
  optimum_at_edge: 'The best rate lies at the end of what is priced here: take it as a direction.',
  cost_above_market: 'The expected cost is above the going rate: a margin is unlikely here.',
  only_old_quotes: 'All of your quotes on this lane are old: they weigh next to nothing.',
  optimum_beyond_quotes: 'The best rate lies beyond every rate you have quoted on this lane.',
  miles_unknown: 'The miles are not known: is each place spelled right?',
  short_haul: 'Short haul, under 250 miles: trucks price it as a day, so the rate per mile says little.',
  default_cost_curve: 'The expected cost is a default, not drawn from your loads.',
}

/** What the service marks about an estimate, in words. */
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

/** @example borrowedInWords(estimate) // '38% comes from your other lanes: 20 decided quotes between the same two states' */
export function borrowedInWords({ borrowed_share, borrowed_from }: Estimate): string | null {
  if (borrowed_share === null || borrowed_share < 0.005) return null
  const nearest = borrowed_from.find(({ decided }) => decided > 0)
  const percent = Math.round(borrowed_share * 100)
  const share = `${percent === 100 ? 'All of it' : `${percent}%`} comes from your other lanes`
  return nearest === undefined
    ? share
    : `${share}, nearest ${counted(nearest.decided, 'decided quote')} from ${scopeInWords(nearest.scope)}`
}

const changes: Readonly<Record<string, string>> = {
  next_won: 'The next quote here is won',
  next_lost: 'The next quote here is lost',
  market_up_5_pct: 'The market rises by 5%',
  market_down_5_pct: 'The market falls by 5%',
}

/** What would change the answer: other rates, the next outcome, the market. Each line is of the same counts. */
export function changesInWords({ at_other_rates, would_change_answer }: Estimate): string[] {
  return [
    ...at_other_rates.map(
      ({ rate, probability: chance, points, dollars: more }) =>
        `At ${roundDollars(rate)} (${signedDollars(Math.round(more))}): ${probability(chance)}, ${points > 0 ? '+' : points < 0 ? '−' : ''}${Math.abs(points).toFixed(0)} points`,
    ),
    ...would_change_answer.map(
      ({ change, probability: chance }) => `${changes[change] ?? change}: ${probability(chance)}`,
    ),
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

/** The counts behind win_probability, from the evidence; null when they did not come along. */
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

/** @example countInWords({ method: 'at_or_below', wins_at_or_below: 17, decided_at_or_below: 26, ... }, 0.65) // 'won 17 of 26 decided at this rate or lower' */
export function countInWords(counts: Counted, share: number): string {
  const { method, wins_at_or_below, decided_at_or_below, decided, wins } = counts
  switch (method) {
    case 'literal':
      return `${wins_at_or_below} won at this rate or lower, of ${decided} decided in all`
    case 'revealed':
      return `wins at this rate or higher against losses at it or lower; won ${wins} of ${decided} decided in all`
    default: {
      if (decided_at_or_below === 0) return `none of ${decided} decided is at this rate or lower`
      const raw = probability(wins_at_or_below / decided_at_or_below)
      const smoothed = raw === probability(share) ? '' : ` (${raw} before smoothing)`
      return `won ${wins_at_or_below} of ${decided_at_or_below} decided at this rate or lower${smoothed}`
    }
  }
}

/** One short sentence that a screen reader says when a new answer stands. */
export function spokenAdvice(advice: Advice, rate: number | null, floor: number | null): string {
  const { estimate, optimum } = advice
  const parts: string[] = []
  if (rate !== null && estimate?.probability != null && estimate.interval_80 !== null) {
    parts.push(
      `At ${dollars(rate)}: ${probability(estimate.probability)}, 80% range ${range(estimate.interval_80)}, ${restsOn(estimate)}`,
    )
  } else if (rate !== null) {
    parts.push(`At ${dollars(rate)}: no estimate`)
  }
  if (advice.found && advice.suggested_rate !== null) {
    parts.push(`Suggested rate ${dollars(advice.suggested_rate)}`)
  }
  if (optimum) parts.push(`Best expected margin at ${roundDollars(optimum.rate)}`)
  if (rate !== null && floor !== null && rate < floor) {
    parts.push(`Below your floor of ${dollars(floor)}`)
  }
  return parts.length === 0 ? 'No advice for this lane yet.' : `${parts.join('. ')}.`
}

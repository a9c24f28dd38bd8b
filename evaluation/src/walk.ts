import { dayOf } from '#engine/day.ts'
import { prepareEstimator } from '#engine/estimate/estimator.ts'
import { lanePosterior } from '#engine/estimate/lane-posterior.ts'
import { offerPosition, referenceRateCents } from '#engine/estimate/lane-reference.ts'
import { type Posterior, winMean } from '#engine/estimate/posterior.ts'
import type { Outcome } from '#engine/history.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'

const DAY = 86_400_000
const HALF_LIFE_DAYS = 60
/** The win rates of lanes and scopes get this many additional quotes at the overall win rate. */
const OVERALL_QUOTES = 2

/** Returns the outcome of a quote as it was known on a morning: `pending` if unknown. */
export type Reporting = (quote: LaneQuote, morning: number) => Outcome

/** A number from 0 to 1 that looks random, always the same for a quote. */
function lot(quote: LaneQuote): number {
  return ((quote.quoteId * 2_654_435_761) % 9_973) / 9_973
}

/** Every outcome is known this many days after its quote. */
export function after(days: number): Reporting {
  return (quote, morning) => (dayOf(quote.quotedAt) + days <= morning ? quote.outcome : 'pending')
}

/** Like `after`, but a share of the losses is never reported. */
export function withoutLosses(share: number, days: number): Reporting {
  const known = after(days)
  return (quote, morning) =>
    quote.outcome === 'lost' && lot(quote) < share ? 'pending' : known(quote, morning)
}

/** Outcomes become known after a day and a random (exponential) time with these means, in days. */
export function afterMeans(days: { readonly won: number; readonly lost: number }): Reporting {
  return (quote, morning) => {
    if (quote.outcome === 'pending') return 'pending'
    const wait = 1 - Math.log(1 - lot(quote)) * days[quote.outcome]
    return dayOf(quote.quotedAt) + wait <= morning ? quote.outcome : 'pending'
  }
}

/** A forecast of a decided quote by the model and by two plain win rates, all from what was known that morning. */
export interface Walked {
  readonly quote: LaneQuote
  readonly day: number
  readonly won: boolean
  readonly model: number
  /** The lane's win rate with a half-life of 60 days. */
  readonly winRateOfLane: number
  /** The plain win rate of the scope above the lane. */
  readonly scopeRate: number
  /** How many decided quotes of the lane were known. */
  readonly known: number
  /** ln(rate / reference rate), as the model knew it. */
  readonly x: number
  readonly posterior: Posterior
}

interface Tally {
  won: number
  decided: number
  count: number
}

function tallyOf(tallies: Map<string, Tally>, key: string): Tally {
  const known = tallies.get(key)
  if (known) return known
  const made = { won: 0, decided: 0, count: 0 }
  tallies.set(key, made)
  return made
}

function scopeKey({ lane }: LaneQuote): string {
  return lane.scopes.map(({ key }) => key).join('/')
}

/** The plain win rates that were known on a morning. */
function plainRates(past: readonly LaneQuote[], morning: number) {
  const lanes = new Map<string, Tally>()
  const scopes = new Map<string, Tally>()
  const all = { won: 0, decided: 0 }
  for (const quote of past) {
    if (quote.outcome === 'pending') continue
    const win = quote.outcome === 'won' ? 1 : 0
    const weight = 2 ** (-(morning - dayOf(quote.quotedAt)) / HALF_LIFE_DAYS)
    const lane = tallyOf(lanes, quote.lane.key)
    lane.won += weight * win
    lane.decided += weight
    lane.count++
    const scope = tallyOf(scopes, scopeKey(quote))
    scope.won += win
    scope.decided++
    all.won += win
    all.decided++
  }
  const overall = (all.won + 1) / (all.decided + 2)
  const rateOf = (tally: Tally | undefined) =>
    ((tally?.won ?? 0) + OVERALL_QUOTES * overall) / ((tally?.decided ?? 0) + OVERALL_QUOTES)
  return {
    winRateOfLane: (quote: LaneQuote) => rateOf(lanes.get(quote.lane.key)),
    scopeRate: (quote: LaneQuote) => rateOf(scopes.get(scopeKey(quote))),
    known: (quote: LaneQuote) => lanes.get(quote.lane.key)?.count ?? 0,
  }
}

/**
 * Forecasts the decided quotes of every n-th day from the quotes of earlier days, with the outcomes that were known that
 * morning. Quotes without a known outcome are pending.
 */
export function walkForward(
  quotes: readonly LaneQuote[],
  plan: {
    readonly reporting: Reporting
    readonly warmUpDays: number
    readonly everyDays: number
    readonly onDay?: (day: number) => void
  },
): Walked[] {
  const sorted = [...quotes].sort(
    (one, other) => one.quotedAt - other.quotedAt || one.quoteId - other.quoteId,
  )
  const first = dayOf(sorted[0]?.quotedAt ?? 0)
  const last = dayOf(sorted.at(-1)?.quotedAt ?? 0)
  const out: Walked[] = []
  for (let day = first + plan.warmUpDays; day <= last; day += plan.everyDays) {
    plan.onDay?.(day - first)
    const tests = sorted.filter((quote) => dayOf(quote.quotedAt) === day && quote.outcome !== 'pending')
    if (tests.length === 0) continue
    const past = sorted
      .filter((quote) => dayOf(quote.quotedAt) < day)
      .map((quote) => {
        const outcome = plan.reporting(quote, day)
        return outcome === quote.outcome ? quote : { ...quote, outcome }
      })
    const rates = plainRates(past, day)
    const estimator = prepareEstimator({ quotes: past, now: day * DAY })
    const posteriors = new Map<string, Posterior>()
    for (const quote of tests) {
      const { lane, rateCents, miles } = quote
      const posterior = posteriors.get(lane.key) ?? lanePosterior(estimator, lane)
      posteriors.set(lane.key, posterior)
      const referenceCents = referenceRateCents(estimator, lane, miles)
      const x = referenceCents === null ? 0 : offerPosition(estimator, lane, { rateCents, referenceCents })
      out.push({
        quote,
        day,
        won: quote.outcome === 'won',
        model: winMean(posterior, x),
        winRateOfLane: rates.winRateOfLane(quote),
        scopeRate: rates.scopeRate(quote),
        known: rates.known(quote),
        x,
        posterior,
      })
    }
  }
  return out
}

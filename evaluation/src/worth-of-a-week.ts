import { dayOf } from '#engine/day.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { ridgeLogit } from './ridge-logit.ts'
import type { Walked } from './walk.ts'

const HALF_LIVES = [3, 7, 20, 60] as const
const WEEK = 7

const logit = (p: number) => {
  const within = Math.min(1 - 1e-4, Math.max(1e-4, p))
  return Math.log(within / (1 - within))
}

/** The outcomes that count for a tested quote: from at least `before` days before it and, unless null, at least `after` days after. */
interface Seen {
  readonly before: number
  readonly after: number | null
}

/** Returns a function that computes the predictors of a tested quote from decided quotes. */
function historiesOf(quotes: readonly LaneQuote[]) {
  const decided = quotes.filter(({ outcome }) => outcome !== 'pending')
  const scopeOf = ({ lane }: LaneQuote) => lane.scopes.map(({ key }) => key).join('/')
  const by = (keyOf: (quote: LaneQuote) => string) =>
    new Map(
      [...Map.groupBy(decided, keyOf)].map(([key, of]) => [
        key,
        of.map(({ quotedAt, outcome }) => ({ day: dayOf(quotedAt), won: outcome === 'won' ? 1 : 0 })),
      ]),
    )
  const overall = decided.filter(({ outcome }) => outcome === 'won').length / Math.max(1, decided.length)
  const [lanes, scopes, all] = [by(({ lane }) => lane.key), by(scopeOf), by(() => '')]
  /** The forecast, the relative rate, and the win rates of brokerage, scope and lane with four half-lives, in log odds. */
  return ({ quote, day, model, x }: Walked, seen: Seen): number[] => {
    const row = [logit(model), x]
    let prior = overall
    for (const history of [all.get(''), scopes.get(scopeOf(quote)), lanes.get(quote.lane.key)]) {
      for (const halfLife of HALF_LIVES) {
        let [won, count] = [2 * prior, 2]
        for (const one of history ?? []) {
          const age = day - one.day
          if (age >= seen.before || (seen.after !== null && -age >= seen.after)) {
            const weight = 2 ** (-Math.abs(age) / halfLife)
            won += weight * one.won
            count += weight
          }
        }
        row.push(logit(won / count), Math.log(count))
        if (halfLife === 60) prior = won / count
      }
    }
    return row
  }
}

/** How well outcomes are forecast, and how well they can be explained in hindsight (Brier scores). */
export interface Explained {
  readonly known: string
  readonly model: number
  /** The score of a regression that was fitted to the tested outcomes themselves. */
  readonly hindsight: number
}

function explained(known: string, walked: readonly Walked[], rows: readonly number[][]): Explained {
  const fitted = ridgeLogit(
    rows,
    walked.map(({ won }) => won),
  )
  const brierOf = (p: (one: Walked, at: number) => number) =>
    walked.reduce((sum, one, at) => sum + (p(one, at) - (one.won ? 1 : 0)) ** 2, 0) / walked.length
  return {
    known,
    model: brierOf(({ model }) => model),
    hindsight: brierOf((_, at) => fitted(rows[at] ?? [])),
  }
}

/**
 * What the outcomes of the last week are worth: the Brier scores of the model, and of regressions that choose in hindsight the weights
 * of its forecast and of the win rates of lane, scope and brokerage over 3 to 60 days. The last two regressions also know all later
 * outcomes, and one of them lacks only the last seven days. No forecast can know more, so no model avoids their difference.
 */
export function worthOfAWeek(
  quotes: readonly LaneQuote[],
  { atOnce, late }: { readonly atOnce: readonly Walked[]; readonly late: readonly Walked[] },
): Explained[] {
  const rowOf = historiesOf(quotes)
  const of = (known: string, walked: readonly Walked[], seen: Seen) =>
    explained(
      known,
      walked,
      walked.map((one) => rowOf(one, seen)),
    )
  return [
    of('after 1 day', atOnce, { before: 1, after: null }),
    of('after 7 days', late, { before: WEEK, after: null }),
    of('after 1 day, and all later outcomes', atOnce, { before: 1, after: 1 }),
    of('all but the last 7 days, and all later outcomes', late, { before: WEEK, after: 1 }),
  ]
}

/**
 * A quote of last week is still undecided: is that bad news? It is, if wins are answered within two days and losses in three weeks.
 * Then it counts as a fraction of a loss (or of a win), so that the share of losses among quotes of its age equals that among quotes
 * of two to eight months ago.
 * Method: a correction for reporting delays (Lawless, Canadian Journal of Statistics 22, 1994), by a formula of our own.
 * docs/estimate-formulas.md, "The curve", Late outcomes.
 */

import { dayOf } from '../day.ts'
import { isPooled, type PooledQuotes } from '../quotes/quoted-lanes.ts'
import type { Steps } from '../steps.ts'
import { clip } from './vector.ts'

/** Quotes of similar ages are counted together: each group begins at one of these ages, in days. */
const GROUPS = [0, 1, 2, 3, 5, 8, 12, 17, 24, 33, 45] as const
/** Quotes of 60 to 240 days are settled: their customers have answered, or never will. */
const SETTLED_FROM = 60
const SETTLED_TO = 240
/** With fewer decided quotes among the settled ones, an undecided quote counts as nothing. */
const SETTLED_MIN = 100
/** Each age group gets this many imaginary quotes with wins and losses answered equally fast, because a few quotes prove nothing. */
const EQUALLY_FAST = 40
/** Win rates differ by about this much from month to month anyway, so a smaller difference between ages is weak evidence. */
const USUAL_DIFFERENCE = 0.03

/** The part of a win (`won`) or of a loss that an undecided quote counts as. */
export interface Leaning {
  readonly won: boolean
  readonly weight: number
}

const NOTHING: Leaning = { won: false, weight: 0 }

/** The leaning of an undecided quote in each age group. */
export type AnswerTimes = readonly Leaning[]

/** The leaning of an undecided quote of this age, in days. */
export function leaningAt(times: AnswerTimes, age: number): Leaning {
  if (age >= SETTLED_FROM) return NOTHING
  let group = GROUPS.length - 1
  while (group > 0 && GROUPS[group]! > age) group--
  return times[group] ?? NOTHING
}

/**
 * The leanings of undecided quotes, from the numbers of won, lost and pending quotes by age. If wins and losses are answered equally fast,
 * undecided quotes count as nothing. Quotes still undecided after 60 days are taken to be like the decided ones.
 */
export function* answerTimesInSteps(quoted: PooledQuotes, today: number): Steps<AnswerTimes> {
  const { columns } = quoted
  const counts = GROUPS.map(() => [0, 0, 0])
  const settled = [0, 0, 0]
  for (let row = 0; row < columns.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    if (columns.lane[row]! < 0 || !isPooled(quoted, row)) continue
    const age = today - dayOf(columns.quotedAt[row]!)
    if (age < 0 || age > SETTLED_TO) continue
    const outcome = columns.outcomeOf(row)
    if (age >= SETTLED_FROM) settled[outcome]!++
    else {
      let group = GROUPS.length - 1
      while (group > 0 && GROUPS[group]! > age) group--
      const of = counts[group]
      if (of) of[outcome]!++
    }
  }
  return counts.map((of) => leaningOf(of, settled))
}

const ROWS_PER_STEP = 20_000

/** The leaning of an age group. `counts` and `settled` are numbers of pending, won and lost quotes. */
function leaningOf(counts: readonly number[], settled: readonly number[]): Leaning {
  const [pending = 0, won = 0, lost = 0] = counts
  const [stillPending = 0, allWon = 0, allLost = 0] = settled
  const all = stillPending + allWon + allLost
  if (pending === 0 || allWon === 0 || allLost === 0 || allWon + allLost < SETTLED_MIN) return NOTHING
  const count = pending + won + lost
  const [wonShare, lostShare] = [allWon / all, allLost / all]
  // The share of quotes whose answer is still to come. Some quotes are never answered, at any age.
  const late = clip(pending / count - stillPending / all, 0, 1) / (wonShare + lostShare)
  const answered = (share: number, found: number) =>
    clip((found + EQUALLY_FAST * share * (1 - late)) / (count + EQUALLY_FAST) / share, 0, 1)
  const [wonAnswered, lostAnswered] = [answered(wonShare, won), answered(lostShare, lost)]
  const missing = lostShare * (wonAnswered - lostAnswered)
  const weight = missing > 0 ? missing : wonShare * (lostAnswered - wonAnswered)
  const excess = late * (wonShare + lostShare)
  // Near 1 if the difference `missing` is larger than win rates usually vary.
  const evidence = missing ** 2 / (missing ** 2 + USUAL_DIFFERENCE ** 2)
  return { won: missing < 0, weight: clip((evidence * Math.min(weight, excess)) / (pending / count), 0, 1) }
}

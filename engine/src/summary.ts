import { formatDollars } from './money.ts'
import type { LaneScope } from './scopes.ts'
import type { LaneSignals } from './signals.ts'
import { counted, wonOf } from './wording.ts'

/** Everything the sentence may speak of. */
export interface SummaryFacts {
  readonly asked: LaneScope
  readonly used: LaneScope
  readonly quotes: number
  readonly wins: number
  readonly decided: number
  readonly winRatePct: number
  readonly monthsActive: number
  readonly avgRateCents: number
  readonly signals: LaneSignals
  /** The month of the last quote, such as "December 2017", where all are too old for the scores. */
  readonly lastQuoteMonth?: string
}

/**
 * A lane in one plain sentence, made from the numbers and signals and nothing else. A scope wider than asked is named
 * first. Trend and timing are told as what happened; nothing is foretold.
 *
 * @example
 * // 'On this lane with this equipment you won 7 of 12 decided quotes (58.3%) over 4 months at an average rate of
 * // $2,140: strong against your other lanes, won more often lately than before, won steadily month after month, and
 * // won in step with how busy it was.'
 */
export function summary(facts: SummaryFacts): string {
  const place =
    facts.used === facts.asked
      ? `On ${PLACE[facts.used]}`
      : `With too little history on ${PLACE[facts.asked]}, this looks at ${PLACE[facts.used]}, where`
  const rate = facts.avgRateCents > 0 ? ` at an average rate of ${formatDollars(facts.avgRateCents)}` : ''
  const span = `over ${counted(facts.monthsActive, 'month')}${rate}`
  if (facts.decided === 0) {
    const decision = facts.quotes === 1 ? 'it is not decided yet' : 'none of them is decided yet'
    return `${place} you sent ${counted(facts.quotes, 'quote')} ${span}, and ${decision}.`
  }
  const won = `${wonOf(facts.wins, facts.decided)} (${facts.winRatePct.toFixed(1)}%)`
  const signals = describeSignals(facts)
  return `${place} you ${won} ${span}${signals.length === 0 ? '' : `: ${listed(signals)}`}.`
}

/** Where a scope looks, as it stands in "On ..." and "this looks at ...". */
const PLACE: Readonly<Record<LaneScope, string>> = {
  equipment: 'this lane with this equipment',
  corridor: 'this lane across all equipment',
  market: 'lanes between the same two markets',
  state_pair: 'lanes between the same two states',
  region: 'lanes between the same two regions',
  tenant: 'all your lanes',
}

const STRENGTH: Readonly<Record<LaneSignals['strength'], string>> = {
  strong: 'strong against your other lanes',
  moderate: 'about as good as your other lanes',
  weak: 'weak against your other lanes',
  unproven: 'too few recent outcomes to compare with your other lanes',
}

const TREND: Readonly<Record<LaneSignals['trend'], string | null>> = {
  heating: 'won more often lately than before',
  steady: 'won about as often lately as before',
  cooling: 'won less often lately than before',
  new: null,
}

const CONSISTENCY: Readonly<Record<LaneSignals['consistency'], string | null>> = {
  reliable: 'won steadily month after month',
  mixed: 'won more in some months than in others',
  erratic: 'won only now and then',
  unproven: null,
}

const TIMING: Readonly<Record<LaneSignals['timing'], string | null>> = {
  aligned: 'won in step with how busy it was',
  neutral: null,
  misaligned: 'not won when it was busy',
  unknown: null,
}

function describeSignals({ signals, used, lastQuoteMonth }: SummaryFacts): string[] {
  if (lastQuoteMonth !== undefined)
    return [`the last quote was in ${lastQuoteMonth}, too long ago to judge by`]
  return [
    // Over all lanes there is no other lane to be strong against.
    used === 'tenant' ? null : STRENGTH[signals.strength],
    TREND[signals.trend],
    CONSISTENCY[signals.consistency],
    TIMING[signals.timing],
  ].filter((words) => words !== null)
}

function listed(parts: readonly string[]): string {
  if (parts.length < 3) return parts.join(' and ')
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`
}

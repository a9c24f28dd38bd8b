import { formatDollars } from './money.ts'
import type { LaneScope } from './scopes.ts'
import type { LaneSignals } from './signals.ts'
import { counted, wonOf } from './wording.ts'

/** The values that the summary is built from. */
export interface SummaryFacts {
  readonly asked: LaneScope
  readonly used: LaneScope
  readonly quotes: number
  readonly wins: number
  readonly decided: number
  readonly winRatePct: number
  readonly monthsActive: number
  readonly avgRateCents: number
  /** True if the average is of rates that were scaled to the miles of the lane. */
  readonly rateIsScaled: boolean
  readonly signals: LaneSignals
  /** The month of the last quote, such as "December 2017". Set if all quotes are too old for the scores. */
  readonly lastQuoteMonth?: string
}

/**
 * Describes a lane in one plain sentence, built only from the numbers and signals. If the scope is wider than
 * requested, the sentence states the scope first. Trend and timing are stated in the past tense; the sentence makes
 * no forecast.
 *
 * @example
 * // 'On this lane with this equipment you won 7 of 12 decided quotes (58.3%) over 4 months at an average rate of
 * // $2,140: strong against your other lanes, won more often lately than before, won steadily month after month, and
 * // won in step with how busy it was.'
 */
export function summary(facts: SummaryFacts): string {
  const place =
    facts.used === facts.asked
      ? `On ${SCOPE_NAMES[facts.used]}`
      : `With too little history on ${SCOPE_NAMES[facts.asked]}, this looks at ${SCOPE_NAMES[facts.used]}, where`
  const scaled = facts.rateIsScaled ? " scaled to this lane's miles" : ''
  const rate =
    facts.avgRateCents > 0 ? ` at an average rate of ${formatDollars(facts.avgRateCents)}${scaled}` : ''
  const span = `over ${counted(facts.monthsActive, 'month')}${rate}`
  if (facts.decided === 0) {
    const decision = facts.quotes === 1 ? 'it is not decided yet' : 'none of them is decided yet'
    return `${place} you sent ${counted(facts.quotes, 'quote')} ${span}, and ${decision}.`
  }
  const won = `${wonOf(facts.wins, facts.decided)} (${facts.winRatePct.toFixed(1)}%)`
  const signals = describeSignals(facts)
  return `${place} you ${won} ${span}${signals.length === 0 ? '' : `: ${listed(signals)}`}.`
}

/** The name of each scope, as used after "On" and "this looks at". */
export const SCOPE_NAMES: Readonly<Record<LaneScope, string>> = {
  equipment: 'this lane with this equipment',
  corridor: 'this lane across all equipment',
  market: 'lanes between the same two markets',
  state_pair: 'lanes between the same two states',
  region: 'lanes between the same two regions',
  tenant: 'all your lanes',
}

/** The words that each signal value adds to the summary; null for none. */
export const SIGNAL_WORDS: {
  readonly [Signal in keyof LaneSignals]: Readonly<Record<LaneSignals[Signal], string | null>>
} = {
  strength: {
    strong: 'strong against your other lanes',
    moderate: 'about as good as your other lanes',
    weak: 'weak against your other lanes',
    unproven: 'too few recent outcomes to compare with your other lanes',
  },
  trend: {
    heating: 'won more often lately than before',
    steady: 'won about as often lately as before',
    cooling: 'won less often lately than before',
    new: null,
  },
  consistency: {
    reliable: 'won steadily month after month',
    mixed: 'won more in some months than in others',
    erratic: 'won only now and then',
    unproven: null,
  },
  timing: {
    aligned: 'won in step with how busy it was',
    neutral: null,
    misaligned: 'not won when it was busy',
    unknown: null,
  },
}

function describeSignals({ signals, used, lastQuoteMonth }: SummaryFacts): string[] {
  if (lastQuoteMonth !== undefined)
    return [`the last quote was in ${lastQuoteMonth}, too long ago to judge by`]
  return [
    // The scope `tenant` covers all lanes, so there are no other lanes to compare with.
    used === 'tenant' ? null : SIGNAL_WORDS.strength[signals.strength],
    SIGNAL_WORDS.trend[signals.trend],
    SIGNAL_WORDS.consistency[signals.consistency],
    SIGNAL_WORDS.timing[signals.timing],
  ].filter((words) => words !== null)
}

function listed(parts: readonly string[]): string {
  if (parts.length < 3) return parts.join(' and ')
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`
}

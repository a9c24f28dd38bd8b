import type { SavedOutcome } from '#engine/history.ts'
import { type Cell, foldedWords } from './cells.ts'

export type OutcomeReason = 'price' | 'service' | 'capacity' | 'no_response' | 'other'
export interface ReadOutcome {
  readonly outcome: SavedOutcome
  readonly reason: OutcomeReason | null
}

/** The outcome words of TMSs and load boards, folded to lower case with single spaces. */
const outcomeWords: Readonly<Record<string, readonly string[]>> = {
  won: [
    'won',
    'win',
    'w',
    'yes',
    'y',
    'true',
    '1',
    'booked',
    'book',
    'awarded',
    'accepted',
    'approved',
    'converted',
    'closed won',
    'tendered',
    'tender accepted',
    'covered',
    'assigned',
    'dispatched',
    'in transit',
    'loaded',
    'picked up',
    'delivered',
    'complete',
    'completed',
    'invoiced',
    'billed',
    'paid',
  ],
  lost: [
    'lost',
    'loss',
    'lose',
    'l',
    'no',
    'n',
    'false',
    '0',
    'declined',
    'rejected',
    'refused',
    'not awarded',
    'not accepted',
    'closed lost',
    'lost other',
  ],
  'lost price': [
    'lost price',
    'lost on price',
    'lost rate',
    'price',
    'too high',
    'rate too high',
    'price too high',
  ],
  'lost service': ['lost service', 'lost on service'],
  'lost capacity': ['lost capacity', 'no capacity', 'no truck', 'no trucks'],
  'lost no_response': ['no response', 'no answer', 'no reply', 'lost no response', 'unanswered'],
  expired: ['expired', 'quote expired', 'lapsed', 'stale'],
  pending: [
    'pending',
    'sent',
    'open',
    'quoted',
    'new',
    'draft',
    'submitted',
    'active',
    'in progress',
    'awaiting',
    'awaiting response',
    'waiting',
    'undecided',
    'unknown',
  ],
}

const outcomeOfWord: ReadonlyMap<string, string> = new Map(
  Object.entries(outcomeWords).flatMap(([outcome, words]) =>
    words.map((word): [string, string] => [word, outcome]),
  ),
)
const isOutcome = (word: string | undefined): word is SavedOutcome =>
  word === 'won' || word === 'lost' || word === 'pending' || word === 'expired'

/**
 * Reads an outcome. An unanswered quote is lost for lack of response; an expired one is neither won nor lost. A cancelled load
 * is rejected, because it was neither won nor lost on its rate.
 *
 * @example readOutcome('Lost - Price') // { value: { outcome: 'lost', reason: 'price' } }
 */
export function readOutcome(text: string): Cell<ReadOutcome> {
  const word = foldedWords(text)
  if (/^(load )?(cancell?ed|void|voided|withdrawn|tonu)\b/.test(word)) {
    return {
      wrong:
        'won, lost or pending; remove the rows of cancelled loads, which were neither won nor lost on their rate',
    }
  }
  const [outcome, reason] = outcomeOfWord.get(word)?.split(' ') ?? []
  if (!isOutcome(outcome)) {
    return {
      wrong: 'a known word for won, lost, pending or expired, such as WON, LOST, SENT, EXPIRED or Booked',
    }
  }
  return { value: { outcome, reason: (reason as OutcomeReason | undefined) ?? null } }
}

const reasonWords: readonly (readonly [OutcomeReason, RegExp])[] = [
  ['price', /\b(price|pricing|rate|rates|cost|expensive|high|cheaper)\b/],
  ['capacity', /\b(capacity|truck|trucks|coverage)\b/],
  ['service', /\b(service|transit|late|claims?)\b/],
  ['no_response', /\b(no (response|reply|answer)|expired|unanswered)\b/],
]

/** Reads why a quote was lost. The text is free; what matches no known reason becomes `other`. */
export function readReason(text: string): OutcomeReason {
  const words = foldedWords(text)
  return reasonWords.find(([, form]) => form.test(words))?.[0] ?? 'other'
}

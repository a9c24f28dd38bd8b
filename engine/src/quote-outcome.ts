import type { FieldStamps } from './field-stamps.ts'
import type { SavedOutcome } from './history.ts'

/**
 * The outcome of a quote as a function of what is known about it. Messages about a quote arrive in any order: each adds a fact, and
 * `outcomeFrom` derives the outcome from all facts. So the outcome does not depend on the order of arrival.
 *
 * The states of a quote, and what moves it:
 *
 * ```
 *   made ──► pending ── validity_ended ───► expired
 *               ▲ ◄──── validity_extended ──── ▲
 *               │                              │
 *               └───────────────┬──────────────┘
 *                               │ up: cancellation_takes_back_the_win, a report, a person
 *                               ▼ down: booking_is_a_win (only to won), a report, a person
 *                       won ◄──────► lost
 *
 *   each of the four ── another_offer_counts ──► superseded ── another_offer_counts ──► its outcome
 *   each of the five ── a person ──► void ── a person, or a booking ──► its outcome
 * ```
 *
 * A report is an outcome that was pushed or is in a file. A person marks a quote, or rolls back a change of it. A superseded or
 * void quote still has an outcome, which moves in the same way. `assertMove` checks the moves of rules.
 */

/** `lanewise` is the service itself. */
export type OutcomeSource = 'dashboard' | 'tms' | 'import' | 'lanewise'
/** Why a quote was lost. Only losses for the price, or without a reason, say that a rate was too high: estimate/other-losses.ts. */
export type OutcomeReason = 'price' | 'service' | 'capacity' | 'no_response' | 'withdrawn' | 'other'

/** The rules that change an outcome automatically. The history of a quote records the rule behind each change. */
export type OutcomeRule =
  | 'booking_is_a_win'
  | 'cancellation_takes_back_the_win'
  | 'validity_ended'
  | 'validity_extended'
  | 'another_offer_counts'

type Move = readonly [from: SavedOutcome | 'any', to: SavedOutcome | 'any']

/** The outcomes between which each rule moves a quote. Null: the rule changes which offer of a load counts, but no outcome. */
const movedBy: Readonly<Record<OutcomeRule, Move | null>> = {
  booking_is_a_win: ['any', 'won'],
  // Any two outcomes: a person may have marked a booked quote, and a win may have been reported before the booking.
  cancellation_takes_back_the_win: ['any', 'any'],
  validity_ended: ['pending', 'expired'],
  validity_extended: ['expired', 'pending'],
  another_offer_counts: null,
}

/**
 * Throws an error if a rule cannot move a quote from one outcome to another: the caller named the wrong rule, or read the quote
 * before another change.
 *
 * @example assertMove('validity_ended', 'won', 'expired') // throws: validity_ended does not move a quote from won to expired.
 */
export function assertMove(rule: OutcomeRule, from: SavedOutcome, to: SavedOutcome): void {
  const move = movedBy[rule]
  const isAllowed = move !== null && ['any', from].includes(move[0]) && ['any', to].includes(move[1])
  if (from !== to && !isAllowed) throw new Error(`${rule} does not move a quote from ${from} to ${to}.`)
}

/** The outcome of a quote, its reason and source, and the time of the decision (epoch milliseconds). */
export interface QuoteOutcome {
  readonly outcome: SavedOutcome
  readonly reason: OutcomeReason | null
  readonly source: OutcomeSource | null
  readonly decidedAt: number | null
}

export const undecided: QuoteOutcome = { outcome: 'pending', reason: null, source: null, decidedAt: null }

/** When another system reported an outcome: times of signatures in epoch seconds, the decision in epoch milliseconds. */
export interface ReportedTime {
  /** The earliest signature of a message with this outcome. */
  readonly first: number
  /** The newest message that stated when the customer decided, and the time that it stated. */
  readonly stated: { readonly signed: number; readonly decidedAt: number } | null
}

/** The facts from which `outcomeFrom` derives the outcome of a quote. */
export interface OutcomeFacts {
  /** The newest outcome from another system, a file, or an expiry; pending without any. If it was pushed, its time is in `reported`. */
  readonly stated: QuoteOutcome
  /** The newest decision of a person, its second on the database's clock, and whether the quote was booked then. */
  readonly person: (QuoteOutcome & { readonly at: number; readonly onBooking: boolean }) | null
  /** Whether the person's decision is newer than `stated`. */
  readonly personIsNewest: boolean
  readonly reported: Readonly<Partial<Record<SavedOutcome, ReportedTime>>>
  /** The seconds in which bookings and cancellations were signed, ascending: see `withTime`. */
  readonly bookings: readonly number[]
  readonly cancellations: readonly number[]
  /** When the win that a file booked was decided, in epoch milliseconds. */
  readonly importedWinAt: number | null
}

/** The facts of a quote that nothing was reported about. */
export const noFacts: OutcomeFacts = {
  stated: undecided,
  person: null,
  personIsNewest: false,
  reported: {},
  bookings: [],
  cancellations: [],
  importedWinAt: null,
}

/** The current booking of a quote, as far as the outcome depends on it. Times in epoch milliseconds. */
export interface CurrentBooking {
  readonly isBooked: boolean
  /** Whether the TMS signed the customer rate or the truck cost. */
  readonly isSigned: boolean
  readonly bookedAt: number | null
}

/** The most times of one kind in the facts: a booking that is sent again daily must not grow them without end. */
const timesMax = 12

/**
 * `times` with another time, ascending and each once. Above `timesMax` times, one that decides nothing is dropped: the oldest if it is
 * before `since`, else the newest but one.
 *
 * @example withTime([10, 30], 20, 0) // [10, 20, 30]
 */
function withTime(times: readonly number[], time: number, since: number): readonly number[] {
  if (times.includes(time)) return times
  const all = [...times, time].sort((a, b) => a - b)
  if (all.length <= timesMax) return all
  return all.toSpliced((all[0] ?? 0) < since ? 0 : -2, 1)
}

const newest = (times: readonly number[]) => times.at(-1) ?? Number.NEGATIVE_INFINITY

/**
 * The facts after a signed booking; the same object if the booking is known. `second` is its signed time, at most the time of its arrival.
 */
export function withBooking(facts: OutcomeFacts, second: number): OutcomeFacts {
  const bookings = withTime(facts.bookings, second, newest(facts.cancellations))
  return bookings === facts.bookings ? facts : { ...facts, bookings }
}

/** The facts after a signed cancellation; the same object if the cancellation is known. */
export function withCancellation(facts: OutcomeFacts, second: number): OutcomeFacts {
  const cancellations = withTime(facts.cancellations, second, newest(facts.bookings))
  return cancellations === facts.cancellations ? facts : { ...facts, cancellations }
}

/** The facts with `instead` in place of each second of a booking or cancellation that is not possible. The same object if all are. */
export function withPossibleTimes(
  facts: OutcomeFacts,
  isImpossible: (second: number) => boolean,
  instead: number,
): OutcomeFacts {
  const { bookings, cancellations } = facts
  if (![...bookings, ...cancellations].some(isImpossible)) return facts
  const possible = (times: readonly number[]) =>
    [...new Set(times.map((time) => (isImpossible(time) ? instead : time)))].sort((a, b) => a - b)
  return { ...facts, bookings: possible(bookings), cancellations: possible(cancellations) }
}

export interface ReportedOutcome {
  readonly outcome: SavedOutcome
  readonly reason: OutcomeReason | null
  /** When the customer decided, if the message says so. */
  readonly decidedAt: number | null
}

/**
 * The facts after a reported outcome. `second` is its signed time, and `isNewest` whether no newer outcome is known. An older
 * report still tells when the outcome was first reported.
 */
export function withReport(
  facts: OutcomeFacts,
  { outcome, reason, decidedAt }: ReportedOutcome,
  second: number,
  isNewest: boolean,
): OutcomeFacts {
  const known = facts.reported[outcome]
  const stated = decidedAt === null ? null : { signed: second, decidedAt }
  const reported = {
    ...facts.reported,
    [outcome]: {
      first: Math.min(second, known?.first ?? second),
      stated: newerStatement(known?.stated ?? null, stated),
    },
  }
  if (!isNewest) return { ...facts, reported }
  return {
    ...facts,
    reported,
    stated: { outcome, reason, source: 'tms', decidedAt: null },
    personIsNewest: false,
  }
}

type Statement = ReportedTime['stated']
function newerStatement(one: Statement, other: Statement): Statement {
  if (one === null || other === null) return one ?? other
  if (one.signed !== other.signed) return one.signed > other.signed ? one : other
  return one.decidedAt >= other.decidedAt ? one : other
}

/** The facts after a file booked the quote, whose win was decided at `decidedAt` (epoch milliseconds). */
export function withImportedBooking(facts: OutcomeFacts, decidedAt: number): OutcomeFacts {
  return { ...facts, importedWinAt: facts.importedWinAt ?? decidedAt }
}

/** The facts after a person set the outcome of a quote in the second `at` of the database's clock. */
export function withDecision(
  facts: OutcomeFacts,
  decision: QuoteOutcome,
  at: number,
  onBooking: boolean,
): OutcomeFacts {
  return { ...facts, person: { ...decision, at, onBooking }, personIsNewest: true }
}

/** The facts after an outcome without a signature: from a file, or by expiry. */
export function withStatement(facts: OutcomeFacts, stated: QuoteOutcome): OutcomeFacts {
  return { ...facts, stated, personIsNewest: false }
}

/**
 * The outcome of a quote. The rule is the same for every source and every order of arrival:
 *
 * 1. A booked quote is won, unless a person decided while it was booked and no cancellation came since.
 * 2. Else the newer of the person's decision and the reported outcome counts.
 *
 * A booked win was decided at the time that a report or a file of the win states. Without one, it was decided at `booked_at` or when the
 * first message about it was signed, whichever is earlier. A reported outcome was decided at the time that its newest report states, else
 * when it was first reported.
 *
 * @example outcomeFrom(factsOfALostQuote, { isBooked: true, isSigned: true, bookedAt: null }) // { outcome: 'won', source: 'tms', ... }
 */
export function outcomeFrom(facts: OutcomeFacts, booking: CurrentBooking): QuoteOutcome {
  const apart = outcomeApartFromBooking(facts)
  if (!booking.isBooked) return apart
  if (facts.person !== null && stands(facts)) return decisionOf(facts.person)
  return {
    outcome: 'won',
    reason: null,
    source: booking.isSigned || (apart.outcome === 'won' && apart.source === 'tms') ? 'tms' : 'import',
    decidedAt: wonAt(facts, apart, booking.bookedAt),
  }
}

const decisionOf = ({
  at: _,
  onBooking: __,
  ...outcome
}: NonNullable<OutcomeFacts['person']>): QuoteOutcome => outcome

/** The outcome that a quote would have without its booking. A cancellation restores it. */
export function outcomeApartFromBooking({
  stated,
  person,
  personIsNewest,
  reported,
}: OutcomeFacts): QuoteOutcome {
  if (person !== null && personIsNewest) return decisionOf(person)
  if (stated.source !== 'tms') return stated
  const known = reported[stated.outcome]
  const decidedAt = known?.stated?.decidedAt ?? (known === undefined ? stated.decidedAt : known.first * 1000)
  return { ...stated, decidedAt: stated.outcome === 'pending' ? null : decidedAt }
}

/** Whether a person's decision counts against the booking: it was made while the quote was booked, with no cancellation since. */
function stands({ person, cancellations }: OutcomeFacts): boolean {
  return person?.onBooking === true && newest(cancellations) <= person.at
}

function wonAt(facts: OutcomeFacts, apart: QuoteOutcome, bookedAt: number | null): number | null {
  const isWon = apart.outcome === 'won'
  const statedWin = isWon && apart.source === 'tms' ? facts.reported.won?.stated?.decidedAt : undefined
  const known = statedWin ?? (isWon && apart.source !== 'tms' ? apart.decidedAt : null) ?? facts.importedWinAt
  if (known !== null) return known
  const reported = isWon ? facts.reported.won?.first : undefined
  const seconds = [firstBooking(facts), reported].filter((second) => second !== undefined)
  const first = seconds.length === 0 ? null : Math.min(...seconds) * 1000
  return bookedAt === null || first === null ? (bookedAt ?? first) : Math.min(bookedAt, first)
}

/** The second of the first booking since the last cancellation, which may be of the same second. */
function firstBooking({ bookings, cancellations }: OutcomeFacts): number | undefined {
  const cancelled = newest(cancellations)
  return bookings.find((at) => at >= cancelled) ?? bookings[0]
}

/** When the booking was cancelled, epoch milliseconds: the first cancellation since the last booking. Null without any. */
export function cancelledAtFrom({ bookings, cancellations }: OutcomeFacts): number | null {
  const booked = newest(bookings)
  const second = cancellations.find((at) => at >= booked) ?? cancellations.at(-1)
  return second === undefined ? null : second * 1000
}

/** The facts as they are saved with a quote. Rows of earlier versions have the first four members only, or null. */
export interface SavedFacts {
  readonly outcome: SavedOutcome
  readonly reason: OutcomeReason | null
  readonly source: OutcomeSource | null
  /** ISO 8601 */
  readonly decided_at: string | null
  readonly person?: OutcomeFacts['person']
  readonly person_is_newest?: boolean
  readonly reported?: OutcomeFacts['reported']
  readonly bookings?: readonly number[]
  readonly cancellations?: readonly number[]
  readonly imported_win_at?: number | null
}

/** The shown outcome and the saved facts of a quote, from which its facts are read. Times in epoch milliseconds. */
export interface SavedQuoteOutcome {
  readonly shown: QuoteOutcome
  readonly kept: SavedFacts | null
  readonly isBooked: boolean
  readonly cancelledAt: number | null
  /** The stamps of the pushed outcome. */
  readonly stamps: FieldStamps
}

/**
 * The facts of a saved quote. The shown outcome is a fact, too: a file, an undo, or an earlier version may have written it without
 * saving why.
 */
export function factsOf({ shown, kept, isBooked, cancelledAt, stamps }: SavedQuoteOutcome): OutcomeFacts {
  const [stamp] = stamps
  const byPerson = stamps.find(({ sender }) => sender === null)
  const secondOf = (ms: number | null) => (ms === null ? 0 : Math.floor(ms / 1000))
  const decision = (outcome: QuoteOutcome, onBooking: boolean) => ({
    ...outcome,
    at: byPerson?.signed ?? secondOf(outcome.decidedAt),
    onBooking,
  })
  const before: QuoteOutcome | null =
    kept === null
      ? null
      : {
          outcome: kept.outcome,
          reason: kept.reason,
          source: kept.source,
          decidedAt: kept.decided_at === null ? null : Date.parse(kept.decided_at),
        }
  const isPushedWin = isBooked && shown.source === 'tms' && shown.outcome === 'won' && stamp !== undefined
  const stated = before ?? (!isBooked || (isPushedWin && stamp.sender !== null) ? shown : undecided)
  const winOf = (source: OutcomeSource) =>
    isBooked && shown.outcome === 'won' && shown.source === source ? shown.decidedAt : null
  const tmsWinAt = winOf('tms')
  const stored: OutcomeFacts = {
    stated: stated.source === 'dashboard' ? undecided : stated,
    person: kept?.person ?? (stated.source === 'dashboard' ? decision(stated, false) : null),
    personIsNewest: kept?.person_is_newest ?? stated.source === 'dashboard',
    reported: kept?.reported ?? reportedBefore(stated, stamps),
    bookings: kept?.bookings ?? (tmsWinAt === null ? [] : [secondOf(tmsWinAt)]),
    cancellations: kept?.cancellations ?? (cancelledAt === null ? [] : [secondOf(cancelledAt)]),
    importedWinAt: kept?.imported_win_at ?? winOf('import'),
  }
  if (!isBooked) {
    if (isSame(shown, outcomeApartFromBooking(stored))) return stored
    return shown.source === 'dashboard'
      ? withDecision(stored, shown, decision(shown, false).at, false)
      : {
          ...withStatement(stored, shown),
          reported: { ...reportedBefore(shown, stamps), ...stored.reported },
        }
  }
  if (shown.source !== 'dashboard' || (stored.person !== null && isSame(shown, decisionOf(stored.person)))) {
    return stored
  }
  const isNewest = byPerson !== undefined && stamp === byPerson
  return { ...stored, person: decision(shown, true), personIsNewest: isNewest }
}

/** When an outcome was reported, from its stamp, for quotes whose saved facts lack that time. */
function reportedBefore(stated: QuoteOutcome, [stamp]: FieldStamps): OutcomeFacts['reported'] {
  if (stated.source !== 'tms' || stamp === undefined || stamp.sender === null) return {}
  const { effective: first } = stamp
  const { decidedAt } = stated
  const isStated = decidedAt !== null && decidedAt !== first * 1000
  return { [stated.outcome]: { first, stated: isStated ? { signed: first, decidedAt } : null } }
}

export function savedFacts(facts: OutcomeFacts): SavedFacts {
  const { outcome, reason, source, decidedAt } = facts.stated
  return {
    outcome,
    reason,
    source,
    decided_at: decidedAt === null ? null : new Date(decidedAt).toISOString(),
    ...(facts.person === null ? {} : { person: facts.person, person_is_newest: facts.personIsNewest }),
    ...(Object.keys(facts.reported).length === 0 ? {} : { reported: facts.reported }),
    bookings: facts.bookings,
    ...(facts.cancellations.length === 0 ? {} : { cancellations: facts.cancellations }),
    ...(facts.importedWinAt === null ? {} : { imported_win_at: facts.importedWinAt }),
  }
}

export function isSame(one: QuoteOutcome, other: QuoteOutcome): boolean {
  return (
    one.outcome === other.outcome &&
    one.reason === other.reason &&
    one.source === other.source &&
    one.decidedAt === other.decidedAt
  )
}

/**
 * The facts after a person's rollback in the second `at`. `restored` is the outcome of the quote afterwards, null if the rollback
 * does not change it.
 */
export function withRollback(
  facts: OutcomeFacts,
  restored: QuoteOutcome | null,
  isBooked: boolean,
  at: number,
): OutcomeFacts {
  const inForce = isBooked ? { ...facts, cancellations: [] } : facts
  if (restored === null) return inForce
  if (restored.source === 'dashboard') return withDecision(inForce, restored, at, isBooked)
  if (!isBooked) return withStatement({ ...inForce, person: null }, restored)
  // The rollback restores the win. A person's decision from while the quote was booked is undone. One from before the booking remains,
  // because a cancellation restores it.
  return stands(inForce) ? { ...inForce, person: null, personIsNewest: false } : inForce
}

import { type FieldStamps, type Stamp, stampFields, stampOf } from './field-stamps.ts'
import type { QuoteStampGroup } from './quote-fields.ts'
import {
  type CurrentBooking,
  type OutcomeFacts,
  outcomeFrom,
  type QuoteOutcome,
  type ReportedOutcome,
  undecided,
  withReport,
  withStatement,
} from './quote-outcome.ts'

/**
 * The parts of a quote that another system can push, each with its own stamp: the groups of fields in `quoteTable`, and `outcome`, which is
 * the outcome, its reason and its time together.
 */
export type PushedQuoteField = QuoteStampGroup | 'outcome'

export type QuoteStamps = Readonly<Partial<Record<PushedQuoteField, FieldStamps>>>

/** The part of a saved quote that decides what a push changes. */
export interface SavedQuote {
  readonly stamps: QuoteStamps
  readonly outcome: QuoteOutcome
  readonly facts: OutcomeFacts
  readonly booking: CurrentBooking
}

/** A pushed quote: the fields that it carries, and its outcome if `outcome` is among them. */
export interface PushedQuote {
  readonly carried: readonly PushedQuoteField[]
  readonly outcome: ReportedOutcome | null
  /** When the quote's validity ends, in epoch milliseconds, if it carries `validUntil`. */
  readonly validUntil: number | null
  /** The values of the quote as one text, without the identifiers, by which a repetition is recognized. */
  readonly content: string
  /** The service token that sent the quote. */
  readonly sender: number
  readonly signedAtSeconds: number
}

export interface AppliedQuote {
  /** The fields whose value this push sets. Their values may be equal to those of the saved quote. */
  readonly written: ReadonlySet<PushedQuoteField>
  readonly stamps: QuoteStamps
  readonly stampsChanged: boolean
  /** The outcome of the quote, and the facts behind it; null if neither changes. */
  readonly outcome: { readonly outcome: QuoteOutcome; readonly facts: OutcomeFacts } | null
  /** True if the pushed outcome waits behind a booking: a booked quote is won until the booking is cancelled. */
  readonly outcomeWaits: boolean
  /** True if a later end of the validity makes an expired quote pending again. */
  readonly isExtended: boolean
}

/** Of two outcomes of the same second, the higher number counts. */
const outcomeClasses = { pending: 0, expired: 1, lost: 2, won: 3 } as const

/** The stamp of a pushed quote that arrives at `now` (epoch milliseconds) of the database's clock. */
export function stampOfQuote({ outcome, content, sender, signedAtSeconds }: PushedQuote, now: number): Stamp {
  const rank = outcome === null ? 0 : outcomeClasses[outcome.outcome]
  return stampOf({ sender, signedAtSeconds, rank, content }, now)
}

/**
 * Decides what a push changes in a saved quote. `now` is the time of the database's clock, in epoch milliseconds.
 *
 * The value with the newest signature counts, as in shipment updates (see `stampFields`), so repeated and reordered messages end in
 * the same state as messages in signed order. A booking is a win: an outcome that is pushed for a booked quote counts when the
 * booking is cancelled (see `outcomeFrom`).
 *
 * @example
 * applyPushedQuote(pendingLane, { carried: ['outcome'], outcome: lost, sender: 3, signedAtSeconds: 1772373600, ... }, now)
 *   // { written: Set { 'outcome' }, outcome: { outcome: lost, facts: ... }, outcomeWaits: false, ... }
 */
export function applyPushedQuote(saved: SavedQuote, quote: PushedQuote, now: number): AppliedQuote {
  const { carried, outcome } = quote
  const stamp = stampOfQuote(quote, now)
  const { written, stamps, changed } = stampFields(saved.stamps, carried, stamp, now)
  const reported =
    outcome === null ? saved.facts : withReport(saved.facts, outcome, stamp.effective, written.has('outcome'))
  const facts = afterValidity(reported, written.has('validUntil') ? quote.validUntil : null, stamps, now)
  const next = outcomeFrom(facts, saved.booking)
  return {
    written,
    stamps,
    stampsChanged: changed,
    outcome: facts === saved.facts ? null : { outcome: next, facts },
    outcomeWaits: outcome !== null && written.has('outcome') && next.outcome !== outcome.outcome,
    isExtended: facts !== reported && facts.stated.outcome === 'pending',
  }
}

/**
 * The facts after the end of a quote's validity changed. An expired quote is pending again if it is valid now; else it expired at the new
 * end.
 */
function afterValidity(
  facts: OutcomeFacts,
  validUntil: number | null,
  { outcome: [stamp] = [] }: QuoteStamps,
  now: number,
): OutcomeFacts {
  const { outcome, source } = facts.stated
  if (validUntil === null || outcome !== 'expired' || source !== 'lanewise') return facts
  if (validUntil <= now) return withValidity(facts, { ...facts.stated, decidedAt: validUntil })
  const wasPushed = stamp !== undefined && stamp.sender !== null
  return withValidity(facts, { ...undecided, source: wasPushed ? 'tms' : null })
}

/** The facts after another expiry, which does not replace a person's newer decision. */
function withValidity(facts: OutcomeFacts, stated: QuoteOutcome): OutcomeFacts {
  return { ...withStatement(facts, stated), personIsNewest: facts.personIsNewest }
}

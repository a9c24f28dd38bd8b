import type { Static } from 'typebox'
import type { FieldError } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { signatureToleranceSeconds } from '#contract/limits.ts'
import { neededOfNewQuote, type pushedOutcome, type pushedQuote } from '#contract/push-quotes.ts'
import { stampFields } from '#engine/field-stamps.ts'
import { quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import {
  noFacts,
  type OutcomeRule,
  outcomeApartFromBooking,
  type QuoteOutcome,
  type ReportedOutcome,
  undecided,
  withReport,
} from '#engine/quote-outcome.ts'
import {
  applyPushedQuote,
  type PushedQuote,
  type PushedQuoteField,
  stampOfQuote,
} from '#engine/quote-update.ts'
import { type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import { currentBooking } from '#engine/shipment-update.ts'
import { costExpected, type Pricing } from '../book/index.ts'
import {
  bookingOf,
  type NewQuote,
  type NewQuoteRequest,
  type NextValues,
  outcomeFactsOf,
  outcomeOf,
  outcomeValues,
} from '../database/queries/index.ts'
import type { QuoteRow } from '../database/schema/index.ts'
import { removedByTerms, termsOf } from '../quotes/index.ts'
import { chargesErrors } from './charges-errors.ts'
import type { Draft } from './enter.ts'
import { readSentFields } from './sent-fields.ts'

export type SentPush = Static<typeof pushedQuote>
type Quote = SentPush

/** Who signed a push, and when. */
export interface PushSignature {
  readonly tokenId: number
  readonly signedAtSeconds: number
  /** When the request arrived, epoch milliseconds. */
  readonly now: number
}

/** The JSON names of the fields in each group. */
const sentNames: ReadonlyMap<PushedQuoteField, readonly (keyof Quote)[]> = new Map<
  PushedQuoteField,
  readonly (keyof Quote)[]
>([
  ...Map.groupBy(quoteFieldsOf('push'), (field) => quoteTable[field].stamp)
    .entries()
    .map(([stamp, fields]) => [stamp, fields.map((field) => quoteTable[field].sent)] as const),
  ['outcome', ['outcome', 'outcome_reason', 'decided_at']],
])

/** A parsed push of a quote: what was sent, and the columns that each group of sent fields sets. */
export interface PushedColumns {
  readonly item: Partial<Quote>
  readonly columns: ReadonlyMap<PushedQuoteField, NextValues>
}

const moment = (value: string) => new Date(readTime(value) ?? Number.NaN)

/** Parses the fields of a pushed quote. Adds errors for fields that contradict each other, and for times in the future. */
export function readPush(item: Partial<Quote>, now: number, errors: FieldError[]): PushedColumns {
  const columns = new Map(readSentFields('push', item, errors)) as Map<PushedQuoteField, NextValues>
  // The columns of an outcome depend on the quote's present outcome, so they are set later.
  if (item.outcome !== undefined) columns.set('outcome', {})
  errors.push(...togetherErrors(item), ...futureErrors(item, now))
  return { item, columns }
}

function togetherErrors(item: Partial<Quote>): FieldError[] {
  const needs = (field: keyof Quote, other: keyof Quote): FieldError[] =>
    item[field] !== undefined && item[other] === undefined
      ? [{ pointer: `/${other}`, code: 'required', detail: `${other} must be sent together with ${field}.` }]
      : []
  const { outcome, valid_until: until, quoted_at: from } = item
  const wrong = (field: string, detail: string): FieldError => ({
    pointer: `/${field}`,
    code: 'invalid',
    detail,
  })
  return [
    ...chargesErrors('quoted', 'quoted_rate', item),
    ...needs('origin', 'destination'),
    ...needs('destination', 'origin'),
    ...needs('miles', 'origin'),
    ...needs('stops', 'origin'),
    ...(item.outcome_reason !== undefined && outcome !== 'lost'
      ? [wrong('outcome_reason', 'outcome_reason is only accepted with outcome lost; remove it.')]
      : []),
    ...(item.decided_at !== undefined && outcome !== 'won' && outcome !== 'lost'
      ? [wrong('decided_at', 'decided_at is only accepted with outcome won or lost; remove it.')]
      : []),
    ...(until !== undefined && from !== undefined && moment(until) < moment(from)
      ? [wrong('valid_until', 'valid_until must not be before quoted_at.')]
      : []),
    ...(item.decided_at !== undefined && from !== undefined && isBefore(item.decided_at, from)
      ? [
          wrong(
            'decided_at',
            `decided_at must not be before quoted_at; it is ${item.decided_at}, and quoted_at is ${from}.`,
          ),
        ]
      : []),
  ]
}

/** True if the customer decided before the quote was made. A decision with a date and no time may be on the day of the quote. */
function isBefore(decided: string, quoted: string): boolean {
  const day = (text: string) => moment(text).toISOString().slice(0, 10)
  return decided.includes('T') ? moment(decided) < moment(quoted) : day(decided) < day(quoted)
}

/** A quote or an outcome in the future is a mistake, such as a local time that was sent as UTC. */
function futureErrors(item: Partial<Quote>, now: number): FieldError[] {
  const latest = now + signatureToleranceSeconds * 1000
  return (['quoted_at', 'decided_at'] as const).flatMap((field) => {
    const sent = item[field]
    if (sent === undefined || moment(sent).getTime() <= latest) return []
    const detail = `${field} must not be in the future; it is ${sent}, and the server's clock says ${new Date(now).toISOString()}.`
    return [{ pointer: `/${field}`, code: 'invalid', detail }]
  })
}

/** The outcome that a push reports; null if it carries none. */
function reportedOutcome({
  outcome,
  outcome_reason: reason,
  decided_at: decided,
}: Partial<Quote>): ReportedOutcome | null {
  if (outcome === undefined) return null
  return {
    outcome,
    reason: reason ?? null,
    decidedAt: decided === undefined ? null : moment(decided).getTime(),
  }
}

/** A pushed quote in the form that the engine applies. */
function pushedQuoteOf(
  { item, columns }: PushedColumns,
  { tokenId, signedAtSeconds }: PushSignature,
): PushedQuote {
  const { external_id: _, lane_ref: __, ...values } = item as Partial<Quote & Static<typeof pushedOutcome>>
  return {
    carried: [...columns.keys()],
    outcome: reportedOutcome(item),
    validUntil: columns.get('validUntil')?.valid_until?.getTime() ?? null,
    content: JSON.stringify(Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1))),
    sender: tokenId,
    signedAtSeconds,
  }
}

/**
 * The values of a push that are applied, with nulls for the values that they remove. If the pushed rate is too old to be applied, its
 * estimated cost is left out, too, when it is on another basis or in another currency than the quote's rate.
 */
function onTermsOfRate(
  values: NextValues,
  quote: QuoteRow,
  { item, columns }: PushedColumns,
  assumed: RateBasis,
): NextValues {
  const isLate = columns.has('quotedRate') && values.quoted_rate_cents === undefined
  const sent = { basis: item.quoted_basis ?? null, currency: item.quoted_currency ?? null }
  const { estimated_cost_cents: late, ...others } = values
  if (
    late !== undefined &&
    isLate &&
    !sameTerms(sent, termsOf({ ...quote, ...values } as QuoteRow), assumed)
  ) {
    return others
  }
  return { ...values, ...removedByTerms(quote, values, assumed) }
}

/** What a push changes in a quote: new values, and the names of the fields that were sent and not applied. */
export function mergePush(
  saved: QuoteRow,
  { item, columns }: PushedColumns,
  by: PushSignature,
  { now, assumed }: { readonly now: Date; readonly assumed: RateBasis },
): { next: NextValues; kept: string[]; rule: OutcomeRule | null } {
  const quote = pushedQuoteOf({ item, columns }, by)
  const applied = applyPushedQuote(
    {
      stamps: saved.quote_signed_at,
      outcome: outcomeOf(saved),
      facts: outcomeFactsOf(saved),
      booking: currentBooking(bookingOf(saved), saved.signed_at, outcomeOf(saved)),
    },
    quote,
    now.getTime(),
  )
  const written: NextValues = Object.assign(
    quotedEarlier(saved, columns, stampOfQuote(quote, now.getTime()).effective),
    ...[...columns].filter(([field]) => applied.written.has(field)).map(([, values]) => values),
  )
  const values = onTermsOfRate(written, saved, { item, columns }, assumed)
  const next: NextValues = Object.assign(
    values,
    applied.outcome === null ? {} : outcomeValues(applied.outcome.outcome, applied.outcome.facts),
    applied.stampsChanged ? { quote_signed_at: applied.stamps } : {},
  )
  const left = [...columns.keys()].filter(
    (field) =>
      !applied.written.has(field) ||
      (field === 'outcome' && applied.outcomeWaits) ||
      (field === 'estimatedCost' && values.estimated_cost_cents === undefined),
  )
  return {
    next,
    rule: applied.isExtended ? 'validity_extended' : null,
    kept: left.flatMap((field) => (sentNames.get(field) ?? []).filter((name) => item[name] !== undefined)),
  }
}

/** A new `created_at` for a quote without a stated time: its messages may arrive in any order, and the earliest signature counts. */
function quotedEarlier(
  quote: QuoteRow,
  columns: PushedColumns['columns'],
  second: number,
): Pick<NextValues, 'created_at'> {
  const isUnstated =
    quote.external_id !== null && quote.import_id === null && quote.quote_signed_at.quotedAt === undefined
  // A message with only an outcome does not date the quote, which was made earlier.
  const isQuote = columns.size > 1 || !columns.has('outcome')
  const signedAt = new Date(second * 1000)
  return isUnstated && isQuote && !columns.has('quotedAt') && signedAt < quote.created_at
    ? { created_at: signedAt }
    : {}
}

/** The draft of a new quote, from a push that carries all fields that a new quote needs. */
export function newOfPush(
  { item, columns }: PushedColumns,
  externalId: string,
  by: PushSignature,
  pricing: Pricing | null,
  now: Date,
): Draft {
  const saved = Object.assign({}, ...columns.values()) as Partial<QuoteRow> & NewQuote
  const quote = pushedQuoteOf({ item, columns }, by)
  const stamp = stampOfQuote(quote, now.getTime())
  const decided = outcomeOfNew(quote.outcome, stamp.effective)
  const quotedAt = saved.created_at ?? new Date(stamp.effective * 1000)
  const draft = {
    ...(saved as NewQuote),
    ...(isRecent(quotedAt, by.now) ? costExpected(pricing, saved) : {}),
    quoted_customer_name: saved.quoted_customer_name ?? '',
    created_at: quotedAt,
    external_id: externalId,
    quote_signed_at: stampFields<PushedQuoteField>({}, [...columns.keys()], stamp, now.getTime()).stamps,
    outcome: decided.outcome,
    outcome_reason: decided.reason,
    outcome_source: decided.source,
    decided_at: decided.decidedAt === null ? null : new Date(decided.decidedAt),
    outcome_before_booking: null,
  }
  return { kind: 'new', quotes: [draft], by: null, reference: null, importId: null }
}

/** Whether a quote is so new that today's expected cost was also the expected cost when it was quoted. */
const isRecent = (quotedAt: Date, now: number) => now - quotedAt.getTime() < 24 * 3_600_000

/** Whether a new quote gets a forecast: its outcome is unknown, and the book has hardly changed since it was quoted. */
export function isForecast({ createdAt, quotes }: NewQuoteRequest, now: number): boolean {
  return isRecent(createdAt, now) && quotes.every(({ outcome = 'pending' }) => outcome === 'pending')
}

/** The outcome of a new quote. The facts are not stored: they follow from the outcome and its stamp. */
function outcomeOfNew(reported: ReportedOutcome | null, second: number): QuoteOutcome {
  return reported === null ? undecided : outcomeApartFromBooking(withReport(noFacts, reported, second, true))
}

/** The errors of a new quote that lacks fields. */
export function missingOfNew(item: Partial<Quote>): FieldError[] {
  return neededOfNewQuote
    .filter((field) => item[field] === undefined)
    .map((field) => ({
      pointer: `/${field}`,
      code: 'quote-not-found',
      detail: `${field} is required: there is no quote with this external_id yet.`,
    }))
}

/** Whether a push needs the book for an expected cost: it may make a new quote that is recent. */
export function mayExpectCost({ quoted_at: sent }: Partial<Quote>, now: number): boolean {
  return sent === undefined || isRecent(moment(sent), now)
}

/** Whether a push and the imported quote with the same id are of one lane. If not, the file's id does not identify a load. */
export function isSameLane({ columns }: Pick<PushedColumns, 'columns'>, quote: QuoteRow): boolean {
  const { origin_key, destination_key } = columns.get('places') ?? quote
  return origin_key === quote.origin_key && destination_key === quote.destination_key
}

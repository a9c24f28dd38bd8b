import type { Static } from 'typebox'
import type { FieldError } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { signatureToleranceSeconds } from '#contract/limits.ts'
import {
  checkQuotes,
  neededOfNewQuote,
  type PushedQuoteResult,
  pushedOutcome,
  pushedQuote,
  pushOutcomes,
  pushQuotes,
} from '#contract/push-quotes.ts'
import { stampFields } from '#engine/field-stamps.ts'
import {
  type LaneOutcome,
  noFacts,
  type OutcomeRule,
  outcomeApartFromBooking,
  type ReportedOutcome,
  undecided,
  withReport,
} from '#engine/lane-outcome.ts'
import { centsFromDollars } from '#engine/money.ts'
import {
  applyPushedQuote,
  type PushedQuote,
  type PushedQuoteField,
  stampOfQuote,
} from '#engine/quote-update.ts'
import { type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import { heldBooking } from '#engine/shipment-update.ts'
import { costExpected, type Pricing, pricingOf } from '../../book/index.ts'
import {
  bookingOf,
  type ChangingLane,
  laneChanges as changes,
  defaultBasisOf,
  findPilot,
  importedLanes,
  type NewPushedLane,
  type NextValues,
  outcomeFactsOf,
  outcomeOf,
  outcomeValues,
  pushedLanes,
} from '../../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { readEquipment, readLanePlaces, removedByTerms, termsOf } from '../../lanes/index.ts'
import { quoteToForecast, repOf, sealForecasts } from '../../pilot/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { accessorialCents, chargesErrors, storedCharges } from '../quotes/charges-errors.ts'
import {
  type CheckedItem,
  countResults,
  itemChecker,
  type PushedBy,
  pushItems,
  type RefusedItem,
  refused,
  unknownLane,
  type WithLane,
} from './pushed-items.ts'

type Quote = Static<typeof pushedQuote>
type Outcome = Static<typeof pushedOutcome>
type Result = Static<typeof PushedQuoteResult>

const quotesOf = itemChecker<Quote>(pushedQuote, 'A quote')
const outcomesOf = itemChecker<Outcome>(pushedOutcome, 'An outcome')

/** The names under which a field is sent. */
const sentNames: Readonly<Record<PushedQuoteField, readonly (keyof Quote)[]>> = {
  places: ['origin', 'destination', 'miles'],
  equipment: ['equipment'],
  quotedRate: ['quoted_rate'],
  estimatedCost: ['estimated_cost'],
  quotedBasis: ['quoted_basis'],
  quotedFuel: ['quoted_fuel'],
  quotedAccessorials: ['quoted_accessorials', 'quoted_charges'],
  quotedCurrency: ['quoted_currency'],
  customer: ['customer_name'],
  rep: ['rep_name'],
  quotedAt: ['quoted_at'],
  validUntil: ['valid_until'],
  rateType: ['rate_type'],
  pickupDate: ['pickup_date'],
  outcome: ['outcome', 'outcome_reason', 'decided_at'],
}

/** A quote as parsed: the columns that each carried field sets. */
interface ReadQuote {
  readonly item: Partial<Quote>
  readonly columns: ReadonlyMap<PushedQuoteField, NextValues>
}

const moment = (value: string) => new Date(readTime(value) ?? Number.NaN)

/** Parses the fields of a quote, and adds the errors of those that are wrong together or in the future. */
function readQuote(item: Partial<Quote>, now: number, errors: FieldError[]): ReadQuote {
  const columns = new Map<PushedQuoteField, NextValues>()
  const at = (field: string) => ({ pointer: `/${field}` })
  const { origin, destination, equipment } = item
  if (origin !== undefined && destination !== undefined) {
    const places = readLanePlaces(
      { origin, destination, ...(item.miles === undefined ? {} : { miles: item.miles }) },
      at,
      errors,
      true,
    )
    if (places !== null) columns.set('places', places as NextValues)
  }
  if (equipment !== undefined) {
    const code = readEquipment(equipment, at('equipment'), errors)
    if (code !== null) columns.set('equipment', { equipment: code, equipment_code: code })
  }
  const set = <Name extends keyof Quote>(
    field: PushedQuoteField,
    name: Name,
    values: (sent: NonNullable<Quote[Name]>) => NextValues,
  ) => {
    const sent = item[name]
    if (sent !== undefined) columns.set(field, values(sent))
  }
  set('quotedRate', 'quoted_rate', (dollars) => ({ quoted_rate_cents: centsFromDollars(dollars) ?? 0 }))
  set('estimatedCost', 'estimated_cost', (dollars) => ({ estimated_cost_cents: centsFromDollars(dollars) }))
  set('quotedBasis', 'quoted_basis', (basis) => ({ quoted_basis: basis }))
  set('quotedFuel', 'quoted_fuel', (dollars) => ({ quoted_fuel_cents: centsFromDollars(dollars) }))
  const accessorials = accessorialCents(item.quoted_accessorials, item.quoted_charges)
  if (accessorials !== null) {
    const named = item.quoted_charges === undefined ? null : storedCharges(item.quoted_charges)
    columns.set('quotedAccessorials', { quoted_accessorials_cents: accessorials, quoted_charges: named })
  }
  set('quotedCurrency', 'quoted_currency', (currency) => ({ quoted_currency: currency }))
  set('customer', 'customer_name', (name) => ({ quoted_customer_name: name }))
  set('rep', 'rep_name', (name) => ({ rep_name: name }))
  set('quotedAt', 'quoted_at', (time) => ({ created_at: moment(time) }))
  set('validUntil', 'valid_until', (time) => ({ valid_until: moment(time) }))
  set('rateType', 'rate_type', (type) => ({ rate_type: type }))
  set('pickupDate', 'pickup_date', (day) => ({ pickup_date: day }))
  // Its columns depend on the outcome that the lane has.
  set('outcome', 'outcome', () => ({}))
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
    ...(item.outcome_reason !== undefined && outcome !== 'lost'
      ? [wrong('outcome_reason', 'outcome_reason is only accepted with outcome lost; remove it.')]
      : []),
    ...(item.decided_at !== undefined && outcome !== 'won' && outcome !== 'lost'
      ? [wrong('decided_at', 'decided_at is only accepted with outcome won or lost; remove it.')]
      : []),
    ...(until !== undefined && from !== undefined && moment(until) < moment(from)
      ? [wrong('valid_until', 'valid_until must not be before quoted_at.')]
      : []),
  ]
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

/** A push in the form of the engine. */
function pushedQuoteOf({ item, columns }: ReadQuote, { caller, signed }: PushedBy): PushedQuote {
  const { external_id: _, lane_ref: __, ...values } = item as Partial<Quote & Outcome>
  return {
    carried: [...columns.keys()],
    outcome: reportedOutcome(item),
    validUntil: columns.get('validUntil')?.valid_until?.getTime() ?? null,
    content: JSON.stringify(Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1))),
    sender: caller.tokenId,
    signedAtSeconds: signed.timestampSeconds,
  }
}

/**
 * What is left of the values that a push sets: an estimated cost that arrives late with a rate that does not count is not
 * applied if it is on another basis or in another currency than the rate that counts.
 */
function onTermsOfRate(
  values: NextValues,
  lane: LaneRow,
  { item, columns }: ReadQuote,
  assumed: RateBasis,
): NextValues {
  const isLate = columns.has('quotedRate') && values.quoted_rate_cents === undefined
  const sent = { basis: item.quoted_basis ?? null, currency: item.quoted_currency ?? null }
  const { estimated_cost_cents: late, ...others } = values
  if (late !== undefined && isLate && !sameTerms(sent, termsOf({ ...lane, ...values } as LaneRow), assumed)) {
    return others
  }
  return { ...values, ...removedByTerms(lane, values, assumed) }
}

/** What a push changes in a lane: new values, and the names of the fields that were sent and not applied. */
function mergeQuote(
  lane: LaneRow,
  { item, columns }: ReadQuote,
  by: PushedBy,
  { now, assumed }: { readonly now: Date; readonly assumed: RateBasis },
): { next: NextValues; kept: string[]; rule: OutcomeRule | null } {
  const quote = pushedQuoteOf({ item, columns }, by)
  const applied = applyPushedQuote(
    {
      stamps: lane.quote_signed_at,
      outcome: outcomeOf(lane),
      facts: outcomeFactsOf(lane),
      booking: heldBooking(bookingOf(lane), lane.signed_at, outcomeOf(lane)),
    },
    quote,
    now.getTime(),
  )
  const written: NextValues = Object.assign(
    quotedEarlier(lane, columns, stampOfQuote(quote, now.getTime()).effective),
    ...[...columns].filter(([field]) => applied.written.has(field)).map(([, values]) => values),
  )
  const values = onTermsOfRate(written, lane, { item, columns }, assumed)
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
    kept: left.flatMap((field) => sentNames[field].filter((name) => item[name] !== undefined)),
  }
}

/** A quote whose time nobody stated was made when its first message was signed, whichever message arrives first. */
function quotedEarlier(
  lane: LaneRow,
  columns: ReadQuote['columns'],
  second: number,
): Pick<NextValues, 'created_at'> {
  const isUnstated =
    lane.external_id !== null && lane.import_id === null && lane.quote_signed_at.quotedAt === undefined
  // An outcome alone is no message of the quote: the quote was made before it.
  const isQuote = columns.size > 1 || !columns.has('outcome')
  const signedAt = new Date(second * 1000)
  return isUnstated && isQuote && !columns.has('quotedAt') && signedAt < lane.created_at
    ? { created_at: signedAt }
    : {}
}

/** A new lane from a pushed quote that carries all fields that a new quote needs. */
function newLane(
  { item, columns }: ReadQuote & { readonly item: Partial<Quote> & { external_id: string } },
  by: PushedBy,
  pricing: Pricing | null,
  now: Date,
): NewPushedLane {
  const values = Object.assign({}, ...columns.values()) as NextValues & NewPushedLane['lane']
  const quote = pushedQuoteOf({ item, columns }, by)
  const stamp = stampOfQuote(quote, now.getTime())
  const decided = outcomeOfNew(quote.outcome, stamp.effective)
  const quotedAt = values.created_at ?? new Date(stamp.effective * 1000)
  return {
    customerName: item.customer_name ?? '',
    reference: null,
    createdAt: quotedAt,
    externalId: item.external_id,
    createdBy: values.created_by ?? null,
    repName: item.rep_name ?? null,
    rateType: item.rate_type ?? null,
    validUntil: values.valid_until ?? null,
    stamps: stampFields<PushedQuoteField>({}, [...columns.keys()], stamp).stamps,
    expected: isRecent(quotedAt, by.now) ? costExpected(pricing, values) : {},
    lane: {
      ...values,
      outcome: decided.outcome,
      outcome_reason: decided.reason,
      outcome_source: decided.source,
      decided_at: decided.decidedAt === null ? null : new Date(decided.decidedAt),
    },
  }
}

/** Whether the cost that is expected today was that of a quote, too. */
const isRecent = (quotedAt: Date, now: number) => now - quotedAt.getTime() < 24 * 3_600_000

/** The outcome of a new quote. The facts are not stored: they follow from the outcome and its stamp. */
function outcomeOfNew(reported: ReportedOutcome | null, second: number): LaneOutcome {
  return reported === null ? undecided : outcomeApartFromBooking(withReport(noFacts, reported, second, true))
}

/** The errors of a new quote that lacks fields. */
function missingErrors(item: Partial<Quote>): FieldError[] {
  return neededOfNewQuote
    .filter((field) => item[field] === undefined)
    .map((field) => ({
      pointer: `/${field}`,
      code: 'required',
      detail: `${field} is required: there is no quote with this external_id yet.`,
    }))
}

/** Replaces each rep by the person of the brokerage with that name or e-mail address, if there is one. */
async function creditReps(
  transaction: TenantTransaction,
  { caller }: PushedBy,
  quotes: readonly ReadQuote[],
): Promise<void> {
  const names = quotes.flatMap(({ item }) => item.rep_name ?? [])
  const people = await pushedLanes.findReps(transaction, caller.tenant, names)
  for (const { item, columns } of quotes) {
    const rep = columns.get('rep')
    if (rep !== undefined) rep.created_by = people.get(item.rep_name ?? '') ?? null
  }
}

/** Applies valid items of one hundred. New quotes are created if `create` is set. */
async function applyHundred(
  transaction: TenantTransaction,
  quotes: readonly WithLane<Checked & ReadQuote>[],
  by: PushedBy,
  {
    identifiers,
    pricing,
    create,
  }: { identifiers: Parts['database']['identifiers']; pricing: Pricing | null; create: boolean },
): Promise<(Result | RefusedItem)[]> {
  const { tenant } = by.caller
  const now = await changes.databaseNow(transaction)
  await creditReps(transaction, by, quotes)
  // Also without a basis in the push: the stored quotes may state one.
  const assumed = await defaultBasisOf(transaction, tenant)
  const changing: ChangingLane[] = []
  const creating: { readonly at: number; readonly lane: NewPushedLane }[] = []
  const results = quotes.map((quote, at): Result | RefusedItem => {
    const { index, item, lane } = quote
    if (lane !== null) {
      const { next, kept, rule } = mergeQuote(lane, quote, by, { now, assumed })
      const differs = changes.differencesForApi(lane, next).length > 0
      changing.push({ lane, next, origin: { source: 'tms', tokenId: by.caller.tokenId, rule } })
      return {
        ...named(index, lane.lane_ref, lane.lane_id, lane.external_id),
        result: differs ? 'updated' : 'unchanged',
        ...(kept.length === 0 ? {} : { kept }),
      }
    }
    const { external_id: externalId } = item
    if (!create || externalId === undefined) return unknownLane(quote)
    const missing = missingErrors(item)
    if (missing.length > 0) return refused(quote, missing)
    creating.push({
      at,
      lane: newLane({ ...quote, item: { ...item, external_id: externalId } }, by, pricing, now),
    })
    return { ...named(index, '', 0, externalId), result: 'created' }
  })
  const changed = await changes.changeLanes(transaction, tenant, changing, now)
  const made = await importedLanes.insertPushedLanes(
    transaction,
    tenant,
    identifiers,
    creating.map(({ lane }) => lane),
  )
  for (const [nth, { laneId, laneRef }] of made.entries()) {
    const at = creating[nth]?.at ?? -1
    results[at] = { ...(results[at] as Result), lane_ref: laneRef, lane_id: laneId }
  }
  await sealForecasts(transaction, tenant, { pricing, now: by.now }, [
    ...made.map(({ laneId, laneRef }, nth) => newToForecast(creating[nth]?.lane, laneId, laneRef)),
    ...changing.flatMap(({ lane }, nth) => repriced(lane, changed[nth], by.now)),
  ])
  return results
}

function newToForecast(pushed: NewPushedLane | undefined, laneId: number, laneRef: string) {
  if (pushed === undefined) throw new Error('A pushed quote was created without its lane.')
  return {
    laneId,
    laneRef,
    externalId: pushed.externalId,
    rep: repOf(pushed.repName, pushed.createdBy),
    quotedAt: pushed.createdAt,
    outcome: pushed.lane.outcome ?? 'pending',
    lane: pushed.lane,
    createdAt: pushed.createdAt,
    quotedFor: { customerName: pushed.customerName, repId: pushed.createdBy, rateType: pushed.rateType },
  }
}

/** The columns whose change makes another forecast necessary. */
const forecastFrom = [
  'origin_key',
  'destination_key',
  'equipment_code',
  'miles',
  'pickup_date',
  'quoted_rate_cents',
  'quoted_basis',
  'quoted_fuel_cents',
  'quoted_accessorials_cents',
  'quoted_currency',
] as const

/** An undecided quote whose rate or lane was changed, to forecast again. Imported quotes are not live. */
function repriced(before: LaneRow, after: LaneRow | undefined, now: number) {
  if (after === undefined || after.outcome !== 'pending' || after.import_id !== null) return []
  return forecastFrom.some((column) => before[column] !== after[column])
    ? [quoteToForecast(after, new Date(now))]
    : []
}

function named(index: number, laneRef: string, laneId: number, externalId: string | null) {
  return {
    index,
    status: 200 as const,
    lane_ref: laneRef,
    lane_id: laneId,
    ...(externalId === null ? {} : { external_id: externalId }),
  }
}

type Checked = CheckedItem<Partial<Quote> & { readonly lane_ref?: string }>

/** Parses and applies checked quotes or outcomes. */
async function push(
  checked: readonly Checked[],
  by: PushedBy,
  parts: Parts,
  create: boolean,
): Promise<(Result | RefusedItem)[]> {
  const read = checked.map((one) => ({
    ...one,
    ...(one.errors.length === 0 ? readQuote(one.item, by.now, one.errors) : noColumns),
  }))
  const { tenant } = by.caller
  const needsPricing =
    create && (checked.some(({ item }) => mayExpectCost(item, by.now)) || (await hasPilot(tenant, parts)))
  const pricing = needsPricing ? await pricingOf(parts.books, tenant, by.now) : null
  return pushItems(
    read,
    by,
    parts,
    (transaction, valid) =>
      applyHundred(transaction, valid, by, { identifiers: parts.database.identifiers, pricing, create }),
    isSameLane,
  )
}

/** Whether a quote is of the lane that a file has under the same id: the id of a file may be another number than the id of a load. */
function isSameLane({ columns }: Pick<ReadQuote, 'columns'>, lane: LaneRow): boolean {
  const { origin_key, destination_key } = columns.get('places') ?? lane
  return origin_key === lane.origin_key && destination_key === lane.destination_key
}

const noColumns = { columns: new Map<PushedQuoteField, NextValues>() }

/** Whether quotes are forecast: also a quote of days ago, whose rate a push may change now. */
async function hasPilot(tenant: TenantId, { database }: Pick<Parts, 'database'>): Promise<boolean> {
  const pilot = await database.inTenant(tenant, (transaction) => findPilot(transaction, tenant))
  return pilot?.active === true
}

/** Whether a quote is recent if it is new. The costs of a brokerage are read for such quotes only. */
const mayExpectCost = ({ quoted_at: sent }: Partial<Quote>, now: number) =>
  sent === undefined || isRecent(moment(sent), now)

export const pushQuoteEndpoints: ServedEndpoint[] = [
  serve(pushQuotes, async ({ caller, body, signed, now }, parts) => {
    const results = await push(quotesOf(body.quotes), { caller, signed, now }, parts, true)
    return { ...countResults(results), results }
  }),

  serve(checkQuotes, async ({ caller, body, signed, now }, parts) => {
    const results = await push(quotesOf(body.quotes), { caller, signed, now, isCheck: true }, parts, true)
    return {
      ...countResults(results),
      results: results.map((one) => {
        if (one.status !== 200 || one.result !== 'created') return one
        const { lane_ref: _, lane_id: __, ...checked } = one
        return checked
      }),
    }
  }),

  serve(pushOutcomes, async ({ caller, body, signed, now }, parts) => {
    const results = await push(outcomesOf(body.outcomes), { caller, signed, now }, parts, false)
    return { ...countResults(results), results }
  }),
]

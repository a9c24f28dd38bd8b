import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, type Problem, problem } from '#contract/errors.ts'
import type { createQuoteRequest, requote } from '#contract/quote-requests.ts'
import type { Appraisal, AppraisedRate } from '#engine/appraisal/appraisal.ts'
import { centsFromDollars, formatDollars } from '#engine/money.ts'
import { chargesFit, type RateBasis } from '#engine/rate-basis.ts'
import {
  appraiser,
  costExpected,
  namedCustomer,
  type Pricing,
  pricingOf,
  type Reader,
  recordedForecast,
  termsOfQuote,
} from '../../book/index.ts'
import { lanes, newLanes, people } from '../../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { chargesErrors, enter, readSentFields, requestDigest, requoteOf } from '../../entering/index.ts'
import { laneAnswer, laneAnswers } from '../../lanes/index.ts'
import type { Parts } from '../parts.ts'
import { fieldWarnings } from '../pricing/checked-rate.ts'
import { checkCounter, isAccepted, recordCounter, refuseIfWon, winAccepted } from '../pricing/counter-rate.ts'
import { orHidden, refuseHiddenCustomer } from './hidden-customers.ts'
import { askedRef, lockedLane, noLane } from './named-lane.ts'
import { outsideErrors, outsideRules } from './outside-rules.ts'

/** Who makes a quote. `isApproved`: somebody who may has approved its rates, so only a rule that blocks refuses it. */
export interface QuotedBy {
  readonly tenant: TenantId
  readonly userId: number
  readonly now: number
  readonly isApproved: boolean
  /** Runs in the transaction that makes the quotes, and undoes it by throwing. */
  readonly also?: (transaction: TenantTransaction, laneRefs: readonly string[]) => Promise<void>
}

type LaneToQuote = BodyOf<typeof createQuoteRequest>['lanes'][number]

function newLane(
  lane: LaneToQuote,
  index: number,
  acceptUnknown: boolean,
  errors: FieldError[],
): newLanes.NewLane | null {
  const pointer = `/lanes/${index}`
  const columns = readSentFields('request', lane, errors, { pointer, acceptUnknown })
  errors.push(...chargesErrors('quoted', 'quoted_rate', lane, pointer))
  if (!columns.has('places') || !columns.has('equipment')) return null
  return Object.assign({}, ...columns.values()) as newLanes.NewLane
}

type ToCheck = Pick<
  newLanes.NewLane,
  | 'origin'
  | 'destination'
  | 'origin_market'
  | 'destination_market'
  | newLanes.CostColumn
  | newLanes.QuotedAmountColumn
> & { readonly quoted_customer_name: string; readonly rate_type?: LaneRow['rate_type'] }

/** A quote to save: its appraisal, the appraisal at its rate, and its forecast. */
export interface CheckedQuote {
  readonly appraisal: Appraisal
  readonly offer: AppraisedRate
  /** To store with the quote. */
  readonly forecast: string | null
}

/** Appraises each lane, in the order of the lanes. */
async function checkedQuotes(
  quoted: readonly ToCheck[],
  { tenant, userId, now }: QuotedBy,
  pricing: Pricing,
  { database }: Pick<Parts, 'database'>,
): Promise<CheckedQuote[]> {
  const read: Reader = (work) => database.inTenant(tenant, work)
  const appraise = appraiser(pricing, { tenant, now, read })
  // The quotes of a request are for one customer.
  const customer = await namedCustomer(quoted[0]?.quoted_customer_name, pricing, tenant, read)
  const checked = []
  for (const lane of quoted) {
    const appraisal = await appraise({
      lane,
      quotedFor: {
        customerName: lane.quoted_customer_name,
        repId: userId,
        rateType: lane.rate_type ?? null,
      },
      quoted: lane,
      enteredCents: lane.estimated_cost_cents ?? null,
      customer,
    })
    const offer = appraisal.at(lane.quoted_rate_cents)
    checked.push({ appraisal, offer, forecast: recordedForecast(appraisal, offer, lane, now) })
  }
  return checked
}

/** @throws a 422 for quotes that the rules block, or that need approval which they do not have */
function checkVerdicts(
  checked: readonly CheckedQuote[],
  { isApproved }: Pick<QuotedBy, 'isApproved'>,
  pointerOf: (index: number) => string,
): void {
  const errors = checked.flatMap(({ offer }, index) =>
    outsideErrors(offer.verdict, isApproved, pointerOf(index)),
  )
  if (errors.length > 0) throw outsideRules(errors)
}

/** When a quote ends: as the person chose, but not after the end that the rules allow; null if neither says it. */
function validUntil({ appraisal }: CheckedQuote, validHours: number | undefined, now: number): Date | null {
  const { validDays } = appraisal.rules
  const hours = Math.min(
    validHours ?? Number.POSITIVE_INFINITY,
    validDays === null ? Number.POSITIVE_INFINITY : validDays.value * 24,
  )
  return Number.isFinite(hours) ? new Date(now + hours * 3_600_000) : null
}

/** The errors of a requote: of the charges that were sent, or of the earlier ones that it keeps. */
function requoteErrors(body: BodyOf<typeof requote>, before: LaneRow, assumed: RateBasis): FieldError[] {
  const sent = chargesErrors('quoted', 'quoted_rate', body)
  if (sent.length > 0) return sent
  const terms = termsOfQuote(requoteOf(body, before, assumed))
  const amount = { ...terms, cents: centsFromDollars(body.quoted_rate) ?? 0 }
  if (chargesFit(amount, 'all_in')) return []
  const detail = `quoted_rate must be more than the charges of the earlier quote, which it contains: ${formatDollars((terms.fuelCents ?? 0) + (terms.accessorialCents ?? 0))}. It is ${formatDollars(amount.cents)}. Send quoted_fuel and quoted_accessorials if they changed.`
  return [{ pointer: '/quoted_rate', code: 'invalid', detail }]
}

/** A quote request in the form of the API. */
export async function quoteRequestAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  found: {
    readonly request: Pick<lanes.QuoteRequestRow, 'request_id' | 'customer_name' | 'reference' | 'created_at'>
    readonly lanes: readonly LaneRow[]
  },
) {
  const { request } = found
  return {
    request_id: request.request_id,
    customer_name: request.customer_name,
    reference: request.reference,
    created_at: request.created_at.toISOString(),
    lanes: await laneAnswers(transaction, tenant, found.lanes),
  }
}

/** The lanes of a quote request, parsed. @throws a 422 with every wrong field */
export function readQuoteRequest(body: BodyOf<typeof createQuoteRequest>): newLanes.NewLane[] {
  const errors: FieldError[] = []
  const read = body.lanes.map((lane, index) =>
    newLane(lane, index, body.accept_unknown_places === true, errors),
  )
  if (errors.length > 0) throw invalid(errors)
  return read.filter((lane) => lane !== null)
}

/** The request with its places and equipment as its lanes will be stored. */
export function withStoredNames<Body extends BodyOf<typeof createQuoteRequest>>(body: Body): Body {
  const read = readQuoteRequest(body)
  const lanesNamed = body.lanes.map((lane, index) => {
    const { origin, destination, equipment } = read[index] ?? lane
    return { ...lane, origin, destination, equipment }
  })
  return { ...body, lanes: lanesNamed }
}

/** Appraises lanes by the book of now, to check their rates against the rules. */
export async function checkQuotes(
  quoted: readonly ToCheck[],
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<CheckedQuote[]> {
  return checkedQuotes(quoted, by, await pricingOf(parts, by.tenant, by.now), parts)
}

/** Appraises the quotes of a request, to check their rates against the rules. */
export async function checkQuoteRequest(
  body: BodyOf<typeof createQuoteRequest>,
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<CheckedQuote[]> {
  return checkQuotes(toCheck(readQuoteRequest(body), body), by, parts)
}

/** Quotes are compared with those before them, because a quote itself moves the going rate. */
function toCheck(
  read: readonly newLanes.NewLane[],
  { customer_name }: BodyOf<typeof createQuoteRequest>,
): ToCheck[] {
  return read.map((lane) => ({ ...lane, quoted_customer_name: customer_name }))
}

/**
 * The error of a request key that was sent before with another body.
 *
 * @param madeId the quote request that was created with the key; undefined if the person may not see it
 */
function keyReused(key: string | undefined, madeId?: number): Problem {
  const made = madeId === undefined ? '' : `, and created quote request ${madeId}`
  return problem(
    'request-key-reused',
    `request_key ${key} was sent before with another body${made}. Nothing was created this time. Send a new request_key for a new request, or the same body to repeat that one.`,
  )
}

/** The next quote of the lane exists, and the person may not see it. */
const noNextQuote = () =>
  problem(
    'state-conflict',
    'You cannot quote this lane again. Make a new quote request, or ask an admin. Nothing was saved.',
  )

/** Makes the quotes of a request, once for each request_key. @throws a 422 if a rate is outside the rules */
export async function makeQuoteRequest(
  body: BodyOf<typeof createQuoteRequest>,
  by: QuotedBy,
  { books, database }: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof createQuoteRequest>> {
  const { tenant, userId, now } = by
  const read = readQuoteRequest(body)
  const pricing = await pricingOf({ books, database }, tenant, now)
  const checked = await checkedQuotes(toCheck(read, body), by, pricing, { database })
  const make = async (transaction: TenantTransaction) => {
    await refuseHiddenCustomer(transaction, tenant, body.customer_name)
    const key = body.request_key
    const digest = requestDigest(body)
    const made = key === undefined ? null : await lanes.findQuoteRequestByKey(transaction, tenant, key)
    if (made !== null) {
      // Requests stored before digests were introduced have none.
      if (made.request.request_digest?.equals(digest) === false) {
        throw keyReused(key, made.request.request_id)
      }
      return quoteRequestAnswer(transaction, tenant, made)
    }
    // Not before: a repeated request returns what it made, also if the rules changed since.
    checkVerdicts(checked, by, (index) => `/lanes/${index}/quoted_rate`)
    const request: newLanes.NewQuoteRequest = {
      customerName: body.customer_name,
      reference: body.reference ?? null,
      createdBy: userId,
      createdAt: new Date(now),
      importId: null,
      ...(key === undefined ? {} : { repeatable: { key, digest } }),
      lanes: read.map((lane, index) => {
        const rate = checked[index]
        return {
          ...lane,
          ...costExpected(pricing, lane),
          valid_until: rate === undefined ? null : validUntil(rate, body.lanes[index]?.valid_hours, now),
          forecast: rate?.forecast ?? null,
        }
      }),
    }
    const { identifiers } = database
    const [entered] = await enter(transaction, [{ kind: 'create', request }], { tenant, identifiers })
    const laneIds = entered?.lanes.map(({ laneId }) => laneId) ?? []
    const rows = await newLanes.insertedLanes(transaction, tenant, laneIds)
    const answer = await quoteRequestAnswer(transaction, tenant, {
      request: {
        request_id: rows[0]?.request_id ?? 0,
        customer_name: request.customerName,
        reference: request.reference,
        created_at: request.createdAt,
      },
      lanes: rows,
    })
    await by.also?.(
      transaction,
      rows.map(({ lane_ref }) => lane_ref),
    )
    return answer
  }
  const answered = await database.inTenant(tenant, make).catch(orHidden(() => keyReused(body.request_key)))
  return {
    ...answered,
    lanes: answered.lanes.map((lane, index) => ({ ...lane, warnings: warningsOf(checked[index]) })),
  }
}

function warningsOf(checked: CheckedQuote | undefined) {
  return checked === undefined ? [] : fieldWarnings('quoted_rate', checked.offer)
}

/** Appraises a requote, to check its rate against the rules. */
export async function checkRequote(
  ref: string,
  body: BodyOf<typeof requote>,
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database'>,
  pricing?: Pricing,
): Promise<CheckedQuote> {
  const { quoted, assumed } = await parts.database.inTenant(by.tenant, async (transaction) => {
    const found = await lanes.findLane(transaction, by.tenant, askedRef(ref))
    // Before the rules, so that nobody asks for the approval of a rate that cannot be quoted.
    if (found !== null) await refuseIfWon(transaction, by.tenant, found)
    return { quoted: found, assumed: await people.defaultBasisOf(transaction, by.tenant) }
  })
  if (quoted === null) throw noLane(ref)
  checkCounter(quoted, body)
  const errors = requoteErrors(body, quoted, assumed)
  if (errors.length > 0) throw invalid(errors)
  const next = {
    ...quoted,
    ...requoteOf(body, quoted, assumed),
  }
  const used = pricing ?? (await pricingOf(parts, by.tenant, by.now))
  const [checked] = await checkedQuotes([next], by, used, parts)
  if (checked === undefined) throw noLane(ref)
  return checked
}

/** Makes the next quote of a lane. @throws a 422 if its rate is outside the rules */
export async function makeRequote(
  ref: string,
  body: BodyOf<typeof requote>,
  by: QuotedBy,
  { books, database }: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof requote>> {
  const { tenant, userId, now } = by
  const pricing = await pricingOf({ books, database }, tenant, now)
  const checked = await checkRequote(ref, body, by, { books, database }, pricing)
  checkVerdicts([checked], by, () => '/quoted_rate')
  const make = async (transaction: TenantTransaction) => {
    const quoted = await lockedLane(transaction, tenant, ref)
    // Again, under the lock: somebody else may have accepted since the check.
    await refuseIfWon(transaction, tenant, quoted)
    checkCounter(quoted, body)
    const recorded = { userId, at: new Date(now) }
    if (body.counter_rate !== undefined)
      await recordCounter(transaction, tenant, quoted, body.counter_rate, recorded)
    const next = requoteOf(body, quoted, await people.defaultBasisOf(transaction, tenant))
    const { identifiers } = database
    const [entered] = await enter(
      transaction,
      [
        {
          kind: 'requote',
          quoted,
          next: {
            ...next,
            valid_until: validUntil(checked, body.valid_hours, now),
            ...costExpected(pricing, quoted),
            createdBy: userId,
            createdAt: recorded.at,
            // An outcome that is known already is no test of a forecast.
            forecast: isAccepted(body) ? null : checked.forecast,
          },
        },
      ],
      { tenant, identifiers },
    )
    const made = entered?.row
    if (made === undefined || made === null) throw new Error('A requote makes a lane.')
    const answer = await laneAnswer(
      transaction,
      tenant,
      isAccepted(body) ? await winAccepted(transaction, tenant, made, recorded) : made,
    )
    await by.also?.(transaction, [made.lane_ref])
    return answer
  }
  const answered = await database.inTenant(tenant, make).catch(orHidden(noNextQuote))
  return { ...answered, warnings: warningsOf(checked) }
}

import { createHash } from 'node:crypto'
import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, type Problem, problem } from '#contract/errors.ts'
import type { createQuoteRequest, requote } from '#contract/quote-requests.ts'
import { centsFromDollars, formatDollars } from '#engine/money.ts'
import { chargesFit, type RateBasis, sameTerms } from '#engine/rate-basis.ts'
import { costExpected, pricingOf } from '../../book/index.ts'
import { lanes, people } from '../../database/queries/index.ts'
import type { GivenAdvice, LaneRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { laneAnswer, laneAnswers, readEquipment, readLanePlaces, termsOf } from '../../lanes/index.ts'
import { quoteToForecast, sealForecasts } from '../../pilot/index.ts'
import type { Parts } from '../parts.ts'
import {
  checkCounter,
  isAccepted,
  recordCounter,
  refuseIfLaterWon,
  winAccepted,
} from '../pricing/counter-rate.ts'
import { type CheckedRate, rateChecker } from '../pricing/rate-check.ts'
import { accessorialCents, chargesErrors, storedCharges } from './charges-errors.ts'
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

/** Validated dollars as cents; null when absent. */
function cents(amount: number | undefined): number | null {
  return amount === undefined ? null : centsFromDollars(amount)
}

type LaneToQuote = BodyOf<typeof createQuoteRequest>['lanes'][number]

function newLane(
  lane: LaneToQuote,
  index: number,
  acceptUnknown: boolean,
  errors: FieldError[],
): lanes.NewLane | null {
  const at = (field: string) => ({ pointer: `/lanes/${index}/${field}` })
  const places = readLanePlaces(lane, at, errors, acceptUnknown)
  const equipment = readEquipment(lane.equipment, at('equipment'), errors)
  errors.push(...chargesErrors('quoted', 'quoted_rate', lane, `/lanes/${index}`))
  if (places === null || equipment === null) return null
  return {
    ...places,
    equipment,
    equipment_code: equipment,
    quoted_rate_cents: cents(lane.quoted_rate) ?? 0,
    estimated_cost_cents: cents(lane.estimated_cost),
    ...quotedCharges(lane),
    market_rate_cents: cents(lane.market_rate),
    pickup_date: lane.pickup_date ?? null,
    advice: lane.advice === undefined ? null : JSON.stringify(keptAdvice(lane.advice)),
  }
}

/** What a quoted rate includes, in the columns of a lane. */
export function quotedCharges(sent: Pick<LaneToQuote, (typeof chargeMembers)[number]>) {
  return {
    quoted_basis: sent.quoted_basis ?? null,
    quoted_fuel_cents: cents(sent.quoted_fuel),
    quoted_accessorials_cents: accessorialCents(sent.quoted_accessorials, sent.quoted_charges),
    quoted_charges: sent.quoted_charges === undefined ? null : storedCharges(sent.quoted_charges),
    quoted_currency: sent.quoted_currency ?? null,
  }
}

const chargeMembers = [
  'quoted_basis',
  'quoted_fuel',
  'quoted_accessorials',
  'quoted_charges',
  'quoted_currency',
] as const

function keptAdvice({ going_rate, best_rate, ...shown }: NonNullable<LaneToQuote['advice']>): GivenAdvice {
  return { ...shown, going_rate: going_rate ?? null, best_rate: best_rate ?? null }
}

type ToCheck = Pick<
  lanes.NewLane,
  | 'origin'
  | 'destination'
  | 'origin_market'
  | 'destination_market'
  | lanes.CostColumn
  | lanes.QuotedAmountColumn
> & { readonly quoted_customer_name: string; readonly rate_type?: LaneRow['rate_type'] }

/** Checks the rate of each lane, in the order of the lanes. */
export async function checkedRates(
  quoted: readonly ToCheck[],
  { tenant, userId, now }: QuotedBy,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<CheckedRate<'quoted_rate'>[]> {
  const check = await rateChecker(parts, tenant, now)
  const checked = []
  for (const lane of quoted) {
    checked.push(
      await check('quoted_rate', {
        ...lane,
        rateCents: lane.quoted_rate_cents,
        enteredCostCents: lane.estimated_cost_cents ?? null,
        quoted: lane,
        customerName: lane.quoted_customer_name,
        repId: userId,
        rateType: lane.rate_type ?? null,
      }),
    )
  }
  return checked
}

/** @throws a 422 for quotes that the rules block, or that need approval which they do not have */
function checkVerdicts(
  checked: readonly CheckedRate<'quoted_rate'>[],
  { isApproved }: Pick<QuotedBy, 'isApproved'>,
  pointerOf: (index: number) => string,
): void {
  const errors = checked.flatMap(({ verdict }, index) => outsideErrors(verdict, isApproved, pointerOf(index)))
  if (errors.length > 0) throw outsideRules(errors)
}

/** When a quote ends by the rules; null if they do not say. */
function validUntil({ validDays }: CheckedRate<'quoted_rate'>, now: number): Date | null {
  return validDays === null ? null : new Date(now + validDays * 86_400_000)
}

/** The cost and the charges of a requote: those of the quote before it, unless others are sent. */
function requoted(body: BodyOf<typeof requote>, before: LaneRow, assumed: RateBasis) {
  const saysCharges = chargeMembers.some((field) => body[field] !== undefined)
  const { quoted_basis, quoted_fuel_cents, quoted_accessorials_cents, quoted_charges, quoted_currency } =
    before
  const said = quotedCharges(body)
  // Charges that are sent replace the earlier ones, but do not change what the rate includes or its currency.
  const charges = saysCharges
    ? {
        ...said,
        quoted_basis: said.quoted_basis ?? quoted_basis,
        quoted_currency: said.quoted_currency ?? quoted_currency,
      }
    : { quoted_basis, quoted_fuel_cents, quoted_accessorials_cents, quoted_charges, quoted_currency }
  // The earlier cost is on the earlier basis and in the earlier currency.
  const isSame = sameTerms(termsOf(before), termsOf(charges), assumed)
  return {
    ...charges,
    estimated_cost_cents: cents(body.estimated_cost) ?? (isSame ? before.estimated_cost_cents : null),
  }
}

/** The errors of a requote: of the charges that were sent, or of the earlier ones that it keeps. */
function requoteErrors(body: BodyOf<typeof requote>, before: LaneRow, assumed: RateBasis): FieldError[] {
  const sent = chargesErrors('quoted', 'quoted_rate', body)
  if (sent.length > 0) return sent
  const {
    quoted_basis: basis,
    quoted_fuel_cents: fuel,
    quoted_accessorials_cents: other,
  } = requoted(body, before, assumed)
  const amount = { cents: cents(body.quoted_rate) ?? 0, basis, fuelCents: fuel, accessorialCents: other }
  if (chargesFit(amount, 'all_in')) return []
  const detail = `quoted_rate must be more than the charges of the earlier quote, which it contains: ${formatDollars((fuel ?? 0) + (other ?? 0))}. It is ${formatDollars(amount.cents)}. Send quoted_fuel and quoted_accessorials if they changed.`
  return [{ pointer: '/quoted_rate', code: 'invalid', detail }]
}

/** The charges for a digest: nothing if there are none, so that a body without them has the digest that it always had. */
function charges(lane: LaneToQuote) {
  const said = chargeMembers.map((member) => lane[member] ?? null)
  return said.every((value) => value === null) ? [] : said
}

/** A digest of a request's content. The order of members, and members that do not affect the quote, are ignored. */
export function requestDigest({
  customer_name,
  reference,
  lanes: asked,
}: BodyOf<typeof createQuoteRequest>): Buffer {
  const quoted = asked.map((lane) => [
    lane.origin,
    lane.destination,
    lane.equipment,
    lane.quoted_rate,
    lane.estimated_cost ?? null,
    lane.market_rate ?? null,
    lane.miles ?? null,
    lane.pickup_date ?? null,
    ...charges(lane),
  ])
  return createHash('sha256')
    .update(JSON.stringify([customer_name, reference ?? null, quoted]))
    .digest()
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
export function readQuoteRequest(body: BodyOf<typeof createQuoteRequest>): lanes.NewLane[] {
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

/** Checks the rates of a quote request against the rules. */
export function checkQuoteRequest(
  body: BodyOf<typeof createQuoteRequest>,
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<CheckedRate<'quoted_rate'>[]> {
  // Compared with the quotes before this one, because the quote itself moves the going rate.
  const quoted = readQuoteRequest(body).map((lane) => ({ ...lane, quoted_customer_name: body.customer_name }))
  return checkedRates(quoted, by, parts)
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
  const pricing = await pricingOf(books, tenant, now)
  const checked = await checkQuoteRequest(body, by, { books, database })
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
    const rows = await lanes.insertQuoteRequests(transaction, tenant, database.identifiers, [
      {
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
            valid_until: rate === undefined ? null : validUntil(rate, now),
          }
        }),
      },
    ])
    const request = {
      request_id: rows[0]?.request_id ?? 0,
      customer_name: body.customer_name,
      reference: body.reference ?? null,
      created_at: new Date(now),
    }
    const answer = await quoteRequestAnswer(transaction, tenant, { request, lanes: rows })
    const toForecast = rows.map((lane) => quoteToForecast(lane))
    await sealForecasts(transaction, tenant, { pricing, now }, toForecast)
    await by.also?.(
      transaction,
      rows.map(({ lane_ref }) => lane_ref),
    )
    return answer
  }
  const answered = await database.inTenant(tenant, make).catch(orHidden(() => keyReused(body.request_key)))
  return {
    ...answered,
    lanes: answered.lanes.map((lane, index) => ({ ...lane, warnings: checked[index]?.warnings ?? [] })),
  }
}

/** Checks the rate of a requote against the rules. */
export async function checkRequote(
  ref: string,
  body: BodyOf<typeof requote>,
  by: QuotedBy,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<CheckedRate<'quoted_rate'>> {
  const { quoted, assumed } = await parts.database.inTenant(by.tenant, async (transaction) => {
    const found = await lanes.findLane(transaction, by.tenant, askedRef(ref))
    // Before the rules, so that nobody asks for the approval of a rate that cannot be quoted.
    if (found !== null) await refuseIfLaterWon(transaction, by.tenant, found, body)
    return { quoted: found, assumed: await people.defaultBasisOf(transaction, by.tenant) }
  })
  if (quoted === null) throw noLane(ref)
  checkCounter(quoted, body)
  const errors = requoteErrors(body, quoted, assumed)
  if (errors.length > 0) throw invalid(errors)
  const next = {
    ...quoted,
    quoted_rate_cents: cents(body.quoted_rate) ?? 0,
    pickup_date: body.pickup_date ?? quoted.pickup_date,
    ...requoted(body, quoted, assumed),
  }
  const [checked] = await checkedRates([next], by, parts)
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
  const checked = await checkRequote(ref, body, by, { books, database })
  checkVerdicts([checked], by, () => '/quoted_rate')
  const pricing = await pricingOf(books, tenant, now)
  const make = async (transaction: TenantTransaction) => {
    const quoted = await lockedLane(transaction, tenant, ref)
    checkCounter(quoted, body)
    // Again, under the lock: somebody else may have accepted since the check.
    await refuseIfLaterWon(transaction, tenant, quoted, body)
    const recorded = { userId, at: new Date(now) }
    if (body.counter_rate !== undefined)
      await recordCounter(transaction, tenant, quoted, body.counter_rate, recorded)
    const made = await lanes.insertRequote(transaction, tenant, database.identifiers, quoted, {
      quoted_rate_cents: cents(body.quoted_rate) ?? 0,
      ...requoted(body, quoted, await people.defaultBasisOf(transaction, tenant)),
      market_rate_cents: cents(body.market_rate),
      pickup_date: body.pickup_date ?? quoted.pickup_date,
      valid_until: validUntil(checked, now),
      ...costExpected(pricing, { ...quoted, pickup_date: body.pickup_date ?? quoted.pickup_date }),
      createdBy: userId,
      createdAt: new Date(now),
    })
    const answer = await laneAnswer(
      transaction,
      tenant,
      isAccepted(body) ? await winAccepted(transaction, tenant, made, recorded) : made,
    )
    // The outcome of an accepted counter-offer is known already, so it is no test of a forecast.
    if (!isAccepted(body)) await sealForecasts(transaction, tenant, { pricing, now }, [quoteToForecast(made)])
    await by.also?.(transaction, [made.lane_ref])
    return answer
  }
  const answered = await database.inTenant(tenant, make).catch(orHidden(noNextQuote))
  return { ...answered, warnings: checked.warnings }
}

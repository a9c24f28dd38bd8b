import { createHash } from 'node:crypto'
import type { BodyOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import {
  createQuoteRequest,
  getLane,
  getQuoteRequest,
  listChanges,
  requote,
  rollback,
  setOutcome,
} from '#contract/quote-requests.ts'
import { centsFromDollars } from '#engine/money.ts'
import { recordEvent } from '../audit/index.ts'
import { costExpected, pricingOf } from '../book/index.ts'
import { laneChanges as changes, laneHistory, lanes } from '../database/queries/index.ts'
import type { GivenAdvice, LaneRow, TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { laneAnswer, laneAnswers, readEquipment, readLanePlaces } from '../lanes/index.ts'
import { quoteToForecast, sealForecasts } from '../pilot/index.ts'
import { accessorialCents, chargesErrors, storedCharges } from './charges-errors.ts'
import { type ServedEndpoint, serve } from './endpoint-call.ts'
import { askedRef, lockedLane, noLane } from './named-lane.ts'
import { rateChecker } from './rate-check.ts'

/**
 * The values to restore. An outcome and its time are restored together: a change records only what it changed, so the
 * time may have been cleared by a later change.
 */
function decidedInTime(
  lane: LaneRow,
  values: Partial<changes.HeldValues>,
  at: Date,
): Partial<changes.HeldValues> {
  const outcome = values.outcome ?? lane.outcome
  // A rollback of an expiry is a person's decision, so that the quote does not expire again.
  if (lane.outcome === 'expired' && outcome === 'pending')
    return { ...values, outcome_source: 'dashboard', decided_at: null }
  const decidedAt = values.decided_at === undefined ? lane.decided_at : values.decided_at
  return (outcome === 'pending') === (decidedAt === null)
    ? values
    : { ...values, decided_at: outcome === 'pending' ? null : at }
}

/** Validated dollars as cents; null when absent. */
function cents(amount: number | undefined): number | null {
  return amount === undefined ? null : centsFromDollars(amount)
}

/** Why a voided quote cannot be marked. */
export function voidWords({ lane_ref }: Pick<LaneRow, 'lane_ref'>): string {
  return `The quote of lane ${lane_ref} is void, so no outcome of it counts. Restore it first.`
}

/** The error of a reason without a loss. */
export function wrongReason(pointer: string): FieldError {
  return { pointer, code: 'invalid', detail: 'reason is only accepted with outcome lost; remove it.' }
}

/** The values of a lane that a person marks at `at`. `clock` is the time of the database. */
export function outcomeByPerson(
  lane: LaneRow,
  { outcome, reason }: BodyOf<typeof setOutcome>,
  { at, clock }: { readonly at: Date; readonly clock: Date },
) {
  return {
    outcome,
    outcome_reason: reason ?? null,
    outcome_source: 'dashboard',
    decided_at: outcome === 'pending' ? null : lane.outcome === outcome ? (lane.decided_at ?? at) : at,
    // An outcome that another system signed before and that arrives later does not replace it.
    ...changes.quoteSetByPerson(lane, ['outcome'], clock),
  } as const
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
    equipment: lane.equipment,
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
function quotedCharges(sent: Pick<LaneToQuote, (typeof chargeMembers)[number]>) {
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
  | 'origin_key'
  | 'destination_key'
  | 'origin_state'
  | 'destination_state'
  | 'equipment_code'
  | 'miles'
  | 'quoted_rate_cents'
  | 'estimated_cost_cents'
  | 'quoted_basis'
  | 'quoted_fuel_cents'
  | 'quoted_accessorials_cents'
  | 'quoted_currency'
> & { readonly quoted_customer_name: string }

/** The warnings about the rate of each lane, in the order of the lanes. */
async function warningsOf(quoted: readonly ToCheck[], warningsFor: Awaited<ReturnType<typeof rateChecker>>) {
  const warnings = []
  for (const lane of quoted) {
    warnings.push(
      await warningsFor('quoted_rate', {
        ...lane,
        rateCents: lane.quoted_rate_cents,
        enteredCostCents: lane.estimated_cost_cents ?? null,
        quoted: lane,
        customerName: lane.quoted_customer_name,
      }),
    )
  }
  return warnings
}

/** The cost and the charges of a further quote: those of the quote before it, unless others are sent. */
function requoted(body: BodyOf<typeof requote>, before: LaneRow) {
  const saysCharges = chargeMembers.some((field) => body[field] !== undefined)
  const { quoted_basis, quoted_fuel_cents, quoted_accessorials_cents, quoted_charges, quoted_currency } =
    before
  const charges = saysCharges
    ? quotedCharges(body)
    : { quoted_basis, quoted_fuel_cents, quoted_accessorials_cents, quoted_charges, quoted_currency }
  // The earlier cost is on the earlier basis and in the earlier currency.
  const isSame =
    charges.quoted_basis === quoted_basis && (charges.quoted_currency ?? 'USD') === (quoted_currency ?? 'USD')
  return {
    ...charges,
    estimated_cost_cents: cents(body.estimated_cost) ?? (isSame ? before.estimated_cost_cents : null),
  }
}

/** The charges for a digest: nothing if there are none, so that a body without them has the digest that it always had. */
function charges(lane: LaneToQuote) {
  const said = chargeMembers.map((member) => lane[member] ?? null)
  return said.every((value) => value === null) ? [] : said
}

/** A digest of a request's content. The order of members, and members that do not affect the quote, are ignored. */
function bodyDigest({ customer_name, reference, lanes: asked }: BodyOf<typeof createQuoteRequest>): Buffer {
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
async function quoteRequestAnswer(
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

export const quoteEndpoints: ServedEndpoint[] = [
  serve(createQuoteRequest, async ({ caller, body, now }, { books, database }) => {
    const errors: FieldError[] = []
    const read = body.lanes.map((lane, index) =>
      newLane(lane, index, body.accept_unknown_places === true, errors),
    )
    if (errors.length > 0) throw invalid(errors)
    const pricing = await pricingOf(books, caller.tenant, now)
    // Compared with the quotes before this one, because the quote itself moves the going rate.
    const warnings = await warningsOf(
      read
        .filter((lane) => lane !== null)
        .map((lane) => ({ ...lane, quoted_customer_name: body.customer_name })),
      await rateChecker({ books, database }, caller.tenant, now),
    )
    const answered = await database.inTenant(caller.tenant, async (transaction) => {
      const key = body.request_key
      const digest = bodyDigest(body)
      const made =
        key === undefined ? null : await lanes.findQuoteRequestByKey(transaction, caller.tenant, key)
      if (made !== null) {
        // Requests stored before digests were introduced have none.
        if (made.request.request_digest?.equals(digest) === false) {
          throw problem(
            'request-key-reused',
            `request_key ${key} was sent before with another body, and created quote request ${made.request.request_id}. Nothing was created this time. Send a new request_key for a new request, or the same body to repeat that one.`,
          )
        }
        return quoteRequestAnswer(transaction, caller.tenant, made)
      }
      const rows = await lanes.insertQuoteRequests(transaction, caller.tenant, database.identifiers, [
        {
          customerName: body.customer_name,
          reference: body.reference ?? null,
          createdBy: caller.userId,
          createdAt: new Date(now),
          importId: null,
          ...(key === undefined ? {} : { repeatable: { key, digest } }),
          lanes: read
            .filter((lane) => lane !== null)
            .map((lane) => ({ ...lane, ...costExpected(pricing?.costs ?? null, lane) })),
        },
      ])
      const request = {
        request_id: rows[0]?.request_id ?? 0,
        customer_name: body.customer_name,
        reference: body.reference ?? null,
        created_at: new Date(now),
      }
      const answer = await quoteRequestAnswer(transaction, caller.tenant, { request, lanes: rows })
      const toForecast = rows.map((lane) => quoteToForecast(lane))
      await sealForecasts(transaction, caller.tenant, { pricing, now }, toForecast)
      return answer
    })
    return {
      ...answered,
      lanes: answered.lanes.map((lane, index) => ({ ...lane, warnings: warnings[index] ?? [] })),
    }
  }),

  serve(getQuoteRequest, async ({ caller, params }, { database }) => {
    return database.inTenant(caller.tenant, async (transaction) => {
      const found = await lanes.findQuoteRequest(transaction, caller.tenant, params.request_id)
      if (found === null)
        throw problem('not-found', `There is no quote request ${params.request_id} in this brokerage.`)
      return quoteRequestAnswer(transaction, caller.tenant, found)
    })
  }),

  serve(getLane, async ({ caller, params }, { database }) => {
    const ref = askedRef(params.lane_ref)
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lanes.findLane(transaction, caller.tenant, ref)
      if (lane === null) throw noLane(ref)
      return laneAnswer(transaction, caller.tenant, lane)
    })
  }),

  serve(requote, async ({ caller, params, body, now }, { books, database }) => {
    const errors = chargesErrors('quoted', 'quoted_rate', body)
    if (errors.length > 0) throw invalid(errors)
    const pricing = await pricingOf(books, caller.tenant, now)
    const checked = await rateChecker({ books, database }, caller.tenant, now)
    const made = await database.inTenant(caller.tenant, async (transaction) => {
      const quoted = await lockedLane(transaction, caller.tenant, params.lane_ref)
      const further = await lanes.insertRequote(transaction, caller.tenant, database.identifiers, quoted, {
        quoted_rate_cents: cents(body.quoted_rate) ?? 0,
        ...requoted(body, quoted),
        market_rate_cents: cents(body.market_rate),
        pickup_date: body.pickup_date ?? quoted.pickup_date,
        ...costExpected(pricing?.costs ?? null, quoted),
        createdBy: caller.userId,
        createdAt: new Date(now),
      })
      const answered = await laneAnswer(transaction, caller.tenant, further)
      await sealForecasts(transaction, caller.tenant, { pricing, now }, [quoteToForecast(further)])
      return { quoted, answered }
    })
    const { quoted, answered } = made
    const [warnings = []] = await warningsOf(
      [
        {
          ...quoted,
          quoted_rate_cents: cents(body.quoted_rate) ?? 0,
          ...requoted(body, quoted),
        },
      ],
      checked,
    )
    return { ...answered, warnings }
  }),

  serve(setOutcome, async ({ caller, params, body, now }, { database }) => {
    if (body.reason !== undefined && body.outcome !== 'lost') throw invalid([wrongReason('/reason')])
    const at = new Date(now)
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lockedLane(transaction, caller.tenant, params.lane_ref)
      if (lane.voided_at !== null) throw problem('state-conflict', voidWords(lane))
      const next = outcomeByPerson(lane, body, { at, clock: await changes.databaseNow(transaction) })
      const origin = { source: 'dashboard', userId: caller.userId } as const
      return laneAnswer(
        transaction,
        caller.tenant,
        await changes.changeLane(transaction, caller.tenant, lane, next, origin, at),
      )
    })
  }),

  serve(listChanges, async ({ caller, params }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lanes.findLane(transaction, caller.tenant, askedRef(params.lane_ref))
      if (lane === null) throw noLane(params.lane_ref)
      const rows = await laneHistory.listChanges(transaction, caller.tenant, lane.lane_id)
      return {
        changes: rows.map((row) => ({
          change_id: row.change_number,
          source: row.source,
          changed_by: row.user_id === null ? null : { user_id: row.user_id, name: row.user_name ?? '' },
          changed_at: row.changed_at.toISOString(),
          before: changes.auditedForApi(row.before),
          after: changes.auditedForApi(row.after),
          rule: row.rule,
          rolled_back_change_id: row.rolled_back_change,
        })),
      }
    }),
  ),

  serve(rollback, async (call, { database }) => {
    const { caller, params, body } = call
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lockedLane(transaction, caller.tenant, params.lane_ref)
      // The time is that of the database's clock, as for signed updates: updates that arrived before are older than the
      // rollback.
      const at = await changes.databaseNow(transaction)
      const change = await laneHistory.findChange(transaction, caller.tenant, lane.lane_id, body.change_id)
      if (change === null)
        throw problem('not-found', `Lane ${lane.lane_ref} has no change ${body.change_id}.`)
      const next = decidedInTime(lane, changes.rollbackValues(lane, change.before, at), at)
      const origin = {
        source: 'dashboard',
        userId: caller.userId,
        rolledBackChange: change.change_number,
      } as const
      const rolledBack = await changes.changeLane(transaction, caller.tenant, lane, next, origin, at)
      const answer = await laneAnswer(transaction, caller.tenant, rolledBack)
      await recordEvent(transaction, call, 'change-rolled-back', {
        about: { lane_ref: lane.lane_ref, change_id: change.change_number },
      })
      return answer
    })
  }),
]

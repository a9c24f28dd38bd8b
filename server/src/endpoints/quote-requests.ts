import type { Static } from 'typebox'
import type { BodyOf, QueryOf } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import { isDisplayText, readTime } from '#contract/fields.ts'
import type { Lane } from '#contract/lane.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import {
  createQuoteRequest,
  getLane,
  getQuoteRequest,
  listChanges,
  listLanes,
  listShipments,
  requote,
  rollback,
  setOutcome,
} from '#contract/quote-requests.ts'
import { centsFromDollars, dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { roundHalfAway } from '#engine/statistics/round-half-away.ts'
import * as changes from '../database/lane-changes.ts'
import * as lanes from '../database/lanes.ts'
import type { TenantId, TenantTransaction } from '../database/open-database.ts'
import { costExpected } from '../expected-costs.ts'
import { readEquipment, readLanePlaces, readPlaceKey } from '../lane-places.ts'
import { type ServedEndpoint, serve } from './call.ts'

/**
 * Values to write back, with an outcome and its time that go together: a change keeps only what it changed, so the
 * time of an outcome that it restores may have been wiped since.
 */
function decidedInTime(lane: lanes.LaneRow, values: lanes.LaneValues, at: Date): lanes.LaneValues {
  const outcome = values.outcome ?? lane.outcome
  const decidedAt = values.decided_at === undefined ? lane.decided_at : values.decided_at
  return (outcome === 'pending') === (decidedAt === null)
    ? values
    : { ...values, decided_at: outcome === 'pending' ? null : at }
}

/** Dollars that a contract has checked, as cents; absent is null. */
function cents(amount: number | undefined): number | null {
  return amount === undefined ? null : centsFromDollars(amount)
}

/** A lane as the API shows it: the rate and the cost that are booked, and the margin that landed. */
export function laneAnswer(lane: lanes.LaneRow): Static<typeof Lane> {
  const { customer_rate_cents: ar, truck_cost_cents: ap } = lane
  const marginCents = ar === null || ap === null ? null : ar - ap
  return {
    lane_ref: lane.lane_ref,
    lane_id: lane.lane_id,
    request_id: lane.request_id,
    origin: lane.origin,
    destination: lane.destination,
    equipment: lane.equipment,
    customer_name: lane.customer_name ?? lane.quoted_customer_name,
    quoted_rate: dollarsFromCents(lane.quoted_rate_cents),
    customer_rate: dollarsIfKnown(ar),
    estimated_cost: dollarsIfKnown(lane.estimated_cost_cents),
    expected_cost: expectedCostAnswer(lane),
    truck_cost: dollarsIfKnown(ap),
    margin: marginCents === null ? null : marginCents / 100,
    margin_pct: marginCents === null ? null : marginPct(marginCents, ar ?? 0),
    carrier_name: lane.carrier_name,
    carrier_notes: lane.carrier_notes,
    market_rate: dollarsIfKnown(lane.market_rate_cents),
    miles: lane.miles,
    pickup_date: lane.pickup_date,
    outcome: lane.outcome,
    outcome_reason: lane.outcome_reason,
    outcome_source: lane.outcome_source,
    decided_at: lane.decided_at?.toISOString() ?? null,
    booked_at: lane.booked_at?.toISOString() ?? null,
    created_at: lane.created_at.toISOString(),
    updated_at: lane.updated_at.toISOString(),
  }
}

function expectedCostAnswer(lane: lanes.LaneRow) {
  const { expected_cost_cents: amount, expected_cost_low_cents: low, expected_cost_high_cents: high } = lane
  if (amount === null || low === null || high === null) return null
  return { amount: amount / 100, low: low / 100, high: high / 100 }
}

/** Margin as a share of what the customer pays, in percent with one decimal; null of nothing. */
function marginPct(marginCents: number, customerRateCents: number): number | null {
  return customerRateCents === 0 ? null : roundHalfAway((1000 * marginCents) / customerRateCents, 0) / 10
}

/** The 404 of a lane: the same for another tenant's and for none, whatever the text. */
export function noLane(ref: string) {
  return problem('lane-not-found', `No lane was found for lane_ref "${ref}".`)
}

/** A lane_ref from an address: any text without control characters may be asked for, and is then not found. */
function askedRef(ref: string): string {
  if ([...ref].length > 200 || !isDisplayText(ref)) {
    throw invalid([
      { parameter: 'lane_ref', code: 'invalid', detail: 'lane_ref must be text of 1 to 200 characters.' },
    ])
  }
  return ref
}

async function lockedLane(transaction: TenantTransaction, tenant: TenantId, ref: string) {
  const lane = await lanes.lockLane(transaction, tenant, askedRef(ref))
  if (lane === null) throw noLane(ref)
  return lane
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
  if (places === null || equipment === null) return null
  return {
    ...places,
    equipment: lane.equipment,
    equipment_code: equipment,
    quoted_rate_cents: cents(lane.quoted_rate) ?? 0,
    estimated_cost_cents: cents(lane.estimated_cost),
    market_rate_cents: cents(lane.market_rate),
    pickup_date: lane.pickup_date ?? null,
  }
}

type LaneQuery = QueryOf<typeof listLanes> | QueryOf<typeof listShipments>

function laneFilter(query: LaneQuery): lanes.LaneFilter {
  const errors: FieldError[] = []
  const place = (parameter: 'origin' | 'destination') => {
    const text = query[parameter]
    return text === undefined ? null : readPlaceKey(text, { parameter }, errors)
  }
  const [originKey, destinationKey] = [place('origin'), place('destination')]
  const equipmentCode =
    query.equipment === undefined ? null : readEquipment(query.equipment, { parameter: 'equipment' }, errors)
  if (errors.length > 0) throw invalid(errors)
  const moment = (text: string | undefined) => (text === undefined ? null : readTime(text))
  const [from, to] = [moment(query.from), moment(query.to)]
  return {
    ...('outcome' in query && query.outcome !== undefined ? { outcome: query.outcome } : {}),
    ...(originKey === null ? {} : { originKey }),
    ...(destinationKey === null ? {} : { destinationKey }),
    ...(equipmentCode === null ? {} : { equipmentCode }),
    ...(query.customer === undefined ? {} : { customer: query.customer }),
    ...(query.q === undefined ? {} : { words: query.q }),
    ...(from === null ? {} : { from: new Date(from) }),
    ...(to === null ? {} : { to: new Date(to) }),
  }
}

function cursorText(lane: lanes.LaneRow): string {
  return Buffer.from(`${lane.created_at.getTime()}.${lane.lane_id}`).toString('base64url')
}

function readCursor(text: string | undefined): lanes.LaneCursor | null {
  if (text === undefined) return null
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString('latin1'))
  if (match === null) {
    throw invalid([
      { parameter: 'cursor', code: 'invalid', detail: 'cursor must be the next_cursor of the page before.' },
    ])
  }
  return { createdAt: new Date(Number(match[1])), laneId: Number(match[2]) }
}

async function lanePage(
  transaction: TenantTransaction,
  tenant: TenantId,
  query: LaneQuery,
  filter: lanes.LaneFilter,
) {
  const limit = query.limit ?? pageSizeDefault
  const rows = await lanes.listLanes(transaction, tenant, filter, {
    cursor: readCursor(query.cursor),
    limit: limit + 1,
  })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    lanes: page.map(laneAnswer),
    next_cursor: rows.length > limit && last !== undefined ? cursorText(last) : null,
  }
}

export const quoteEndpoints: ServedEndpoint[] = [
  serve(createQuoteRequest, async ({ caller, body, now }, { database, models }) => {
    const errors: FieldError[] = []
    const read = body.lanes.map((lane, index) =>
      newLane(lane, index, body.accept_unknown_places === true, errors),
    )
    if (errors.length > 0) throw invalid(errors)
    const createdAt = new Date(now)
    const rows = await database.inTenant(caller.tenant, async (transaction) => {
      const { costs } = await models.of(transaction, caller.tenant, now)
      return lanes.insertQuoteRequests(transaction, caller.tenant, database.identifiers, [
        {
          customerName: body.customer_name,
          reference: body.reference ?? null,
          createdBy: caller.userId,
          createdAt,
          importId: null,
          lanes: read
            .filter((lane) => lane !== null)
            .map((lane) => ({ ...lane, ...costExpected(costs, lane) })),
        },
      ])
    })
    return {
      request_id: rows[0]?.request_id ?? 0,
      customer_name: body.customer_name,
      reference: body.reference ?? null,
      created_at: createdAt.toISOString(),
      lanes: rows.map(laneAnswer),
    }
  }),

  serve(getQuoteRequest, async ({ caller, params }, { database }) => {
    const found = await database.inTenant(caller.tenant, (transaction) =>
      lanes.findQuoteRequest(transaction, caller.tenant, params.request_id),
    )
    if (found === null)
      throw problem('not-found', `There is no quote request ${params.request_id} in this brokerage.`)
    const { request } = found
    return {
      request_id: request.request_id,
      customer_name: request.customer_name,
      reference: request.reference,
      created_at: request.created_at.toISOString(),
      lanes: found.lanes.map(laneAnswer),
    }
  }),

  serve(listLanes, async ({ caller, query }, { database }) => {
    const filter = laneFilter(query)
    return database.inTenant(caller.tenant, (transaction) =>
      lanePage(transaction, caller.tenant, query, filter),
    )
  }),

  serve(getLane, async ({ caller, params }, { database }) => {
    const ref = askedRef(params.lane_ref)
    const lane = await database.inTenant(caller.tenant, (transaction) =>
      lanes.findLane(transaction, caller.tenant, ref),
    )
    if (lane === null) throw noLane(ref)
    return laneAnswer(lane)
  }),

  serve(listShipments, async ({ caller, query }, { database }) => {
    const filter = { ...laneFilter(query), booked: true }
    return database.inTenant(caller.tenant, async (transaction) => {
      const page = await lanePage(transaction, caller.tenant, query, filter)
      const totals = await lanes.shipmentTotals(transaction, caller.tenant, filter)
      return {
        ...page,
        totals: {
          shipments: totals.shipments,
          customer_rate: totals.customerRateCents / 100,
          truck_cost: totals.truckCostCents / 100,
          margin: totals.marginCents / 100,
          margin_pct: marginPct(totals.marginCents, totals.marginBaseCents),
        },
      }
    })
  }),

  serve(requote, async ({ caller, params, body, now }, { database, models }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const quoted = await lockedLane(transaction, caller.tenant, params.lane_ref)
      const { costs } = await models.of(transaction, caller.tenant, now)
      return laneAnswer(
        await lanes.insertRequote(transaction, caller.tenant, database.identifiers, quoted, {
          quoted_rate_cents: cents(body.quoted_rate) ?? 0,
          estimated_cost_cents: cents(body.estimated_cost) ?? quoted.estimated_cost_cents,
          market_rate_cents: cents(body.market_rate),
          pickup_date: body.pickup_date ?? quoted.pickup_date,
          ...costExpected(costs, quoted),
          createdBy: caller.userId,
          createdAt: new Date(now),
        }),
      )
    }),
  ),

  serve(setOutcome, async ({ caller, params, body, now }, { database }) => {
    if (body.reason !== undefined && body.outcome !== 'lost') {
      throw invalid([
        { pointer: '/reason', code: 'invalid', detail: 'reason goes with outcome lost only; leave it out.' },
      ])
    }
    const at = new Date(now)
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lockedLane(transaction, caller.tenant, params.lane_ref)
      const next = {
        outcome: body.outcome,
        outcome_reason: body.reason ?? null,
        outcome_source: 'dashboard',
        decided_at:
          body.outcome === 'pending' ? null : lane.outcome === body.outcome ? (lane.decided_at ?? at) : at,
      } as const
      const origin = { source: 'dashboard', userId: caller.userId } as const
      return laneAnswer(await changes.changeLane(transaction, caller.tenant, lane, next, origin, at))
    })
  }),

  serve(listChanges, async ({ caller, params }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lanes.findLane(transaction, caller.tenant, askedRef(params.lane_ref))
      if (lane === null) throw noLane(params.lane_ref)
      const rows = await changes.listChanges(transaction, caller.tenant, lane.lane_id)
      return {
        changes: rows.map((row) => ({
          change_id: row.change_number,
          source: row.source,
          changed_by: row.user_id === null ? null : { user_id: row.user_id, name: row.user_name ?? '' },
          changed_at: row.changed_at.toISOString(),
          before: changes.auditedForApi(row.before),
          after: changes.auditedForApi(row.after),
          rolled_back_change_id: row.rolled_back_change,
        })),
      }
    }),
  ),

  serve(rollback, async ({ caller, params, body, now }, { database }) => {
    const at = new Date(now)
    return database.inTenant(caller.tenant, async (transaction) => {
      const lane = await lockedLane(transaction, caller.tenant, params.lane_ref)
      const change = await changes.findChange(transaction, caller.tenant, lane.lane_id, body.change_id)
      if (change === null)
        throw problem('not-found', `Lane ${lane.lane_ref} has no change ${body.change_id}.`)
      const next = decidedInTime(lane, changes.rollbackValues(lane, change.before, at), at)
      return laneAnswer(
        await changes.changeLane(
          transaction,
          caller.tenant,
          lane,
          next,
          { source: 'dashboard', userId: caller.userId, rolledBackChange: change.change_number },
          at,
        ),
      )
    })
  }),
]

import { randomBytes } from 'node:crypto'
import { defaultScope } from '#contract/token-scopes.ts'
import { readPlace } from '#engine/place.ts'
import { issueServiceToken, issueSigningSecret } from '../access/index.ts'
import { recordEvent } from '../audit/index.ts'
import {
  createTenant,
  insertQuoteRequests,
  insertUser,
  type NewLane,
  newTenantId,
} from '../database/queries/index.ts'
import type { LaneRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { lanePlaces } from '../lanes/index.ts'
import { hashPassword, type SecretKeys, type Tokens } from '../security/index.ts'
import { type SampleLane, sampleBrokerage, sampleSeed } from './sample-brokerage.ts'

/** The credentials and lanes to try the service with. They are shown once and not stored. */
export interface SampleAccess {
  readonly company: string
  readonly email: string
  readonly password: string
  readonly token: string
  readonly secret: string
  readonly laneCount: number
  /** An open quote, for the example of a booking. */
  readonly openLane: Pick<LaneRow, 'lane_ref' | 'quoted_rate_cents'>
  /** The lane with the most quotes. */
  readonly busyLane: Pick<LaneRow, 'origin' | 'destination' | 'equipment' | 'quoted_rate_cents'>
}

const ownerEmail = 'owner@sample.example'

/**
 * Inserts the sample brokerage: its people, two years of quotes and bookings, a service token and a signing secret. All
 * in the caller's transaction, so that an interrupted start leaves nothing behind.
 */
export function sampleMaker(database: Database, tokens: Tokens, secretKeys: SecretKeys) {
  const tenant = newTenantId()
  return {
    tenant,
    async insert(transaction: TenantTransaction, now: number): Promise<SampleAccess> {
      const sample = sampleBrokerage({ seed: sampleSeed, now })
      const password = randomBytes(12).toString('base64url')
      const at = new Date(now)
      const owner = sample.people.find((person) => person.role === 'owner')
      const made = await createTenant(transaction, tenant, {
        company: sample.company.name,
        name: owner?.name ?? 'Owner',
        email: ownerEmail,
        passwordHash: await hashPassword(password),
        now: at,
      })
      if (made === null) throw new Error(`The address ${ownerEmail} is in use already.`)
      const userIds = new Map([[made.user.name, made.user.user_id]])
      for (const person of sample.people.filter((one) => one !== owner)) {
        const user = await insertUser(transaction, tenant, {
          name: person.name,
          email: `${person.name.toLowerCase().replaceAll(/[^a-z]+/g, '.')}@sample.example`,
          role: person.role,
          status: 'active',
          passwordHash: null,
          invitation: null,
          now: at,
        })
        if (user !== null) userIds.set(person.name, user.user_id)
      }
      const lanes = await insertLanes(transaction, tenant, database, sample.lanes, userIds)
      const issued = { tenant, userId: made.user.user_id, now }
      const { row, token } = await issueServiceToken(
        transaction,
        { ...issued, name: 'sample', role: 'owner', scope: defaultScope },
        tokens,
      )
      const { row: secret, plaintext } = await issueSigningSecret(
        transaction,
        { ...issued, name: 'tms' },
        secretKeys,
      )
      const doing = { caller: issued, now, network: null, requestId: null }
      await recordEvent(transaction, doing, 'signed-up')
      await recordEvent(transaction, doing, 'token-created', {
        about: { token_id: row.token_id, name: row.name },
      })
      await recordEvent(transaction, doing, 'secret-created', {
        about: { secret_id: secret.secret_id, name: secret.name },
      })
      return {
        company: sample.company.name,
        email: ownerEmail,
        password,
        token,
        secret: plaintext,
        laneCount: lanes.length,
        ...showcase(lanes),
      }
    },
  }
}

function newLane(lane: SampleLane): NewLane {
  const [origin, destination] = [readPlace(lane.origin), readPlace(lane.destination)]
  if (origin === null || destination === null)
    throw new Error(`No place: ${lane.origin} or ${lane.destination}.`)
  const { booking } = lane
  return {
    ...lanePlaces(origin, destination, lane.miles),
    equipment: lane.equipment,
    equipment_code: lane.equipment,
    quoted_rate_cents: lane.quotedRateCents,
    estimated_cost_cents: lane.estimatedCostCents,
    market_rate_cents: lane.marketRateCents,
    pickup_date: lane.pickupDate,
    outcome: lane.outcome,
    outcome_reason: lane.outcomeReason,
    outcome_source: lane.outcome === 'pending' ? null : booking === null ? 'dashboard' : 'tms',
    decided_at: lane.decidedAt === null ? null : new Date(lane.decidedAt),
    ...(booking === null
      ? {}
      : {
          customer_rate_cents: booking.customerRateCents,
          truck_cost_cents: booking.truckCostCents,
          truck_cost_source: 'tms' as const,
          carrier_name: booking.carrierName,
          carrier_notes: booking.carrierMc,
          booked_at: new Date(booking.bookedAt),
        }),
    placed: {
      laneNumber: lane.laneNumber,
      quoteCount: lane.quoteNumber,
      createdAt: new Date(lane.quotedAt),
    },
  }
}

async function insertLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  database: Database,
  lanes: readonly SampleLane[],
  userIds: ReadonlyMap<string, number>,
): Promise<LaneRow[]> {
  const requests = [...Map.groupBy(lanes, (lane) => lane.requestNumber).values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    return {
      customerName: first.customerName,
      reference: null,
      createdBy: userIds.get(first.repName) ?? null,
      createdAt: new Date(first.quotedAt),
      importId: null,
      lanes: group.map(newLane),
    }
  })
  return insertQuoteRequests(transaction, tenant, database.identifiers, requests)
}

function showcase(lanes: readonly LaneRow[]): Pick<SampleAccess, 'openLane' | 'busyLane'> {
  const openLane = lanes.findLast((lane) => lane.outcome === 'pending')
  const byLane = [
    ...Map.groupBy(
      lanes,
      (lane) => `${lane.origin_key}>${lane.destination_key}>${lane.equipment_code}`,
    ).values(),
  ]
  const busyLane = byLane.sort((one, other) => other.length - one.length)[0]?.at(-1)
  if (openLane === undefined || busyLane === undefined)
    throw new Error('The sample brokerage has no open quote.')
  return { openLane, busyLane }
}

import { readPlace } from '#engine/place.ts'
import {
  createTenant,
  insertRequests,
  insertUser,
  type NewQuote,
  type NewQuoteRequest,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { lanePlaces } from '../quotes/index.ts'
import { type SampleBrokerage, type SampleQuote, sampleBrokerage, sampleSeed } from './sample-brokerage.ts'

/** The e-mail address of the sample brokerage's owner, the only person who can sign in. */
export const ownerEmail = 'owner@sample.example'

/** The rows of a sample brokerage, without the numbers that the database gives them. */
export interface PreparedSample extends Pick<SampleBrokerage, 'company' | 'people'> {
  readonly now: number
  readonly requests: readonly (Omit<NewQuoteRequest, 'createdBy'> & { readonly repName: string })[]
  readonly laneCount: number
}

/**
 * Computes the sample brokerage: its people, and two years of quotes and bookings that end at `now`, in epoch milliseconds. It runs
 * outside a transaction, because it takes a second of processor time, and up to a minute beside other busy programs.
 */
export function prepareSample(now: number): PreparedSample {
  const { company, people, quotes } = sampleBrokerage({ seed: sampleSeed, now })
  const requests = [...Map.groupBy(quotes, (quote) => quote.requestNumber).values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    return {
      customerName: first.customerName,
      reference: null,
      repName: first.repName,
      createdAt: new Date(first.quotedAt),
      importId: null,
      quotes: group.map(newQuote),
    }
  })
  return { now, company, people, requests, laneCount: quotes.length }
}

/** Requests per call: few enough to encode within milliseconds, while the transaction waits. */
const requestsPerCall = 400

/**
 * Writes a prepared sample brokerage in the caller's transaction, so that an interrupted start leaves nothing behind. Its
 * owner cannot sign in yet: see `giveSampleAccess`.
 */
export async function writeSample(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  { now, company, people, requests }: PreparedSample,
  onProgress: (lanes: number) => void,
): Promise<void> {
  const at = new Date(now)
  const owner = people.find((person) => person.role === 'owner')
  const made = await createTenant(transaction, tenant, {
    company: company.name,
    name: owner?.name ?? 'Owner',
    email: ownerEmail,
    passwordHash: null,
    now: at,
  })
  if (made === null) throw new Error(`The address ${ownerEmail} is in use already.`)
  const userIds = new Map([[made.user.name, made.user.user_id]])
  for (const person of people.filter((one) => one !== owner)) {
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
  let written = 0
  for (let from = 0; from < requests.length; from += requestsPerCall) {
    const some = requests
      .slice(from, from + requestsPerCall)
      .map(({ repName, ...request }) => ({ ...request, createdBy: userIds.get(repName) ?? null }))
    written += (await insertRequests(transaction, tenant, identifiers, some)).length
    onProgress(written)
  }
}

function newQuote(quote: SampleQuote): NewQuote {
  const [origin, destination] = [readPlace(quote.origin), readPlace(quote.destination)]
  if (origin === null || destination === null)
    throw new Error(`No place: ${quote.origin} or ${quote.destination}.`)
  const { booking } = quote
  return {
    ...lanePlaces(origin, destination, quote.miles),
    equipment: quote.equipment,
    equipment_code: quote.equipment,
    quoted_rate_cents: quote.quotedRateCents,
    estimated_cost_cents: quote.estimatedCostCents,
    market_rate_cents: quote.marketRateCents,
    pickup_date: quote.pickupDate,
    outcome: quote.outcome,
    outcome_reason: quote.outcomeReason,
    outcome_source: quote.outcome === 'pending' ? null : booking === null ? 'dashboard' : 'tms',
    decided_at: quote.decidedAt === null ? null : new Date(quote.decidedAt),
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
      laneNumber: quote.laneNumber,
      quoteCount: quote.quoteNumber,
      createdAt: new Date(quote.quotedAt),
    },
  }
}

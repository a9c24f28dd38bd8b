import { setTimeout as delay } from 'node:timers/promises'
import {
  answerWith,
  type EventReceiver,
  eventReceiver,
  type Received,
  sendEventsTo,
} from '#testing/event-receiver.ts'
import {
  between,
  type Finding,
  firstFaults,
  type Proof,
  type ProofOptions,
  seeded,
  shareOf,
} from './proof.ts'
import { type ProofDatabase, proofDatabase } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import { acknowledgedCount, asApp, makeWriters, write, writersLog } from './signed-writers.ts'

const writersCount = 3
const patienceMs = 60_000

/**
 * Makes a receiver accept most events, and otherwise respond 503, close the connection, or not respond. Returns the accepted
 * events. `recover()` makes it accept everything.
 */
function unreliable(receiver: EventReceiver, random: () => number) {
  const taken: Received[] = []
  let hasRecovered = false
  receiver.answer = (response, one) => {
    // The first requests always fail, so that there is something to retry.
    const outcome = hasRecovered ? 0 : receiver.received.length <= writersCount ? 0.7 : random()
    if (outcome < 0.6) {
      taken.push(one)
      answerWith(204)(response)
    } else if (outcome < 0.75) answerWith(503)(response)
    else if (outcome < 0.9) response.destroy()
    else setTimeout(() => response.destroy(), 400)
  }
  return {
    taken,
    recover() {
      hasRecovered = true
    },
  }
}

/** Returns a statement that makes all waiting deliveries of a table due now, except those that an instance has locked. */
export const makingAllDue = (table: string) => `
  with waiting as (
    select tenant_id, endpoint_id, event_number from ${table} where state = 'due' for update skip locked
  )
  update ${table} set next_at = now()
  where (tenant_id, endpoint_id, event_number) in (select * from waiting)`

const makeAllDue = (database: EventDatabase) =>
  database.ask(database.makingAllDue ?? makingAllDue('event_deliveries'))

/** A database. `makingAllDue` makes all waiting deliveries due where the usual statement does not work. */
type EventDatabase = ProofDatabase & { readonly makingAllDue?: string }

/** Waits until a receiver has had `count` requests, accepted or not. */
async function waitForRequests(
  database: EventDatabase,
  receiver: EventReceiver,
  count: number,
): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (receiver.received.length < count) {
    if (performance.now() > deadline) throw new Error(`Only ${receiver.received.length} requests arrived.`)
    await makeAllDue(database)
    await delay(100)
  }
}

/** Waits until no delivery is due. Returns false if that takes longer than 60 s. */
async function drained(database: EventDatabase): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    await makeAllDue(database)
    const [left] = await database.ask<{ count: number }>(
      `select count(*)::int as count from event_deliveries where state = 'due'`,
    )
    if (left?.count === 0) return true
    await delay(250)
  }
  return false
}

/**
 * Compares the accepted events with the committed changes: every booking and outcome must arrive at least once, with the
 * quote's values at that time, nothing else may arrive, and the first deliveries of a quote must be in order.
 */
async function faultsIn(database: ProofDatabase, taken: readonly Received[]): Promise<string[]> {
  const committed = await database.ask<{ change: string; type: string; cents: number }>(`
    select lane_id || '/' || change_number as change, type, (after ->> 'customer_rate_cents')::int as cents
    from quote_changes, unnest(array['lane.booked', 'lane.outcome_changed']) as type
    where after ?| case type when 'lane.booked' then array['customer_rate_cents', 'truck_cost_cents', 'carrier_name']
      else array['outcome'] end`)
  const keyOf = (type: string, change: string) => `${type} ${change}`
  const known = new Map(committed.map((row) => [keyOf(row.type, row.change), row.cents]))
  const got = new Set<string>()
  const lastOf = new Map<number, number>()
  const faults: string[] = []
  for (const { event } of taken) {
    const { lane: quote, change_id: change } = event.data
    const key = keyOf(event.type, `${quote.lane_id}/${change}`)
    const cents = known.get(key)
    if (cents === undefined) faults.push(`${key} was sent but never committed`)
    else if (Math.round((quote.customer_rate ?? 0) * 100) !== cents)
      faults.push(`${key} has the values of another change`)
    if (!got.has(key) && change < (lastOf.get(quote.lane_id) ?? 0)) faults.push(`${key} arrived out of order`)
    lastOf.set(quote.lane_id, Math.max(change, lastOf.get(quote.lane_id) ?? 0))
    got.add(key)
  }
  for (const key of known.keys()) if (!got.has(key)) faults.push(`${key} was committed but never sent`)
  return faults
}

/**
 * Kills the service while it writes and sends events, and compares what a failing receiver accepted with what was committed.
 *
 * @param database is dropped at the end
 */
export async function killUnderEvents(
  kills: number,
  { seed, onProgress, signal }: Pick<ProofOptions, 'seed' | 'onProgress' | 'signal'>,
  database: EventDatabase,
  prepare: (database: ProofDatabase) => Promise<void> = async () => {},
): Promise<Finding> {
  const random = seeded(seed)
  const services = serviceProcesses(database)
  const receiver = await eventReceiver()
  const log = writersLog()
  let over = false
  let writing: Promise<void> = Promise.resolve()
  try {
    const start = () => services.start({ env: { EVENTS: 'on', EVENTS_ALLOW_PRIVATE: '127.0.0.1' } })
    let service = await start()
    const writers = await makeWriters(service.url, writersCount)
    for (const { integration } of writers) {
      await sendEventsTo(asApp(service.url), integration.tenant, receiver.url, {
        event_types: ['lane.booked', 'lane.outcome_changed'],
      })
    }
    await prepare(database)
    const { taken, recover } = unreliable(receiver, random)
    writing = write(
      writers,
      log,
      () => service.url,
      () => over,
    )
    for (let killed = 0; killed < kills && !signal.aborted; killed++) {
      await waitForRequests(database, receiver, killed * 20)
      await delay(between(random, 100, 700))
      await service.end('SIGKILL')
      service = await start()
      onProgress(`${killed + 1} of ${kills} kills, ${receiver.received.length} requests`)
    }
    await waitForRequests(database, receiver, 2 * writersCount)
    over = true
    await writing
    recover()
    const isEmpty = await drained(database)
    const faults = await faultsIn(database, taken)
    if (!isEmpty) faults.push('the queue does not drain')
    if (acknowledgedCount(log) < writersCount)
      faults.push('too few updates were acknowledged: the proof is empty')
    return {
      figure: `${kills} kills; ${acknowledgedCount(log)} bookings, ${receiver.received.length} requests to their receiver`,
      faults: firstFaults(faults),
    }
  } finally {
    over = true
    await services.remove()
    await writing
    await receiver.close()
    await database.drop()
  }
}

/** Plants the fault: claimed deliveries count as delivered, as if the queue were in the memory of the process. */
async function forgetClaimed(database: ProofDatabase): Promise<void> {
  await database.ask(
    `alter function claim_deliveries(integer, integer, integer, integer) rename to claim_and_remember`,
  )
  await database.ask(`
    create function claim_deliveries(tenant integer, endpoint integer, most integer, lease integer) returns json
      language plpgsql volatile as $$
      declare taken json := public.claim_and_remember(tenant, endpoint, most, lease);
      begin
        update public.event_deliveries set state = 'delivered'
        where tenant_id = tenant and endpoint_id = endpoint and state = 'due' and attempts > 0;
        return taken;
      end $$`)
  await database.ask(`grant execute on all functions in schema public to lanewise_service`)
}

export const eventCrashes: Proof = {
  name: 'event-delivery',
  claim:
    'Every committed change is delivered at least once, and only committed changes are, while the service is killed and the receiver fails',
  fault: 'the queue is lost with the process',
  run: async (options) =>
    killUnderEvents(shareOf(40, options.share), options, await proofDatabase(options.cluster)),
  // With the fault, a failed delivery is lost even without a kill.
  control: async (options) =>
    killUnderEvents(0, options, await proofDatabase(options.cluster), forgetClaimed),
}

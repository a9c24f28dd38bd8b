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

/** Has a receiver mostly take what comes, and else fail, hang up, or not answer. What it took, in the end everything, is kept. */
function moody(receiver: EventReceiver, random: () => number) {
  const taken: Received[] = []
  let isWell = false
  receiver.answer = (response, one) => {
    // The first ones fail in any case, so that there is something to be tried again.
    const mood = isWell ? 0 : receiver.received.length <= writersCount ? 0.7 : random()
    if (mood < 0.6) {
      taken.push(one)
      answerWith(204)(response)
    } else if (mood < 0.75) answerWith(503)(response)
    else if (mood < 0.9) response.destroy()
    else setTimeout(() => response.destroy(), 400)
  }
  return {
    taken,
    beWell() {
      isWell = true
    },
  }
}

/** Everything that waits is due now, so that nobody has to wait for the schedule. What somebody holds is left to them. */
const hurry = (database: ProofDatabase) =>
  database.ask(`
    with waiting as (
      select tenant_id, endpoint_id, event_number from event_deliveries where state = 'due' for update skip locked
    )
    update event_deliveries set next_at = now()
    where (tenant_id, endpoint_id, event_number) in (select * from waiting)`)

/** Waits until so many requests came to a receiver, whatever became of them. */
async function requestsCame(database: ProofDatabase, receiver: EventReceiver, count: number): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (receiver.received.length < count) {
    if (performance.now() > deadline) throw new Error(`Only ${receiver.received.length} requests came.`)
    await hurry(database)
    await delay(100)
  }
}

/** Lets the queue run empty into a receiver that takes everything. */
async function emptied(database: ProofDatabase): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    await hurry(database)
    const [left] = await database.ask<{ count: number }>(
      `select count(*)::int as count from event_deliveries where state = 'due'`,
    )
    if (left?.count === 0) return true
    await delay(250)
  }
  return false
}

/**
 * Holds what a receiver took against what is committed: every booking and every outcome at least once, none that was not
 * committed, each with what the lane then held, and the first ones of a lane in their order.
 */
async function faultsIn(database: ProofDatabase, taken: readonly Received[]): Promise<string[]> {
  const committed = await database.ask<{ change: string; type: string; cents: number }>(`
    select lane_id || '/' || change_number as change, type, (after ->> 'customer_rate_cents')::int as cents
    from lane_changes, unnest(array['lane.booked', 'lane.outcome_changed']) as type
    where after ?| case type when 'lane.booked' then array['customer_rate_cents', 'truck_cost_cents', 'carrier_name']
      else array['outcome'] end`)
  const keyOf = (type: string, change: string) => `${type} ${change}`
  const known = new Map(committed.map((row) => [keyOf(row.type, row.change), row.cents]))
  const got = new Set<string>()
  const lastOf = new Map<number, number>()
  const faults: string[] = []
  for (const { event } of taken) {
    const { lane, change_id: change } = event.data
    const key = keyOf(event.type, `${lane.lane_id}/${change}`)
    const cents = known.get(key)
    if (cents === undefined) faults.push(`${key} was sent and never committed`)
    else if (Math.round((lane.customer_rate ?? 0) * 100) !== cents)
      faults.push(`${key} tells of another lane`)
    if (!got.has(key) && change < (lastOf.get(lane.lane_id) ?? 0)) faults.push(`${key} came out of order`)
    lastOf.set(lane.lane_id, Math.max(change, lastOf.get(lane.lane_id) ?? 0))
    got.add(key)
  }
  for (const key of known.keys()) if (!got.has(key)) faults.push(`${key} was committed and never sent`)
  return faults
}

async function killUnderEvents(
  kills: number,
  { cluster, seed, onProgress, signal }: ProofOptions,
  prepare: (database: ProofDatabase) => Promise<void> = async () => {},
): Promise<Finding> {
  const random = seeded(seed)
  const database = await proofDatabase(cluster)
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
    const { taken, beWell } = moody(receiver, random)
    writing = write(
      writers,
      log,
      () => service.url,
      () => over,
    )
    for (let killed = 0; killed < kills && !signal.aborted; killed++) {
      await requestsCame(database, receiver, killed * 20)
      await delay(between(random, 100, 700))
      await service.end('SIGKILL')
      service = await start()
      onProgress(`${killed + 1} of ${kills} kills, ${receiver.received.length} requests`)
    }
    await requestsCame(database, receiver, 2 * writersCount)
    over = true
    await writing
    beWell()
    const isEmpty = await emptied(database)
    const faults = await faultsIn(database, taken)
    if (!isEmpty) faults.push('the queue does not run empty')
    if (acknowledgedCount(log) < writersCount) faults.push('hardly anything was written: the proof is empty')
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

/** What is taken to be sent counts as delivered: as if the queue were in the memory of the process. */
async function forgetWhatIsTaken(database: ProofDatabase): Promise<void> {
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
  name: 'events',
  claim:
    'Every committed change is told at least once and none that was not committed, when the service is killed and the receiver fails and stalls',
  fault: 'a queue that is forgotten with the process',
  run: (options) => killUnderEvents(shareOf(40, options.share), options),
  // What the receiver fails to take is forgotten, also without a kill.
  control: (options) => killUnderEvents(0, options, forgetWhatIsTaken),
}

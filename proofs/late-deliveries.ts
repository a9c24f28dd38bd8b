import fc from 'fast-check'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import { call, type Integration, makeIntegration, pushUpdate } from '#testing/make.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'

const fieldValues = {
  customer_rate: fc.integer({ min: 100_000, max: 300_000 }).map((cents) => cents / 100),
  truck_cost: fc.integer({ min: 80_000, max: 250_000 }).map((cents) => cents / 100),
  customer_name: fc.constantFrom('Harvest Table', 'Harvest Table LLC', 'Northwind'),
  carrier_name: fc.constantFrom('Blue Mesa', 'Red Rock', 'Green Valley'),
  carrier_mc: fc.constantFrom('MC-1', 'MC-2', 'MC-3'),
  booked_at: fc.constantFrom('2026-03-01T14:00:00Z', '2026-03-02T08:30:00Z'),
}
type Field = keyof typeof fieldValues
const fields = Object.keys(fieldValues) as Field[]

/** Updates of 2 to 6 fields in the order in which they are signed, and the order in which they and copies arrive. */
const history = fc
  .array(
    fc.record(fieldValues, { requiredKeys: [] }).filter((update) => Object.keys(update).length >= 2),
    { minLength: 2, maxLength: 6 },
  )
  .chain((updates) =>
    fc.record({
      updates: fc.constant(updates),
      arrivals: fc
        .shuffledSubarray(
          updates.flatMap((_update, index) => [index, index, index]),
          { minLength: updates.length },
        )
        .map((some) => [...some, ...updates.keys()])
        .chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
      connections: fc.integer({ min: 1, max: 6 }),
    }),
  )
type History = typeof history extends fc.Arbitrary<infer T> ? T : never

/** What the lane holds in the end: each field of the last signed update that carries it. */
function inSignedOrder(updates: History['updates']): Record<string, unknown> {
  const end: Record<string, unknown> = {}
  for (const update of updates) Object.assign(end, update)
  const held = Object.fromEntries(
    fields.map((field) => {
      const value = end[field] ?? null
      return [
        field,
        field === 'booked_at' && typeof value === 'string' ? new Date(value).toISOString() : value,
      ]
    }),
  )
  const isBooked = end.customer_rate !== undefined || end.truck_cost !== undefined
  return { ...held, outcome: isBooked ? 'won' : 'pending', statuses: '200' }
}

const lanesAtOnce = 100

/** Lanes that nothing was pushed to yet, quoted a hundred at a time. */
function freshLanes(app: TestApp, integration: Integration): () => Promise<string> {
  const refs: string[] = []
  return async () => {
    if (refs.length === 0) {
      const quoted = await call(app, 'POST', '/api/quote-requests', {
        token: integration.tenant.owner,
        body: {
          customer_name: 'Harvest Table Foods',
          lanes: Array.from({ length: lanesAtOnce }, () => ({
            origin: 'Dallas, TX',
            destination: 'Atlanta, GA',
            equipment: 'V',
            quoted_rate: 2000,
          })),
        },
      })
      refs.push(...quoted.body.lanes.map(({ lane_ref }: { lane_ref: string }) => lane_ref))
    }
    const ref = refs.pop()
    if (ref === undefined) throw new Error('No lane.')
    return ref
  }
}

/** Plays a history against a lane of its own, over several connections at once, and answers what the lane then holds. */
async function played(
  app: TestApp,
  integration: Integration,
  laneRef: string,
  { updates, arrivals, connections }: History,
): Promise<Record<string, unknown>> {
  const signedFrom = Math.floor(app.now / 1000) - updates.length
  const queue = [...arrivals]
  const statuses = new Set<number>()
  const worker = async () => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      const update = { lane_ref: laneRef, ...updates[index] }
      statuses.add(await pushed(app, integration, update, signedFrom + index))
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const { body: held } = await call(app, 'GET', `/api/lanes/${laneRef}`, { token: integration.tenant.owner })
  const named = updates.some((update) => update.customer_name !== undefined)
  return {
    ...Object.fromEntries(
      fields.map((field) => [field, held[field === 'carrier_mc' ? 'carrier_notes' : field]]),
    ),
    customer_name: named ? held.customer_name : null,
    outcome: held.outcome,
    statuses: [...statuses].join(' '),
  }
}

/** Sends an update, and once more while somebody else holds the lane for longer than is waited for it, as told. */
async function pushed(
  app: TestApp,
  integration: Integration,
  update: Record<string, unknown>,
  signedAt: number,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const { status } = await pushUpdate(app, integration, update, signedAt)
    if ((status !== 409 && status !== 503) || attempt === 20) return status
  }
}

const historiesAtOnce = 50

/** Plays random histories of retries and late deliveries, and compares each end with the updates in signed order. */
async function playHistories(
  count: number,
  staleWrites: 'reject' | 'apply',
  { cluster, seed, onProgress, signal }: ProofOptions,
): Promise<Finding> {
  const database = await cloneDatabase(cluster)
  const app = await appOn(database, { config: { staleWrites } })
  const faults: string[] = []
  let done = 0
  try {
    const integration = await makeIntegration(app)
    const nextLane = freshLanes(app, integration)
    for (let batch = 0; done < count && faults.length === 0 && !signal.aborted; batch++) {
      const numRuns = Math.min(historiesAtOnce, count - done)
      const found = await fc.check(
        fc.asyncProperty(history, async (random) => {
          const end = await played(app, integration, await nextLane(), random)
          const wanted = inSignedOrder(random.updates)
          for (const [name, value] of Object.entries(wanted)) {
            if (end[name] !== value) throw new Error(`${name} is ${end[name]}, not ${value}`)
          }
        }),
        { numRuns, seed: seed + batch },
      )
      done += found.numRuns
      if (found.failed) {
        const why = found.errorInstance instanceof Error ? found.errorInstance.message : 'an error'
        faults.push(`seed ${seed + batch}: ${why} after ${JSON.stringify(found.counterexample)}`)
      }
      onProgress(`${done} of ${count} histories`)
    }
    return { figure: `${done} histories, ${faults.length} wrong`, faults: firstFaults(faults) }
  } finally {
    await app.close()
    await database.drop()
  }
}

export const lateDeliveries: Proof = {
  name: 'r4',
  claim: 'Retries and late deliveries in any order end in the state of the updates as they were signed',
  fault: 'STALE_WRITES=apply',
  run: (options) => playHistories(shareOf(10_000, options.share, 20), 'reject', options),
  control: (options) => playHistories(300, 'apply', options),
}

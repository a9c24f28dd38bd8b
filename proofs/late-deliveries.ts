import fc from 'fast-check'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeServiceToken,
  pushUpdate,
  requireStatus,
} from '#testing/make.ts'
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

type Update = Readonly<Partial<Record<Field | 'cancelled' | 'cancel_reason', unknown>>>

const update: fc.Arbitrary<Update> = fc.oneof(
  {
    arbitrary: fc
      .record(fieldValues, { requiredKeys: [] })
      .filter((fields) => Object.keys(fields).length >= 2),
    weight: 4,
  },
  {
    arbitrary: fc.constantFrom({ cancelled: true }, { cancelled: true, cancel_reason: 'No truck' }),
    weight: 1,
  },
)

/** How far the clock of a sender is ahead of the clock of the database, in seconds. */
const skew = fc.constantFrom<number>(0, 3, 20, 120, -20)
/** How far the clocks of the instances are ahead of the clock of the database, in seconds. */
const instanceOffsets = [0, 20, -20]

/**
 * Updates in the order of their signatures, from one or two senders with separate clocks, and the order in which the updates
 * and their repetitions arrive.
 */
const history = fc
  .array(fc.record({ update, sender: fc.nat({ max: 1 }) }), { minLength: 2, maxLength: 6 })
  .chain((signed) =>
    fc.record({
      signed: fc.oneof(fc.constant(signed), fc.constant(signed.map((one) => ({ ...one, sender: 0 })))),
      skews: fc.oneof(fc.tuple(fc.constant(0), fc.constant(0)), fc.tuple(skew, skew)),
      arrivals: fc
        .shuffledSubarray(
          signed.flatMap((_update, index) => [index, index, index]),
          { minLength: signed.length },
        )
        .map((some) => [...some, ...signed.keys()])
        .chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
      connections: fc.integer({ min: 1, max: 6 }),
    }),
  )
type History = typeof history extends fc.Arbitrary<infer T> ? T : never

const amounts: readonly string[] = ['customer_rate', 'truck_cost']

/** Returns the final value of each field after these updates. A cancellation clears every field except the customer. */
function finalValues(updates: readonly Update[]): Readonly<Record<Field, unknown>> {
  const end: Record<string, unknown> = Object.fromEntries(fields.map((field) => [field, null]))
  for (const { cancelled, cancel_reason: _reason, ...carried } of updates) {
    if (cancelled === true) for (const field of fields) if (field !== 'customer_name') end[field] = null
    Object.assign(end, carried)
  }
  if (typeof end.booked_at === 'string') end.booked_at = new Date(end.booked_at).toISOString()
  return end as Record<Field, unknown>
}

/** The fields of a quote after all updates, and the statuses of the responses. */
type FinalState = Readonly<Record<Field | 'cancelled' | 'outcome' | 'statuses', unknown>>

/**
 * Returns the fault in the final state of a quote, or null. With one sender, or with equal clocks, the state must follow the order
 * of the signatures. With two different clocks, each field must have the final value of one of the senders.
 */
function fault({ signed, skews }: History, held: FinalState): string | null {
  const senders = [...new Set(signed.map(({ sender }) => sender))]
  const oneOrder = senders.length === 1 || skews.every((seconds) => seconds === 0)
  const ends = oneOrder
    ? [finalValues(signed.map(({ update }) => update))]
    : senders.map((one) =>
        finalValues(signed.filter(({ sender }) => sender === one).map(({ update }) => update)),
      )
  for (const field of fields) {
    const wanted = ends.map((end) => end[field])
    if (!wanted.includes(held[field])) return `${field} is ${held[field]}, not ${wanted.join(' or ')}`
  }
  const isBooked = amounts.some((field) => held[field as Field] !== null)
  if (held.outcome !== (isBooked ? 'won' : 'pending')) return `the outcome is ${held.outcome}`
  const last = signed.findLast(({ update }) => update.cancelled === true)
  const isCancelled = !isBooked && last !== undefined
  if (held.cancelled !== isCancelled) return `cancelled is ${held.cancelled}`
  return held.statuses === '200' ? null : `updates were answered ${held.statuses}`
}

const quotesAtOnce = 100

/** Returns a function that supplies quotes without updates. It makes 100 quotes at a time. */
function freshQuotes(app: TestApp, integration: Integration): () => Promise<string> {
  const refs: string[] = []
  return async () => {
    if (refs.length === 0) {
      const quoted = await call(app, 'POST', '/api/quote-requests', {
        token: integration.tenant.owner,
        body: {
          customer_name: 'Harvest Table Foods',
          lanes: Array.from({ length: quotesAtOnce }, () => ({
            origin: 'Dallas, TX',
            destination: 'Atlanta, GA',
            equipment: 'V',
            quoted_rate: 2000,
          })),
        },
      })
      const { lanes: quotes } = requireStatus('quote request', quoted, 201)
      refs.push(...quotes.map(({ lane_ref }: { lane_ref: string }) => lane_ref))
    }
    const ref = refs.pop()
    if (ref === undefined) throw new Error('No lane.')
    return ref
  }
}

async function play(
  apps: readonly TestApp[],
  senders: readonly Integration[],
  laneRef: string,
  { signed, skews, arrivals, connections }: History,
): Promise<FinalState> {
  const [app] = apps as [TestApp]
  const [owner] = senders as [Integration]
  const signedFrom = Math.floor(app.now / 1000) - signed.length
  const queue = [...arrivals]
  const statuses = new Set<number>()
  const worker = async (_: unknown, connection: number) => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      const { update, sender } = signed[index] as History['signed'][number]
      const by = senders[sender] as Integration
      const on = apps[(index + connection) % apps.length] as TestApp
      const body = { lane_ref: laneRef, ...update }
      statuses.add(await pushed(on, by, body, signedFrom + index + (skews[sender] ?? 0)))
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const { body: held } = await call(app, 'GET', `/api/lanes/${laneRef}`, { token: owner.tenant.owner })
  const named = signed.some(({ update }) => update.customer_name !== undefined)
  return {
    ...(Object.fromEntries(
      fields.map((field) => [field, held[field === 'carrier_mc' ? 'carrier_notes' : field]]),
    ) as Record<Field, unknown>),
    customer_name: named ? held.customer_name : null,
    cancelled: held.cancelled_at !== null,
    outcome: held.outcome,
    statuses: [...statuses].join(' '),
  }
}

/** Sends an update. Repeats it if another change holds the lock of the quote for too long. */
async function pushed(
  app: TestApp,
  integration: Integration,
  update: Record<string, unknown>,
  signedAt: number,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const { status } = await pushUpdate(app, integration, update, signedAt)
    if (status !== 409 || attempt === 20) return status
  }
}

const historiesAtOnce = 50

/** Plays random histories of retries and late deliveries, and checks the final state of each quote. */
async function playHistories(
  count: number,
  staleWrites: 'reject' | 'apply',
  { cluster, seed, onProgress, signal }: ProofOptions,
): Promise<Finding> {
  const database = await cloneDatabase(cluster)
  const app = await appOn(database, { config: { staleWrites } })
  const apps = [app]
  const faults: string[] = []
  let done = 0
  try {
    const integration = await makeIntegration(app)
    const senders = [
      integration,
      { ...integration, token: await makeServiceToken(app, integration.tenant.owner) },
    ]
    for (const offset of instanceOffsets.slice(1)) {
      const now = app.now + offset * 1000
      apps.push(await appOn(database, { config: { staleWrites }, secretKeys: [app.secretKey], now }))
    }
    const nextQuote = freshQuotes(app, integration)
    for (let batch = 0; done < count && faults.length === 0 && !signal.aborted; batch++) {
      // Set the clocks of the instances anew: only the clock of the database advances by itself.
      for (const [index, one] of apps.entries()) one.now = Date.now() + (instanceOffsets[index] ?? 0) * 1000
      const numRuns = Math.min(historiesAtOnce, count - done)
      const found = await fc.check(
        fc.asyncProperty(history, async (random) => {
          const found = fault(random, await play(apps, senders, await nextQuote(), random))
          if (found !== null) throw new Error(found)
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
    for (const one of apps) await one.close()
    await database.drop()
  }
}

export const lateDeliveries: Proof = {
  name: 'late-deliveries',
  claim:
    'After retries, late deliveries and cancellations in any order, with different clocks of senders and instances, a lane has the state of the updates in signed order',
  fault: 'STALE_WRITES=apply',
  run: (options) => playHistories(shareOf(10_000, options.share, 20), 'reject', options),
  control: (options) => playHistories(300, 'apply', options),
}

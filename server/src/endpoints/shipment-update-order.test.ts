import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Answer, call, type Integration, makeIntegration, makeLane, pushUpdate } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

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
  return Object.fromEntries(
    fields.map((field) => {
      const value = end[field] ?? null
      return [
        field,
        field === 'booked_at' && typeof value === 'string' ? new Date(value).toISOString() : value,
      ]
    }),
  )
}

/** Plays a history against a lane of its own, over several connections at once, and answers what the lane then holds. */
async function played(on: TestApp, integration: Integration, { updates, arrivals, connections }: History) {
  const lane = await makeLane(on, integration.tenant)
  const signedFrom = Math.floor(on.now / 1000) - updates.length
  const queue = [...arrivals]
  const answers: Answer[] = []
  const worker = async () => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      answers.push(
        await pushUpdate(on, integration, { lane_ref: lane.lane_ref, ...updates[index] }, signedFrom + index),
      )
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const held = (await call(on, 'GET', `/api/lanes/${lane.lane_ref}`, { token: integration.tenant.owner }))
    .body
  return {
    statuses: [...new Set(answers.map(({ status }) => status))],
    held: {
      ...Object.fromEntries(
        fields.map((field) => [field, held[field === 'carrier_mc' ? 'carrier_notes' : field]]),
      ),
      customer_name: updates.some((update) => update.customer_name !== undefined) ? held.customer_name : null,
    },
    outcome: held.outcome,
  }
}

describe('replays and re-ordered deliveries', () => {
  const numRuns = Number(process.env.HISTORIES ?? 60)

  test(
    `end in the state of the updates in signed order (${numRuns} random histories)`,
    async () => {
      const app = await testApp()
      try {
        const acme = await makeIntegration(app)
        await fc.assert(
          fc.asyncProperty(history, async (random) => {
            const end = await played(app, acme, random)
            expect(end.statuses).toEqual([200])
            expect(end.held).toEqual(inSignedOrder(random.updates))
            const isBooked = random.updates.some(
              ({ customer_rate, truck_cost }) => customer_rate !== undefined || truck_cost !== undefined,
            )
            expect(end.outcome).toBe(isBooked ? 'won' : 'pending')
          }),
          { numRuns },
        )
      } finally {
        await app.close()
      }
    },
    30_000 + numRuns * 500,
  )

  test('do not, where stale writes are applied: the law above can fail', async () => {
    const loose = await testApp({ config: { staleWrites: 'apply' } })
    try {
      const integration = await makeIntegration(loose)
      const found = await fc.check(
        fc.asyncProperty(history, async (random) => {
          const end = await played(loose, integration, random)
          expect(end.held).toEqual(inSignedOrder(random.updates))
        }),
        { numRuns: 60, endOnFailure: true, seed: randomBytes(4).readInt32BE() },
      )
      expect(found.failed).toBe(true)
    } finally {
      await loose.close()
    }
  })
})

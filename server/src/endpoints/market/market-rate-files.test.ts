import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { marketFileSecondsMax } from '#contract/limits.ts'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { DatabaseUnavailable, deadlineLeftMs, LockTimeout } from '../../database/session/index.ts'

let app: TestApp
let tenant: MadeTenant
/** Transactions of brokerages since the test began, and what happens before the next one. */
let transactions = 0
let before = () => {}
let monotonicMs = 0

beforeAll(async () => {
  app = await testApp({
    monotonic: () => (monotonicMs += 1_000),
    wrapDatabase: (database) => ({
      ...database,
      inTenant: async (of, work) => {
        transactions++
        before()
        return database.inTenant(of, work)
      },
    }),
  })
  tenant = await makeTenant(app)
  await load('Warm', true)
})
afterAll(() => app.close())
beforeEach(() => {
  before = () => {}
})

const dayMs = 86_400_000
/** The rates of the file: one more than two transactions save. */
const rates = 1_001
const text = () =>
  [
    'Origin,Destination,Equipment,Rate,Date',
    ...Array.from({ length: rates }, (_, at) => {
      const day = new Date(app.now - (1 + Math.floor(at / 3)) * dayMs).toISOString().slice(0, 10)
      return `Dallas TX,Atlanta GA,${'VRF'[at % 3]},1960,${day}`
    }),
  ].join('\n')

const load = (source: string, dryRun = false) =>
  call(app, 'POST', `/api/market-rate-files?source=${source}&basis=all_in&dry_run=${dryRun}`, {
    token: tenant.owner,
    file: text(),
  })

/** Loads the file, and calls `event` before the nth of the transactions that store its rates. */
async function loadWith(source: string, nth: number, event: () => void) {
  transactions = 0
  await load(source, true)
  const checking = transactions
  transactions = 0
  before = () => {
    if (transactions === checking + nth) event()
  }
  const answer = await load(source)
  before = () => {}
  return answer
}

async function storedOf(source: string): Promise<number> {
  const { body } = await call(app, 'GET', `/api/market-rates?source=${source}`, { token: tenant.owner })
  return body.sources.find((one: { source: string }) => one.source === source)?.rates ?? 0
}

const fail = (error: Error) => () => {
  throw error
}

test.each([
  ['Gone', new DatabaseUnavailable(new Error('gone')), 'are stored. Send'],
  ['Lost', new DatabaseUnavailable(new Error('lost'), true), 'are stored, and perhaps more. Send'],
  ['Locked', new LockTimeout(new Error('locked')), 'are stored. Send'],
])(
  '503: a file that is stored in part says how much of it, and is stored when it is sent again: %s',
  async (...[source, error, words]) => {
    const { status, body, headers } = await loadWith(source, 2, fail(error))
    expect([status, body.code, headers.get('Retry-After')]).toEqual([503, 'unavailable', '2'])
    expect(body.detail).toContain(`500 of the 1,001 valid rates of the file ${words} the file again.`)
    expect(await storedOf(source)).toBe(500)
    expect((await load(source)).body).toMatchObject({ created: rates - 500, unchanged: 500 })
  },
)

test('503: a file of which nothing is stored says so', async () => {
  const { status, body } = await loadWith('None', 1, fail(new DatabaseUnavailable(new Error('gone'))))
  expect([status, body.detail]).toEqual([
    503,
    'The database cannot answer right now. Nothing was changed. Send this request again in 2 seconds.',
  ])
  expect(await storedOf('None')).toBe(0)
})

test('503: storing a file ends after its time', async () => {
  const { status, body } = await loadWith('Slow', 2, () => {
    monotonicMs += marketFileSecondsMax * 1_000
  })
  expect(status).toBe(503)
  expect(body.detail).toContain('within 30 seconds. 1,000 of the 1,001 valid rates')
  expect(await storedOf('Slow')).toBe(1_000)
})

test('each transaction of a file has the database time of a whole request', async () => {
  const leftMs: number[] = []
  const { status } = await loadWith('Timed', 1, () => {
    before = () => leftMs.push(deadlineLeftMs())
    before()
  })
  expect(status).toBe(200)
  const { requestMs } = app.database.deadlines
  expect(leftMs).toEqual([requestMs, requestMs, requestMs])
})

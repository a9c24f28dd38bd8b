import { beforeAll, expect, test } from 'vitest'
import { call, type Integration, makeIntegration } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { has, run } from './page.ts'
import { textOf } from './repository.ts'

/** Runs the programs of docs/a-load.md in their order. The headings say the outcome of the load after each. */

const page = textOf('docs/a-load.md')
const [define = '', ...programs] = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  ([, code = '']) => code,
)
const outcomes = [...page.matchAll(/^### .+: `(\w+)`$/gm)].map(([, outcome = '']) => outcome)
/** What the page says about the booking after each program. */
const bookings = [
  { customer_rate: null, quoted_rate: 2150 },
  { customer_rate: null, quoted_rate: 2100 },
  { customer_rate: null, outcome_reason: 'price' },
  { customer_rate: null, decided_at: '2026-03-01T15:30:00.000Z' },
  { customer_rate: 2100, truck_cost: 1790, margin: 310 },
  { customer_rate: 2100, truck_cost: 1835.5, carrier_name: 'Blue Mesa Trucking' },
  { customer_rate: null, truck_cost: null, carrier_name: null, cancel_reason: 'Carrier fell off' },
  { customer_rate: 2100, truck_cost: 1900, carrier_name: 'Red Oak Lines', cancelled_at: null },
]

let app: TestApp
let ours: Integration
beforeAll(async () => {
  app = await sharedApp()
  app.now = Date.now()
  ours = await makeIntegration(app, 'integrations:write quotes:write')
})

async function push(program: string) {
  // A second between two messages, as in life: a signature has whole seconds.
  app.now += 1_000
  const clock = `date() { echo ${Math.floor(app.now / 1_000)}; }\n`
  const input = clock + define.replace('http://127.0.0.1:8080', app.url) + program
  const env = { LANEWISE_TOKEN: ours.token, LANEWISE_SECRET: ours.secret }
  const { code, output, complaint } = await run('bash', ['-euo', 'pipefail'], { input, env })
  expect([code, complaint]).toEqual([0, ''])
  return JSON.parse(output)
}

async function load() {
  const path = '/api/integrations/quotes?external_id=LOAD-7'
  const { body } = await call(app, 'GET', path, { token: ours.token })
  expect(body.quotes).toHaveLength(1)
  return body.quotes[0].lane
}

test.skipIf(!has('bash', 'curl', 'openssl'))(
  'each program leaves the load as its heading says',
  { tags: 'long' },
  async () => {
    expect(outcomes).toHaveLength(programs.length)
    expect(bookings).toHaveLength(programs.length)
    for (const [at, program] of programs.entries()) {
      expect(await push(program)).toMatchObject({ failed: 0 })
      expect([at, await load()]).toMatchObject([at, { outcome: outcomes[at], ...bookings[at] }])
    }
    // Each may be sent again, and an old one changes nothing.
    const before = await load()
    app.now -= 60_000
    await push(programs[4] ?? '')
    app.now += 60_000
    expect(await load()).toEqual(before)
  },
)

import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { watchesMax } from '#contract/limits.ts'
import { pushQuotes } from '#contract/push-quotes.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { appOn } from '#testing/app-on-database.ts'
import { type MailReceiver, mailReceiver, sendMailTo } from '#testing/mail-receiver.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  password,
  pushSigned,
  quoteToPush,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const config = {
  mail: {
    operators: null,
    byBrokerage: true,
    allowPrivate: ['127.0.0.1'],
    publicUrl: 'https://rates.example.com',
  },
}
const quick = { everyMs: 20, holdMs: 20 }
const dayMs = 86_400_000

let app: TestApp
let service: pg.Client
let receiver: MailReceiver
let ours: Integration
/** Of a session of the owner that lasts for weeks. */
let token: string
let sent = 0

beforeAll(async () => {
  app = await testApp({ config, sendMail: quick })
  service = new pg.Client(app.testDatabase.service)
  await service.connect()
})
afterAll(async () => {
  await service.end()
  await app.close()
})
beforeEach(async () => {
  app.now = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2
  receiver = await mailReceiver()
  ours = await makeIntegration(app, 'integrations:write quotes:write')
  token = ours.tenant.owner
  await sendMailTo(app, ours.tenant, receiver)
  await call(app, 'PATCH', '/api/tenant', { token, body: { session_limits: { hours: 744 } } })
  const { body } = await call(app, 'POST', '/api/auth/sign-in', {
    body: { email: ours.tenant.email, password },
  })
  token = body.token
})
afterEach(() => receiver.close())

const lane = { kind: 'lane', origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
const follow = (body: object, by = token) => call(app, 'POST', '/api/watches', { token: by, body })
const movesOf = async (by = token) => {
  const { body } = await call(app, 'GET', '/api/inbox', { token: by })
  return (body.items as { kind: string; title: string; detail: string }[]).filter(
    ({ kind }) => kind === 'moved',
  )
}

/** Pushes three quotes a day around a rate, for some days up to now. */
async function quoted(days: number, rate: number, customer = 'Harvest'): Promise<void> {
  const random = seededNumbers(days)
  const quotes = Array.from({ length: 3 * days }, (_, nth) =>
    quoteToPush(`q${sent++}`, {
      customer_name: `${customer} ${nth % 3}`,
      quoted_at: new Date(app.now - Math.floor(nth / 3) * dayMs - 60_000).toISOString(),
      quoted_rate: Math.round(rate * (1 + 0.04 * (random() - 0.5))),
      outcome: 'pending',
    }),
  )
  const { status, body } = await pushSigned(app, ours, pushQuotes, { quotes }, Math.floor(app.now / 1000))
  expect([status, body.detail ?? '', body.failed]).toEqual([200, '', 0])
}

/** Some days with quotes at a rate, each with a scan. */
async function daysAt(days: number, rate: number, customer?: string): Promise<void> {
  for (let day = 0; day < days; day++) {
    app.now += dayMs
    await quoted(1, rate, customer)
    await app.scanWatches()
  }
}

test('a rate that moves is told once, in the inbox and by one mail, with the evidence', async () => {
  await quoted(30, 2000)
  expect((await follow(lane)).status).toBe(200)
  await app.scanWatches()
  await daysAt(3, 2000)
  expect(await movesOf()).toEqual([])
  await daysAt(8, 2160)
  const found = await movesOf()
  expect(found).toHaveLength(1)
  expect(found[0]?.title).toMatch(/^Dallas, TX to Atlanta, GA, V: quoted rate up [6-9]\.\d%$/)
  expect(found[0]?.detail).toMatch(/^\$2,\d{3} on \d+ quotes since \w+ \d+; \$\d,\d{3} on \d+ before\.$/)
  await receiver.until((all) => all.length === 1)
  expect(receiver.received[0]?.to).toEqual([ours.tenant.email])
  expect(receiver.received[0]?.raw).toContain('https://rates.example.com/inbox')
  const { body } = await call(app, 'GET', '/api/watches', { token })
  expect(body.watches[0].moves).toHaveLength(1)
  // The new level is what is compared with from now on.
  await daysAt(3, 2160)
  expect(await movesOf()).toHaveLength(1)
  expect(receiver.received).toHaveLength(1)
})

test('scans of several instances at once, and one that is repeated after a kill, tell nothing twice', {
  tags: 'long',
}, async () => {
  await quoted(30, 2000)
  await follow(lane)
  await daysAt(2, 2000)
  const other = await appOn(app.testDatabase, {
    config,
    now: app.now,
    sendMail: quick,
    secretKeys: [app.secretKey],
  })
  try {
    for (let day = 0; day < 8; day++) {
      app.now += dayMs
      other.now = app.now
      await quoted(1, 2300)
      await Promise.all([app.scanWatches(), other.scanWatches()])
      // As if a process had been killed before it set the next scan.
      await service.query(`set app.tenant_id = '${ours.tenant.id}'`)
      await service.query(`update tenants set watch_scan_at = null where tenant_id = ${ours.tenant.id}`)
      await Promise.all([app.scanWatches(), other.scanWatches()])
    }
  } finally {
    await other.close()
  }
  expect(await movesOf()).toHaveLength(1)
  await receiver.until((all) => all.length === 1)
  expect(receiver.received).toHaveLength(1)
})

test('a member is told nothing of a hidden customer, and nothing any more that rests on one', async () => {
  const rep = await makePerson(app, ours.tenant, 'member')
  const hide = (name: string, ...customers: string[]) =>
    call(app, 'POST', '/api/teams', { token, body: { name, members: [], customers } })
  const secret = [0, 1, 2].map((nth) => `Secret ${nth}`)
  await quoted(30, 2000, 'Secret')
  await follow(lane, rep.token)
  expect((await hide('One', ...secret)).status).toBe(201)
  expect((await follow({ kind: 'customer', customer_name: 'Secret 1' }, rep.token)).status).toBe(404)
  await daysAt(8, 2300, 'Secret')
  expect(await movesOf(rep.token)).toEqual([])
  const open = await makePerson(app, { ...ours.tenant, owner: token }, 'member')
  await quoted(30, 2000)
  await follow(lane, open.token)
  await daysAt(8, 2300)
  expect(await movesOf(open.token)).toHaveLength(1)
  expect((await hide('Two', 'Harvest 1')).status).toBe(201)
  expect(await movesOf(open.token)).toEqual([])
})

test('what is followed is listed once, has a limit, and ends', async () => {
  expect((await follow(lane)).body.watches).toHaveLength(1)
  expect((await follow(lane)).body.watches).toHaveLength(1)
  const market = await follow({ ...lane, kind: 'market' })
  expect(market.body.watches.map(({ label }: { label: string }) => label).sort()).toEqual([
    'Dallas, TX to Atlanta, GA, V',
    'Market of Dallas, TX to Atlanta, GA, V',
  ])
  const other = await makePerson(app, ours.tenant, 'viewer')
  const { id } = market.body.watches[0]
  expect((await call(app, 'DELETE', `/api/watches/${id}`, { token: other.token })).status).toBe(404)
  const left = await call(app, 'DELETE', `/api/watches/${id}`, { token })
  expect(left.body.watches).toHaveLength(1)
  for (let nth = left.body.watches.length; nth < watchesMax; nth++) {
    expect((await follow({ kind: 'customer', customer_name: `Customer ${nth}` })).status).toBe(200)
  }
  expect((await follow({ kind: 'customer', customer_name: 'One more' })).status).toBe(409)
  const wrong = [
    { kind: 'lane', origin: 'Dallas, TX' },
    { kind: 'customer' },
    { kind: 'lane', origin: 'Dallas', destination: 'Atlanta, GA' },
    { kind: 'other' },
  ]
  for (const body of wrong) expect((await follow(body)).status).toBe(422)
})

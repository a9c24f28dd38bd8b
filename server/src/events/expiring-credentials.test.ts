import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type EventBody, eventBodies } from '#contract/events.ts'
import { tokenExpiryNoticeDays } from '#contract/limits.ts'
import { shape } from '#contract/shape.ts'
import { appOn } from '#testing/app-on-database.ts'
import { type EventReceiver, eventReceiver, sendEventsTo } from '#testing/event-receiver.ts'
import { call, type MadeTenant, makeSecret, makeServiceToken, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** The sender looks for expiring credentials at each look. The service does it every ten minutes. */
const options = {
  config: { events: { allowPrivate: ['loopback'] } },
  sendEvents: { everyMs: 20, tidyEveryMs: 0 },
} as const

let app: TestApp
let service: pg.Client
let receiver: EventReceiver
let tenant: MadeTenant

beforeAll(async () => {
  app = await testApp(options)
  service = new pg.Client(app.testDatabase.service)
  await service.connect()
})
afterAll(async () => {
  await service.end()
  await app.close()
})
beforeEach(async () => {
  receiver = await eventReceiver()
  tenant = await makeTenant(app)
})
afterEach(() => receiver.close())

async function ask<Row extends object>(question: string): Promise<Row[]> {
  await service.query(`set app.tenant_id = '${tenant.id}'`)
  return (await service.query<Row>(question)).rows
}
const expireIn = (tokenId: number, interval: string) =>
  ask(`update service_tokens set expires_at = now() + interval '${interval}' where token_id = ${tokenId}`)
const expiring = () => receiver.received.filter(({ event }) => event.type === 'credential.expiring')
const ids = () => expiring().map(({ event }) => [event.data.credential.kind, event.data.credential.id])
/** Waits until the sender has looked for expiring credentials twice, and nothing waits to be sent. */
async function twoMoreLooks(): Promise<void> {
  const sent = await call(app, 'POST', `/api/event-endpoints/${watched}/test`, { token: tenant.owner })
  expect(sent.status).toBe(202)
  for (let looks = 0; looks < 2; looks++) {
    const before = receiver.received.length
    await call(app, 'POST', `/api/event-endpoints/${watched}/test`, { token: tenant.owner })
    await receiver.until((all) => all.length > before)
  }
}
let watched = 0

test('a token that expires within 30 days is announced once, with its name and expiry', async () => {
  const { id } = await sendEventsTo(app, tenant, receiver.url, { event_types: ['credential.expiring'] })
  watched = id
  for (const _ of [1, 2, 3, 4]) await makeServiceToken(app, tenant.owner)
  await expireIn(2, `${tokenExpiryNoticeDays} days 1 hour`)
  await expireIn(3, '-1 second')
  await expireIn(4, '1 day')
  await receiver.until(() => expiring().length === 1)
  await twoMoreLooks()
  expect(ids()).toEqual([['service_token', 4]])
  const [event] = expiring().map((received) => received.event)
  expect(shape(eventBodies['credential.expiring'].schema, 'body').errors(event as EventBody)).toEqual([])
  const [row] = await ask<{ expires_at: Date }>('select expires_at from service_tokens where token_id = 4')
  expect(event?.data.credential).toMatchObject({
    name: 'test',
    expires_at: row?.expires_at.toISOString(),
  })
  await expireIn(2, `${tokenExpiryNoticeDays} days -1 minute`)
  await receiver.until(() => expiring().length === 2)
  await twoMoreLooks()
  expect(ids()).toEqual([
    ['service_token', 4],
    ['service_token', 2],
  ])
})

test('the secret that a rotation replaces is announced, and a revoked one is not', async () => {
  await makeSecret(app, tenant.owner)
  const { id } = await sendEventsTo(app, tenant, receiver.url)
  watched = id
  await twoMoreLooks()
  expect(ids()).toEqual([])
  const [secret] = await ask<{ secret_id: number }>('select secret_id from signing_secrets')
  const rotated = await call(app, 'POST', `/api/integrations/secrets/${secret?.secret_id}/rotate`, {
    token: tenant.owner,
    body: {},
  })
  expect(rotated.status).toBe(201)
  await receiver.until(() => expiring().length === 1)
  expect(ids()).toEqual([['signing_secret', secret?.secret_id]])
  await makeServiceToken(app, tenant.owner)
  await call(app, 'DELETE', '/api/integrations/tokens/1', { token: tenant.owner })
  await expireIn(1, '1 day')
  await twoMoreLooks()
  expect(ids()).toHaveLength(1)
})

test('two instances and a restart send it once to each address, also to one that is added later', () =>
  sendOnce([1]))
test(
  'four instances and a restart send it once to each address, also to one that is added later',
  {
    tags: 'long',
  },
  () => sendOnce([1, 2, 3]),
)

async function sendOnce(moreInstances: readonly number[]) {
  const { id } = await sendEventsTo(app, tenant, `${receiver.url}/first`)
  watched = id
  await sendEventsTo(app, tenant, `${receiver.url}/other-types`, { event_types: ['quote.created'] })
  const others = await Promise.all(
    moreInstances.map(() => appOn(app.testDatabase, { ...options, secretKeys: [app.secretKey] })),
  )
  const tokens = [1, 2, 3, 4, 5]
  for (const _ of tokens) await makeServiceToken(app, tenant.owner)
  await ask(`update service_tokens set expires_at = now() + interval '29 days'`)
  await receiver.until(() => expiring().length === tokens.length)
  await twoMoreLooks()
  await Promise.all(others.map((other) => other.close()))
  // The events are deleted after 30 days. The notices stay.
  await ask('delete from event_deliveries')
  await ask('delete from events')
  const restarted = await appOn(app.testDatabase, { ...options, secretKeys: [app.secretKey] })
  await twoMoreLooks()
  expect(new Set(ids().map(([, token]) => token))).toEqual(new Set(tokens))
  expect(expiring()).toHaveLength(tokens.length)
  await sendEventsTo(app, tenant, `${receiver.url}/second`)
  await receiver.until(() => expiring().length === 2 * tokens.length)
  await twoMoreLooks()
  await restarted.close()
  expect(expiring().filter(({ path }) => path.endsWith('/second'))).toHaveLength(tokens.length)
  expect(expiring()).toHaveLength(2 * tokens.length)
}

test('without a subscriber, and while the address is paused, nothing is written', async () => {
  const { id } = await sendEventsTo(app, tenant, receiver.url)
  const setState = (state: string) =>
    call(app, 'PATCH', `/api/event-endpoints/${id}`, { token: tenant.owner, body: { state } })
  await setState('paused')
  await makeServiceToken(app, tenant.owner)
  await expireIn(1, '1 day')
  const bystander = await makeTenant(app)
  const other = await eventReceiver()
  const watcher = await sendEventsTo(app, bystander, other.url)
  for (let looks = 1; looks <= 3; looks++) {
    await call(app, 'POST', `/api/event-endpoints/${watcher.id}/test`, { token: bystander.owner })
    await other.until((all) => all.length === looks)
  }
  expect(await ask('select from events')).toEqual([])
  expect(other.received.map(({ event }) => event.type)).toEqual(Array(3).fill('endpoint.test'))
  await other.close()
  await setState('active')
  await receiver.until(() => expiring().length === 1)
})

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import Papa from 'papaparse'
import pg from 'pg'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { appOn, type TestAppOptions } from '#testing/app-on-database.ts'
import { eventReceiver, sendEventsTo } from '#testing/event-receiver.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  makeSecret,
  makeServiceToken,
  pushUpdate,
} from '#testing/make.ts'
import type { TestApp } from '#testing/test-app.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { keyCheckPlace, keyCheckText } from '../access/index.ts'
import { listTenants, seeInstance, writeKeyCheck, writeKeyNames } from '../database/queries/index.ts'
import { keyName, type SecretKey, type SecretKeys, seal, secretKey } from '../security/index.ts'
import { removeLostSecrets } from './lost-secrets.ts'
import { rotateKey as reEncrypt } from './rotate-key.ts'

function newKey(): SecretKey {
  const key = secretKey(randomBytes(32).toString('base64'))
  if (key === null) throw new Error('No key.')
  return key
}

const textOf = (keys: readonly SecretKey[]) => keys.map((key) => key.toString('base64')).join()
const dayMs = 86_400_000
const instance = '00000000-0000-4000-8000-000000000001'

let database: TestDatabase
let firstKey: SecretKey
/** An integration whose token and secret are from when the installation had one key. */
let holder: Integration
let laneRef: string

beforeEach(async () => {
  database = await testDatabase()
  onTestFinished(() => database.drop())
  firstKey = newKey()
  const app = await started([firstKey])
  holder = await makeIntegration(app)
  laneRef = (await makeQuote(app, holder.tenant)).lane_ref
  await app.database.outsideTenants((transaction) =>
    writeKeyCheck(transaction, seal(firstKey, keyCheckPlace, keyCheckText)),
  )
  expect(await update(app, holder)).toBe(200)
  await app.close()
})

async function started(
  secretKeys: SecretKeys,
  config: TestAppOptions['config'] = {},
  more: TestAppOptions = {},
) {
  const app = await appOn(database, { secretKeys, config, ...more })
  await app.database.outsideTenants((transaction) => writeKeyNames(transaction, secretKeys.map(keyName)))
  let closed = false
  const { close } = app
  app.close = async () => {
    if (!closed) await close()
    closed = true
  }
  onTestFinished(() => app.close())
  return app
}

async function update(app: TestApp, integration: Integration): Promise<number> {
  const { status } = await pushUpdate(app, integration, { lane_ref: laneRef, truck_cost: 1500 })
  return status
}

/** Runs `npm run rotate-key` with these keys. Its list is parsed. */
async function rotateKey(
  { secret, token, until }: { secret: readonly SecretKey[]; token?: readonly SecretKey[]; until?: string },
  ...words: string[]
) {
  const env = {
    ...process.env,
    DATABASE_URL: database.serviceUrl,
    MIGRATION_DATABASE_URL: database.ownerUrl,
    LANEWISE_SECRET_KEY: textOf(secret),
    ...(token === undefined ? {} : { LANEWISE_TOKEN_KEY: textOf(token) }),
    ...(until === undefined ? {} : { OLD_TOKENS_UNTIL: until }),
  }
  const file = join(import.meta.dirname, 'rotate-key-main.ts')
  return new Promise<{ code: number; said: string; list: Record<string, string>[] }>((resolve) => {
    execFile(process.execPath, [file, ...words], { env }, (error, out, said) => {
      const list = Papa.parse<Record<string, string>>(out, { header: true, skipEmptyLines: true }).data
      resolve({ code: error === null ? 0 : Number(error.code), said, list })
    })
  })
}

async function asOwner(statement: string): Promise<void> {
  const owner = new pg.Client(database.owner)
  await owner.connect()
  await owner.query(statement)
  await owner.end()
}

const listed = (over: object) => ({
  brokerage: 'Test Brokers',
  brokerage_id: String(holder.tenant.id),
  credential: 'service token',
  id: '1',
  name: 'test',
  last_used: expect.stringMatching(/^20\d\d-/),
  ends: expect.stringMatching(/^20\d\d-/),
  ...over,
})

test('a key of their own signs tokens from then on, and the tokens from before stay valid', async () => {
  const tokenKeys = [newKey()] as const
  const app = await started([firstKey], { tokenKeys })
  expect(await update(app, holder)).toBe(200)
  expect((await call(app, 'GET', '/api/me', { token: holder.tenant.owner })).status).toBe(200)
  const token = await makeServiceToken(app, holder.tenant.owner)
  const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
  expect(header.kid).toBe(keyName(tokenKeys[0]))
  expect(await update(app, { ...holder, token })).toBe(200)
})

test('when the secret key changes, tokens with a key of their own stay valid, and old ones do if that list ends with the old key', async () => {
  const [tokenKey, secretKey] = [newKey(), newKey()]
  const during = await started([secretKey, firstKey], { tokenKeys: [tokenKey] })
  const token = await makeServiceToken(during, holder.tenant.owner)
  await during.close()
  const keys = { secret: [secretKey, firstKey], token: [tokenKey] }
  const rotated = await rotateKey(keys)
  expect([rotated.code, rotated.list]).toEqual([0, [listed({})]])
  expect(rotated.said).toContain('1 live service token(s) that were signed with them become invalid')
  const without = await started([secretKey], { tokenKeys: [tokenKey] })
  expect([await update(without, holder), await update(without, { ...holder, token })]).toEqual([401, 200])
  const kept = await started([secretKey], { tokenKeys: [tokenKey, firstKey] })
  expect([await update(kept, holder), await update(kept, { ...holder, token })]).toEqual([200, 200])
})

test('tokens of old keys end on the stated day: holders, operators and refusals are told, and new tokens stay', async () => {
  const day = new Date(Date.now() + 10 * dayMs).toISOString().slice(0, 10)
  const until = Date.parse(day)
  const tokenKey = newKey()
  const app = await started([firstKey], { tokenKeys: [tokenKey], oldTokensUntil: until })
  const token = await makeServiceToken(app, holder.tenant.owner)
  const read = (bearer: string) =>
    call(app, 'GET', '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA', {
      token: bearer,
    })
  expect((await read(holder.token)).headers.get('Token-Expires')).toBe(new Date(until).toISOString())
  expect((await read(token)).headers.get('Token-Expires')).toBeNull()
  const keys = { secret: [firstKey], token: [tokenKey] }
  const { list } = await rotateKey({ ...keys, until: day }, '--tokens')
  expect(list).toEqual([listed({ ends: new Date(until).toISOString() })])
  app.now = until + 31_000
  const refused = await read(holder.token)
  expect([refused.status, refused.body.type]).toEqual([401, '/problems/token-expired'])
  expect(refused.body.detail).toContain(`signed with an old key of the service. Such tokens ended on ${day}`)
  expect((await read(token)).status).toBe(200)
})

test('a key that is not lost, and one that a running service has, are not given up', async () => {
  const app = await started([firstKey])
  const tenants = await listTenants(database.owner)
  const removing = (...keys: SecretKey[]) =>
    removeLostSecrets(app.database, tenants, {
      keys: keys as unknown as SecretKeys,
      tokenKeys: keys as unknown as SecretKeys,
      oldUntil: null,
      now: app.now,
      list: () => expect.fail('A secret was removed.'),
    })
  await expect(removing(newKey(), firstKey)).rejects.toThrow('so it is not lost')
  await app.database.outsideTenants((transaction) => seeInstance(transaction, instance))
  await asOwner("update instances set seen_at = clock_timestamp() + interval '1 hour'")
  await expect(removing(newKey())).rejects.toThrow('The service runs, so its key is not lost')
  expect(await update(app, holder)).toBe(200)
  const quiet = { remark: () => {}, now: app.now }
  await expect(reEncrypt(app.database, async () => tenants, [newKey()], quiet)).rejects.toThrow(
    'docs/lost-key.md',
  )
})

test('after the loss of the key, the command removes what only it decrypts, lists it, and the service goes on', async () => {
  const receiver = await eventReceiver()
  onTestFinished(() => receiver.close())
  const events = {
    config: { events: { allowPrivate: ['loopback'] } },
    more: { sendEvents: { everyMs: 20 } },
  } as const
  const before = await started([firstKey], events.config)
  const { id: endpoint } = await sendEventsTo(before, holder.tenant, receiver.url)
  const other = await makeIntegration(before)
  for (const path of ['/api/integrations/secrets/1', '/api/integrations/tokens/1']) {
    expect((await call(before, 'DELETE', path, { token: other.tenant.owner })).status).toBe(200)
  }
  await before.close()

  const key = newKey()
  const { code, said, list } = await rotateKey({ secret: [key] }, '--without-secrets')
  expect([code, said]).toEqual([0, expect.stringContaining('3 credential(s) must be made again')])
  const ended = { ends: 'has ended' }
  expect(list).toEqual([
    listed({ ...ended, credential: 'signing secret', name: 'tms' }),
    listed({ ...ended, credential: 'event secret', name: new URL(receiver.url).host, last_used: 'never' }),
    listed(ended),
  ])

  const app = await started([key], events.config, events.more)
  const { email, password } = holder.tenant
  const { body } = await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })
  const owner = body.token as string
  const { events: recorded } = (await call(app, 'GET', '/api/audit?kind=secrets-lost', { token: owner })).body
  expect(recorded).toMatchObject([{ done_by: null, about: { secret_ids: [1], endpoint_ids: [endpoint] } }])
  expect((await call(app, 'GET', '/api/lanes', { token: owner })).body.lanes).toHaveLength(1)

  expect(await update(app, holder)).toBe(401)
  const token = await makeServiceToken(app, owner)
  expect(await update(app, { ...holder, token })).toBe(401)
  expect(await update(app, { ...holder, token, secret: await makeSecret(app, owner) })).toBe(200)
  const rotated = await call(app, 'POST', `/api/event-endpoints/${endpoint}/rotate`, {
    token: owner,
    body: {},
  })
  expect(rotated.status).toBe(201)
  await call(app, 'POST', `/api/event-endpoints/${endpoint}/test`, { token: owner })
  await receiver.until((all) => all.some(({ event }) => event.type === 'endpoint.test'))
})

test('the command takes one option at most', async () => {
  const { code, said } = await rotateKey({ secret: [firstKey] }, '--tokens', '--without-secrets')
  expect([code, said]).toEqual([2, expect.stringContaining('docs/lost-key.md')])
})

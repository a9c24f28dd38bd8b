import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { asTableOwner } from '#testing/as-table-owner.ts'
import { sendEventsTo } from '#testing/event-receiver.ts'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { eventSecretPlace, keyCheckPlace, keyCheckText } from '../access/index.ts'
import { listTenants, readKeyCheck, writeKeyCheck, writeKeyNames } from '../database/queries/index.ts'
import {
  keyName,
  type SecretKey,
  type SecretKeys,
  seal,
  secretKey,
  type TokenClaims,
  unseal,
} from '../security/index.ts'
import { rotateKey } from './rotate-key.ts'

function newKey(): SecretKey {
  const key = secretKey(randomBytes(32).toString('base64'))
  if (key === null) throw new Error('No key.')
  return key
}

const [older, newer, stranger] = [newKey(), newKey(), newKey()]
let database: TestDatabase
let owner: pg.Client
/** The service during the rotation, with both keys. */
let rolling: TestApp
let holders: Integration[]

beforeAll(async () => {
  database = await testDatabase()
  owner = new pg.Client(database.owner)
  await owner.connect()
  const before = await appOn(database, { secretKeys: [older], connectionsMax: 2 })
  holders = [await makeIntegration(before), await makeIntegration(before)]
  await before.database.outsideTenants((transaction) =>
    writeKeyCheck(transaction, seal(older, keyCheckPlace, keyCheckText)),
  )
  await before.close()
  rolling = await appOn(database, { secretKeys: [newer, older] })
})
afterAll(async () => {
  await rolling.close()
  await owner.end()
  await database.drop()
})

/** Runs a query as the owner of the tables, within one tenant. */
async function inTenant(tenant: number, statement: string, values: unknown[] = []) {
  const { rows } = await asTableOwner(owner, tenant, () => owner.query(statement, values))
  return rows
}

const rotate = (keys: SecretKeys, remarks: string[] = []) =>
  rotateKey(rolling.database, () => listTenants(database.owner), keys, {
    remark: (line) => remarks.push(line),
    now: rolling.now,
  })
const startedWith = (...keys: SecretKey[]) =>
  rolling.database.outsideTenants((transaction) => writeKeyNames(transaction, keys.map(keyName)))
/** The claims of a token, without verification. */
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as TokenClaims
const [read, write] = [
  (app: TestApp, { token }: Integration) =>
    call(app, 'GET', '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA', { token }),
  (app: TestApp, integration: Integration) => pushUpdate(app, integration, { lane_ref: 'none' }),
]

describe('a sealed secret', () => {
  test('can be decrypted in its own row only: ciphertexts swapped between two brokerages are 401 for both, not an error', async () => {
    const [one, two] = [await makeIntegration(rolling), await makeIntegration(rolling)]
    const sealedOf = async ({ tenant }: Integration) =>
      // The owner of the tables may read the secrets of all tenants.
      (
        await inTenant(
          tenant.id,
          'select sealed from signing_secrets where tenant_id = $1 and secret_id = 1',
          [tenant.id],
        )
      )[0].sealed as Buffer
    const [ofOne, ofTwo] = [await sealedOf(one), await sealedOf(two)]
    const put = ({ tenant }: Integration, sealed: Buffer) =>
      inTenant(tenant.id, 'update signing_secrets set sealed = $1 where secret_id = 1', [sealed])
    await put(one, ofTwo)
    await put(two, ofOne)
    for (const holder of [one, two, { ...one, secret: two.secret }, { ...two, secret: one.secret }]) {
      const { status, body } = await write(rolling, holder)
      expect([status, body.type]).toEqual([401, '/problems/signature-mismatch'])
    }
    await put(one, ofOne)
    await put(two, ofTwo)
    // The service is not notified of a manual change, but reads the secrets again after ten minutes.
    rolling.now += 601_000
    expect((await write(rolling, one)).status).toBe(404)
  })
})

describe('rotate-key', () => {
  test('is refused until the service has been started with the new key, which it needs to decrypt the result', async () => {
    await startedWith(older)
    await expect(rotate([newer, older])).rejects.toThrow('has not been started with the first key yet')
  })

  test('is refused without the key that the database belongs to', async () => {
    await startedWith(newer, stranger)
    await expect(rotate([newer, stranger])).rejects.toThrow(
      'None of the secret keys is the key of this database',
    )
  })

  test('loses no request under traffic; afterwards the old key decrypts nothing and is not needed', async () => {
    await startedWith(newer, older)
    const [holder] = holders
    if (holder === undefined) throw new Error('Nobody.')
    const quote = await makeQuote(rolling, holder.tenant)
    const answers: number[] = []
    let rotated = false
    const traffic = Array.from({ length: 4 }, async (_, writer) => {
      for (let sent = 0; !rotated || sent < 10; sent++) {
        const update = { lane_ref: quote.lane_ref, customer_rate: 1000 + writer * 1000 + sent }
        answers.push((await pushUpdate(rolling, holder, update)).status)
      }
    })
    const made = (
      await call(rolling, 'POST', '/api/integrations/secrets', {
        token: holder.tenant.owner,
        body: { name: 'made meanwhile' },
      })
    ).status
    const remarks: string[] = []
    const first = await rotate([newer, older], remarks)
    rotated = true
    await Promise.all(traffic)
    expect(made).toBe(201)
    expect(answers.length).toBeGreaterThanOrEqual(40)
    expect(new Set(answers)).toEqual(new Set([200]))
    // The two secrets of the holders.
    expect(first).toBe(2)
    expect(remarks.length).toBeGreaterThan(0)
    expect(await rotate([newer, older])).toBe(0)

    // A service without the new key cannot decrypt any secret. The refusals above prevent this.
    const stale = await appOn(database, { secretKeys: [older], now: rolling.now, connectionsMax: 2 })
    const staleAnswer = await write(stale, holder)
    await stale.close()
    expect(staleAnswer.body.type).toBe('/problems/signature-mismatch')

    const check = await rolling.database.outsideTenants(readKeyCheck)
    expect([unseal(older, keyCheckPlace, check ?? Buffer.alloc(0)), check !== null]).toEqual([null, true])
    const after = await appOn(database, { secretKeys: [newer], now: rolling.now, connectionsMax: 2 })
    try {
      // Tokens cannot be signed again, so tokens of the removed key become invalid. The secret stays valid.
      expect((await read(after, holder)).status).toBe(401)
      const token = after.tokens.sign('service', { ...claimsOf(holder.token), role: 'owner' })
      expect((await write(after, { ...holder, token })).status).toBe(404)
    } finally {
      await after.close()
    }
  })

  test('re-encrypts the secrets of event endpoints, which then sign without the old key', async () => {
    const before = await appOn(database, { secretKeys: [older], now: rolling.now, connectionsMax: 2 })
    const { tenant } = await makeIntegration(before)
    const { id, secret } = await sendEventsTo(before, tenant, 'https://hooks.example.com/')
    await before.close()
    const opened = async (key: SecretKey) =>
      (await inTenant(tenant.id, 'select secret_id, sealed from event_secrets')).map(
        ({ secret_id, sealed }: { secret_id: number; sealed: Buffer }) =>
          unseal(key, eventSecretPlace(tenant.id, secret_id), sealed),
      )
    expect([id, await opened(older), await opened(newer)]).toEqual([1, [secret], [null]])
    await startedWith(newer, older)
    // Two secrets: the signing secret and the event secret.
    expect(await rotate([newer, older])).toBe(2)
    expect([await opened(older), await opened(newer)]).toEqual([[null], [secret]])
  })

  test('continues after an interruption, and names a live secret that no key decrypts', async () => {
    const { tenant } = await makeIntegration(rolling)
    await inTenant(tenant.id, `update signing_secrets set sealed = $1`, [randomBytes(60)])
    await startedWith(newer, older)
    await expect(rotate([newer, older])).rejects.toThrow(
      `Signing secret 1 of Test Brokers (${tenant.id}) cannot be decrypted with any of the keys.`,
    )
    await call(rolling, 'DELETE', '/api/integrations/secrets/1', { token: tenant.owner })
    expect(await rotate([newer, older])).toBe(0)
  })

  test("instances restarted one after the other decrypt and verify each other's data", async () => {
    const still = await appOn(database, { secretKeys: [older, newer], connectionsMax: 2 })
    try {
      for (const [made, used] of [
        [rolling, still],
        [still, rolling],
      ] as const) {
        made.now = Date.now()
        used.now = made.now
        const holder = await makeIntegration(made)
        const { lane_ref } = await makeQuote(used, holder.tenant)
        const { status } = await pushUpdate(used, holder, { lane_ref, truck_cost: 1500 })
        expect(status).toBe(200)
      }
    } finally {
      await still.close()
    }
  })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeLane, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { type TenantId, tenantId } from './database/open-database.ts'
import { type TenantModel, tenantModels } from './tenant-models.ts'

let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

async function tenantWithALane(): Promise<{ own: TenantId; addLane: () => Promise<unknown> }> {
  const tenant = await makeTenant(app)
  const addLane = () => makeLane(app, tenant, { rate: 2_000 })
  await addLane()
  return { own: tenantId(tenant.id), addLane }
}

test('whoever asks while a model is being made gets that one, not another', async () => {
  const { own, addLane } = await tenantWithALane()
  const models = tenantModels()
  const ask = (): Promise<TenantModel> =>
    app.database.inTenant(own, (transaction) => models.of(transaction, own, app.now))
  const atOnce = await Promise.all([ask(), ask(), ask()])
  expect(new Set(atOnce).size).toBe(1)
  expect(await ask()).toBe(atOnce[0])
  await addLane()
  const after = await ask()
  expect(after).not.toBe(atOnce[0])
  expect(after.quotes).toHaveLength(2)
})

test('whoever waits for a model that could not be made makes it', async () => {
  const { own } = await tenantWithALane()
  const models = tenantModels()
  const [begun, waits] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  /** A transaction that tells what is read; what it finds in `lanes` may be put in its place. */
  const ask = (onRead: (table: string) => unknown): Promise<TenantModel> =>
    app.database.inTenant(own, (transaction) =>
      models.of(
        new Proxy(transaction, {
          get: (target, name) =>
            name === 'selectFrom'
              ? (table: 'lanes') => onRead(table) ?? target.selectFrom(table)
              : Reflect.get(target, name, target),
        }),
        own,
        app.now,
      ),
    )
  const lost: unknown = new Proxy(
    {},
    {
      get: (_, name) =>
        name === 'execute'
          ? () => waits.promise.then(() => Promise.reject(new Error('The connection was lost.')))
          : () => lost,
    },
  )
  const first = ask((table) => {
    if (table !== 'lanes') return undefined
    begun.resolve()
    return lost
  })
  await begun.promise
  const read: string[] = []
  const second = ask((table) => {
    if (read.push(table) === 1) setTimeout(waits.resolve, 200)
    return undefined
  })
  await expect(first).rejects.toThrow('The connection was lost.')
  expect((await second).quotes).toHaveLength(1)
  expect(read).toEqual(['tenants', 'tenants', 'lanes'])
})

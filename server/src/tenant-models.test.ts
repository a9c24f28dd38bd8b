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

test('a model that could not be made for one is made for the other', async () => {
  const { own } = await tenantWithALane()
  const models = tenantModels()
  let reads = 0
  const ask = (breaks: boolean): Promise<TenantModel> =>
    app.database.inTenant(own, (transaction) => {
      const asked = new Proxy(transaction, {
        get(target, name) {
          if (name === 'selectFrom') {
            return (table: 'lanes') => {
              if (table === 'lanes') reads++
              if (table === 'lanes' && breaks) throw new Error('The connection was lost.')
              return target.selectFrom(table)
            }
          }
          return Reflect.get(target, name, target)
        },
      })
      return models.of(asked, own, app.now)
    })
  const [broken, whole] = await Promise.allSettled([ask(true), ask(false)])
  expect(broken).toMatchObject({ status: 'rejected' })
  expect(whole).toMatchObject({ status: 'fulfilled', value: { quotes: { length: 1 } } })
  expect(reads).toBe(2)
})

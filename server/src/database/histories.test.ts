import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeLane, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { readHistory } from './histories.ts'
import { tenantId } from './open-database.ts'

let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

test('a history is read oldest first, and of one that is too long the newest quotes', async () => {
  const tenant = await makeTenant(app)
  for (const rate of [1_000, 2_000, 3_000]) {
    app.now += 60_000
    await makeLane(app, tenant, { rate })
  }
  const own = tenantId(tenant.id)
  const read = (max?: number) =>
    app.database.inTenant(own, async (transaction) =>
      (await readHistory(transaction, own, {}, max)).map(({ rateCents }) => rateCents / 100),
    )
  expect(await read()).toEqual([1_000, 2_000, 3_000])
  expect(await read(2)).toEqual([2_000, 3_000])
})

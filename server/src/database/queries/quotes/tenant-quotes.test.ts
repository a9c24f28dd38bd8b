import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeQuote, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { tenantId } from '../../session/index.ts'
import { readTenantQuotes } from './tenant-quotes.ts'

let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

test('the quotes of a tenant are read in parts, each quote once, also if many have the same time', async () => {
  const tenant = await makeTenant(app)
  for (const rate of [1_000, 2_000, 3_000, 4_000, 5_000]) {
    if (rate > 3_000) app.now += 60_000
    await makeQuote(app, tenant, { rate })
  }
  const own = tenantId(tenant.id)
  const read = (max: number, perRead?: number) =>
    app.database.inTenant(own, async (transaction) =>
      (
        await readTenantQuotes(transaction, own, {
          since: null,
          max,
          ...(perRead === undefined ? {} : { perReadMax: perRead }),
          milesOf: ({ miles }) => miles,
        })
      ).map(({ quoteId }) => quoteId),
    )
  const all = await read(100)
  expect(new Set(all).size).toBe(5)
  for (const perRead of [1, 2, 4, 5, 6]) expect(await read(100, perRead)).toEqual(all)
  expect(await read(3, 2)).toEqual(all.slice(-3))
})

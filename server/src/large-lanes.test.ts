import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeLane, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { countedFromQuotes } from './database/counted-lanes.ts'
import { DatabaseUnavailable } from './database/database-failures.ts'
import { readTenantStanding } from './database/histories.ts'
import { type Database, tenantId } from './database/open-database.ts'
import { largeLanes } from './large-lanes.ts'

let app: TestApp
const corridor = { originKey: 'dallas|TX', destinationKey: 'atlanta|GA' }

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

async function newTenant() {
  const tenant = await makeTenant(app)
  await makeLane(app, tenant)
  return tenantId(tenant.id)
}

function watched() {
  let asked = 0
  const warnings: string[] = []
  const log = { info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) }
  let isDown = false
  const inTenant: Database['inTenant'] = async (...asks) => {
    asked++
    if (isDown) throw new DatabaseUnavailable(new Error('planted'))
    return app.database.inTenant(...asks)
  }
  return {
    lanes: largeLanes({ database: { inTenant }, log }),
    warnings,
    asked: () => asked,
    goDown: () => {
      isDown = true
    },
  }
}

const isCounted = (tenant: ReturnType<typeof tenantId>) =>
  app.database.inTenant(
    tenant,
    async (transaction) => (await readTenantStanding(transaction, tenant, corridor)).isLaneCounted,
  )

test('a lane is counted once, however often it is met meanwhile, and a small one not at all', async () => {
  const tenant = await newTenant()
  const { lanes, asked, warnings } = watched()
  lanes.met(tenant, corridor, countedFromQuotes - 1)
  lanes.met(tenant, undefined, countedFromQuotes)
  for (let met = 0; met < 5; met++) lanes.met(tenant, corridor, countedFromQuotes)
  await expect.poll(() => isCounted(tenant)).toBe(true)
  await lanes.drain()
  expect(asked()).toBe(1)
  expect(warnings).toEqual([])
})

test('one that could not be counted is said once, and is let be for a while', async () => {
  const tenant = await newTenant()
  const { lanes, asked, warnings, goDown } = watched()
  goDown()
  lanes.met(tenant, corridor, countedFromQuotes)
  await vi.waitFor(() => expect(warnings).toEqual(['a large lane could not be counted']))
  lanes.met(tenant, corridor, countedFromQuotes)
  await lanes.drain()
  expect(asked()).toBe(1)
  expect(await isCounted(tenant)).toBe(false)
})

test('whoever stops waits for no lane that is not begun', async () => {
  const tenant = await newTenant()
  const { lanes, asked } = watched()
  lanes.met(tenant, corridor, countedFromQuotes)
  await lanes.drain()
  expect(asked()).toBe(0)
})

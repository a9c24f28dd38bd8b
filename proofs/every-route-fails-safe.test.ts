import { afterAll, beforeAll, expect, test } from 'vitest'
import { bug, failingDatabase, inside, outage } from '#testing/failing-database.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { requestOf } from './route-requests.ts'
import { credentialOf, endlessThread, endpoints, send } from './route-walk.ts'
import { idsOf, type SeededTenants, seededTenants } from './seeded-tenants.ts'
import { settled } from './settled.ts'

/** Lets each use of the database fail in turn, on every route there is: no answer may then look like one about data. */

const logs = ['integration_calls', 'audit_log', 'tenant_counters']
const failure = failingDatabase()
let app: TestApp
let tenants: SeededTenants

beforeAll(async () => {
  app = await testApp({ wrapDatabase: failure.wrapDatabase, backtestThread: endlessThread })
  tenants = await seededTenants(app)
})
afterAll(async () => {
  await tenants.close()
  await app.close()
})

/** What is found out behind the answer may fail there: an import says so in its own record. */
const goesOnBehind = new Set(['create-import', 'undo-import', 'get-backtest'])

test.each([...endpoints.values()])('$name', async ({ name, method, who }) => {
  const caller = who.kind === 'service' ? 'service-A' : who.kind === 'dashboard' ? 'owner-A' : 'nobody'
  await tenants.seed('A')
  let met = 0
  // An outage can come at any use of the database. A bug takes the same way out at each of them: the first two are enough.
  for (const [error, status, usesMax] of [
    [outage, 503, Number.POSITIVE_INFINITY],
    [bug, 500, 2],
  ] as const) {
    // Whoever fails leaves it as it was, so it is the same before each.
    const before = await tenants.checksum('A', logs)
    for (let nth = 1; nth <= usesMax; nth++) {
      const request = requestOf[name as keyof typeof requestOf](idsOf('A'))
      failure.failAt(nth, error)
      // Asked once: another try would find the database well again.
      const answer = await send(app, method, request, credentialOf(app, caller, tenants, request), 0)
      const fired = failure.hasFired()
      if (!fired || (goesOnBehind.has(name) && answer.status < 300)) break
      met += 1
      expect([nth, answer.status]).toEqual([nth, status])
      expect(answer.body).not.toContain('"found":false')
      expect(answer.body).not.toMatch(inside)
      await app.settle()
      const isSame = (await tenants.checksum('A', logs)) === before
      expect([nth, isSame]).toEqual([nth, true])
    }
    // What goes on behind would take the failure of the next route for its own.
    await settled(app, tenants)
    await tenants.seed('A')
  }
  // Where the database is not asked at all, nothing of it can fail.
  if (name !== 'suggest-places') expect(met).toBeGreaterThan(1)
})

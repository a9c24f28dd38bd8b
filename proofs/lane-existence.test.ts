import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { expectations } from './route-expectations.ts'
import { type Operation, requestOf } from './route-requests.ts'
import { credentialOf, endpoints, send } from './route-walk.ts'
import { idsOf, type TenantIds } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'
import { rewriteStatements } from './tenant-conditions.ts'

/**
 * Promise: a caller cannot find out whether a record of another brokerage exists.
 *
 * How: each operation that takes an id is called as B, once with an id of A and once with an id that does not exist. The
 * responses must be identical apart from the id, and the service must execute the same statements.
 */

let app: TestApp
let tenants: SeededTenants
/** Every statement that the service sends, with its connection. */
const statements: { readonly on: object; readonly text: string }[] = []
let stopWatching: () => void

const a = idsOf('A')
/** Ids that do not exist, as long as the ids of A. */
const nonexistent: TenantIds = {
  ...a,
  liveToken: a.liveToken + 900,
  spareToken: a.spareToken + 900,
  secret: a.secret + 900,
  spareSecret: a.spareSecret + 900,
  import: a.import + 900,
  eventEndpoint: a.eventEndpoint + 900,
  person: a.person + 900,
  owner: a.owner + 900,
  request: a.request + 900,
  laneRef: `${a.request + 900}-1-1`,
}

beforeAll(async () => {
  app = await sharedApp()
  tenants = await seededTenants(app)
  await tenants.seed('A')
  await tenants.seed('B')
  stopWatching = rewriteStatements((text, on) => {
    statements.push({ on, text })
    return text
  })
})
afterAll(async () => {
  stopWatching()
  await tenants.close()
})

/** The operations that respond 404 to an id of another brokerage. */
const operations = expectations.filter(
  ({ about, statuses }) => about === 'A' && (statuses['owner-B'] === 404 || statuses['service-B'] === 404),
)

/** Returns the statements of all transactions except those of the call log, which runs after the response. */
function requestStatements(sent: typeof statements): string[] {
  const transactions: string[][] = []
  const open = new Map<object, string[]>()
  for (const { on, text } of sent) {
    // A function that sets the tenant itself is called in a transaction of its own.
    const begins = text.startsWith('begin') || /^select \w+\(entered\.tenant/.test(text)
    const transaction = begins ? [] : (open.get(on) ?? [])
    if (begins) transactions.push(transaction)
    open.set(on, transaction)
    transaction.push(text)
  }
  return transactions.filter((texts) => !texts.some((text) => /keep_calls/.test(text))).flat()
}

async function answerAbout(operation: string, of: TenantIds) {
  const request = requestOf[operation as Operation](of)
  const { method, who } = endpoints.get(operation) ?? { method: 'GET', who: { kind: 'anyone' } }
  const caller = who.kind === 'service' ? 'service-B' : 'owner-B'
  statements.length = 0
  const answer = await send(app, method, request, credentialOf(app, caller, tenants, request))
  const work = requestStatements(statements)
  const names = [
    of.laneRef,
    of.request,
    of.person,
    of.spareToken,
    of.spareSecret,
    of.import,
    of.eventEndpoint,
  ]
  const stable = answer.text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<request>')
    .replaceAll(/^date: .*$/gm, 'date: <now>')
    // A header has the number of calls that the rate limit still allows, which decreases with every call.
    .replaceAll(/(ratelimit: "tenant";r=|x-ratelimit-remaining: )\d+/g, '$1<left>')
  const text = names.reduce<string>((left, name) => left.replaceAll(String(name), '<name>'), stable)
  return { status: answer.status, text, work }
}

describe('for B, a record of A and a nonexistent record get the same response', () => {
  test.each(operations.map(({ operation }) => operation))('%s', async (operation) => {
    // Not compared, because the first call with a credential may also record its use.
    await answerAbout(operation, nonexistent)
    await app.settle()
    const foreign = await answerAbout(operation, a)
    await app.settle()
    const none = await answerAbout(operation, nonexistent)
    expect(foreign.status).toBe(404)
    expect(foreign.text).toBe(none.text)
    expect(foreign.text).toContain('<name>')
    expect(foreign.work).toEqual(none.work)
    // A shipment update is one message; every other operation opens a transaction, queries, and ends it.
    expect(foreign.work.length).toBeGreaterThan(operation === 'shipment-update' ? 0 : 2)
  })
})

test('the comparison can fail: an own record gets another response, with other statements', async () => {
  expect(operations.length).toBeGreaterThan(30)
  const own = await answerAbout('get-quote', idsOf('B'))
  const none = await answerAbout('get-quote', nonexistent)
  expect(own.status).toBe(200)
  expect(own.text).not.toBe(none.text)
  expect(own.work).not.toEqual(none.work)
})

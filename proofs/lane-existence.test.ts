import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { expectations } from './route-expectations.ts'
import { type Operation, requestOf } from './route-requests.ts'
import { credentialOf, endpoints, send } from './route-walk.ts'
import { idsOf, type SeededTenants, seededTenants, type TenantIds } from './seeded-tenants.ts'

/**
 * Another brokerage's record and no record are the same answer: to the byte, but for the name that was asked for, and
 * for the same work in the database.
 */

let app: TestApp
let tenants: SeededTenants
/** Every statement of the service, as it goes to the database, by its connection. */
const statements: { readonly on: object; readonly text: string }[] = []
const { query } = pg.Client.prototype

const a = idsOf('A')
/** Names of the same length as A's, which nobody has. */
const nobodys: TenantIds = {
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
  app = await testApp()
  tenants = await seededTenants(app)
  await tenants.seed('A')
  await tenants.seed('B')
  pg.Client.prototype.query = function counted(this: pg.Client, statement: unknown, ...rest: unknown[]) {
    const text = typeof statement === 'string' ? statement : (statement as { text: string }).text
    statements.push({ on: this, text })
    return (query as (...given: unknown[]) => unknown).call(this, statement, ...rest)
  } as typeof query
})
afterAll(async () => {
  pg.Client.prototype.query = query
  await tenants.close()
  await app.close()
})

/** The operations in which a name of another brokerage's record is a 404. */
const asked = expectations.filter(
  ({ about, statuses }) => about === 'A' && (statuses['owner-B'] === 404 || statuses['service-B'] === 404),
)

/** The statements of every transaction but those that note calls down behind the answers. */
function workOf(sent: typeof statements): string[] {
  const transactions: string[][] = []
  const open = new Map<object, string[]>()
  for (const { on, text } of sent) {
    // A function that is called behind a wall of its own is a transaction, too.
    const begins = text.startsWith('begin') || /^select \w+(\(wall\.tenant|_batch\()/.test(text)
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
  const work = workOf(statements)
  const names = [
    of.laneRef,
    of.request,
    of.person,
    of.spareToken,
    of.spareSecret,
    of.import,
    of.eventEndpoint,
  ]
  const lasting = answer.text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<request>')
    .replaceAll(/^date: .*$/gm, 'date: <now>')
    // The limit counts down with every call, whatever it asks for.
    .replaceAll(/(ratelimit: "tenant";r=|x-ratelimit-remaining: )\d+/g, '$1<left>')
  const text = names.reduce<string>((left, name) => left.replaceAll(String(name), '<name>'), lasting)
  return { status: answer.status, text, work }
}

test('there are such operations: everything that takes a name', () => {
  expect(asked.map(({ operation }) => operation).sort()).toEqual(
    [
      'shipment-update',
      'revoke-service-token',
      'rotate-signing-secret',
      'revoke-signing-secret',
      'update-user',
      'remove-user',
      'get-quote-request',
      'get-lane',
      'requote',
      'set-outcome',
      'list-changes',
      'rollback',
      'get-import',
      'stop-import',
      'undo-import',
      'change-event-endpoint',
      'remove-event-endpoint',
      'rotate-event-secret',
      'test-event-endpoint',
      'replay-events',
    ].sort(),
  )
})

describe('A’s and nobody’s are one answer to B', () => {
  test.each(asked.map(({ operation }) => operation))('%s', async (operation) => {
    // The first call of a credential may have something to note down.
    await answerAbout(operation, nobodys)
    await app.settle()
    const foreign = await answerAbout(operation, a)
    await app.settle()
    const none = await answerAbout(operation, nobodys)
    expect(foreign.status).toBe(404)
    expect(foreign.text).toBe(none.text)
    expect(foreign.text).toContain('<name>')
    expect(foreign.work).toEqual(none.work)
    // An update asks in one message; everything else opens a transaction, asks, and ends it.
    expect(foreign.work.length).toBeGreaterThan(operation === 'shipment-update' ? 0 : 2)
  })
})

test('the look is sharp enough: one’s own record is another answer, and other work', async () => {
  const own = await answerAbout('get-lane', idsOf('B'))
  const none = await answerAbout('get-lane', nobodys)
  expect(own.status).toBe(200)
  expect(own.text).not.toBe(none.text)
  expect(own.work).not.toEqual(none.work)
})

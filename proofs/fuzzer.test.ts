/** @module-tag long */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { shipmentUpdate } from '#contract/shipment-update.ts'
import { seededRandom } from '#server/sample/index.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { bodyRequests, type FuzzRequest, validRequest, valueRequests } from './fuzz-requests.ts'
import { judgeOf, logTables, senderTo } from './fuzzer.ts'
import { type Operation, requestOf } from './route-requests.ts'
import { difference, endlessThread, endpoints } from './route-walk.ts'
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'

/**
 * Promise: no value in any field makes the service fail, send an answer that the contract does not declare, name a wrong field in a
 * refusal, save anything of a refused request, or change a value silently.
 *
 * How: each parameter and each member of a body, at any depth, gets each value of its kind in an otherwise valid request; each body
 * is JSON that parsers read differently, or has fields at the ends of what the contract permits. `fuzz-oracle.ts` judges each answer.
 *
 * Faults: `fuzzer.ts` plants faults in the service, and the same oracle must find them.
 */

const ids = idsOf('A')
let app: TestApp
let tenants: SeededTenants
let faultsOf: Awaited<ReturnType<typeof judgeOf>>
let sender: ReturnType<typeof senderTo>
let sumOfB: string

beforeAll(async () => {
  app = await testApp({ backtestThread: endlessThread })
  tenants = await seededTenants(app)
  await tenants.seed('B')
  sumOfB = await tenants.checksum('B')
  faultsOf = await judgeOf(app)
  sender = senderTo(app, tenants)
})
// Restores the rows of A, even after a test that failed.
beforeEach(() => tenants.seed('A'))
afterAll(async () => {
  await tenants.close()
  await app.close()
})

/** A test sends every 25th request of a list. `npm run prove` sends all of them. */
const step = process.env.EVERY_VALUE === undefined ? 25 : 1
/** Random bodies per operation, with some fields at their ends. */
const choices = step === 1 ? 200 : 8

/** Operations that hash a password, end the caller's session or take a file. The proofs send their requests. */
const excluded = new Set([
  'sign-in',
  'sign-up',
  'accept-invitation',
  'change-password',
  'sign-out',
  'create-import',
  'integration-create-import',
  'read-import-header',
])
const tested = [...endpoints.values()].filter(({ name }) => !excluded.has(name))

interface Sent {
  readonly faults: readonly string[]
  readonly refused: readonly FuzzRequest[]
}

/** Sends requests one after another: a brokerage may send one file at a time. */
async function sendAll(requests: readonly FuzzRequest[]): Promise<Sent> {
  const faults: string[] = []
  const refused: FuzzRequest[] = []
  for (const request of requests) {
    const answer = await sender.send(request)
    const found = answer === null ? ['has no answer'] : faultsOf(request, answer)
    if (found.length > 0) faults.push(`${request.what} ${found.join('; ')}: ${answer?.text.slice(0, 300)}`)
    if ((answer?.status ?? 400) >= 400) refused.push(request)
  }
  await app.settle()
  return { faults, refused }
}

/** Sends refused requests again, until all of them are refused. Returns the tables that they changed. */
async function changedByRefused(requests: readonly FuzzRequest[]): Promise<string> {
  for (let rest = requests; ; ) {
    await tenants.seed('A')
    const before = await tenants.checksum('A', logTables)
    const { refused } = await sendAll(rest)
    if (refused.length === rest.length) return difference(before, await tenants.checksum('A', logTables))
    rest = refused
  }
}

test.each(tested.map((endpoint, nth) => ({ name: endpoint.name, endpoint, nth })))(
  '$name: no value fails, names a wrong field, changes silently, or is saved although it is refused',
  async ({ endpoint, nth }) => {
    const valid = requestOf[endpoint.name as Operation](ids)
    const values = [...valueRequests(endpoint, valid)].filter((_, at) => (at + nth) % step === 0)
    const bodies = [...bodyRequests(endpoint, valid, seededRandom(30), choices)]
    const isSent = ({ kind }: FuzzRequest, at: number) => kind !== 'json' || (at + nth) % step === 0
    const all = [...values, ...bodies.filter(isSent)]
    const before = await tenants.checksum('A', logTables)
    const invalid = await sendAll(all.filter((request) => request.mustBeRefused === true))
    expect(invalid.faults).toEqual([])
    expect(difference(before, await tenants.checksum('A', logTables))).toBe('')
    const others = await sendAll(all.filter((request) => request.mustBeRefused !== true))
    expect(others.faults).toEqual([])
    expect(await changedByRefused(others.refused)).toBe('')
    expect(difference(sumOfB, await tenants.checksum('B'))).toBe('')
    expect(({} as { x?: number }).x).toBeUndefined()
  },
)

describe('a request whose body must not be read', () => {
  test.each([
    ['a compressed body', 'Content-Encoding: gzip', 415],
    ['a body compressed twice', 'Content-Encoding: gzip, gzip', 415],
    ['another content type', 'Content-Type: text/plain', 415],
    ['a body that is too large', 'X: y', 413],
    ['an invalid token', 'Authorization: Bearer x', 401],
  ])(
    'with %s: a gigabyte is refused before the first byte is sent, and the connection closes',
    async (_case, header, status) => {
      const [name = '', value = ''] = header.split(': ')
      const update = validRequest(shipmentUpdate, requestOf['shipment-update'](ids))
      const headers = { ...Object.fromEntries(sender.headersOf(update, '{}')), [name]: value }
      const [answer] = await sendRaw(
        app,
        head(`POST ${shipmentUpdate.path} HTTP/1.1`, [
          ['Host', 'x'],
          ...Object.entries(headers),
          ['Content-Length', String(1024 ** 3)],
        ]),
      )
      expect(answer?.status).toBe(status)
      expect(answer?.headers.connection).toBe('close')
    },
  )
})

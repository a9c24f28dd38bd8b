import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makePerson, makeQuote, makeServiceToken, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let acme: MadeTenant
let lanes: string[]

beforeAll(async () => {
  app = await sharedApp()
})
beforeEach(async () => {
  acme = await makeTenant(app)
  lanes = []
  for (let at = 0; at < 3; at++) lanes.push((await makeQuote(app, acme)).lane_ref)
})

const mark = (sent: readonly object[], token = acme.owner) =>
  call(app, 'POST', '/api/lane-outcomes', { token, body: { lanes: sent } })
const quoteOf = async (lane_ref: string) =>
  (await call(app, 'GET', `/api/lanes/${lane_ref}`, { token: acme.owner })).body
const outcomes = async () => Promise.all(lanes.map(async (ref) => (await quoteOf(ref)).outcome))

describe('200', () => {
  test('marks each quote, records each change with the person, and returns the quotes in the order sent', async () => {
    const [first, second, third] = lanes
    const { status, body } = await mark([
      { lane_ref: third, outcome: 'won' },
      { lane_ref: first, outcome: 'lost', reason: 'price' },
    ])
    expect([status, body.marked, body.failed]).toEqual([200, 2, 0])
    expect(body.results).toMatchObject([
      { index: 0, status: 200, lane: { lane_ref: third, outcome: 'won', outcome_source: 'dashboard' } },
      { index: 1, status: 200, lane: { lane_ref: first, outcome: 'lost', outcome_reason: 'price' } },
    ])
    expect(await outcomes()).toEqual(['lost', 'pending', 'won'])
    expect((await quoteOf(String(second))).outcome).toBe('pending')
    const { body: history } = await call(app, 'GET', `/api/lanes/${first}/changes`, { token: acme.owner })
    expect(history.changes).toMatchObject([{ after: { outcome: 'lost', outcome_reason: 'price' } }])
  })

  test('one call marks the quotes, and one call with the outcomes before it undoes the marks', async () => {
    await mark(lanes.map((lane_ref) => ({ lane_ref, outcome: 'won', expected_outcome: 'pending' })))
    expect(await outcomes()).toEqual(['won', 'won', 'won'])
    const undone = await mark(
      lanes.map((lane_ref) => ({ lane_ref, outcome: 'pending', expected_outcome: 'won' })),
    )
    expect(undone.body.marked).toBe(3)
    expect((await quoteOf(String(lanes[0]))).decided_at).toBe(null)
    expect(await outcomes()).toEqual(['pending', 'pending', 'pending'])
  })

  test('keeps the mark of another person, names the person, and marks the other quotes', async () => {
    const [first, second] = lanes
    const dana = await makePerson(app, acme, 'member')
    const { body: people } = await call(app, 'GET', '/api/users', { token: acme.owner })
    const { name } = people.users.find(({ id }: { id: number }) => id === dana.id)
    await mark([{ lane_ref: first, outcome: 'lost', reason: 'service' }], dana.token)
    const { body } = await mark([
      { lane_ref: first, outcome: 'won', expected_outcome: 'pending' },
      { lane_ref: second, outcome: 'won', expected_outcome: 'pending' },
    ])
    expect(body).toMatchObject({
      marked: 1,
      failed: 1,
      results: [
        {
          status: 409,
          lane_ref: first,
          detail: `${name} marked this quote lost after you loaded it.`,
          lane: { outcome: 'lost', outcome_reason: 'service' },
        },
        { status: 200, lane: { outcome: 'won' } },
      ],
    })
    expect(await outcomes()).toEqual(['lost', 'won', 'pending'])
  })

  test('two people who mark the same quotes at once both get an answer, and one of them wins each quote', async () => {
    const dana = await makePerson(app, acme, 'member')
    const sent = (outcome: string, refs: readonly string[]) =>
      refs.map((lane_ref) => ({ lane_ref, outcome, expected_outcome: 'pending' }))
    const [won, lost] = await Promise.all([
      mark(sent('won', lanes)),
      mark(sent('lost', [...lanes].reverse()), dana.token),
    ])
    expect([won.status, lost.status]).toEqual([200, 200])
    expect([won.body.marked + lost.body.marked, won.body.failed + lost.body.failed]).toEqual([3, 3])
  })

  test('a quote that already has the outcome is no conflict', async () => {
    const [first] = lanes
    await mark([{ lane_ref: first, outcome: 'won' }])
    const { body } = await mark([{ lane_ref: first, outcome: 'won', expected_outcome: 'pending' }])
    expect(body).toMatchObject({ marked: 1, failed: 0 })
  })

  test('a voided quote is not marked, and the others are', async () => {
    const [first, second] = lanes
    const token = acme.owner
    await call(app, 'POST', `/api/lanes/${first}/void`, { token, body: { reason: 'Mistyped rate' } })
    const { body } = await mark([
      { lane_ref: first, outcome: 'won' },
      { lane_ref: second, outcome: 'won' },
    ])
    expect(body.results).toMatchObject([
      {
        status: 409,
        detail: `Quote ${first} is void, so no outcome of it counts. Restore it first.`,
        lane: { outcome: 'pending' },
      },
      { status: 200 },
    ])
  })

  test('a quote of another brokerage and one that does not exist have the same result', async () => {
    const other = (await makeQuote(app, await makeTenant(app))).lane_ref
    const { body } = await mark([
      { lane_ref: other, outcome: 'won' },
      { lane_ref: '1-1-1', outcome: 'won' },
    ])
    expect(body.results).toEqual(
      [other, '1-1-1'].map((lane_ref, index) => ({
        index,
        status: 404,
        lane_ref,
        detail: `No lane was found for lane_ref "${lane_ref}".`,
      })),
    )
  })
})

describe('422', () => {
  test.each([
    ['no lane', [], '/lanes'],
    [
      'more than 200 lanes',
      Array.from({ length: 201 }, (_, at) => ({ lane_ref: `${at}`, outcome: 'won' })),
      '/lanes',
    ],
    ['an unknown outcome', [{ lane_ref: '1-1-1', outcome: 'maybe' }], '/lanes/0/outcome'],
    ['a reason without a loss', [{ lane_ref: '1-1-1', outcome: 'won', reason: 'price' }], '/lanes/0/reason'],
  ])('%s', async (_, sent, pointer) => {
    const { status, body } = await mark(sent)
    expect([status, body.errors[0].pointer]).toEqual([422, pointer])
  })

  test('a quote that is sent twice, and nothing is marked', async () => {
    const [first, second] = lanes
    const { status, body } = await mark([
      { lane_ref: second, outcome: 'won' },
      { lane_ref: first, outcome: 'won' },
      { lane_ref: second, outcome: 'lost' },
    ])
    expect([status, body.errors[0].pointer]).toEqual([422, '/lanes/2/lane_ref'])
    expect(await outcomes()).toEqual(['pending', 'pending', 'pending'])
  })
})

test('401 for a service token, 403 for a viewer', async () => {
  const sent = [{ lane_ref: lanes[0], outcome: 'won' }]
  const viewer = await makePerson(app, acme, 'viewer')
  expect((await mark(sent, await makeServiceToken(app, acme.owner))).status).toBe(401)
  expect((await mark(sent, viewer.token)).status).toBe(403)
})

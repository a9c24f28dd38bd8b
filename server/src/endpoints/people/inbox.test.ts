import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  call,
  type Integration,
  makeIntegration,
  makeLane,
  makePerson,
  makeServiceToken,
  pushUpdate,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { noMetrics, noTraces, type Watching } from '../../watching/index.ts'

type Person = Awaited<ReturnType<typeof makePerson>>

let app: TestApp
let acme: Integration
let rep: Person
let manager: Person
let memoryCounts: Parameters<Watching['lookUp']>[0]['memory']

const hourMs = 3_600_000
const dayMs = 24 * hourMs

beforeAll(async () => {
  const lookUp: Watching['lookUp'] = ({ memory }) => {
    memoryCounts = memory
  }
  const unwatched = { metrics: noMetrics, traces: noTraces, transaction: null }
  app = await testApp({
    watching: async () => ({ ...unwatched, lookUp, read: async () => '', stop: async () => {} }),
  })
})
afterAll(() => app.close())
beforeEach(async () => {
  app.now = Date.now()
  acme = await makeIntegration(app)
  // The tests move the clock by more than a day.
  await call(app, 'PATCH', '/api/tenant', {
    token: acme.tenant.owner,
    body: { session_limits: { hours: 744 } },
  })
  rep = await makePerson(app, acme.tenant, 'member')
  manager = await makePerson(app, acme.tenant, 'admin')
})

const post = (path: string, body: object, token = acme.tenant.owner) =>
  call(app, 'POST', path, { token, body })
/** The inbox of a person: its items without the sign-ins that made the people of the test. */
async function inboxOf({ token }: { readonly token: string }) {
  const { status, body } = await call(app, 'GET', '/api/inbox', { token })
  expect(status).toBe(200)
  return (body.items as Record<string, unknown>[]).filter(({ kind }) => kind !== 'new-sign-in')
}
const kindsOf = async (person: { readonly token: string }) =>
  (await inboxOf(person)).map(({ kind, lane_ref, approval_id }) => [kind, lane_ref ?? approval_id])
const mark = (person: { readonly token: string }, items: readonly unknown[], more: object) =>
  post('/api/inbox/marks', { items, ...more }, person.token)

/** A quote of the rep that ends after so many hours. */
async function quote(hours: number, customer = 'Harvest'): Promise<string> {
  const { status, body } = await post(
    '/api/quote-requests',
    {
      customer_name: customer,
      lanes: [
        {
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          quoted_rate: 2000,
          valid_hours: hours,
        },
      ],
    },
    rep.token,
  )
  expect(status).toBe(201)
  return body.lanes[0].lane_ref
}

describe('an inbox that was read before', () => {
  test('follows quotes, their end, and who follows them up, at once', async () => {
    const other = await makePerson(app, acme.tenant, 'member')
    const both = async () => [await kindsOf(rep), await kindsOf(other)]
    expect(await both()).toEqual([[], []])
    const ending = await quote(20)
    expect(await both()).toEqual([[['quote-ending', ending]], []])
    const give = (to: object) => post(`/api/users/${rep.id}/quotes-to`, to)
    await give({ user_id: other.id })
    expect(await both()).toEqual([[], [['quote-ending', ending]]])
    await give({})
    expect(await both()).toEqual([[['quote-ending', ending]], []])
    app.now += 20 * hourMs - 1
    expect((await kindsOf(rep)).map(([kind]) => kind)).toEqual(['follow-up'])
    app.now += 1
    expect(await kindsOf(rep)).toEqual([])
  })

  test('is answered from memory until something changes, or the minute ends', async () => {
    const { token } = rep
    app.now = Math.ceil(Date.now() / 60_000) * 60_000
    const reads = async () => {
      const before = memoryCounts().reads
      await call(app, 'GET', '/api/inbox', { token })
      return memoryCounts().reads - before
    }
    expect([await reads(), await reads(), await reads()]).toEqual([1, 0, 0])
    await quote(20)
    expect([await reads(), await reads()]).toEqual([1, 0])
    app.now += 60_000
    expect([await reads(), await reads()]).toEqual([1, 0])
  })
})

describe('a request for approval', () => {
  const ask = async () => {
    await post('/api/pricing-rules', {
      conditions: {},
      terms: { minimum: { rate_per_mile: 2 }, outside: 'approval' },
    })
    const { body } = await post(
      '/api/approvals',
      {
        customer_name: 'Harvest',
        lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 1000 }],
      },
      rep.token,
    )
    return body.approval_id as number
  }

  test('waits for those who can decide it, until one does; then its answer waits for who asked', async () => {
    const id = await ask()
    const [item] = await inboxOf(manager)
    expect(item).toMatchObject({
      kind: 'approval-to-decide',
      approval_id: id,
      title: 'Approval for Harvest',
      detail: 'A member asks for Dallas, TX to Atlanta, GA at $1,000.',
      seen: false,
      late: false,
    })
    expect(await inboxOf(rep)).toEqual([])
    // It cannot be put away, only decided.
    for (const more of [{ mark: 'done' }, { mark: 'snoozed', until: new Date(app.now + hourMs) }]) {
      expect((await mark(manager, [item?.item], more)).status).toBe(200)
      expect(await kindsOf(manager)).toEqual([['approval-to-decide', id]])
    }
    await post(`/api/approvals/${id}/decision`, { decision: 'counter', rates: [1500] }, manager.token)
    expect(await inboxOf(manager)).toEqual([])
    const [answer] = await inboxOf(rep)
    expect(answer).toMatchObject({
      kind: 'approval-decided',
      title: 'Your request for Harvest was countered by A admin',
      due_at: expect.any(String),
    })
    await mark(rep, [answer?.item], { mark: 'done' })
    expect(await inboxOf(rep)).toEqual([])
    // What follows is another item.
    await post(`/api/approvals/${id}/decision`, { decision: 'reject' }, manager.token)
    expect((await inboxOf(rep))[0]).toMatchObject({
      title: 'Your request for Harvest was rejected by A admin',
    })
  })
})

describe('a pending quote', () => {
  test('is due for a follow-up after four hours, and again an hour before it ends', async () => {
    const ref = await quote(30)
    expect(await inboxOf(rep)).toEqual([])
    app.now += 4 * hourMs
    const [first] = await inboxOf(rep)
    expect(first).toMatchObject({ kind: 'follow-up', lane_ref: ref, seen: false })
    expect(first?.detail).toBe('$2,000. No answer for 4 hours: follow up.')
    await mark(rep, [first?.item], { mark: 'done' })
    expect(await inboxOf(rep)).toEqual([])
    app.now += 3 * hourMs
    expect((await inboxOf(rep))[0]).toMatchObject({ kind: 'quote-ending', lane_ref: ref })
    app.now += 22 * hourMs
    const items = await inboxOf(rep)
    // One quote has one item.
    expect(items).toHaveLength(1)
    expect(items[0]?.detail).toBe('$2,000. It ends soon: ask for an answer.')
    expect(await inboxOf(manager)).toEqual([])
    await post(`/api/lanes/${ref}/outcome`, { outcome: 'lost', reason: 'price' }, rep.token)
    expect(await inboxOf(rep)).toEqual([])
  })

  test('that is snoozed comes back as new', async () => {
    await quote(20)
    const [item] = await inboxOf(rep)
    await mark(rep, [item?.item], { mark: 'seen' })
    expect((await inboxOf(rep))[0]).toMatchObject({ seen: true })
    const until = new Date(app.now + hourMs).toISOString()
    expect((await mark(rep, [item?.item], { mark: 'snoozed', until })).status).toBe(200)
    expect(await inboxOf(rep)).toEqual([])
    app.now += hourMs + 1
    expect((await inboxOf(rep))[0]).toMatchObject({ kind: 'quote-ending', seen: false })
  })

  test('of a person who left waits for the admins', async () => {
    const ref = await quote(20)
    expect(await kindsOf(manager)).toEqual([])
    const removed = await call(app, 'DELETE', `/api/users/${rep.id}`, { token: acme.tenant.owner })
    expect(removed.status).toBe(200)
    expect(await kindsOf(manager)).toEqual([['quote-ending', ref]])
  })
})

describe('a booking at a loss', () => {
  test('is told to every role until it is put away, and again when it changes', async () => {
    const viewer = await makePerson(app, acme.tenant, 'viewer')
    const lane = await makeLane(app, acme.tenant)
    const book = (cost: number) =>
      pushUpdate(
        app,
        acme,
        { lane_ref: lane.lane_ref, customer_rate: 1900, truck_cost: cost },
        Math.floor(app.now / 1000),
      )
    await book(2061)
    const [item] = await inboxOf(viewer)
    expect(item).toMatchObject({
      kind: 'booked-at-a-loss',
      lane_ref: lane.lane_ref,
      detail: 'Harvest Table Foods. Rate $1,900, truck $2,061.',
    })
    await mark(viewer, [item?.item], { mark: 'done' })
    expect(await inboxOf(viewer)).toEqual([])
    // Marks are those of one person.
    expect(await kindsOf(manager)).toEqual([['booked-at-a-loss', lane.lane_ref]])
    app.now += 2_000
    await book(2100)
    expect(await kindsOf(viewer)).toEqual([['booked-at-a-loss', lane.lane_ref]])
  })
})

test('customers who are hidden from a person are not in their inbox', async () => {
  const ref = await quote(20, 'Secret Shipper')
  const lane = await makeLane(app, acme.tenant, { customer: 'Secret Shipper' })
  await pushUpdate(app, acme, { lane_ref: lane.lane_ref, customer_rate: 1900, truck_cost: 2061 })
  expect((await kindsOf(rep)).toSorted()).toEqual([
    ['booked-at-a-loss', lane.lane_ref],
    ['quote-ending', ref],
  ])
  const other = await makePerson(app, acme.tenant, 'member')
  const team = { name: 'Produce', members: [other.id], customers: ['Secret Shipper'] }
  expect((await post('/api/teams', team)).status).toBe(201)
  expect(await inboxOf(rep)).toEqual([])
  expect(await kindsOf(other)).toEqual([['booked-at-a-loss', lane.lane_ref]])
})

test('tokens that expire within 14 days wait for admins', async () => {
  await makeServiceToken(app, acme.tenant.owner)
  app.now += 365 * dayMs - 14 * dayMs - hourMs
  const signIn = await post('/api/auth/sign-in', {
    email: acme.tenant.email,
    password: acme.tenant.password,
  })
  const owner = { token: signIn.body.token as string }
  expect(await inboxOf(owner)).toEqual([])
  app.now += 2 * hourMs
  expect((await inboxOf(owner)).map(({ title }) => title)).toEqual([
    'The service token test expires soon',
    'The service token test expires soon',
  ])
})

test('a sign-in from somewhere new stays until it is confirmed', async () => {
  const { body } = await call(app, 'POST', '/api/auth/sign-in', {
    body: { email: manager.email, password: manager.password },
    headers: {
      'User-Agent': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) AppleWebKit Version/19 Safari/605',
    },
  })
  const shown = async () =>
    (await call(app, 'GET', '/api/inbox', { token: manager.token })).body.items.filter(
      ({ kind }: { kind: string }) => kind === 'new-sign-in',
    )
  const [item, ...others] = await shown()
  expect(others).toEqual([])
  await mark(manager, [item.item], { mark: 'done' })
  expect(await shown()).toHaveLength(1)
  await post(`/api/sessions/${item.session_id}/confirm`, {}, manager.token)
  expect(await shown()).toEqual([])
  expect(body.token).toBeDefined()
})

test('an import that ended waits for who began it', async () => {
  const response = await fetch(`${app.url}/api/imports?file_name=quotes.csv`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${manager.token}`, 'Content-Type': 'text/csv' },
    body: new Blob([
      'Origin,Destination,Equipment,Quoted Rate,Customer\n"Dallas, TX","Atlanta, GA",V,2000,Harvest\n',
    ]),
  })
  expect(response.status).toBe(202)
  await expect.poll(() => kindsOf(manager)).toContainEqual(['import-ended', null])
  const item = (await inboxOf(manager)).find(({ kind }) => kind === 'import-ended')
  expect(item).toMatchObject({
    title: 'quotes.csv is imported',
    detail: '1 rows added, 0 updated, 0 refused.',
  })
})

describe('422', () => {
  test.each([
    [{ mark: 'snoozed' }],
    [{ mark: 'snoozed', until: '2020-01-01' }],
    [{ mark: 'snoozed', until: '2199-01-01' }],
    [{ mark: 'done', until: '2199-01-01' }],
  ])('%o', async (more) => {
    const { status, body } = await mark(rep, ['quote-ending 1'], more)
    expect([status, body.errors[0].pointer]).toEqual([422, '/until'])
  })

  test('names that are not in the inbox change nothing', async () => {
    await quote(20)
    expect((await mark(rep, ['quote-ending 1', 'x'], { mark: 'done' })).status).toBe(200)
    expect(await inboxOf(rep)).toHaveLength(1)
  })
})

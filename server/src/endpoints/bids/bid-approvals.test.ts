import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makePerson, makePricedBid, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let tenant: MadeTenant
let person: { email: string; password: string; token: string }
let member: string
let bid: number

const file = `Lane,Origin,Destination,Equipment,Annual Volume,Bid Rate
A,"Dallas, TX","Atlanta, GA",V,52,
B,"Houston, TX","Memphis, TN",V,104,
`

/** About $1,714 for lane A. */
const minimum = (outside: 'warn' | 'approval' | 'block') => ({
  conditions: {},
  terms: { minimum: { rate_per_mile: 2 }, outside },
})

const as = (token: string) => ({
  get: async (path: string) => (await call(app, 'GET', path, { token })).body,
  post: (path: string, body: object) => call(app, 'POST', path, { token, body }),
  patch: (path: string, body: object) => call(app, 'PATCH', path, { token, body }),
})
const owner = () => as(tenant.owner)
const path = () => `/api/bids/${bid}`

async function setRate(lane: number, rate: number): Promise<void> {
  const { lanes } = await owner().get(`${path()}/lanes`)
  const { version } = lanes[lane - 1]
  const set = await as(member).post(`${path()}/rates`, { cells: [{ lane, version, rate }] })
  expect(set.status).toBe(200)
}
const submit = () => as(member).patch(path(), { stage: 'submitted' })
const exported = () => call(app, 'GET', `${path()}/file`, { token: member })
const ask = (note?: string) =>
  as(member).post(`/api/bids/${bid}/approvals`, note === undefined ? {} : { note })
const decide = (id: number, body: object) => owner().post(`/api/approvals/${id}/decision`, body)
const standing = async () => (await owner().get(path())).approval

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

async function begin(outside: 'warn' | 'approval' | 'block') {
  tenant = await makeTenant(app)
  person = await makePerson(app, tenant, 'member')
  member = person.token
  expect((await owner().post('/api/pricing-rules', minimum(outside))).status).toBe(201)
  bid = await makePricedBid(app, tenant.owner, file)
  await setRate(1, 1_500)
  await setRate(2, 5_000)
}

describe('a rate below a minimum that needs an approval', () => {
  beforeEach(() => begin('approval'))

  test('is not exported and not submitted, until somebody else approves it', async () => {
    expect(await standing()).toEqual({ needed: 1, blocked: 0, approved: 0, latest: null })
    for (const refused of [await submit(), await exported()]) {
      expect(refused).toMatchObject({ status: 422, body: { code: 'outside-rules' } })
      expect(refused.body.errors).toEqual([
        expect.objectContaining({
          code: 'needs-approval',
          detail: expect.stringMatching(/^Lane 1 \(A\): \$1,500 is below the minimum of \$1,7/),
        }),
      ])
    }
    expect((await owner().get(path())).stage).toBe('open')

    const asked = await ask('They tender every load.')
    expect(asked).toMatchObject({
      status: 201,
      body: {
        state: 'waiting',
        customer_name: 'Harvest Table Foods',
        bid: { bid_id: bid, name: 'RFP 2027', lanes: 1 },
        lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', rate: 1_500, rate_type: 'contract' }],
        email: { subject: expect.stringContaining('bid RFP 2027') },
      },
    })
    const id = asked.body.approval_id
    expect(await standing()).toMatchObject({ needed: 1, latest: { approval_id: id, state: 'waiting' } })
    expect(await ask()).toMatchObject({ status: 409 })
    expect(await decide(id, { decision: 'counter', rates: [1_520] })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/decision' }] },
    })
    const own = await as(member).post(`/api/approvals/${id}/decision`, { decision: 'approve' })
    expect(own).toMatchObject({ status: 403 })
    const { items } = await owner().get('/api/inbox')
    expect(items).toContainEqual(
      expect.objectContaining({ detail: 'A member asks for a rate of the bid RFP 2027 below the minimum.' }),
    )

    expect(await decide(id, { decision: 'approve' })).toMatchObject({
      status: 200,
      body: { state: 'approved', lane_refs: [] },
    })
    expect(await standing()).toMatchObject({ needed: 0, approved: 1, latest: { state: 'approved' } })
    expect(await exported()).toMatchObject({ status: 200, body: { filled: 2 } })
    expect(await submit()).toMatchObject({ status: 200, body: { stage: 'submitted' } })
    // It made no quote.
    expect((await owner().get('/api/lanes')).lanes).toEqual([])
  })

  test('may rise afterwards; a lower one needs another approval', async () => {
    const { body } = await ask()
    await decide(body.approval_id, { decision: 'approve' })
    await setRate(1, 1_540)
    expect(await standing()).toMatchObject({ needed: 0, approved: 1 })
    await setRate(1, 1_499.99)
    expect(await standing()).toMatchObject({ needed: 1, approved: 0 })
    expect(await exported()).toMatchObject({ status: 422 })
    await setRate(1, 2_000)
    expect(await standing()).toMatchObject({ needed: 0, approved: 0, latest: null })
    expect(await ask()).toMatchObject({ status: 409 })
  })

  test('that was lowered after the request is not approved with it', async () => {
    const { body } = await ask()
    await setRate(1, 1_400)
    const refused = await decide(body.approval_id, { decision: 'approve' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'state-conflict' } })
    expect(refused.body.detail).toContain('Lane 1 has $1,400 by now, below the $1,500 of the request.')
    expect(await decide(body.approval_id, { decision: 'reject', note: 'Too low.' })).toMatchObject({
      body: { state: 'rejected' },
    })
    expect(await standing()).toMatchObject({
      needed: 1,
      latest: { state: 'rejected', decision_note: 'Too low.' },
    })
    expect(await ask()).toMatchObject({ status: 201 })
  })

  test('whose request nobody decided in time can be asked for again', async () => {
    expect(await ask()).toMatchObject({ status: 201 })
    // Before the service stores that the request expired.
    app.now += 25 * 3_600_000
    // The sessions have ended by then.
    const signIn = async ({ email, password }: { email: string; password: string }) =>
      (await call(app, 'POST', '/api/auth/sign-in', { body: { email, password } })).body.token
    tenant = { ...tenant, owner: await signIn(tenant) }
    member = await signIn(person)
    expect(await standing()).toMatchObject({ needed: 1, latest: { state: 'expired' } })
    expect(await ask()).toMatchObject({ status: 201 })
  })

  test('of a bid that was removed after the request is not approved', async () => {
    const { body } = await ask()
    expect(await call(app, 'DELETE', path(), { token: tenant.owner })).toMatchObject({ status: 200 })
    const refused = await decide(body.approval_id, { decision: 'approve' })
    expect(refused).toMatchObject({ status: 409 })
    expect(refused.body.detail).toContain('The bid was removed')
  })
})

test('a rate below a minimum that blocks cannot be approved', async () => {
  await begin('block')
  expect(await standing()).toMatchObject({ needed: 0, blocked: 1 })
  expect(await exported()).toMatchObject({ status: 422, body: { errors: [{ code: 'blocked' }] } })
  expect(await ask()).toMatchObject({ status: 422, body: { errors: [{ code: 'blocked' }] } })
})

test('a rate below a minimum that warns is exported', async () => {
  await begin('warn')
  expect(await standing()).toEqual({ needed: 0, blocked: 0, approved: 0, latest: null })
  expect(await exported()).toMatchObject({ status: 200 })
  expect(await submit()).toMatchObject({ status: 200 })
})

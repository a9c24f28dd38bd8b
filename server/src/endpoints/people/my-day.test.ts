import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

type Person = Awaited<ReturnType<typeof makePerson>>

let app: TestApp
let tenant: MadeTenant
let rep: Person
let other: Person

const hourMs = 3_600_000

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  app.now = Date.now()
  tenant = await makeTenant(app)
  rep = await makePerson(app, tenant, 'member')
  other = await makePerson(app, tenant, 'member')
})

async function quote(
  customer: string,
  { rate, cost, hours }: { rate: number; cost?: number; hours: number },
  by: { readonly token: string } = rep,
): Promise<string> {
  const { status, body } = await call(app, 'POST', '/api/quote-requests', {
    token: by.token,
    body: {
      customer_name: customer,
      lanes: [
        {
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          quoted_rate: rate,
          valid_hours: hours,
          ...(cost === undefined ? {} : { estimated_cost: cost }),
        },
      ],
    },
  })
  expect(status).toBe(201)
  return body.lanes[0].lane_ref
}
async function dayOf(person: { readonly token: string }) {
  const { status, body } = await call(app, 'GET', '/api/my-day', { token: person.token })
  expect(status).toBe(200)
  return body.quotes as Record<string, unknown>[]
}
const customersOf = async (person: { readonly token: string }) =>
  (await dayOf(person)).map(({ customer_name: name }) => name)
const give = (id: number, to: number | null, token = tenant.owner) =>
  call(app, 'POST', `/api/users/${id}/quotes-to`, { token, body: { user_id: to } })

test('the quotes of a person are ordered by dollars at stake and time left, those with a due follow-up first', async () => {
  await quote('Much, later', { rate: 3000, cost: 2400, hours: 168 })
  await quote('Little, soon', { rate: 1000, cost: 940, hours: 6 })
  await quote('Much, soon', { rate: 3000, cost: 2400, hours: 8 })
  await quote('Loss, soon', { rate: 1000, cost: 1200, hours: 2 })
  await quote('Of another', { rate: 3000, cost: 2400, hours: 2 }, other)
  expect(await customersOf(rep)).toEqual(['Much, soon', 'Little, soon', 'Much, later', 'Loss, soon'])
  const [first] = await dayOf(rep)
  expect(first).toMatchObject({ rate: 3000, at_stake: 600, follow_up: null, has_left: false })
  app.now += hourMs + 1
  // An hour before its end.
  const [due, ...others] = await dayOf(rep)
  expect(due).toMatchObject({
    customer_name: 'Loss, soon',
    follow_up: { detail: '$1,000. It ends soon: ask for an answer.' },
  })
  expect(others.map(({ customer_name: name }) => name)).toEqual(['Much, soon', 'Little, soon', 'Much, later'])
  const item = (due?.follow_up as { item: string } | undefined)?.item
  await call(app, 'POST', '/api/inbox/marks', { token: rep.token, body: { items: [item], mark: 'done' } })
  expect((await dayOf(rep)).every(({ follow_up: followUp }) => followUp === null)).toBe(true)
})

test('a brokerage changes when follow-ups are due, or has none', async () => {
  await quote('Harvest', { rate: 3000, hours: 100 })
  const isDue = async () => (await dayOf(rep))[0]?.follow_up !== null
  const remind = (hours: number) =>
    call(app, 'PATCH', '/api/tenant', {
      token: tenant.owner,
      body: { reminders: { follow_up_after_hours: hours } },
    })
  await remind(2)
  app.now += 2 * hourMs
  expect(await isDue()).toBe(true)
  await remind(3)
  expect(await isDue()).toBe(false)
  await remind(0)
  app.now += 5 * hourMs
  expect(await isDue()).toBe(false)
})

test('the quotes of a person who left are with the admins, until they give them to somebody', async () => {
  await quote('Harvest', { rate: 3000, hours: 20 })
  const owner = { token: tenant.owner }
  expect(await customersOf(owner)).toEqual([])
  await call(app, 'DELETE', `/api/users/${rep.id}`, { token: tenant.owner })
  expect((await dayOf(owner))[0]).toMatchObject({ customer_name: 'Harvest', has_left: true })
  expect((await give(rep.id, other.id)).body).toEqual({ user_id: other.id })
  expect(await customersOf(owner)).toEqual([])
  expect(await customersOf(other)).toEqual(['Harvest'])
  // A stand-in who leaves, too, counts as none.
  await call(app, 'DELETE', `/api/users/${other.id}`, { token: tenant.owner })
  expect(await customersOf(owner)).toEqual(['Harvest'])
})

test('quotes of a person who is away are given to another one, and back', async () => {
  await quote('Harvest', { rate: 3000, hours: 20 })
  await give(rep.id, other.id)
  expect([await customersOf(rep), await customersOf(other)]).toEqual([[], ['Harvest']])
  expect((await give(rep.id, null)).body).toEqual({ user_id: null })
  expect([await customersOf(rep), await customersOf(other)]).toEqual([['Harvest'], []])
})

test('a stand-in who may only look by now counts as none', async () => {
  await quote('Harvest', { rate: 3000, hours: 20 })
  await give(rep.id, other.id)
  expect([await customersOf(rep), await customersOf(other)]).toEqual([[], ['Harvest']])
  await call(app, 'PATCH', `/api/users/${other.id}`, { token: tenant.owner, body: { role: 'viewer' } })
  expect(await customersOf(rep)).toEqual(['Harvest'])
})

test('only an admin gives quotes, and only to an active person who may quote', async () => {
  const viewer = await makePerson(app, tenant, 'viewer')
  expect((await give(rep.id, other.id, other.token)).status).toBe(403)
  expect((await give(99_999, other.id)).status).toBe(404)
  for (const to of [viewer.id, rep.id, 99_999]) {
    const { status, body } = await give(rep.id, to)
    expect([status, body.errors[0].pointer]).toEqual([422, '/user_id'])
  }
  expect((await call(app, 'GET', '/api/my-day', { token: viewer.token })).status).toBe(403)
})

test('customers who are hidden from a person are not in their day, also if quotes are given to them', async () => {
  await quote('Secret Shipper', { rate: 3000, hours: 20 })
  const team = { name: 'Produce', members: [rep.id], customers: ['Secret Shipper'] }
  await call(app, 'POST', '/api/teams', { token: tenant.owner, body: team })
  await give(rep.id, other.id)
  expect(await customersOf(other)).toEqual([])
})

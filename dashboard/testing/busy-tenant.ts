import { expect, vi } from 'vitest'
import { watches } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { proveDomain, setProvider } from '#testing/company.ts'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import type { NameServer } from '#testing/name-server.ts'
import { storeMail } from '#testing/stored-mail.ts'
import type { TestApp } from '#testing/test-app.ts'

/**
 * A brokerage with something on each page: sample data, a rule, a request for approval, a market rate, a bid
 * with its next round, a team, a company sign-in, and a lane and a customer that the owner follows, of which one has moved.
 */
export async function busyTenant(app: TestApp, names: NameServer): Promise<MadeTenant> {
  const tenant = await makeTenant(app)
  const token = tenant.owner
  const post = async (path: string, body: object, by = token) => {
    const answer = await call(app, 'POST', path, { token: by, body })
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    return answer.body
  }
  const { import_id } = await post('/api/sample-data', {})
  const imported = async () => (await call(app, 'GET', `/api/imports/${import_id}`, { token })).body.status
  await vi.waitUntil(async () => (await imported()) === 'done', { timeout: 60_000 })
  await post('/api/pricing-rules', {
    conditions: { customer: 'Polar Produce' },
    terms: { minimum: { margin_pct: 40 }, outside: 'approval' },
  })
  const member = await makePerson(app, tenant, 'member')
  const asked = {
    customer_name: 'Polar Produce',
    lanes: [
      {
        origin: 'Dallas, TX',
        destination: 'Atlanta, GA',
        equipment: 'V',
        quoted_rate: 1700,
        estimated_cost: 1500,
      },
    ],
  }
  await post('/api/approvals', asked, member.token)
  await post('/api/market-rates', {
    rates: [
      {
        scope: 'lane',
        origin: 'Dallas, TX',
        destination: 'Atlanta, GA',
        equipment: 'V',
        basis: 'all_in',
        kind: 'buy',
        mid: 1750,
        source: 'DAT',
        as_of: new Date(app.now).toISOString(),
      },
    ],
  })
  await uploadRounds(app, token)
  await post('/api/teams', { name: 'Texas desk', members: [member.id], customers: [] })
  await proveDomain(app, tenant, names, 'blue-mesa.example.org')
  await setProvider(
    app,
    tenant,
    { issuer: 'https://login.example.com' },
    { groups: [{ group: 'brokers', role: 'member' }] },
  )
  await follow(app, tenant)
  await storeMail(app, tenant, { subject: 'Rate needed' })
  return tenant
}

/** Uploads a bid with a place that is not known, and its next round with a rank, targets and other loads. */
async function uploadRounds(app: TestApp, token: string): Promise<void> {
  const lanes = Array.from({ length: 60 }, (_, at) => `L-${at + 1},"Dallas, TX","Atlanta, GA",V,52,,,`)
  const header = 'Lane,Origin,Destination,Equipment,Annual Volume,Rank,Target,Bid Rate'
  const rounds = [
    ['Annual RFP', [header, 'L-0,"Dalas, TX","Atlanta, GA",V,52,,,', ...lanes]],
    [
      'Annual RFP, round 2',
      [
        header,
        'L-0,"Dallas, TX","Memphis, TN",V,26,3,900,',
        'N-1,"Reno, NV","Boise, ID",V,52,,,',
        ...lanes.slice(2),
      ],
    ],
  ] as const
  for (const [at, [name, file]] of rounds.entries()) {
    const query = new URLSearchParams({ name, customer: 'Polar Produce', file_name: 'rfp.csv' })
    if (at > 0) query.set('follows', String(at))
    const sent = await fetch(`${app.url}/api/bids?${query}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/csv' },
      body: file.join('\n'),
    })
    expect(sent.status, await sent.text()).toBe(201)
  }
}

/** Follows the busiest lane and customer, and stores a move of each, as the daily scan does. */
async function follow(app: TestApp, tenant: MadeTenant): Promise<void> {
  const get = async (path: string) => (await call(app, 'GET', path, { token: tenant.owner })).body
  const [lane] = (await get('/api/performance?by=lane&limit=1')).rows
  const [customer] = (await get('/api/performance?by=customer&limit=1')).rows
  const followed = [
    { kind: 'lane', ...lane.lane },
    { kind: 'customer', customer_name: customer.label },
  ]
  for (const body of followed) {
    const answer = await call(app, 'POST', '/api/watches', { token: tenant.owner, body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
  const day = Math.floor(app.now / 86_400_000)
  const moved = { found_on: day, found_at: new Date(app.now), since: day - 6, customers: [] }
  const { watches: list } = await get('/api/watches')
  const idOf = (kind: string) => list.find((watch: { kind: string }) => watch.kind === kind).id
  const id = tenantId(tenant.id)
  await app.database.inTenant(id, (transaction) =>
    watches.insertMoves(transaction, id, [
      {
        ...{ ...moved, watch_id: idOf('lane'), metric: 'rate' },
        ...{
          before_value: Math.log(2010),
          after_value: Math.log(2175),
          values_before: 160,
          values_after: 11,
        },
      },
      {
        ...{ ...moved, watch_id: idOf('customer'), metric: 'win_rate' },
        ...{ before_value: 0.42, after_value: 0.29, values_before: 210, values_after: 34 },
      },
    ]),
  )
}

// Fills a database for the upgrade tests of later versions: node checks/write-earlier-database.ts VERSION URL. See CONTRIBUTING.md, "Making
// a release".
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import {
  call,
  type MadeTenant,
  makeLane,
  makePerson,
  makePricedBid,
  makeSecret,
  makeServiceToken,
  password,
  pushUpdate,
  requireStatus,
} from '#testing/make.ts'
import type { TestApp } from '#testing/test-app.ts'

const companies = ['Fixture Freight', 'Example Brokers']
const [version, url] = process.argv.slice(2)
if (version === undefined || url === undefined)
  throw new Error('Give the version and the URL of its service.')
const app = { url, now: Date.now() } as TestApp

const imported = `reference,quoted_at,customer_name,origin,destination,equipment,quoted_rate,outcome
F-1,2026-02-03T15:00:00Z,Harvest Table Foods,"Dallas, TX","Houston, TX",R,850,won
F-2,2026-02-04T15:00:00Z,Copper Line Supply,"Chicago, IL","Columbus, OH",V,1240,lost
`
const bid = `Lane,Origin,Destination,Equipment,Annual Volume,Rate
H-1,"Dallas, TX","Atlanta, GA",V,52,
H-2,"Houston, TX","Memphis, TN",V,26,
`

async function post(path: string, token: string, body: object, status = 201) {
  return requireStatus(path, await call(app, 'POST', path, { token, body }), status)
}

/** Something in each part of the product that keeps what people entered. */
async function fill(tenant: MadeTenant): Promise<readonly string[]> {
  const { owner } = tenant
  const lanes = []
  for (let at = 0; at < 10; at++) {
    lanes.push(
      await makeLane(app, tenant, {
        rate: 1_900 + 25 * at,
        rateType: at % 2 === 0 ? 'spot' : 'contract',
        equipment: at === 3 ? 'R' : 'V',
        customer: at < 6 ? 'Harvest Table Foods' : 'Copper Line Supply',
        outcome: at < 4 ? 'pending' : at < 7 ? 'won' : 'lost',
      }),
    )
  }
  const file = await fetch(`${url}/api/imports?file_name=quotes.csv`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${owner}`, 'Content-Type': 'text/csv' },
    body: imported,
  })
  const { import_id: importId } = (await file.json()) as { import_id: number }
  for (let status = ''; status !== 'done'; await delay(100)) {
    const { body } = await call(app, 'GET', `/api/imports/${importId}`, { token: owner })
    status = body.status
    if (status === 'failed') throw new Error(JSON.stringify(body))
  }
  const member = await makePerson(app, tenant, 'member')
  await post('/api/teams', owner, { name: 'Texas desk', members: [member.id], customers: [] })
  await post('/api/pricing-rules', owner, {
    conditions: { customer: 'Copper Line Supply' },
    terms: { minimum: { margin_pct: 9 }, outside: 'warn' },
  })
  await post('/api/event-endpoints', owner, {
    url: 'https://hooks.example.com/lanewise',
    event_types: ['quote.created'],
  })
  const bidId = await makePricedBid(app, owner, bid)
  const { body } = await call(app, 'GET', `/api/bids/${bidId}/lanes`, { token: owner })
  const award = { lane: 1, version: body.lanes[0].version, state: 'awarded', rate: 2_050, loads: 40 }
  await post(`/api/bids/${bidId}/awards`, owner, { cells: [award] }, 200)
  return lanes.map(({ lane_ref: ref }) => ref)
}

const tenants = []
for (const [index, company] of companies.entries()) {
  const email = `owner${index + 1}@example.com`
  const made = await call(app, 'POST', '/api/auth/sign-up', {
    body: { company, name: 'Olive Quay', email, password },
  })
  const { tenant, token: owner } = requireStatus('sign-up', made, 201)
  const laneRefs = await fill({ id: tenant.id, email, password, owner })
  const access = { token: await makeServiceToken(app, owner), secret: await makeSecret(app, owner) }
  const update = {
    lane_ref: laneRefs[0],
    customer_rate: 2010.5,
    truck_cost: 1700.25,
    carrier_name: 'Roadrunner Express Example',
    carrier_notes: 'dock 4',
    booked_at: new Date().toISOString(),
  }
  const at = Math.floor(Date.now() / 1000)
  const answer = await pushUpdate(app, access, update, at)
  const sent = { bytes: JSON.stringify(update), at, status: answer.status, answer: answer.body }
  tenants.push({ company, email, ...access, lane_refs: laneRefs, update: sent })
}
const file = `server/testing/earlier-databases/${version}.json`
writeFileSync(file, `${JSON.stringify({ password, tenants }, null, 2)}\n`)
process.stdout.write(`Wrote ${file}.\n`)

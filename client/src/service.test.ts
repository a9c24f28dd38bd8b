import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Integration, makeIntegration, makeLane, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { isLanewiseFailure, Lanewise } from './index.ts'

/** The client against the service itself. */

let app: TestApp
let integration: Integration
let lanewise: Lanewise

beforeAll(async () => {
  app = await testApp({ now: Date.now() })
  integration = await makeIntegration(app)
  lanewise = new Lanewise({ baseUrl: `${app.url}/`, token: integration.token, secret: integration.secret })
})
afterAll(() => app.close())

test('from credentials to a booked margin, with the methods an integration needs', async () => {
  const tenant = await makeTenant(app)
  const owner = new Lanewise({ baseUrl: app.url, token: tenant.owner })
  const token = await owner.createServiceToken({ name: 'TMS' })
  const secret = await owner.createSigningSecret({ name: 'tms' })
  const tms = new Lanewise({ baseUrl: app.url, token: token.token, secret: secret.secret })
  const lane = await makeLane(app, tenant, { rate: 2000 })

  const query = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
  expect(await tms.markup({ ...query, proposed_rate: 2100 })).toMatchObject({
    found: true,
    confidence: 'none',
  })
  const update = {
    lane_ref: lane.lane_ref,
    customer_rate: 2100.1,
    truck_cost: 1790.05,
    carrier_name: 'Peña — 運送',
  }
  expect(await tms.shipmentUpdate(update)).toEqual({ status: 'ok', lane_id: lane.lane_id, updated: true })

  // The booking is in the next answer: the client forgot what it had been told before.
  expect(await tms.markup({ ...query, proposed_rate: 2100 })).toMatchObject({ confidence: 'low' })
  expect(await tms.laneInsight(query)).toMatchObject({
    found: true,
    history: { wins: 1, avg_rate_usd: 2100.1 },
  })
  expect(await owner.call('get-lane', { params: { lane_ref: lane.lane_ref } })).toMatchObject({
    margin: 310.05,
    carrier_name: 'Peña — 運送',
  })

  expect((await owner.listServiceTokens()).tokens).toHaveLength(1)
  const successor = await owner.rotateSigningSecret(secret.id, { overlap_hours: 1 })
  expect((await owner.listSigningSecrets()).secrets.map(({ id }) => id)).toEqual([successor.id, secret.id])
  expect((await owner.revokeSigningSecret(secret.id)).revoked_at).not.toBeNull()
  await owner.revokeServiceToken(token.id)
  const refused = await tms.laneInsight(query, { cache: false }).catch((error: unknown) => error)
  expect(isLanewiseFailure(refused) && refused.code).toBe('token-revoked')
})

test('a clock that is off by an hour is set right by the service', async () => {
  const lane = await makeLane(app, integration.tenant)
  app.now = Date.now() + 3_600_000
  try {
    expect(await lanewise.shipmentUpdate({ lane_ref: lane.lane_ref, truck_cost: 1500 })).toMatchObject({
      updated: true,
    })
  } finally {
    app.now = Date.now()
  }
})

test('a file goes up and comes down as it is', async () => {
  const owner = new Lanewise({ baseUrl: app.url, token: integration.tenant.owner })
  const body = new Blob(['origin,destination,equipment,quoted_rate,quoted_at\nReno\n'])
  const made = await owner.call('create-import', { query: { file_name: 'q.csv', dry_run: 'true' }, body })
  expect(made).toMatchObject({ file_name: 'q.csv', dry_run: true })
  expect(await owner.call('export-lanes', { query: { origin: 'Dallas, TX' } })).toContain('Dallas')
})

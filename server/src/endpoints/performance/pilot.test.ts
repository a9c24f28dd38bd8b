import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  type MadeTenant,
  makeIntegration,
  makeLane,
  makePerson,
  makeServiceToken,
  makeTenant,
  pushSigned,
  pushUpdate,
  quoteToPush,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { pilotChain, verifyChain } from '../../database/queries/index.ts'
import { tenantId } from '../../database/session/index.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const switchPilot = (tenant: MadeTenant, active: boolean) =>
  call(app, 'PATCH', '/api/pilot', { token: tenant.owner, body: { active } })

interface SentEntry {
  readonly entry: number
  readonly kind: string
  readonly lane_id: number | null
  readonly body: string
}

/** The entries of a brokerage's pilot with parsed bodies, after outcomes were recorded. */
async function entriesOf(tenant: MadeTenant) {
  await app.sealPilots()
  const { body } = await call(app, 'GET', '/api/pilot/entries', { token: tenant.owner })
  return (body.entries as SentEntry[]).map((entry) => ({
    ...entry,
    body: JSON.parse(entry.body) as Record<string, unknown>,
  }))
}

const kinds = (entries: readonly { kind: string }[]) => entries.map(({ kind }) => kind)

async function pilotTenant(): Promise<Integration> {
  const made = await makeIntegration(app, 'quotes:write')
  for (const outcome of ['won', 'lost'] as const) await makeLane(app, made.tenant, { outcome })
  expect((await switchPilot(made.tenant, true)).status).toBe(200)
  return made
}

describe('200', () => {
  test('a pilot is off until an owner or admin switches it on; both are in the chain and in the audit log', async () => {
    const tenant = await makeTenant(app)
    const before = await call(app, 'GET', '/api/pilot', { token: tenant.owner })
    expect(before.body).toEqual({
      active: false,
      started_at: null,
      started_by: null,
      stopped_at: null,
      head: null,
      experiment: null,
    })
    await makeLane(app, tenant)
    expect(await entriesOf(tenant)).toEqual([])
    const on = await switchPilot(tenant, true)
    expect(on.body).toMatchObject({ active: true, head: { entry: 1 } })
    // Once more changes nothing.
    expect((await switchPilot(tenant, true)).body).toEqual(on.body)
    await makeLane(app, tenant)
    await switchPilot(tenant, false)
    await makeLane(app, tenant)
    const entries = await entriesOf(tenant)
    expect(kinds(entries)).toEqual(['started', 'forecast', 'stopped'])
    expect(entries[0]?.body).toMatchObject({
      format: 'lanewise pilot 1',
      brokerage: { id: tenant.id, name: 'Test Brokers' },
      expired_counts_as_lost: false,
    })
    const { body } = await call(app, 'GET', '/api/audit?group=brokerage', { token: tenant.owner })
    expect(body.events.map(({ kind }: { kind: string }) => kind)).toEqual(['pilot-stopped', 'pilot-started'])
  })

  test('each new quote has its forecast in the transaction that saves it: the numbers that advice shows', async () => {
    const { tenant } = await pilotTenant()
    const { body: advice } = await call(
      app,
      'GET',
      '/api/advice/markup?origin=Dallas,TX&destination=Atlanta,GA&equipment=V&proposed_rate=2050&include=estimate,optimum',
      { token: tenant.owner },
    )
    const lane = await makeLane(app, tenant, { rate: 2050 })
    const { body } = await call(app, 'GET', '/api/pilot/entries', { token: tenant.owner })
    const [, forecast] = body.entries
    expect(forecast).toMatchObject({ entry: 2, kind: 'forecast', lane_id: lane.lane_id })
    const sealed = JSON.parse(forecast.body)
    const near = (value: number) => expect.closeTo(value, 2)
    expect(sealed).toMatchObject({
      lane_ref: lane.lane_ref,
      rate: 2050,
      probability: near(advice.estimate.probability),
      interval_80: [near(advice.estimate.interval_80.low), near(advice.estimate.interval_80.high)],
      interval_95: [near(advice.estimate.interval_95.low), near(advice.estimate.interval_95.high)],
      lane_won: 1,
      lane_decided: 2,
      all_won: 1,
      all_decided: 2,
      going_rate: advice.estimate.reference_rate,
      late: null,
      no_forecast: null,
    })
    expect(sealed.model).toMatch(/^\d+\.\d+\.\d+ [0-9a-f]{12}$/)
  })

  test('a requote is a forecast of its own; outcomes, voids and corrections follow in the chain', async () => {
    const { tenant } = await pilotTenant()
    const token = tenant.owner
    const first = await makeLane(app, tenant, { rate: 2100 })
    const { body: further } = await call(app, 'POST', `/api/lanes/${first.lane_ref}/requote`, {
      token,
      body: { quoted_rate: 2020 },
    })
    const mark = (ref: string, outcome: string) =>
      call(app, 'POST', `/api/lanes/${ref}/outcome`, { token, body: { outcome } })
    await mark(further.lane_ref, 'won')
    await app.sealPilots()
    await mark(further.lane_ref, 'lost')
    await call(app, 'POST', `/api/lanes/${first.lane_ref}/void`, { token, body: { reason: 'Typo' } })
    const entries = await entriesOf(tenant)
    expect(entries.slice(1).map(({ kind, body }) => [kind, body.lane_ref, body.rate, body.outcome])).toEqual([
      ['forecast', first.lane_ref, 2100, undefined],
      ['forecast', further.lane_ref, 2020, undefined],
      ['outcome', further.lane_ref, 2020, 'won'],
      ['outcome', further.lane_ref, 2020, 'lost'],
      ['outcome', first.lane_ref, 2100, 'void'],
    ])
    expect(await entriesOf(tenant)).toEqual(entries)
  })

  test('an expired quote and a booking are outcomes, with what was earned', async () => {
    const made = await pilotTenant()
    const quoted = await pushSigned(app, made, pushQuotes, {
      quotes: [
        quoteToPush('E-1', { valid_until: new Date(app.now + 1_000).toISOString() }),
        quoteToPush('B-1', { rep_name: 'Dana' }),
      ],
    })
    const [expiring, booked] = quoted.body.results
    const tms = { ...made, token: await makeServiceToken(app, made.tenant.owner) }
    await pushUpdate(app, tms, { lane_ref: booked.lane_ref, customer_rate: 2150, truck_cost: 1800 })
    const entries = await entriesOf(made.tenant)
    expect(entries.at(-1)?.body).toMatchObject({
      lane_ref: booked.lane_ref,
      outcome: 'won',
      source: 'tms',
      rate: 2150,
      revenue: 2150,
      cost: 1800,
    })
    expect(entries[1]?.body).toMatchObject({ lane_ref: expiring.lane_ref, external_id: 'E-1', late: null })
    expect(entries[2]?.body).toMatchObject({ external_id: 'B-1', rep: 'Dana' })
  })

  test('a booking that cannot be converted is in no dollars, and a later diesel price does not change the quoted rate', async () => {
    const made = await pilotTenant()
    const { owner } = made.tenant
    const tms = { ...made, token: await makeServiceToken(app, owner) }
    const week = (nth: number) => new Date(app.now - nth * 7 * 86_400_000).toISOString().slice(0, 10)
    const diesel = (day: string, price: number) =>
      call(app, 'POST', '/api/fuel/diesel-prices', {
        token: owner,
        body: { text: `period,series,value\n${day},EMD_EPD2D_PTE_NUS_DPG,${price}\n` },
      })
    const periods = [{ from: week(3), base_price: 1.2, miles_per_gallon: 6 }]
    await call(app, 'PATCH', '/api/fuel/schedule', { token: owner, body: { periods } })
    await diesel(week(1), 3.6)
    const { body } = await pushSigned(app, made, pushQuotes, {
      quotes: [
        quoteToPush('L-1', { quoted_basis: 'linehaul', quoted_rate: 1800, estimated_cost: 1500 }),
        quoteToPush('A-1', { estimated_cost: 1800 }),
      ],
    })
    await diesel(week(0), 3.9)
    const [linehaul, booked] = body.results.map((one: { lane_ref: string }) => one.lane_ref)
    await call(app, 'POST', `/api/lanes/${linehaul}/outcome`, { token: owner, body: { outcome: 'won' } })
    // Canadian dollars on a day without an exchange rate.
    const cost = { truck_cost: 2400, truck_currency: 'CAD' }
    // A second later: a booking of the second of the quote would have been signed before the forecast.
    await pushUpdate(
      app,
      tms,
      { lane_ref: booked, customer_rate: 2150, ...cost },
      Math.floor(app.now / 1000) + 1,
    )
    await app.sealPilots()
    const report = () => call(app, 'GET', '/api/pilot/report', { token: owner })
    expect((await report()).body).toMatchObject({
      scored: 2,
      unscored: { rate_changed: 0 },
      kept_apart: 1,
      dollars: { quotes: 1 },
    })
    // The forecasts are on the basis of their day.
    await call(app, 'PATCH', '/api/tenant', { token: owner, body: { default_basis: 'linehaul' } })
    await call(app, 'POST', `/api/lanes/${linehaul}/outcome`, { token: owner, body: { outcome: 'lost' } })
    await app.sealPilots()
    expect((await report()).body).toMatchObject({ scored: 2, kept_apart: 2, dollars: null })
  })

  test('a pushed quote with an outcome, or of days ago, is marked as late; a repriced one is forecast again', async () => {
    const made = await pilotTenant()
    let at = Math.floor(app.now / 1000)
    const push = (quote: object) => pushSigned(app, made, pushQuotes, { quotes: [quote] }, at++)
    await push(quoteToPush('P-1', { outcome: 'won' }))
    await push(
      quoteToPush('P-2', { quoted_at: new Date(app.now - 3 * 86_400_000).toISOString(), quoted_rate: 2000 }),
    )
    await push(quoteToPush('P-3'))
    await push(quoteToPush('P-3', { quoted_rate: 2090 }))
    await push(quoteToPush('P-3', { quoted_rate: 2090, customer_name: 'Someone Else' }))
    await pushSigned(app, made, pushOutcomes, { outcomes: [{ external_id: 'P-3', outcome: 'lost' }] })
    const entries = await entriesOf(made.tenant)
    expect(
      entries.slice(1).map(({ kind, body }) => [kind, body.external_id, body.rate, body.late ?? null]),
    ).toEqual([
      ['forecast', 'P-1', 2150, 'decided_before'],
      ['forecast', 'P-2', 2000, 'quoted_long_before'],
      ['forecast', 'P-3', 2150, null],
      ['forecast', 'P-3', 2090, null],
      // P-1 was won from the beginning.
      ['outcome', undefined, 2150, null],
      ['outcome', undefined, 2090, null],
    ])
  })

  test('a quote of days ago that is repriced has a forecast with numbers, in US dollars on the basis of the brokerage', async () => {
    const made = await pilotTenant()
    let at = Math.floor(app.now / 1000)
    const push = (over: object) =>
      pushSigned(app, made, pushQuotes, { quotes: [quoteToPush('R-1', { ...over, ...old })] }, at++)
    const day = (at: number) => new Date(at).toISOString().slice(0, 10)
    const quotedAt = app.now - 3 * 86_400_000
    const old = { quoted_at: new Date(quotedAt).toISOString() }
    await call(app, 'POST', '/api/exchange-rates', {
      token: made.tenant.owner,
      body: { rates: [{ day: day(quotedAt), usd_per_cad: 0.7 }] },
    })
    await push({})
    await push({ quoted_rate: 2090 })
    await push({ quoted_rate: 2900, quoted_currency: 'CAD' })
    await pushSigned(app, made, pushOutcomes, { outcomes: [{ external_id: 'R-1', outcome: 'won' }] })
    const entries = await entriesOf(made.tenant)
    expect(
      entries
        .slice(1)
        .map(({ kind, body }) => [kind, body.rate, body.late ?? null, body.no_forecast ?? null]),
    ).toEqual([
      ['forecast', 2150, 'quoted_long_before', null],
      ['forecast', 2090, null, null],
      ['forecast', 2030, null, null],
      ['outcome', 2030, null, null],
    ])
  })

  test('the best rate of a forecast is within the rule that applies to its quote', async () => {
    const { tenant } = await pilotTenant()
    const rule = (conditions: object, margin: number) =>
      call(app, 'POST', '/api/pricing-rules', {
        token: tenant.owner,
        body: { conditions, terms: { minimum: { margin }, round_to: 25 } },
      })
    await rule({}, 100)
    await rule({ customer: 'Strict Foods' }, 1500)
    const quote = (customer_name: string) =>
      call(app, 'POST', '/api/quote-requests', {
        token: tenant.owner,
        body: {
          customer_name,
          lanes: [
            {
              origin: 'Dallas, TX',
              destination: 'Atlanta, GA',
              equipment: 'V',
              quoted_rate: 2150,
              estimated_cost: 1690,
            },
          ],
        },
      })
    await quote('Any')
    await quote('Strict Foods')
    const [, any, strict] = await entriesOf(tenant)
    expect(any?.body.best_rate).toBeLessThan(3190)
    expect(strict?.body.best_rate).toBe(3200)
  })

  test('a push of 300 quotes has 300 forecasts in one unbroken chain, and so have pushes and people at once', {
    tags: 'long',
  }, async () => {
    const made = await pilotTenant()
    const quotes = Array.from({ length: 300 }, (_, nth) =>
      quoteToPush(`F-${nth}`, {
        quoted_rate: 1900 + nth,
        origin: nth % 2 === 0 ? 'Dallas, TX' : 'Laredo, TX',
      }),
    )
    const pushed = await pushSigned(app, made, pushQuotes, { quotes })
    expect(pushed.body).toMatchObject({ created: 300, failed: 0 })
    await Promise.all([
      pushSigned(app, made, pushQuotes, { quotes: [quoteToPush('G-1'), quoteToPush('G-2')] }),
      ...Array.from({ length: 5 }, () => makeLane(app, made.tenant)),
    ])
    const tenant = tenantId(made.tenant.id)
    const found = await verifyChain((work) => app.database.inTenant(tenant, work), tenant, pilotChain, [])
    expect(found).toMatchObject({ rows: 308, wrong: null })
    const { body: first } = await call(app, 'GET', '/api/pilot/entries?limit=200', {
      token: made.tenant.owner,
    })
    expect(first.next_after).toBe(200)
    const { body: second } = await call(app, 'GET', '/api/pilot/entries?after=200', {
      token: made.tenant.owner,
    })
    expect(second).toMatchObject({
      next_after: null,
      head: { entry: 308, hash: found.newest.toString('hex') },
    })
    const { body: csv } = await call(app, 'GET', '/api/pilot/export', { token: made.tenant.owner })
    expect(csv.trimEnd().split('\r\n')).toHaveLength(309)
  })

  test('imported quotes are not live: they have no forecast', async () => {
    const { tenant } = await pilotTenant()
    const csv =
      'origin,destination,equipment,quoted_rate,quoted_at,outcome\n"Dallas, TX","Atlanta, GA",V,2000,2026-01-02,won\n'
    const response = await fetch(`${app.url}/api/imports?file_name=old.csv`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
      body: csv,
    })
    expect(response.status).toBe(202)
    await expect
      .poll(
        async () => (await call(app, 'GET', '/api/imports', { token: tenant.owner })).body.imports[0]?.status,
      )
      .toBe('done')
    expect(kinds(await entriesOf(tenant))).toEqual(['started'])
  })

  test('the rollback of a quote leaves no entry', async () => {
    const { tenant } = await pilotTenant()
    const key = '00000009-0000-4000-8000-00000000000b'
    const send = (rate: number) =>
      call(app, 'POST', '/api/quote-requests', {
        token: tenant.owner,
        body: {
          customer_name: 'Harvest',
          request_key: key,
          lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: rate }],
        },
      })
    expect((await send(2000)).status).toBe(201)
    // The same request again, and another body with its key: neither is a requote.
    expect((await send(2000)).status).toBe(201)
    expect((await send(2010)).status).toBe(422)
    expect(kinds(await entriesOf(tenant))).toEqual(['started', 'forecast'])
  })
})

/** The events of a brokerage, oldest first. */
const eventsOf = (tenant: MadeTenant) =>
  app.database.inTenant(tenantId(tenant.id), (transaction) =>
    transaction.selectFrom('events').select(['type', 'about']).orderBy('event_number').execute(),
  )

async function subscribe(tenant: MadeTenant, ...types: string[]): Promise<void> {
  const { status } = await call(app, 'POST', '/api/event-endpoints', {
    token: tenant.owner,
    body: { url: 'https://hooks.example.com/', event_types: types },
  })
  expect(status).toBe(201)
}

describe('the calibration', () => {
  /** Saves quotes on the desk with the chance that it showed, and pushes their outcomes, decided on the days before. */
  async function decide(made: Integration, quotes: number, shown: number, outcome: 'won' | 'lost') {
    const { body } = await call(app, 'POST', '/api/quote-requests', {
      token: made.tenant.owner,
      body: {
        customer_name: 'Harvest Table Foods',
        lanes: Array.from({ length: quotes }, () => ({
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          quoted_rate: 2000,
          advice: { win_probability: shown, low: 0.5, high: 1, trust: 'good' },
        })),
      },
    })
    const outcomes = body.lanes.map(({ lane_ref }: { lane_ref: string }, nth: number) => ({
      lane_ref,
      outcome,
      decided_at: new Date(app.now - (nth % 20) * 86_400_000).toISOString(),
    }))
    expect((await pushSigned(app, made, pushOutcomes, { outcomes })).body.failed).toBe(0)
  }
  const calibrationOf = async ({ tenant }: Integration) =>
    (await call(app, 'GET', '/api/calibration', { token: tenant.owner })).body

  test('counts the forecast that the pilot recorded', async () => {
    const made = await pilotTenant()
    await pushSigned(app, made, pushQuotes, { quotes: [quoteToPush('C-1'), quoteToPush('C-2')] })
    await pushSigned(app, made, pushOutcomes, { outcomes: [{ external_id: 'C-1', outcome: 'won' }] })
    await app.checkCalibrations()
    expect(await calibrationOf(made)).toMatchObject({ state: 'too_few', decided: 1, won: 1 })
  })

  test('counts the decisions of today and of the 59 days before', async () => {
    const made = await pilotTenant()
    const ids = [0, 59, 60].map((days) => ({ id: `D-${days}`, days }))
    await pushSigned(app, made, pushQuotes, { quotes: ids.map(({ id }) => quoteToPush(id)) })
    const outcomes = ids.map(({ id, days }) => ({
      external_id: id,
      outcome: 'won',
      decided_at: new Date(app.now - days * 86_400_000).toISOString(),
    }))
    expect((await pushSigned(app, made, pushOutcomes, { outcomes })).body.failed).toBe(0)
    await app.checkCalibrations()
    expect(await calibrationOf(made)).toMatchObject({ decided: 2, won: 2 })
  })

  test('breaks when the forecasts shown on the desk do not hold: once in an event, until it holds again', async () => {
    const made = await makeIntegration(app, 'quotes:write')
    await subscribe(made.tenant, 'model.calibration_broken')
    expect(await calibrationOf(made)).toMatchObject({ state: 'unchecked', checked_at: null })
    await decide(made, 40, 0.8, 'lost')
    await app.checkCalibrations()
    expect(await calibrationOf(made)).toMatchObject({ state: 'too_few', decided: 40, won: 0 })
    await decide(made, 40, 0.8, 'lost')
    // A day has not passed.
    await app.checkCalibrations()
    expect(await calibrationOf(made)).toMatchObject({ decided: 40 })
    app.now += 21 * 3_600_000
    await app.checkCalibrations()
    const { tenant } = made
    const signedIn = await call(app, 'POST', '/api/auth/sign-in', {
      body: { email: tenant.email, password: tenant.password },
    })
    const again = { ...made, tenant: { ...tenant, owner: signedIn.body.token } }
    const broken = await calibrationOf(again)
    expect(broken).toMatchObject({
      state: 'broken',
      decided: 80,
      won: 0,
      mean_forecast: expect.closeTo(0.8, 9),
      broken_since: new Date(app.now).toISOString(),
    })
    expect(broken.sentence).toContain('0 of 80 decided quotes were won')
    expect(await eventsOf(tenant)).toMatchObject([
      { type: 'model.calibration_broken', about: { calibration: { decided: 80, won: 0, days: 60 } } },
    ])
    // Still broken: no second event.
    await decide(again, 1, 0.8, 'lost')
    app.now += 21 * 3_600_000
    await app.checkCalibrations()
    expect(await eventsOf(tenant)).toHaveLength(1)
  })
})

describe('an experiment with suggested rates', () => {
  const experiment = (tenant: MadeTenant, body: object) =>
    call(app, 'PATCH', '/api/pilot/experiment', { token: tenant.owner, body })

  test('needs the pilot, begins once with a fixed length, and its seed is in the chain when it ends', async () => {
    const off = await makeTenant(app)
    expect((await experiment(off, { quotes: 400 })).status).toBe(409)
    const { tenant } = await pilotTenant()
    const started = await experiment(tenant, { quotes: 400 })
    expect(started.body.experiment).toMatchObject({ quotes: 400 })
    expect((await experiment(tenant, { quotes: 200 })).status).toBe(409)
    expect((await experiment(tenant, {})).body.experiment).toBeNull()
    expect((await experiment(tenant, { quotes: 99 })).status).toBe(422)
    const [, begun, ended] = await entriesOf(tenant)
    expect(begun?.body).toMatchObject({ action: 'started', quotes: 400, days: 30, cost_share_max: 0.02 })
    const digestOf = (seed: unknown) => createHash('sha256').update(String(seed)).digest('hex')
    expect(begun?.body).not.toHaveProperty('seed')
    expect(ended?.body).toMatchObject({ action: 'ended', seed: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(begun?.body.seed_sha256).toBe(digestOf(ended?.body.seed))
    // Switching the pilot off ends a running experiment.
    await experiment(tenant, { quotes: 400 })
    expect((await switchPilot(tenant, false)).body.experiment).toBeNull()
    const [second, over, stopped] = (await entriesOf(tenant)).slice(-3)
    expect(over?.body).toMatchObject({ action: 'ended' })
    expect(second?.body.seed_sha256).toBe(digestOf(over?.body.seed))
    expect(over?.body.seed).not.toBe(ended?.body.seed)
    expect(stopped?.kind).toBe('stopped')
  })

  test('suggests an end of the flat zone, not below the floor, and records it with the forecast', async () => {
    const { tenant } = await pilotTenant()
    const advice = async () => {
      const query = `origin=Dallas,TX&destination=Atlanta,GA&equipment=V&proposed_rate=2000&estimated_cost=1500&include=optimum`
      return (await call(app, 'GET', `/api/advice/markup?${query}`, { token: tenant.owner })).body.optimum
    }
    expect((await advice()).experiment).toBeUndefined()
    await experiment(tenant, { quotes: 400 })
    const { flat_zone: zone, experiment: suggested, floor } = await advice()
    const end = suggested.arm === 'low' ? Math.ceil(zone.low) : Math.floor(zone.high)
    expect(floor).toBeNull()
    expect(suggested.rate).toBe(end)
    expect((await advice()).experiment).toEqual(suggested)
    await call(app, 'POST', '/api/quote-requests', {
      token: tenant.owner,
      body: {
        customer_name: 'Harvest',
        lanes: [
          {
            origin: 'Dallas, TX',
            destination: 'Atlanta, GA',
            equipment: 'V',
            quoted_rate: suggested.rate,
            estimated_cost: 1500,
          },
        ],
      },
    })
    const forecast = (await entriesOf(tenant)).at(-1)
    expect(forecast?.body.experiment).toMatchObject(suggested)
    const { body: report } = await call(app, 'GET', '/api/pilot/report', { token: tenant.owner })
    expect(report.experiment).toEqual({
      state: 'collecting',
      planned: 400,
      kept_apart: 0,
      assigned: 1,
      followed: 1,
      result: null,
    })
  })
})

test('the head of an active pilot is sent once a day if its chain has grown', async () => {
  const { tenant } = await pilotTenant()
  await subscribe(tenant, 'pilot.head')
  await app.checkCalibrations()
  await app.checkCalibrations()
  expect(await eventsOf(tenant)).toMatchObject([{ type: 'pilot.head', about: { head: { entry: 1 } } }])
  app.now += 21 * 3_600_000
  // Nothing new: no event.
  await app.checkCalibrations()
  expect(await eventsOf(tenant)).toHaveLength(1)
})

describe('403', () => {
  test('members and viewers read the pilot, and cannot switch it', async () => {
    const { tenant } = await pilotTenant()
    for (const role of ['member', 'viewer'] as const) {
      const { token } = await makePerson(app, tenant, role)
      expect((await call(app, 'GET', '/api/pilot', { token })).status).toBe(200)
      const refused = await call(app, 'PATCH', '/api/pilot', { token, body: { active: false } })
      expect(refused.status).toBe(403)
    }
  })
})

describe('422', () => {
  test.each([{}, { active: 'yes' }, { active: null }])('%j is not a switch', async (body) => {
    const tenant = await makeTenant(app)
    const refused = await call(app, 'PATCH', '/api/pilot', { token: tenant.owner, body })
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0].pointer).toBe('/active')
  })
})

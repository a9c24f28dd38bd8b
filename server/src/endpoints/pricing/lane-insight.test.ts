import { beforeAll, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, pushUpdate } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let acme: Integration

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeIntegration(app)
})

interface Route {
  readonly origin?: string
  readonly destination?: string
  readonly equipment?: string
}
const dallas = { origin: 'Dallas, TX', destination: 'Atlanta, GA' }

/** Makes quotes, each given as its rate and W, L or P (pending), and returns their lane_refs. */
async function quote(integration: Integration, quotes: string, route: Route = {}): Promise<string[]> {
  const asked = quotes.split(' ').map((text) => ({ rate: Number(text.slice(0, -1)), outcome: text.at(-1) }))
  const made = await call(app, 'POST', '/api/quote-requests', {
    token: integration.tenant.owner,
    body: {
      customer_name: 'Harvest Table Foods',
      lanes: asked.map(({ rate }) => ({ ...dallas, equipment: 'V', ...route, quoted_rate: rate })),
    },
  })
  const refs: string[] = made.body.lanes.map((one: { lane_ref: string }) => one.lane_ref)
  for (const [index, { outcome }] of asked.entries()) {
    if (outcome === 'P') continue
    await call(app, 'POST', `/api/lanes/${refs[index]}/outcome`, {
      token: integration.tenant.owner,
      body: { outcome: outcome === 'W' ? 'won' : 'lost' },
    })
  }
  return refs
}

async function ask(query: Record<string, string>, integration: Pick<Integration, 'token'> = acme) {
  return call(app, 'GET', `/api/integrations/insights/lane?${new URLSearchParams({ ...dallas, ...query })}`, {
    token: integration.token,
  })
}

describe('200', () => {
  test('no data at any level: the body contains only found and query', async () => {
    const { status, body } = await ask({ equipment: 'V' })
    expect(status).toBe(200)
    expect(body).toEqual({ found: false, query: { ...dallas, equipment: 'V' } })
    expect((await ask({})).body).toEqual({ found: false, query: { ...dallas, equipment: null } })
  })

  test('answers exactly the members of the interface, counted from the tenant’s own quotes', async () => {
    await quote(acme, '1800W 1900W 2000L 2100P')
    const { body } = await ask({ equipment: 'V' })
    expect(Object.keys(body)).toEqual(['found', 'query', 'scope', 'history', 'scores', 'signals', 'summary'])
    expect(body).toMatchObject({
      found: true,
      query: { ...dallas, equipment: 'V' },
      scope: 'equipment',
      history: {
        total_quotes: 4,
        wins: 2,
        losses: 1,
        win_rate_pct: 66.7,
        months_active: 1,
        avg_rate_usd: 1950,
      },
    })
    expect(Object.keys(body.history)).toEqual([
      'total_quotes',
      'wins',
      'losses',
      'win_rate_pct',
      'months_active',
      'avg_rate_usd',
    ])
    expect(Object.keys(body.scores)).toEqual(['harmonic', 'integral', 'derivative', 'correlation'])
    for (const score of Object.values(body.scores)) expect(Number.isFinite(score)).toBe(true)
    for (const bounded of ['harmonic', 'derivative']) {
      expect(body.scores[bounded]).toBeGreaterThanOrEqual(0)
      expect(body.scores[bounded]).toBeLessThanOrEqual(1)
    }
    expect(Object.keys(body.signals)).toEqual(['strength', 'trend', 'consistency', 'timing'])
    expect(body.summary).toMatch(/^[^\n]+\.$/)
  })

  test('query repeats exactly what was sent', async () => {
    const sent = { origin: ' dallas,TX ', destination: 'Atlanta ,  ga', equipment: 'Dry Van' }
    expect((await ask(sent)).body.query).toEqual(sent)
  })

  test('matching ignores case and whitespace', async () => {
    const plain = (await ask({ equipment: 'V' })).body
    for (const origin of ['dallas, tx', '  DALLAS  ,TX', 'Dallas,\tTX', 'Dallas, TX\n', 'Dallas,\u00a0TX']) {
      const { status, body } = await ask({ origin, equipment: 'v' })
      expect([origin, status]).toEqual([origin, 200])
      expect({ ...body, query: null }).toEqual({ ...plain, query: null })
    }
  })

  test('equipment omitted: corridor-wide, across all equipment', async () => {
    await quote(acme, '3000L', { equipment: 'R' })
    expect((await ask({})).body).toMatchObject({
      scope: 'corridor',
      history: { total_quotes: 5, wins: 2, losses: 2 },
    })
    expect((await ask({ equipment: 'R' })).body).toMatchObject({
      scope: 'equipment',
      history: { total_quotes: 1 },
    })
  })

  test('an equipment never quoted here falls back to the corridor, and the sentence says so', async () => {
    const { body } = await ask({ equipment: 'F' })
    expect(body).toMatchObject({ scope: 'corridor', history: { total_quotes: 5 } })
    expect(body.summary).toMatch(/equipment/i)
  })

  test('direction matters at every level', async () => {
    expect((await ask({ origin: 'Atlanta, GA', destination: 'Dallas, TX' })).body.found).toBe(false)
  })

  test('a brokerage without this lane is answered from the state pair, then from all its quotes', async () => {
    const wide = await makeIntegration(app)
    const asked = { origin: 'El Paso, TX', destination: 'Savannah, GA', equipment: 'V' }
    await quote(wide, '2000W 2000L', { origin: 'Dallas, TX', destination: 'Atlanta, GA' })
    expect((await ask(asked, wide)).body.found).toBe(false)
    await quote(wide, '2000W', { origin: 'Houston, TX', destination: 'Macon, GA' })
    expect((await ask(asked, wide)).body).toMatchObject({
      scope: 'state_pair',
      history: { total_quotes: 3, wins: 2, losses: 1 },
    })
    // Other equipment and the opposite direction are not found.
    expect((await ask({ ...asked, equipment: 'F' }, wide)).body.found).toBe(false)
    expect(
      (await ask({ origin: 'Savannah, GA', destination: 'El Paso, TX', equipment: 'V' }, wide)).body.found,
    ).toBe(false)
    const elsewhere = { origin: 'Seattle, WA', destination: 'Boston, MA' }
    expect((await ask({ ...elsewhere, equipment: 'V' }, wide)).body.found).toBe(false)
    await quote(wide, '2500L 2500W', { origin: 'Chicago, IL', destination: 'Denver, CO' })
    const tenantWide = (await ask({ ...elsewhere, equipment: 'V' }, wide)).body
    expect(tenantWide).toMatchObject({
      scope: 'tenant',
      history: { total_quotes: 5, wins: 3, losses: 2, win_rate_pct: 60 },
    })
    expect((await ask(elsewhere, wide)).body).toMatchObject({ scope: 'tenant', history: { total_quotes: 5 } })
    await quote(wide, '900L', elsewhere)
    expect((await ask({ ...elsewhere, equipment: 'V' }, wide)).body).toMatchObject({
      scope: 'equipment',
      history: { total_quotes: 1 },
    })
  })

  test('no level ever reaches into another tenant', async () => {
    const empty = await makeIntegration(app)
    for (const query of [
      { equipment: 'V' },
      {},
      { origin: 'Houston, TX' },
      { origin: 'Seattle, WA', destination: 'Boston, MA' },
    ] as Record<string, string>[]) {
      expect((await ask(query, empty)).body.found).toBe(false)
    }
  })

  test('a booking counts from the next read on, and a rollback undoes it', async () => {
    const route = { origin: 'Macon, GA', destination: 'Mobile, AL' }
    const [ref = ''] = await quote(acme, '1000P', route)
    const historyOf = async () => (await ask({ ...route, equipment: 'V' })).body.history
    const before = await historyOf()
    expect(before).toMatchObject({ total_quotes: 1, wins: 0, losses: 0, win_rate_pct: 0, avg_rate_usd: 1000 })
    await pushUpdate(app, acme, { lane_ref: ref, customer_rate: 1234.56 })
    expect(await historyOf()).toMatchObject({
      total_quotes: 1,
      wins: 1,
      win_rate_pct: 100,
      avg_rate_usd: 1234.56,
    })
    await call(app, 'POST', `/api/lanes/${ref}/rollback`, {
      token: acme.tenant.owner,
      body: { change_id: 1 },
    })
    expect(await historyOf()).toEqual(before)
  })

  test('read endpoints ignore signing', async () => {
    const path = `/api/integrations/insights/lane?${new URLSearchParams(dallas)}`
    const plain = await call(app, 'GET', path, { token: acme.token })
    const headers = { 'X-Service-Signature': 'garbage', 'X-Service-Timestamp': '1' }
    expect((await call(app, 'GET', path, { token: acme.token, headers })).body).toEqual(plain.body)
  })
})

describe('422', () => {
  test.each(['origin', 'destination'])('%s is required, as a city and a state', async (name) => {
    const query = new URLSearchParams(dallas)
    query.delete(name)
    const missing = await call(app, 'GET', `/api/integrations/insights/lane?${query}`, { token: acme.token })
    expect([missing.status, missing.body.errors[0].parameter]).toEqual([422, name])
    for (const text of ['Dallas', 'Dallas, XX', '', 'Dallas, TX, Canada', 'Dal\u0000las, TX']) {
      expect([text, (await ask({ [name]: text })).status]).toEqual([text, 422])
    }
  })

  test('equipment that is not a known code', async () => {
    for (const equipment of ['V;', 'x'.repeat(21)]) expect((await ask({ equipment })).status).toBe(422)
  })
})

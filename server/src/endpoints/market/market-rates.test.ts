import { once } from 'node:events'
import { request } from 'node:http'
import Papa from 'papaparse'
import { beforeAll, describe, expect, test } from 'vitest'
import { pushMarketFile, pushMarketRates } from '#contract/market-rates.ts'
import { pushQuotes } from '#contract/push-quotes.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeQuote,
  pushFile,
  pushSigned,
  pushUpdate,
  quoteToPush,
  signedHeaders,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let ours: Integration
let theirs: Integration
beforeAll(async () => {
  app = await sharedApp()
  ours = await makeIntegration(app, 'integrations:write quotes:write')
  theirs = await makeIntegration(app, 'integrations:write quotes:write')
  for (const [rate, outcome] of [
    [2000, 'won'],
    [2200, 'lost'],
    [2100, 'won'],
  ] as const)
    await makeQuote(app, ours.tenant, { rate, outcome })
})

const dayMs = 86_400_000
const daysAgo = (days: number) => new Date(app.now - days * dayMs).toISOString()
const market = (over: object = {}) => ({
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  basis: 'all_in',
  low: 1790,
  mid: 1960,
  high: 2140,
  sample: 48,
  source: 'DAT',
  as_of: daysAgo(2),
  ...over,
})
const push = (of: Integration, rates: readonly unknown[], at?: number) =>
  pushSigned(app, of, pushMarketRates, { rates }, at)
const lane = 'origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V'
const markup = (of: Integration, more: string) =>
  call(app, 'GET', `/api/integrations/insights/markup?${lane}&proposed_rate=2156&${more}`, {
    token: of.token,
  })
const owner = (method: string, path: string, body?: unknown) =>
  call(app, method, path, { token: ours.tenant.owner, ...(body === undefined ? {} : { body }) })
const load = (file: string, query = '') =>
  call(app, 'POST', `/api/market-rate-files${query}`, { token: ours.tenant.owner, file })

describe('200', () => {
  test('a push creates rates, repeats without an effect, and an older signature changes nothing', async () => {
    const at = Math.floor(app.now / 1000)
    const rates = [
      market(),
      market({ scope: 'market', origin: 'Fort Worth, TX', destination: 'Atlanta Mkt, GA', mid: 1900 }),
      market({
        scope: 'zip3',
        origin: '752',
        destination: '303',
        basis: 'linehaul',
        low: 1500,
        mid: 1600,
        high: 1700,
      }),
      market({ scope: 'state_pair', origin: 'Texas', destination: 'GA' }),
      market({ scope: 'region', origin: 'us-sc', destination: 'US-SE' }),
    ]
    const first = await push(ours, rates, at)
    expect(first.body).toMatchObject({ created: 5, failed: 0 })
    expect(
      first.body.results.map((one: Record<string, unknown>) => [one.origin, one.destination, one.state]),
    ).toEqual([
      ['Dallas, TX', 'Atlanta, GA', 'usable'],
      ['Dallas, TX', 'Atlanta, GA', 'usable'],
      ['752', '303', 'other_basis'],
      ['TX', 'GA', 'usable'],
      ['US-SC', 'US-SE', 'usable'],
    ])
    expect((await push(ours, rates, at)).body).toMatchObject({ created: 0, unchanged: 5 })
    expect((await push(ours, [market({ mid: 1970 })], at - 60)).body).toMatchObject({ unchanged: 1 })
    expect((await push(ours, [market({ mid: 1965 })], at + 1)).body).toMatchObject({ updated: 1 })
    expect((await push(ours, [market()], at + 2)).body).toMatchObject({ updated: 1 })
  })

  test('a corrected rate has the validity of the correction', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    const at = Math.floor(app.now / 1000)
    await push(of, [market({ valid_until: daysAgo(-3) })], at)
    const corrected = await push(of, [market({ mid: 1970, valid_until: daysAgo(1) })], at + 1)
    expect(corrected.body.results).toMatchObject([{ result: 'updated', state: 'stale' }])
    expect((await markup(of, 'include=market')).body.market.others).toMatchObject([
      { mid: 1970, valid_until: daysAgo(1), state: 'stale' },
    ])
  })

  test('a delivery that was signed between two equal ones changes nothing', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    const at = Math.floor(app.now / 1000)
    const results = []
    for (const [mid, seconds] of [
      [1960, -200],
      [1960, -100],
      [1900, -150],
    ] as const) {
      results.push((await push(of, [market({ mid })], at + seconds)).body.results[0].result)
    }
    expect(results).toEqual(['created', 'unchanged', 'unchanged'])
  })

  test('a stale rate on the other basis has no compared amount', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    await push(of, [market({ basis: 'linehaul', as_of: daysAgo(400) })])
    const { body } = await markup(of, 'include=market')
    expect(body.market.others).toMatchObject([{ mid: 1960, compared: null, state: 'stale' }])
  })

  test('rates in Mexican pesos are stored, and have limits of their own', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    const pesos = { currency: 'MXN', low: undefined, high: undefined }
    const { body } = await push(of, [market({ ...pesos, mid: 38_000 }), market({ ...pesos, mid: 45 })])
    expect(body.results).toMatchObject([
      { result: 'created', state: 'other_currency' },
      { status: 422, detail: expect.stringContaining('$45 looks like pesos per mile') },
    ])
  })

  test('include=market shows both references, and markup_pct stays that of the median', async () => {
    const plain = await markup(ours, '')
    const { body } = await markup(ours, 'include=market')
    const { market: both, ...rest } = body
    expect(rest).toEqual(plain.body)
    expect(body.markup_pct).toBe(2.7)
    expect(both).toMatchObject({
      own: { median: 2100, won_median: 2050, quotes: 3, won: 2, age_days: 0 },
      market: { scope: 'lane', low: 1790, mid: 1960, high: 2140, sample: 48, source: 'DAT', age_days: 2 },
      used: 'own_median',
      reference_rate: 2100,
    })
    expect(both.others.map((one: Record<string, unknown>) => [one.scope, one.state])).toEqual([
      ['zip3', 'other_basis'],
      ['market', 'usable'],
      ['state_pair', 'usable'],
      ['region', 'usable'],
    ])
  })

  test('reference=market uses the stored rate and echoes it; the query echo stays null', async () => {
    const { body } = await markup(ours, 'reference=market&include=market')
    expect(body.markup_pct).toBe(10)
    expect(body.query.market_rate).toBeNull()
    expect(body.market).toMatchObject({ used: 'market', reference_rate: 1960 })
    const without = await markup(theirs, 'reference=market&include=market')
    expect(without.body).toMatchObject({ found: false, market: { used: 'none', market: null, others: [] } })
  })

  test('market rates are compared on the default basis of the brokerage', async () => {
    await owner('PATCH', '/api/tenant', { default_basis: 'linehaul' })
    const { body } = await markup(ours, 'reference=market&include=market')
    expect(body.market).toMatchObject({ market: { scope: 'zip3', basis: 'linehaul' }, used: 'market' })
    expect(body.market.others[0]).toMatchObject({ scope: 'lane', basis: 'all_in', state: 'other_basis' })
    expect((await owner('GET', '/api/market-standing')).body.basis).toBe('linehaul')
    await owner('PATCH', '/api/tenant', { default_basis: 'all_in' })
    expect((await markup(ours, 'reference=market&include=market')).body.market.market).toMatchObject({
      basis: 'all_in',
    })
  })

  test('lane insight has both references too', async () => {
    const { body } = await call(app, 'GET', `/api/integrations/insights/lane?${lane}&include=market`, {
      token: ours.token,
    })
    expect(body.market).toMatchObject({ own: { won_median: 2050 }, market: { mid: 1960 } })
    expect(body.evidence).toBeUndefined()
  })

  test('two sources that disagree are both shown, and the newer one is used', async () => {
    const one = { origin: 'Chicago, IL', destination: 'Memphis, TN' }
    await push(ours, [
      market({ ...one, mid: 1900, low: undefined, high: undefined }),
      market({ ...one, mid: 1805, low: undefined, high: undefined, source: 'Truckstop', as_of: daysAgo(1) }),
      market({ ...one, mid: 2500, low: undefined, high: undefined, currency: 'CAD', as_of: daysAgo(0) }),
      market({ ...one, mid: 1300, low: undefined, high: undefined, source: 'Old', as_of: daysAgo(366) }),
    ])
    const { body } = await call(
      app,
      'GET',
      '/api/advice/markup?origin=Chicago,%20IL&destination=Memphis,%20TN&proposed_rate=1500&include=market',
      { token: ours.tenant.owner },
    )
    expect(body.market).toMatchObject({ market: { source: 'Truckstop', mid: 1805 } })
    expect(body.market.market_why).toContain('DAT says $1,900, 5.3% more')
    expect(
      body.market.others.map(({ source, currency, state }: Record<string, string>) => [
        source,
        currency,
        state,
      ]),
    ).toEqual([
      ['DAT', 'CAD', 'other_currency'],
      ['DAT', 'USD', 'usable'],
      ['Old', 'USD', 'stale'],
    ])
  })

  test('a file in the form of an export is read, and its wrong rows are named by line', async () => {
    const text = [
      'Orig City,Orig State,Dest City,Dest State,Truck Type,Spot Avg Linehaul Rate,Spot Low Linehaul Rate,Spot High Linehaul Rate,Reports,Date',
      'Denver,CO,Phoenix,AZ,Van,"$1,850.00",1700,2000,"1,204",2026-01-05',
      'Denver,CO,Phoenix,AZ,Reefer,2.24,,,9,2026-01-05',
      'Denver,CO,Nowhereville,AZ,Van,1850,,,9,2026-01-05',
      'Denver,CO,Phoenix,AZ,Van,x,,,9,2026-01-05',
    ].join('\r\n')
    const dry = await load(text, '?source=Export&dry_run=true')
    expect(dry.body).toMatchObject({ rows: 4, stored: false, created: 0, failed: 3, not_used: 1 })
    const { body } = await load(text, '?source=Export')
    expect(body).toMatchObject({ rows: 4, stored: true, created: 1, failed: 3 })
    expect(body.errors.map(({ line, field }: Record<string, unknown>) => [line, field])).toEqual([
      [3, 'mid'],
      [4, 'destination'],
      [5, 'mid'],
    ])
    const listed = await owner('GET', '/api/market-rates?source=Export')
    expect(listed.body.rates).toMatchObject([
      { origin: 'Denver, CO', equipment: 'V', basis: 'linehaul', mid: 1850, sample: 1204 },
    ])
  })

  test('the output of a DAT multi-lane request is read with its fuel surcharge, which must be per trip', async () => {
    // The columns that DAT documents at iq.support.dat.com (RateView Multi-Lane Request File Output); the rates are made up.
    const text = [
      'Orig City,Orig State,Dest City,Dest State,Truck Type,PC-Miler Practical Mileage,Spot Avg Linehaul Rate,Spot Low Linehaul Rate,Spot High Linehaul Rate,Spot Fuel Surcharge,Spot Time Frame,Spot # of Companies,Spot # of Reports,Contract Avg Linehaul Rate,Contract Fuel Surcharge,Contract # of Reports',
      'Fargo,ND,Omaha,NE,Van,420,900,800,1000,176.4,30,21,148,1100,176.4,60',
      'Fargo,ND,Omaha,NE,Reefer,420,900,800,1000,0.42,30,21,148,,,',
    ].join('\n')
    const { body } = await load(text, `?source=Multi&as_of=${daysAgo(1)}`)
    expect(body).toMatchObject({ created: 1, not_used: 0, errors: [{ line: 3, field: 'fuel' }] })
    const listed = await owner('GET', '/api/market-rates?source=Multi')
    expect(listed.body.rates).toMatchObject([
      { basis: 'linehaul', mid: 900, fuel: 176.4, compared: 1076.4, converted_by: 'charges', sample: 148 },
    ])
  })

  test('a file of markets: words of exports are understood, and a wrong or repeated line says what would be right', async () => {
    const text = [
      'Market rates of the week',
      'Origin Market,Destination Market,Equipment,All In RPM,Week',
      'Dallas Mkt,Atlanta Mkt,Vans,2.50,11/03/2025 - 11/09/2025',
      'Dallas Mkt,Atlanta Mkt,Dry Vans,2.60,11/03/2025 - 11/09/2025',
      'Columbus Mkt,Atlanta Mkt,Reefers,2.50,11/03/2025 - 11/09/2025',
      'TX_DAL,GA_ATL,Flatbeds,2.50,11/03/2025 - 11/09/2025',
    ].join('\n')
    const { body } = await load(text, '?source=Markets')
    expect(body).toMatchObject({ rows: 4, created: 1, failed: 3 })
    expect(body.understood[0].detail).toContain('above the header')
    expect(body.errors.map(({ line, detail }: Record<string, unknown>) => [line, detail])).toEqual([
      [4, expect.stringContaining('is also on line 3, which counts')],
      [5, expect.stringContaining('a market with its state: Columbus, ')],
      [6, expect.stringContaining('codes of market areas, such as TX_DAL, are not known')],
      [6, expect.stringContaining('codes of market areas')],
    ])
    const listed = await owner('GET', '/api/market-rates?source=Markets')
    expect(listed.body.rates).toMatchObject([
      { scope: 'market', origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', basis: 'all_in' },
    ])
    const header = 'Origin,Destination,Equipment,Rate,Date\n'
    const many = header + 'Dallas TX,Atlanta GA,V,1960,2026-01-05\n'.repeat(5_001)
    const refused = await load(many, '?source=X&basis=all_in')
    expect(refused.body.detail).toContain('at most 5,000 rows; it has 5,001')
  })

  test('a signed file has the answer of the page; its rates are those of the signed time', async () => {
    const text = 'Origin,Destination,Equipment,RPM\nSalem OR,Boise ID,V,2.5\nSalem OR,Boise ID,R,x\n'
    const query = `?source=Signed&basis=all_in&as_of=${daysAgo(3)}`
    const at = Math.floor(app.now / 1000)
    const dry = await pushFile(app, ours, pushMarketFile, { file: text, query: `${query}&dry_run=true` }, at)
    const onPage = await load(text, `${query}&dry_run=true`)
    expect([dry.status, dry.body]).toEqual([200, onPage.body])
    expect(dry.body).toMatchObject({ stored: false, created: 0, failed: 1, errors: [{ line: 3 }] })
    expect(dry.body.understood[0].detail).toContain('multiplied by the road miles')
    expect((await owner('GET', '/api/market-rates?source=Signed')).body.rates).toEqual([])
    const stored = await pushFile(app, ours, pushMarketFile, { file: text, query }, at)
    expect(stored.body).toMatchObject({ stored: true, created: 1, failed: 1 })
    const older = { file: text.replace('2.5', '3.5'), query }
    const late = await pushFile(app, ours, pushMarketFile, older, at - 60)
    expect(late.body).toMatchObject({ created: 0, updated: 0, unchanged: 1 })
  })

  test('many newer rates of an area do not hide an older rate of the city pair', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    const rates = Array.from({ length: 250 }, (_, at) =>
      market({ scope: 'state_pair', origin: 'TX', destination: 'GA', as_of: daysAgo(at / 20) }),
    )
    await push(of, [market({ mid: 1850, as_of: daysAgo(60) }), ...rates])
    expect((await markup(of, 'reference=market&include=market')).body.market).toMatchObject({
      market: { scope: 'lane', mid: 1850 },
      others: [{ scope: 'state_pair' }],
    })
  })

  test('the position counts the quotes that cannot be converted, and the loads whose market rates cannot be compared', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    const token = { token: of.tenant.owner }
    const lost = (origin: string, over = {}) =>
      makeQuote(app, of.tenant, { origin, rate: 2000, outcome: 'lost', ...over })
    for (const origin of ['Dallas, TX', 'Boise, ID', 'Fresno, CA', 'Tulsa, OK']) await lost(origin)
    await pushSigned(app, of, pushQuotes, {
      quotes: [
        quoteToPush('K-1', { quoted_basis: 'linehaul', outcome: 'lost' }),
        quoteToPush('K-2', { quoted_currency: 'CAD', outcome: 'lost' }),
      ],
    })
    const sell = { kind: 'sell', low: undefined, high: undefined }
    await push(of, [
      market({ ...sell, basis: 'linehaul' }),
      market({ ...sell, origin: 'Boise, ID', currency: 'CAD', mid: 2500 }),
      market({ ...sell, origin: 'Fresno, CA', as_of: daysAgo(9), valid_until: daysAgo(3) }),
    ])
    const { body } = await call(app, 'GET', '/api/market-standing', token)
    expect(body.compared).toMatchObject({ amounts: 'all_in', kept_apart: 2, kept_apart_in_cad: 1 })
    expect(body.without_market).toEqual({
      lanes: 4,
      loads: 4,
      quotes: 4,
      other_basis: 1,
      other_currency: 1,
      stale: 1,
    })
  })

  test('a won and paid load without a market rate is one load, not two', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    const { lane_ref } = await makeQuote(app, of.tenant, { rate: 2000, outcome: 'won' })
    await pushUpdate(app, of, { lane_ref, customer_rate: 2000, truck_cost: 1700 })
    const standing = async () =>
      (await call(app, 'GET', '/api/market-standing', { token: of.tenant.owner })).body.without_market
    expect(await standing()).toMatchObject({ lanes: 1, loads: 1, quotes: 1 })
    await push(of, [market({ kind: 'sell', low: undefined, high: undefined })])
    // Only the quoted rate has a market rate to compare with; the truck cost has none.
    expect(await standing()).toMatchObject({ lanes: 0, loads: 1, quotes: 0 })
  })

  test('a load whose market rates are too old is counted as such, from whatever day the position begins', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    await makeQuote(app, of.tenant, { rate: 2000, outcome: 'lost' })
    await push(of, [market({ kind: 'sell', as_of: daysAgo(500) })])
    for (const from of ['', `?from=${daysAgo(1)}`]) {
      const { body } = await call(app, 'GET', `/api/market-standing${from}`, { token: of.tenant.owner })
      expect(body.without_market).toMatchObject({ loads: 1, stale: 1 })
    }
  })

  test('a load is compared with the market rate of its day, also if that is older than the beginning of the position', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    await makeQuote(app, of.tenant, { rate: 2000, outcome: 'lost' })
    const sell = { kind: 'sell', low: undefined, high: undefined }
    await push(of, [
      market({ ...sell, as_of: daysAgo(3) }),
      // The newest one before the beginning cannot be converted.
      market({ ...sell, as_of: daysAgo(2), source: 'Other', basis: 'linehaul' }),
    ])
    const { body } = await call(app, 'GET', `/api/market-standing?from=${daysAgo(1)}`, {
      token: of.tenant.owner,
    })
    expect(body.totals.lost).toMatchObject({ loads: 1, own: 2000, market: 1960 })
  })

  test('the position converts a market rate by the miles of the lane, not by those that a quote states', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    const token = { token: of.tenant.owner }
    await pushSigned(app, of, pushQuotes, { quotes: [quoteToPush('M-1', { miles: 2000, outcome: 'lost' })] })
    await push(of, [market({ kind: 'sell', basis: 'linehaul', low: undefined, high: undefined })])
    const periods = [{ from: daysAgo(90).slice(0, 10), base_price: 1.2, miles_per_gallon: 6 }]
    await call(app, 'PATCH', '/api/fuel/schedule', { ...token, body: { periods } })
    const text = `period,series,value\n${daysAgo(7).slice(0, 10)},EMD_EPD2D_PTE_NUS_DPG,3.6\n`
    const loaded = await call(app, 'POST', '/api/fuel/diesel-prices', { ...token, file: text })
    expect(loaded.status).toBe(200)
    const { compared } = (await markup(of, 'reference=market&include=market')).body.market.market
    expect(compared).toBeGreaterThan(1960)
    const { totals } = (await call(app, 'GET', '/api/market-standing', token)).body
    expect(totals.lost).toMatchObject({ loads: 1, market: compared })
  })

  test('the position compares each quote with the market of its day, on the page and as CSV', async () => {
    const tenant = (await makeIntegration(app, 'integrations:write quotes:write')) satisfies Integration
    const paths = { token: tenant.tenant.owner }
    const won = await makeQuote(app, tenant.tenant, { rate: 1900, outcome: 'won' })
    await makeQuote(app, tenant.tenant, { rate: 1800, outcome: 'lost' })
    await makeQuote(app, tenant.tenant, { origin: 'Boise, ID', rate: 1800, outcome: 'lost' })
    expect(won.outcome).toBe('won')
    await push(tenant, [
      market({ kind: 'sell', low: undefined, high: undefined, mid: 2000 }),
      market({ kind: 'sell', mid: 1790, as_of: daysAgo(30) }),
      // A rate that carriers are paid is compared only with truck costs.
      market({ mid: 1800 }),
    ])
    await pushUpdate(app, tenant, { lane_ref: won.lane_ref, truck_cost: 1890 })
    const { body } = await call(app, 'GET', '/api/market-standing', paths)
    expect(body).toMatchObject({
      basis: 'all_in',
      lanes_total: 1,
      totals: {
        won: { loads: 1, own: 1900, market: 2000, above_pct: -5 },
        lost: { loads: 1, own: 1800, market: 2000, above_pct: -10 },
        paid: { loads: 1, own: 1890, market: 1800, above_pct: 5 },
        quoted_below: 300,
        paid_above: 90,
      },
      without_market: { lanes: 1, loads: 1, quotes: 1, other_basis: 0, other_currency: 0, stale: 0 },
      compared: { amounts: 'all_in', kept_apart: 0 },
    })
    expect(body.months).toHaveLength(1)
    expect((await call(app, 'GET', '/api/market-standing?show=paying_above', paths)).body.lanes).toHaveLength(
      1,
    )
    const csv = await call(app, 'GET', '/api/market-standing/export?show=quoting_below', paths)
    const [row] = Papa.parse<Record<string, string>>(csv.body, { header: true }).data
    expect(row).toMatchObject({
      Origin: 'Dallas, TX',
      'Won average': '1900.00',
      'Quoted below market': '300.00',
    })
  })

  test('a rate on the other basis or in Canadian dollars is compared as converted, and says how', async () => {
    const of = await makeIntegration(app, 'integrations:write quotes:write')
    const token = { token: of.tenant.owner }
    await makeQuote(app, of.tenant, { rate: 2000, outcome: 'won' })
    const linehaul = market({ basis: 'linehaul', low: 1500, mid: 1600, high: 1700, kind: 'sell' })
    const { body: alone } = await push(of, [linehaul])
    expect(alone.results[0].state).toBe('other_basis')
    const used = async () => (await markup(of, 'reference=market&include=market')).body.market
    expect((await used()).market).toBeNull()
    // With its own fuel charge.
    await push(of, [{ ...linehaul, fuel: 300 }], Math.floor(app.now / 1000) + 1)
    expect(await used()).toMatchObject({
      market: { mid: 1600, fuel: 300, compared: 1900, converted_by: 'charges', state: 'usable' },
      used: 'market',
      reference_rate: 1900,
    })
    // In Canadian dollars, with the exchange rate of its day.
    await push(of, [
      market({
        source: 'Other',
        kind: 'sell',
        currency: 'CAD',
        mid: 2500,
        low: undefined,
        high: undefined,
        as_of: daysAgo(1),
      }),
    ])
    expect((await used()).market).toMatchObject({ source: 'DAT' })
    await call(app, 'POST', '/api/exchange-rates', {
      ...token,
      body: { rates: [{ day: daysAgo(20).slice(0, 10), usd_per_cad: 0.8 }] },
    })
    expect(await used()).toMatchObject({
      market: { source: 'Other', mid: 2500, currency: 'CAD', compared: 2000, converted_by: 'exchange' },
      reference_rate: 2000,
    })
    const { body: list } = await call(app, 'GET', '/api/market-rates', token)
    expect(list.rates.map((one: { state: string }) => one.state)).toEqual(['usable', 'usable'])
    const wrong = await push(of, [market({ fuel: 1960 }), market({ kind: 'broker' })])
    expect(
      wrong.body.results.map((one: { errors: { pointer: string }[] }) => one.errors[0]?.pointer),
    ).toEqual(['/fuel', '/kind'])
  })

  test('all rates of one source are erased in one action, by an admin only, and others stay', async () => {
    await push(theirs, [market()])
    const member = await makePerson(app, ours.tenant, 'member')
    expect((await call(app, 'DELETE', '/api/market-rate-sources/DAT', { token: member.token })).status).toBe(
      403,
    )
    const before = (await owner('GET', '/api/market-rates')).body.sources
    const { rates } = before.find(({ source }: { source: string }) => source === 'DAT')
    expect((await owner('DELETE', '/api/market-rate-sources/DAT')).body).toEqual({
      source: 'DAT',
      erased: rates,
    })
    const after = (await owner('GET', '/api/market-rates')).body.sources
    expect(after).toEqual(before.filter(({ source }: { source: string }) => source !== 'DAT'))
    expect((await owner('DELETE', '/api/market-rate-sources/DAT')).status).toBe(404)
    const others = await call(app, 'GET', '/api/market-rates', { token: theirs.tenant.owner })
    expect(others.body.sources).toMatchObject([{ source: 'DAT', rates: 1 }])
  })
})

describe('422', () => {
  test('of an item: the field, what is wrong and what would be right; the others are stored', async () => {
    const rates = [
      market({ mid: 2.51, low: undefined, high: undefined }),
      market({ mid: 196_000, low: undefined, high: undefined }),
      market({ low: 2300 }),
      market({ scope: 'market', origin: 'TX_DAL, TX' }),
      market({ scope: 'zip3', origin: '000', destination: '303' }),
      market({ origin: 'Nowhereville, TX' }),
      market({ as_of: daysAgo(-3) }),
      market({ valid_until: daysAgo(9) }),
      market({ basis: undefined }),
      market({ source: 'Good' }),
      market({ source: 'Good' }),
    ]
    const { status, body } = await push(ours, rates)
    expect(status).toBe(200)
    expect(body).toMatchObject({ created: 1, failed: 10 })
    expect(
      body.results.map(
        (one: { errors?: { pointer: string }[] }) => one.errors?.map(({ pointer }) => pointer) ?? 'stored',
      ),
    ).toEqual([
      ['/mid'],
      ['/mid'],
      ['/low'],
      ['/origin'],
      ['/origin'],
      ['/origin'],
      ['/as_of'],
      ['/valid_until'],
      ['/basis'],
      'stored',
      ['/as_of'],
    ])
    expect(body.results[0].detail).toContain('looks like dollars per mile')
    expect(body.results[1].detail).toContain('looks like cents')
  })

  test('a sent market rate and reference=market exclude each other', async () => {
    const { status, body } = await markup(ours, 'reference=market&market_rate=1900')
    expect(status).toBe(422)
    expect(body.errors).toMatchObject([{ parameter: 'reference' }])
  })

  test.each([
    ['no rate column', 'Origin,Destination,Equipment\nDallas TX,Atlanta GA,V\n', 'the rate'],
    [
      'no basis',
      'Origin,Destination,Equipment,Rate,Date,Source\nDallas TX,Atlanta GA,V,1960,2026-01-01,X\n',
      'basis',
    ],
  ])('a file with %s changes nothing', async (_, text, words) => {
    const { status, body } = await load(text)
    expect(status).toBe(422)
    expect(body.errors).toMatchObject([{ pointer: '', detail: expect.stringContaining(words) }])
    const signed = await pushFile(app, ours, pushMarketFile, { file: text, query: '' })
    expect([signed.status, signed.body.errors]).toEqual([422, body.errors])
  })

  test('a file whose column contradicts the chosen basis is refused', async () => {
    const text =
      'Origin,Destination,Equipment,Linehaul Rate,Date,Source\nDallas TX,Atlanta GA,V,1960,2026-01-01,X\n'
    const { status, body } = await load(text, '?basis=all_in')
    expect(status).toBe(422)
    expect(body.detail).toContain('basis must be linehaul')
  })
})

test('409: a brokerage sends one file at a time, signed or on the page, and another brokerage need not wait', async () => {
  const file = 'Origin,Destination,Equipment,Rate\nDallas TX,Atlanta GA,V,1960\n'
  const query = `?source=Busy&basis=all_in&as_of=${daysAgo(1)}&dry_run=true`
  const { method } = pushMarketFile
  const path = `${pushMarketFile.path}${query}`
  const first = request(`${app.url}${path}`, {
    method,
    headers: {
      ...signedHeaders(ours, file, Math.floor(app.now / 1000), { method, path }),
      'Content-Type': 'text/csv',
      'Content-Length': Buffer.byteLength(file),
      Expect: '100-continue',
    },
  })
  first.flushHeaders()
  await once(first, 'continue')
  for (const second of [
    await pushFile(app, ours, pushMarketFile, { file, query }),
    await load(file, query),
  ]) {
    expect(second).toMatchObject({
      status: 409,
      body: {
        code: 'state-conflict',
        detail: expect.stringContaining('Another file of this brokerage is being received.'),
      },
    })
  }
  expect((await pushFile(app, theirs, pushMarketFile, { file, query })).status).toBe(200)
  first.end(file)
  const [answer] = await once(first, 'response')
  answer.resume()
  await once(answer, 'end')
  expect(answer.statusCode).toBe(200)
  expect((await pushFile(app, ours, pushMarketFile, { file, query })).status).toBe(200)
})

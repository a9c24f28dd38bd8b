import { beforeAll, describe, expect, test } from 'vitest'
import {
  call,
  type Integration,
  makeIntegration,
  makeSecret,
  makeServiceToken,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let acme: Integration
let other: Integration

/** The ten quotes of the known-answer test: rate and outcome. */
const known = '1800W 1850W 1900W 1950W 2000L 2050W 2100L 2150L 2200L 2250L'

beforeAll(async () => {
  app = await sharedApp()
  ;[acme, other] = await Promise.all([makeIntegration(app), makeIntegration(app)])
  await quote(acme, known)
})

/** Makes quotes, each given as its rate and W, L or P (pending), and returns their lane_refs. */
async function quote(
  integration: Pick<Integration, 'tenant'>,
  quotes: string,
  lane: { origin?: string; destination?: string; equipment?: string } = {},
): Promise<string[]> {
  const asked = quotes.split(' ').map((text) => ({ rate: Number(text.slice(0, -1)), outcome: text.at(-1) }))
  const made = await call(app, 'POST', '/api/quote-requests', {
    token: integration.tenant.owner,
    body: {
      customer_name: 'Harvest Table Foods',
      lanes: asked.map(({ rate }) => ({
        origin: 'Dallas, TX',
        destination: 'Atlanta, GA',
        equipment: 'V',
        ...lane,
        quoted_rate: rate,
      })),
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

async function ask(query: Record<string, string | number>, integration: Pick<Integration, 'token'> = acme) {
  const sent = { ...{ origin: 'Dallas, TX', destination: 'Atlanta, GA', proposed_rate: 2000 }, ...query }
  const text = new URLSearchParams(
    Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, String(value)])),
  )
  return call(app, 'GET', `/api/integrations/insights/markup?${text}`, { token: integration.token })
}

describe('200', () => {
  test('answers exactly the members of the interface', async () => {
    const { body } = await ask({ equipment: 'V' })
    expect(Object.keys(body)).toEqual([
      'found',
      'query',
      'win_probability',
      'confidence',
      'markup_pct',
      'suggested_rate',
      'rate_band',
      'verdict',
    ])
    expect(body).toMatchObject({
      found: true,
      win_probability: 0.9,
      confidence: 'medium',
      markup_pct: -1.2,
      suggested_rate: 1910,
      rate_band: { floor: 1800, median: 2025, ceiling: 2250 },
    })
    expect(Object.keys(body.rate_band)).toEqual(['floor', 'median', 'ceiling'])
    expect(body.verdict).toMatch(/^[^\n]+\.$/)
  })

  test('query repeats exactly the values sent, with null for absent ones', async () => {
    const sent = {
      origin: '  dallas , tx',
      destination: 'ATLANTA,GA',
      equipment: 'dry van',
      proposed_rate: 2150.5,
      market_rate: 2100,
    }
    expect((await ask(sent)).body.query).toEqual(sent)
    expect((await ask({})).body.query).toEqual({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: null,
      proposed_rate: 2000,
      market_rate: null,
    })
    expect((await ask({ proposed_rate: '2000.00' })).body.query.proposed_rate).toBe(2000)
  })

  test.each([
    [1500, 0.954545],
    [1800, 0.954545],
    [1960, 0.954545],
    [1990, 0.9],
    [2000, 0.9],
    [2100, 0.714286],
    [2200, 0.555556],
    [2250, 0.5],
    [2250.01, 0.045455],
    [2500, 0.045455],
  ])(
    'win_probability at %d is %d: the share of quotes won at this rate or lower, and a floor above the ceiling',
    async (rate, share) => {
      expect((await ask({ proposed_rate: rate })).body.win_probability).toBeCloseTo(share, 6)
    },
  )

  test('a higher rate never raises the win probability, which stays within 0 and 1', async () => {
    let last = 1
    for (let rate = 1700; rate <= 2400; rate += 25) {
      const { win_probability: share } = (await ask({ proposed_rate: rate })).body
      expect(share).toBeGreaterThanOrEqual(0)
      expect(share).toBeLessThanOrEqual(last)
      last = share
    }
  })

  test('a brokerage may choose the unsmoothed count', async () => {
    const set = (method: string) =>
      call(app, 'PATCH', '/api/tenant', {
        token: acme.tenant.owner,
        body: { win_probability_method: method },
      })
    try {
      expect((await set('literal')).status).toBe(200)
      for (const [rate, share] of [
        [1500, 0],
        [1800, 0.1],
        [1960, 0.4],
        [2000, 0.4],
        [2100, 0.5],
        [2250, 0.5],
        [2250.01, 0.045455],
      ] as const) {
        expect((await ask({ proposed_rate: rate })).body.win_probability).toBeCloseTo(share, 6)
      }
    } finally {
      await set('at_or_below')
    }
  })

  test('markup_pct is relative to market_rate if given, else to the median, with one decimal', async () => {
    expect((await ask({ proposed_rate: 2150 })).body.markup_pct).toBe(6.2)
    expect((await ask({ proposed_rate: 2150, market_rate: 2000 })).body.markup_pct).toBe(7.5)
    expect((await ask({ proposed_rate: 1999.99, market_rate: 2000 })).body.markup_pct).toBe(0)
    expect((await ask({ proposed_rate: 0.01 })).body.markup_pct).toBe(-100)
  })

  test('market_rate changes the reference and nothing else', async () => {
    const [without, given] = [(await ask({})).body, (await ask({ market_rate: 1000 })).body]
    for (const member of ['win_probability', 'confidence', 'suggested_rate', 'rate_band']) {
      expect(given[member]).toEqual(without[member])
    }
  })

  test('places match regardless of case, whitespace, accents and common abbreviations', async () => {
    const plain = (await ask({})).body
    for (const origin of [
      'dallas,tx',
      ' DALLAS ,  TX ',
      'Dallas,\tTX',
      'Dallas,\nTX',
      'Dallas, Texas',
      'Dállas, TX',
    ]) {
      const { status, body } = await ask({ origin })
      expect([origin, status]).toEqual([origin, 200])
      expect({ ...body, query: null }).toEqual({ ...plain, query: null })
    }
  })

  test('equipment is read with its aliases; omitted, all equipment on the lane counts', async () => {
    const lane = { origin: 'Omaha, NE', destination: 'Tulsa, OK' }
    await quote(acme, '1000W 1100L', { ...lane, equipment: 'V' })
    await quote(acme, '3000W', { ...lane, equipment: 'Reefer' })
    const bandOf = async (equipment: Record<string, string>) =>
      (await ask({ ...lane, ...equipment })).body.rate_band
    expect(await bandOf({})).toEqual({ floor: 1000, median: 1100, ceiling: 3000 })
    for (const equipment of ['V', 'v', 'VAN', 'dry van']) {
      expect(await bandOf({ equipment })).toEqual({ floor: 1000, median: 1050, ceiling: 1100 })
    }
    for (const equipment of ['R', 'reefer']) expect((await bandOf({ equipment })).floor).toBe(3000)
    expect((await ask({ ...lane, equipment: 'F' })).body).toEqual({
      found: false,
      query: { ...lane, equipment: 'F', proposed_rate: 2000, market_rate: null },
      confidence: 'none',
    })
  })

  test('no quotes: found is false, confidence none, and the other fields are absent', async () => {
    const { status, body } = await ask({ origin: 'Nome, AK', destination: 'Atlanta, GA' })
    expect(status).toBe(200)
    expect(body).toEqual({
      found: false,
      query: {
        origin: 'Nome, AK',
        destination: 'Atlanta, GA',
        equipment: null,
        proposed_rate: 2000,
        market_rate: null,
      },
      confidence: 'none',
    })
  })

  test('quotes but none decided: found is true, confidence none, and every number is null', async () => {
    const lane = { origin: 'Fargo, ND', destination: 'Duluth, MN' }
    await quote(acme, '1000P 1100P', lane)
    const { body } = await ask({ ...lane, market_rate: 900 })
    expect(body).toEqual({
      found: true,
      query: { ...lane, equipment: null, proposed_rate: 2000, market_rate: 900 },
      win_probability: null,
      confidence: 'none',
      markup_pct: null,
      suggested_rate: null,
      rate_band: { floor: null, median: null, ceiling: null },
      verdict: expect.stringMatching(/.+\.$/),
    })
  })

  test('confidence is high from 15 decided quotes, medium from 5, low from 1; pending ones do not count', async () => {
    const lane = { origin: 'Boise, ID', destination: 'Helena, MT' }
    const confidenceOf = async () => (await ask(lane)).body.confidence
    await quote(acme, '900P 900P 900P', lane)
    expect(await confidenceOf()).toBe('none')
    await quote(acme, '1000W', lane)
    expect(await confidenceOf()).toBe('low')
    await quote(acme, '1000L 1000L 1000W', lane)
    expect(await confidenceOf()).toBe('low')
    await quote(acme, '1000W', lane)
    expect(await confidenceOf()).toBe('medium')
    await quote(acme, '1000L 1000L 1000W 1000W 1000W 1000W 1000L 1000W 1000W', lane)
    expect(await confidenceOf()).toBe('medium')
    await quote(acme, '1000W', lane)
    expect(await confidenceOf()).toBe('high')
  })

  test('direction matters: the backhaul is another lane', async () => {
    expect((await ask({ origin: 'Atlanta, GA', destination: 'Dallas, TX' })).body.found).toBe(false)
  })

  test('there is no wider scope: another city of the same state does not count', async () => {
    expect((await ask({ origin: 'Fort Worth, TX' })).body.found).toBe(false)
  })

  test('a pushed customer rate counts from the next read on, and a rollback undoes it', async () => {
    const lane = { origin: 'Macon, GA', destination: 'Mobile, AL' }
    const [ref = ''] = await quote(acme, '1000P', lane)
    await quote(acme, '1500L', lane)
    const before = (await ask({ ...lane, proposed_rate: 1200 })).body
    expect(before).toMatchObject({ rate_band: { floor: 1000 }, confidence: 'low', suggested_rate: 1470 })
    await pushUpdate(app, acme, { lane_ref: ref, customer_rate: 1200, truck_cost: 900 })
    const booked = (await ask({ ...lane, proposed_rate: 1200 })).body
    expect(booked).toMatchObject({
      rate_band: { floor: 1200, median: 1350, ceiling: 1500 },
      suggested_rate: 1200,
    })
    await call(app, 'POST', `/api/lanes/${ref}/rollback`, {
      token: acme.tenant.owner,
      body: { change_id: 1 },
    })
    expect((await ask({ ...lane, proposed_rate: 1200 })).body).toEqual(before)
  })

  test('no tenant sees another’s quotes', async () => {
    expect((await ask({}, other)).body.found).toBe(false)
    await quote(other, '5000W')
    expect((await ask({}, other)).body.rate_band).toEqual({ floor: 5000, median: 5000, ceiling: 5000 })
    expect((await ask({})).body.rate_band.ceiling).toBe(2250)
  })

  test('read endpoints ignore signing: garbage, stale and doubled signature headers change nothing', async () => {
    const path =
      '/api/integrations/insights/markup?origin=Dallas,TX&destination=Atlanta,GA&proposed_rate=2000'
    const plain = await call(app, 'GET', path, { token: acme.token })
    for (const headers of [
      { 'X-Service-Signature': 'garbage', 'X-Service-Timestamp': 'yesterday' },
      { 'X-Service-Signature': `sha256=${'0'.repeat(64)}`, 'X-Service-Timestamp': '1' },
      { 'X-Service-Signature': 'a, b', 'X-Service-Timestamp': '1, 2' },
    ]) {
      const answer = await call(app, 'GET', path, { token: acme.token, headers })
      expect([answer.status, answer.body]).toEqual([200, plain.body])
    }
  })

  test('reads need no signing secret at all', async () => {
    const tenant = await makeTenant(app)
    expect((await ask({}, { token: await makeServiceToken(app, tenant.owner) })).status).toBe(200)
    expect(await makeSecret(app, tenant.owner)).toMatch(/^lwsec_/)
  })
})

describe('422', () => {
  test.each(['origin', 'destination', 'proposed_rate'])('%s is required', async (name) => {
    const query = new URLSearchParams({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      proposed_rate: '2000',
    })
    query.delete(name)
    const { status, body } = await call(app, 'GET', `/api/integrations/insights/markup?${query}`, {
      token: acme.token,
    })
    expect([status, body.errors]).toEqual([
      422,
      [{ parameter: name, code: 'missing', detail: expect.stringContaining(name) }],
    ])
  })

  test.each(['proposed_rate', 'market_rate'])(
    '%s must be a plain decimal greater than 0 with at most two decimals',
    async (name) => {
      for (const text of [
        '0',
        '0.00',
        '-1',
        '-0',
        '1e309',
        '1e3',
        '0x10',
        '1_000',
        '1,000',
        '$2000',
        '+5',
        ' 5 ',
        'Infinity',
        'NaN',
        '١',
        'null',
        'true',
        '10000000',
        '2000.001',
        '2000.',
        '.5',
        '02000',
        '9'.repeat(400),
        '[]',
      ]) {
        const { status, body } = await ask({ [name]: text })
        expect([text, status, body.errors?.[0]?.parameter]).toEqual([text, 422, name])
      }
    },
  )

  test.each([
    'Dallas',
    'Portland',
    'Dallas, XX',
    ', TX',
    'Dallas,',
    'Dallas, TX, Canada',
    'Dallas, TX 30301',
    '',
    ',',
    '12, TX',
    'Dal\u0000las, TX',
    'Dal\u202elas, TX',
    `${'x'.repeat(100)}, TX`,
  ])('origin %j is no city and state', async (origin) => {
    const { status, body } = await ask({ origin })
    expect([status, body.errors?.[0]?.parameter]).toEqual([422, 'origin'])
  })

  test.each([' ', 'V;drop', 'V\u0000', 'x'.repeat(21), 'é', 'V,R'])(
    'equipment %j is no code',
    async (equipment) => {
      expect((await ask({ equipment })).status).toBe(422)
    },
  )

  test('include accepts only known extras', async () => {
    expect((await ask({ include: 'everything' })).status).toBe(422)
    expect((await ask({ include: 'evidence' })).body.evidence).toBeDefined()
  })
})

describe('401', () => {
  test('a dashboard token is rejected', async () => {
    expect((await ask({}, { token: acme.tenant.owner })).body.type).toBe('/problems/token-wrong-kind')
  })
})

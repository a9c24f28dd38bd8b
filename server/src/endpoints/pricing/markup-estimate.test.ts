import { beforeAll, describe, expect, test } from 'vitest'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  makeServiceToken,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let broker: Integration

interface Cost {
  readonly share: number
}

/** Dallas to Atlanta: low rates won, high rates lost; the won ones have a booked cost. */
const quotes = [
  ...[1800, 1820, 1850, 1880, 1900, 1920, 1950, 1960, 1980, 2000].map((rate) => ({
    rate,
    outcome: 'won' as const,
  })),
  ...[1990, 2020, 2050, 2080, 2100, 2150, 2200, 2250, 2300, 2400].map((rate) => ({
    rate,
    outcome: 'lost' as const,
  })),
]

beforeAll(async () => {
  app = await sharedApp()
  broker = await makeIntegration(app)
  for (const quote of quotes) {
    const made = await makeQuote(app, broker.tenant, quote)
    if (quote.outcome === 'won') {
      await pushUpdate(app, broker, { lane_ref: made.lane_ref, customer_rate: quote.rate, truck_cost: 1650 })
    }
  }
})

async function markup(query: Record<string, string | number>, integration = broker) {
  const text = new URLSearchParams(
    Object.entries({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
      proposed_rate: 2000,
      ...query,
    }).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const answer = await call(app, 'GET', `/api/integrations/insights/markup?${text}`, {
    token: integration.token,
  })
  return { ...answer, text: JSON.stringify(answer.body) }
}

describe('losses for other reasons than the price', () => {
  /** A brokerage with the lane's quotes, and six more losses at low rates, for a reason. */
  async function brokerWith(reason: string) {
    const one = await makeIntegration(app)
    const more = [1700, 1750, 1800, 1820, 1850, 1880].map((rate) => ({ rate, outcome: 'lost' as const }))
    for (const quote of quotes) await makeQuote(app, one.tenant, quote)
    for (const quote of more) {
      const { lane_ref: ref } = await makeQuote(app, one.tenant, quote)
      const body = { outcome: 'lost', reason }
      await call(app, 'POST', `/api/lanes/${ref}/outcome`, { token: one.tenant.owner, body })
    }
    return one
  }

  test('count as lost, but do not say that a low rate was too high, and the sentence says so', async () => {
    const [priced, withdrawn] = [await brokerWith('price'), await brokerWith('withdrawn')]
    const estimateAt = async (proposed_rate: number, one: Integration) =>
      (await markup({ proposed_rate, include: 'estimate' }, one)).body
    const [high, low] = [await estimateAt(1750, withdrawn), await estimateAt(1750, priced)]
    expect(high.estimate.losses).toMatchObject({ lost: 16, not_about_price: 6 })
    expect(low.estimate.losses).toEqual({ lost: 16, not_about_price: 0, about_price_share: 0 })
    expect(high.estimate).toMatchObject({ decided: 26, won: 10 })
    expect(high.estimate.sentence).toMatch(/ 6 of 16 losses were not about price\.$/)
    // The interface's own numbers count every loss.
    expect(high.win_probability).toBe(low.win_probability)
    // Without losses at low rates among the evidence, the curve falls more steeply.
    const [far, flat] = [await estimateAt(2300, withdrawn), await estimateAt(2300, priced)]
    expect(high.estimate.probability / far.estimate.probability).toBeGreaterThan(
      low.estimate.probability / flat.estimate.probability,
    )
  })
})

describe('the default answer', () => {
  test('the answer has the documented shape with and without extras', async () => {
    const { body } = await markup({})
    expect(Object.keys(body).sort()).toEqual(
      [
        'confidence',
        'found',
        'markup_pct',
        'query',
        'rate_band',
        'suggested_rate',
        'verdict',
        'win_probability',
      ].sort(),
    )
  })
})

describe('include=estimate', () => {
  test('gives a probability inside its 80 % interval, and that inside its 95 % interval', async () => {
    const { estimate } = (await markup({ include: 'estimate' })).body
    expect(estimate.interval_80.low).toBeLessThan(estimate.probability)
    expect(estimate.interval_80.high).toBeGreaterThan(estimate.probability)
    expect(estimate.interval_95.low).toBeLessThanOrEqual(estimate.interval_80.low)
    expect(estimate.interval_95.high).toBeGreaterThanOrEqual(estimate.interval_80.high)
  })

  test('falls as the rate rises', async () => {
    let before = 1
    for (const rate of [1500, 1700, 1900, 2000, 2100, 2300, 2800, 4000]) {
      const { estimate } = (await markup({ include: 'estimate', proposed_rate: rate })).body
      expect(estimate.probability).toBeLessThan(before)
      before = estimate.probability
    }
  })

  test('reports how much of it is borrowed, what would raise confidence, and what would change the answer', async () => {
    const { estimate } = (await markup({ include: 'estimate' })).body
    expect(estimate).toMatchObject({ decided: 20, won: 10, equipment: 'V' })
    expect(estimate.borrowed_share).toBeGreaterThan(0)
    expect(estimate.borrowed_share).toBeLessThan(1)
    expect(estimate.would_raise_confidence.length).toBeGreaterThan(0)
    const [lower, higher] = estimate.at_other_rates
    expect(lower.points).toBeGreaterThan(0)
    expect(lower.dollars).toBeLessThan(0)
    expect(higher.points).toBeLessThan(0)
    expect(estimate.sentence).toMatch(/^An estimated \d+% of quotes at \$2,000 win/)
  })

  test('exists for a lane without quotes, entirely borrowed, and the answer stays found: false', async () => {
    const { body } = await markup({ include: 'estimate', destination: 'Nashville, TN' })
    expect(body).toMatchObject({ found: false, confidence: 'none' })
    expect(body.estimate).toMatchObject({ decided: 0, borrowed_share: 1 })
    expect(body.estimate.flags).toContain('unseen_lane')
  })

  test('flags a lane whose own quotes are all very old', async () => {
    const own = await makeIntegration(app)
    await makeQuote(app, own.tenant, { rate: 2000, outcome: 'won' })
    const then = app.now
    app.now += 700 * 86_400_000
    try {
      const signIn = await call(app, 'POST', '/api/auth/sign-in', {
        body: { email: own.tenant.email, password: own.tenant.password },
      })
      const tenant = { ...own.tenant, owner: signIn.body.token }
      const token = await makeServiceToken(app, tenant.owner)
      await makeQuote(app, tenant, { rate: 2500, origin: 'Houston, TX', outcome: 'lost' })
      const { estimate } = (await markup({ include: 'estimate' }, { ...own, token })).body
      expect(estimate.flags).toContain('only_old_quotes')
      expect(estimate.sentence).toContain('too old to count')
    } finally {
      app.now = then
    }
  })

  test('has nulls and a flag for a brokerage without quotes', async () => {
    const empty = await makeIntegration(app)
    const { body, text } = await markup({ include: 'estimate,curve,optimum,evidence' }, empty)
    expect(body.found).toBe(false)
    expect(body.estimate.probability).toBeNull()
    expect(body.estimate.flags).toContain('no_quotes')
    expect(body.optimum).toBeNull()
    expect(text).not.toContain('NaN')
  })

  test('has no rate and no chance for a lane with an unknown end and fewer than five answered quotes', async () => {
    const unknown = { destination: 'Smallville, TX', include: 'estimate,curve,optimum' }
    const { body } = await markup(unknown)
    expect(body.estimate).toMatchObject({
      miles: null,
      probability: null,
      interval_80: null,
      reference_rate: null,
      trust: 'none',
      sentence:
        'There is not enough to go on: an end of this lane is not a known place, and it has fewer than 5 answered quotes.',
    })
    expect(body.estimate.flags).toEqual(expect.arrayContaining(['no_ground', 'miles_unknown']))
    expect(body.estimate.flags).not.toContain('no_quotes')
    expect([body.optimum, body.curve]).toEqual([null, []])
    // Pending quotes of the lane give no basis for an estimate, and neither do four answered ones; five do.
    const made = Array.from({ length: 5 }, (_, nth) =>
      makeQuote(app, broker.tenant, { destination: 'Smallville, TX', rate: 1900 + nth }),
    )
    for (const { lane_ref: ref } of await Promise.all(made)) {
      expect((await markup(unknown)).body.estimate).toMatchObject({ probability: null, reference_rate: null })
      await call(app, 'POST', `/api/lanes/${ref}/outcome`, {
        token: broker.tenant.owner,
        body: { outcome: 'won' },
      })
    }
    const { estimate } = (await markup(unknown)).body
    expect(estimate.probability).toBeGreaterThan(0)
    expect(estimate.reference_rate).toBeGreaterThan(0)
  })

  test('flags a short haul', async () => {
    await makeQuote(app, broker.tenant, {
      origin: 'Dallas, TX',
      destination: 'Waco, TX',
      rate: 700,
      outcome: 'won',
    })
    const { body } = await markup({ include: 'estimate', destination: 'Waco, TX', proposed_rate: 700 })
    expect(body.estimate.flags).toContain('short_haul')
    expect(body.estimate.miles).toBeLessThan(250)
    const insight = await call(
      app,
      'GET',
      '/api/integrations/insights/lane?origin=Dallas,%20TX&destination=Waco,%20TX&include=evidence',
      { token: broker.token },
    )
    expect(insight.body.evidence.short_haul).toBe(true)
  })
})

describe('include=curve', () => {
  test('has at least 21 points, falling, with the quotes near each', async () => {
    const { curve } = (await markup({ include: 'curve' })).body
    expect(curve.length).toBeGreaterThanOrEqual(21)
    for (const [index, point] of curve.entries()) {
      if (index > 0) expect(point.probability).toBeLessThanOrEqual(curve[index - 1].probability)
    }
    const near = curve.reduce(
      (sum: number, { nearby }: { nearby: { won: number; lost: number } }) => sum + nearby.won + nearby.lost,
      0,
    )
    expect(near).toBe(20)
  })
})

describe('include=optimum', () => {
  test('has the rate with the best expected margin, its flat zone and the dollars at stake', async () => {
    const { estimate, optimum } = (await markup({ include: 'estimate,optimum' })).body
    expect(estimate.expected_cost.amount).toBeGreaterThan(1500)
    expect(optimum.flat_zone.low).toBeLessThanOrEqual(optimum.rate)
    expect(optimum.flat_zone.high).toBeGreaterThanOrEqual(optimum.rate)
    expect(optimum.expected_margin).toBeGreaterThanOrEqual(estimate.expected_margin)
    expect(optimum.at_stake).toBeCloseTo(optimum.expected_margin - estimate.expected_margin, 1)
  })

  test("is flagged when it is outside the range of the lane's quotes", async () => {
    const own = await makeIntegration(app)
    await makeQuote(app, own.tenant, { origin: 'Reno, NV', rate: 2600, outcome: 'lost' })
    for (const rate of [2000, 2010, 2020]) {
      const quote = await makeQuote(app, own.tenant, { rate, outcome: 'won' })
      await pushUpdate(app, own, { lane_ref: quote.lane_ref, customer_rate: rate, truck_cost: 1700 })
    }
    const { estimate, optimum } = (await markup({ include: 'estimate,optimum' }, own)).body
    expect(optimum.rate).toBeGreaterThan(2020)
    expect(estimate.flags).toContain('optimum_beyond_quotes')
  })

  test('respects the brokerage’s floor and shows both numbers', async () => {
    await call(app, 'PATCH', '/api/tenant', {
      token: broker.tenant.owner,
      body: { floors: { margin_pct: 40 } },
    })
    const { optimum } = (await markup({ include: 'optimum' })).body
    expect(optimum.floored_rate).toBe(optimum.floor)
    expect(optimum.floored_rate).toBeGreaterThan(optimum.rate)
    const cleared = await call(app, 'PATCH', '/api/tenant', {
      token: broker.tenant.owner,
      body: { floors: { margin_pct: 0 } },
    })
    expect(cleared.body.floors.margin_pct).toBeNull()
  })
})

describe('include=risk', () => {
  test('states the chance of losing money, which falls as the rate rises', async () => {
    const { risk } = (await markup({ include: 'risk' })).body
    expect(risk).toMatchObject({ cost_source: 'expected', sentence: expect.stringContaining('At $2,000') })
    expect(risk.margin.low).toBeLessThan(risk.margin.median)
    expect(risk.margin.median).toBeCloseTo(2000 - risk.costs.find((one: Cost) => one.share === 0.5).amount, 1)
    const safe = (await markup({ include: 'risk', proposed_rate: risk.safe_rate })).body.risk
    expect(safe.loss_chance).toBeCloseTo(0.1, 2)
    const low = (await markup({ include: 'risk', proposed_rate: 1500 })).body.risk
    expect(low.loss_chance).toBeGreaterThan(risk.loss_chance)
  })

  test('varies around the cost that was sent, and is null while no cost is known', async () => {
    const { risk } = (await markup({ include: 'risk', estimated_cost: 1900 })).body
    expect(risk).toMatchObject({ cost: 1900, cost_source: 'entered' })
    const fresh = await makeIntegration(app)
    expect((await markup({ include: 'risk' }, fresh)).body).toMatchObject({ found: false, risk: null })
    const sent = (await markup({ include: 'risk', estimated_cost: 1900 }, fresh)).body
    expect(sent.risk).toMatchObject({ cost_source: 'entered', own_loads: 0 })
  })
})

describe('include=evidence', () => {
  test('pages the quotes behind each number, with the reason when one is excluded', async () => {
    app.now += 60_000
    const open = await makeQuote(app, broker.tenant, { rate: 2500 })
    const { evidence } = (await markup({ include: 'evidence,estimate', evidence_limit: 5 })).body
    expect(evidence.quotes).toHaveLength(5)
    expect(evidence.quotes_pages).toBe(5)
    const quote = evidence.quotes.find(({ lane_ref }: { lane_ref: string }) => lane_ref === open.lane_ref)
    expect(quote.used_in).not.toContain('win_probability')
    expect(quote.left_out).toContainEqual({ of: 'win_probability', why: 'nobody has answered it yet' })
  })

  test('marks an outlier instead of dropping it silently', async () => {
    const wild = await makeQuote(app, broker.tenant, { rate: 200000, outcome: 'lost' })
    const { body } = await markup({ include: 'evidence,estimate', evidence_limit: 200 })
    expect(body.rate_band.ceiling).toBe(200000)
    expect(body.evidence.outliers.map(({ rate }: { rate: number }) => rate)).toContain(200000)
    const quote = body.evidence.quotes.find(
      ({ lane_ref }: { lane_ref: string }) => lane_ref === wild.lane_ref,
    )
    expect(quote.used_in).toContain('win_probability')
    expect(quote.left_out.map(({ of }: { of: string }) => of)).toContain('estimate')
    await call(app, 'POST', `/api/lanes/${wild.lane_ref}/outcome`, {
      token: broker.tenant.owner,
      body: { outcome: 'pending' },
    })
  })
})

describe('the effective rate', () => {
  test('a push changes statistics, margin and advice from the next read on, and a rollback restores them', async () => {
    const own = await makeIntegration(app)
    for (const quote of quotes.slice(5, 15)) await makeQuote(app, own.tenant, quote)
    const made = await makeQuote(app, own.tenant, { rate: 2300, outcome: 'lost' })
    const look = async () => {
      const { body } = await markup({ include: 'estimate,curve,optimum' }, own)
      const insight = await call(
        app,
        'GET',
        '/api/integrations/insights/lane?origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V',
        { token: own.token },
      )
      const shown = await call(app, 'GET', `/api/lanes/${made.lane_ref}`, { token: own.tenant.owner })
      return { body, insight: insight.body, margin: shown.body.margin }
    }
    const before = await look()
    expect(before.margin).toBeNull()
    expect(before.body.optimum).toBeNull()

    await call(app, 'POST', `/api/lanes/${made.lane_ref}/outcome`, {
      token: own.tenant.owner,
      body: { outcome: 'pending' },
    })
    await pushUpdate(app, own, { lane_ref: made.lane_ref, customer_rate: 1700, truck_cost: 1500 })
    const after = await look()
    expect(after.margin).toBe(200)
    expect(after.insight.history.wins).toBe(before.insight.history.wins + 1)
    expect(after.insight.history.avg_rate_usd).toBeLessThan(before.insight.history.avg_rate_usd)
    expect(after.body.rate_band.floor).toBe(1700)
    expect(after.body.estimate.won).toBe(before.body.estimate.won + 1)
    expect(after.body.optimum).not.toBeNull()

    const changes = await call(app, 'GET', `/api/lanes/${made.lane_ref}/changes`, { token: own.tenant.owner })
    for (const { change_id } of changes.body.changes.slice(0, 2)) {
      const undone = await call(app, 'POST', `/api/lanes/${made.lane_ref}/rollback`, {
        token: own.tenant.owner,
        body: { change_id },
      })
      expect(undone.status).toBe(200)
    }
    expect(await look()).toEqual(before)
  })
})

describe('expected cost', () => {
  test('is given 7, 14 and 28 days ahead with its range, and states that there is no seasonal evidence', async () => {
    const { expected_cost } = (await markup({ include: 'estimate' })).body.estimate
    expect(expected_cost.ahead.map(({ days }: { days: number }) => days)).toEqual([7, 14, 28])
    let before = 0
    for (const { amount, low, high, season_pct } of expected_cost.ahead) {
      expect(amount).toBe(expected_cost.amount)
      expect(season_pct).toBeNull()
      expect(Math.log(high / low)).toBeGreaterThan(before)
      before = Math.log(high / low)
    }
    expect(expected_cost.season.evidence).toBe(false)
    expect(expected_cost.season.sentence).toMatch(/^No seasonal evidence: /)
  })

  test('is learned from estimated costs when no truck cost was ever booked', async () => {
    const own = await makeIntegration(app)
    const quote = () =>
      call(app, 'POST', '/api/quote-requests', {
        token: own.tenant.owner,
        body: {
          customer_name: 'Harvest Table Foods',
          lanes: [
            {
              origin: 'Dallas, TX',
              destination: 'Atlanta, GA',
              equipment: 'V',
              quoted_rate: 2000,
              estimated_cost: 1700,
            },
          ],
        },
      })
    for (let count = 0; count < 5; count++) await quote()
    const [made] = (await quote()).body.lanes
    expect(made.expected_cost.amount).toBeGreaterThan(1500)
    expect(made.expected_cost.amount).toBeLessThan(1900)
  })

  test('is shown on a new quote of a lane with AP history, with its range', async () => {
    const quote = await makeQuote(app, broker.tenant, { rate: 2050 })
    expect(quote.expected_cost.amount).toBeGreaterThan(1500)
    expect(quote.expected_cost.amount).toBeLessThan(1800)
    expect(quote.expected_cost.low).toBeLessThan(quote.expected_cost.amount)
    expect(quote.expected_cost.high).toBeGreaterThan(quote.expected_cost.amount)
  })

  test('is null when no truck cost is known', async () => {
    const fresh = await makeIntegration(app)
    const quote = await makeQuote(app, fresh.tenant, { rate: 2050 })
    expect(quote.expected_cost).toBeNull()
  })
})

describe('places', () => {
  test('a typing error in a quote request is rejected with suggestions', async () => {
    const body = {
      customer_name: 'Harvest Table Foods',
      lanes: [{ origin: 'Dalas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2000 }],
    }
    const refused = await call(app, 'POST', '/api/quote-requests', { token: broker.tenant.owner, body })
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0]).toMatchObject({ pointer: '/lanes/0/origin', code: 'unknown-place' })
    expect(refused.body.errors[0].detail).toContain('Dallas, TX')
    const meant = await call(app, 'POST', '/api/quote-requests', {
      token: broker.tenant.owner,
      body: { ...body, accept_unknown_places: true },
    })
    expect(meant.status).toBe(201)
    expect(meant.body.lanes[0].origin).toBe('Dalas, TX')
  })

  test('a read with an unknown city matches its folded text only', async () => {
    const { body } = await markup({ origin: ' dalas ,tx' })
    expect(body.found).toBe(true)
    expect(body.rate_band).toMatchObject({ floor: null })
    expect((await markup({ origin: 'Dallass, TX' })).body.found).toBe(false)
  })

  test('different spellings of a city are the same city', async () => {
    await makeQuote(app, broker.tenant, {
      origin: 'Saint Louis, MO',
      destination: 'Fort Worth, TX',
      rate: 1500,
      outcome: 'won',
    })
    const { body } = await markup({ origin: 'ST. LOUIS, Missouri', destination: 'Ft Worth, TX' })
    expect(body.found).toBe(true)
    expect((await markup({ origin: 'East St. Louis, IL', destination: 'Ft Worth, TX' })).body.found).toBe(
      false,
    )
  })

  test("lane insight uses the market before the states, scales its average to the lane's miles, and reports both", async () => {
    const own = await makeIntegration(app)
    for (const [origin, rate] of [
      ['Dallas, TX', 2000],
      ['Fort Worth, TX', 2050],
      ['Arlington, TX', 2020],
    ] as const) {
      await makeQuote(app, own.tenant, { origin, rate, outcome: 'won' })
    }
    const answer = await call(
      app,
      'GET',
      '/api/integrations/insights/lane?origin=Irving,%20TX&destination=Atlanta,%20GA&equipment=V&include=evidence',
      { token: own.token },
    )
    expect(answer.body).toMatchObject({ found: true, scope: 'market', history: { total_quotes: 3, wins: 3 } })
    expect(answer.body.summary).toMatch(/market/i)
    expect(answer.body.history.avg_rate_usd).toBeGreaterThan(1900)
    expect(answer.body.history.avg_rate_usd).toBeLessThan(2150)
    expect(answer.body.evidence.levels.map(({ scope }: { scope: string }) => scope)).toEqual([
      'equipment',
      'corridor',
      'market',
    ])
  })
})

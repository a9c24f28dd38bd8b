import { beforeAll, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, makeQuote, makeTenant, pushUpdate } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

const places = '/api/places'
const customers = '/api/customers'
let app: TestApp
let acme: Integration
let refs: string[]

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeIntegration(app)
  refs = [
    ...(await quote('Harvest Table Foods', 'Dalton, GA', 3)),
    ...(await quote('HARVEST TABLE FOODS', 'Dalhart, TX', 1)),
    ...(await quote('Char-Broil 100%', 'Dalton, GA', 2)),
    ...(await quote('Zebra_Mills', 'El Paso, TX', 1)),
  ]
})

async function quote(customer: string, origin: string, times: number): Promise<string[]> {
  const made = await call(app, 'POST', '/api/quote-requests', {
    token: acme.tenant.owner,
    body: {
      customer_name: customer,
      lanes: Array.from({ length: times }, () => ({
        origin,
        destination: 'Atlanta, GA',
        equipment: 'V',
        quoted_rate: 900,
      })),
    },
  })
  return made.body.lanes.map((quote: { lane_ref: string }) => quote.lane_ref)
}

async function ask(path: string, query: Record<string, string>, token = acme.tenant.owner) {
  return call(app, 'GET', `${path}?${new URLSearchParams(query)}`, { token })
}

async function placesFor(query: Record<string, string>, token?: string): Promise<string[]> {
  const { body } = await ask(places, query, token)
  return body.places.map(({ place }: { place: string }) => place)
}

async function namesFor(query: Record<string, string>, token?: string): Promise<string[]> {
  const { body } = await ask(customers, query, token)
  return body.customers.map(({ name }: { name: string }) => name)
}

describe('suggest-places: 200', () => {
  test('offers the place with its parts', async () => {
    const { status, body } = await ask(places, { q: 'dallas, t', limit: '1' })
    expect([status, body]).toEqual([
      200,
      {
        reads_as: null,
        places: [{ place: 'Dallas, TX', city: 'Dallas', state: 'TX', population: expect.any(Number) }],
        as_typed: null,
      },
    ])
  })

  test('an unknown village is suggested as typed, together with similar places', async () => {
    const { body } = await ask(places, { q: 'Dalas, TX' })
    expect([body.as_typed, body.places[0].place]).toEqual(['Dalas, TX', 'Dallas, TX'])
  })

  test('the city and state come first, with or without a comma, however often the longer names are quoted', async () => {
    const other = await makeIntegration(app)
    for (const origin of ['Dallastown, PA', 'Chicago Heights, IL']) {
      await makeQuote(app, other.tenant, { origin })
    }
    for (const [q, first] of [
      ['dallas', 'Dallas, TX'],
      ['dallas tx', 'Dallas, TX'],
      ['Dallas, TX', 'Dallas, TX'],
      ['chicago', 'Chicago, IL'],
      ['chicago il', 'Chicago, IL'],
    ] as const) {
      expect([q, (await placesFor({ q }, other.tenant.owner))[0]]).toEqual([q, first])
    }
  })

  test('places that this brokerage quotes come first, most quoted first', async () => {
    expect((await placesFor({ q: 'dal' })).slice(0, 3)).toEqual(['Dalton, GA', 'Dalhart, TX', 'Dallas, TX'])
    expect((await placesFor({ q: 'dal', limit: '2' })).length).toBe(2)
  })

  test('a quoted place is not suggested for other text', async () => {
    expect(await placesFor({ q: 'chicago' })).not.toContain('Dalton, GA')
  })

  test('without text: the most quoted places, at either end of a lane', async () => {
    const most = ['Atlanta, GA', 'Dalton, GA', 'El Paso, TX', 'Dalhart, TX']
    expect(await placesFor({})).toEqual(most)
    expect(await placesFor({ q: ' ', limit: '2' })).toEqual(most.slice(0, 2))
  })

  test('another brokerage does not see the places of this one', async () => {
    const other = await makeTenant(app)
    expect(await placesFor({}, other.owner)).toEqual([])
    expect((await placesFor({ q: 'dal' }, other.owner))[0]).toBe('Dallas, TX')
  })
})

describe('suggest-customers: 200', () => {
  test('finds the text anywhere in the name, in any case, the most quoted first', async () => {
    const { status, body } = await ask(customers, { q: 'HAR' })
    expect(status).toBe(200)
    expect(body.customers).toEqual([
      { name: 'Harvest Table Foods', quotes: 4, last_quoted_at: new Date(app.now).toISOString() },
      { name: 'Char-Broil 100%', quotes: 2, last_quoted_at: new Date(app.now).toISOString() },
    ])
    expect(await namesFor({ q: 'har', limit: '1' })).toEqual(['Harvest Table Foods'])
  })

  test('the text is matched literally, not as a pattern', async () => {
    expect(await namesFor({ q: '%' })).toEqual(['Char-Broil 100%'])
    expect(await namesFor({ q: 'a_m' })).toEqual(['Zebra_Mills'])
    expect(await namesFor({ q: "'; drop table quotes" })).toEqual([])
  })

  test('without text: the most quoted ones', async () => {
    expect(await namesFor({})).toEqual(['Harvest Table Foods', 'Char-Broil 100%', 'Zebra_Mills'])
  })

  test('the customer name of the booking takes precedence over that of the quote', async () => {
    const other = await makeIntegration(app)
    const made = await call(app, 'POST', '/api/quote-requests', {
      token: other.tenant.owner,
      body: {
        customer_name: 'Quoted Co',
        lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 900 }],
      },
    })
    await pushUpdate(app, other, { lane_ref: made.body.lanes[0].lane_ref, customer_name: 'Billed Co' })
    expect(await namesFor({}, other.tenant.owner)).toEqual(['Billed Co'])
  })

  test('another brokerage does not see the customers of this one', async () => {
    expect(refs.length).toBe(7)
    expect(await namesFor({ q: 'har' }, (await makeTenant(app)).owner)).toEqual([])
  })
})

describe.each([places, customers])('%s', (path) => {
  test('401 without a token, and with a service token', async () => {
    const none = await call(app, 'GET', `${path}?q=dal`)
    expect([none.status, none.body.type]).toEqual([401, '/problems/token-missing'])
    const machine = await ask(path, { q: 'dal' }, acme.token)
    expect([machine.status, machine.body.type]).toEqual([401, '/problems/token-wrong-kind'])
  })

  test.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '51' }, 'limit'],
    [{ q: 'x'.repeat(101) }, 'q'],
    [{ q: 'a\u0000b' }, 'q'],
  ])('422: %j names the parameter', async (query, parameter) => {
    const { status, body } = await ask(path, query)
    expect([status, body.errors[0].parameter]).toEqual([422, parameter])
  })
})

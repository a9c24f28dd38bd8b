import { beforeAll, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, makePerson, makeQuote, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let acme: Integration

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeIntegration(app)
  for (const [rate, outcome] of [
    [1800, 'won'],
    [1900, 'won'],
    [2000, 'lost'],
    [2100, 'pending'],
    [2200, 'won'],
    [2300, 'lost'],
  ] as const) {
    await makeQuote(app, acme.tenant, { rate, outcome })
  }
})

const reads = {
  markup: { people: '/api/advice/markup', machines: '/api/integrations/insights/markup' },
  lane: { people: '/api/advice/lane', machines: '/api/integrations/insights/lane' },
}

function ask(path: string, query: Record<string, string>, token: string) {
  const rate = path.endsWith('markup') ? { proposed_rate: '2000' } : {}
  const asked = new URLSearchParams({ origin: 'Dallas, TX', destination: 'Atlanta, GA', ...rate, ...query })
  return call(app, 'GET', `${path}?${asked}`, { token })
}

describe.each(Object.entries(reads))('%s: 200', (name, { people, machines }) => {
  test.each([
    {},
    { equipment: 'dry van' },
    { equipment: 'R' },
    { include: 'evidence' },
    { origin: 'Nowhere Atall, TX' },
    ...(name === 'markup' ? [{ include: 'estimate,curve,optimum', market_rate: '2050' }] : []),
  ])('people get the same answer as machines: %j', async (query) => {
    const [person, machine] = [
      await ask(people, query, acme.tenant.owner),
      await ask(machines, query, acme.token),
    ]
    expect(person.status).toBe(200)
    // Only a person saves quotes, so only a person's answer has the advice to return with them.
    const { advice, ...shown } = person.body
    expect(shown).toEqual(machine.body)
    expect(advice !== undefined).toBe('estimate' in machine.body)
  })

  test('an empty parameter is the same as none, if it is optional', async () => {
    for (const path of [people, machines]) {
      const token = path === people ? acme.tenant.owner : acme.token
      const plain = await ask(path, {}, token)
      for (const _ of [1, 2]) {
        expect((await ask(path, { equipment: '', include: '' }, token)).body).toEqual(plain.body)
      }
      expect((await ask(path, { origin: '' }, token)).status).toBe(422)
    }
  })

  test('a viewer may read it, and nothing is cached', async () => {
    const viewer = await makePerson(app, acme.tenant, 'viewer')
    const { status, headers } = await ask(people, {}, viewer.token)
    expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-store'])
  })

  test('requests of people do not count against the integration limit', async () => {
    const { headers } = await ask(people, {}, acme.tenant.owner)
    expect(headers.get('RateLimit')).toBeNull()
  })

  test('another brokerage sees nothing of it', async () => {
    const other = await makeTenant(app)
    expect((await ask(people, {}, other.owner)).body.found).toBe(false)
  })
})

test('a person who has just marked a quote sees the effect', async () => {
  const { owner } = acme.tenant
  const before = await ask(reads.markup.people, { equipment: 'F' }, owner)
  expect(before.body.found).toBe(false)
  await makeQuote(app, acme.tenant, { equipment: 'F', rate: 2000, outcome: 'won' })
  const after = await ask(reads.markup.people, { equipment: 'F' }, owner)
  expect(after.body).toMatchObject({ found: true, win_probability: 0.75, confidence: 'low' })
})

describe.each(Object.entries(reads))('%s: 401', (_name, { people }) => {
  test('without a token, and with a service token', async () => {
    const none = await call(app, 'GET', `${people}?origin=Dallas,TX&destination=Atlanta,GA`)
    expect([none.status, none.body.type]).toEqual([401, '/problems/token-missing'])
    const machine = await ask(people, {}, acme.token)
    expect([machine.status, machine.body.type]).toEqual([401, '/problems/token-wrong-kind'])
  })
})

describe.each(Object.entries(reads))('%s: 422', (_name, { people }) => {
  test.each([
    [{ origin: 'Dallas' }, 'origin'],
    [{ destination: 'Atlanta, ZZ' }, 'destination'],
    [{ equipment: '!' }, 'equipment'],
    [{ include: 'everything' }, 'include'],
  ])('%j names the parameter', async (query, parameter) => {
    const { status, body } = await ask(people, query, acme.tenant.owner)
    expect([status, body.errors[0].parameter]).toEqual([422, parameter])
  })

  test('an unknown state is an error with suggested places', async () => {
    const { status, body } = await ask(people, { destination: 'Atlanta, ZZ' }, acme.tenant.owner)
    expect([status, body.errors[0].suggestions[0]]).toEqual([422, 'Atlanta, GA'])
  })
})

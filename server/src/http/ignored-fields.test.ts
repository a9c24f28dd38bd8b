import { beforeAll, describe, expect, test } from 'vitest'
import { batchLanesMax } from '#contract/limits.ts'
import { call, type Integration, makeIntegration, makeQuote, signedHeaders } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { ignoredHeaders } from './ignored-fields.ts'

let app: TestApp
let acme: Integration

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeIntegration(app)
})

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA' }
const quoted = { ...lane, equipment: 'V', quoted_rate: 2150 }
const strict = { Prefer: 'handling=strict' }

/** Each endpoint with nested members, with a request that has an unknown member at each level. */
const nested = () => [
  {
    method: 'POST',
    path: '/api/quote-requests',
    token: acme.tenant.owner,
    body: {
      customer_name: 'Harvest Table Foods',
      customerName: 'x',
      lanes: [quoted, { ...quoted, quotedRate: 1, waypoints: { first: 'Reno, NV' } }],
    },
    paths: ['customerName', 'lanes/1/quotedRate', 'lanes/1/waypoints'],
  },
  {
    method: 'POST',
    path: '/api/integrations/insights/batch',
    token: acme.token,
    body: {
      lanes: [
        { ...lane, proposedRate: 2000 },
        { ...lane, 'rate/mile': 2 },
      ],
    },
    paths: ['lanes/0/proposedRate', 'lanes/1/rate%2Fmile'],
  },
  {
    method: 'PATCH',
    path: '/api/tenant',
    token: acme.tenant.owner,
    body: { floors: { margin_pct: 8, marginPct: 9 } },
    paths: ['floors/marginPct'],
  },
]

describe('an unknown member', () => {
  test('is named wherever it is, and has no effect', async () => {
    for (const { method, path, token, body, paths } of nested()) {
      const answer = await call(app, method, path, { token, body })
      expect(answer.status, path).toBeLessThan(300)
      expect(answer.headers.get('Ignored-Fields'), path).toBe(paths.join(', '))
      expect(answer.headers.get('Ignored-Fields-More'), path).toBeNull()
    }
  })

  test('is an error each with strict handling, and nothing is created', async () => {
    const count = async () => (await call(app, 'GET', '/api/lanes', { token: acme.tenant.owner })).body.total
    const before = await count()
    for (const { method, path, token, body, paths } of nested()) {
      const answer = await call(app, method, path, { token, body, headers: strict })
      expect({ status: answer.status, code: answer.body.code }, path).toEqual({
        status: 422,
        code: 'unknown-field',
      })
      const pointers = paths.map((one) => `/${one.replace('%2F', '~1')}`)
      expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers)
    }
    expect(await count()).toBe(before)
  })

  test('is not saved with the quote', async () => {
    const made = await makeQuote(app, acme.tenant)
    const body = JSON.stringify({ lane_ref: made.lane_ref, truck_cost: 1790, truck: { cost: 1 } })
    const pushed = await fetch(`${app.url}/api/integrations/tms/shipment-update`, {
      method: 'POST',
      headers: signedHeaders(acme, body, Math.floor(app.now / 1000)),
      body,
    })
    expect(pushed.status).toBe(200)
    expect(pushed.headers.get('Ignored-Fields')).toBe('truck')
    const found = await call(app, 'GET', `/api/lanes/${made.lane_ref}`, { token: acme.tenant.owner })
    expect(found.body.truck_cost).toBe(1790)
  })

  test('null inside a quote means absent; an unknown member with null is still named', async () => {
    const answer = await call(app, 'POST', '/api/quote-requests', {
      token: acme.tenant.owner,
      body: { customer_name: 'Harvest Table Foods', lanes: [{ ...quoted, miles: null, colour: null }] },
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('Ignored-Fields')).toBe('lanes/0/colour')
  })
})

describe('many unknown members', () => {
  test('the same unknown member in each item of a list is one entry', async () => {
    const lanes = Array.from({ length: batchLanesMax }, () => ({ ...lane, proposedRate: 1 }))
    const answer = await call(app, 'POST', '/api/integrations/insights/batch', {
      token: acme.token,
      body: { lanes },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Ignored-Fields')).toBe('lanes/*/proposedRate')
  })

  test('a refusal lists one hundred and counts the others', async () => {
    const lanes = Array.from({ length: 150 }, () => ({ ...lane, proposedRate: 1 }))
    const answer = await call(app, 'POST', '/api/integrations/insights/batch', {
      token: acme.token,
      body: { lanes },
      headers: strict,
    })
    expect(answer.status).toBe(422)
    expect(answer.body.errors).toHaveLength(100)
    expect(answer.body.detail).toContain('and 149 more')
  })

  test('the header stays short, and counts what it omits', () => {
    const names = Array.from({ length: 500 }, (_, at) => [`${at}${'é'.repeat(300)}`])
    const headers = ignoredHeaders({ query: [], body: names })
    const shown = headers['Ignored-Fields']?.split(', ') ?? []
    expect(headers['Ignored-Fields']?.length).toBeLessThanOrEqual(2_000)
    expect(shown.length).toBeGreaterThan(0)
    expect(Number(headers['Ignored-Fields-More'])).toBe(500 - shown.length)
  })

  test('a long name is cut between characters', () => {
    const headers = ignoredHeaders({ query: [`${'x'.repeat(59)}😀`], body: [] })
    expect(decodeURIComponent(headers['Ignored-Fields'] ?? '')).toMatch(/^x{59}\uFFFD$/)
  })
})

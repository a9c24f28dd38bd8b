import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { quotesPerRequestMax } from '#contract/limits.ts'
import { knownCells, readColumns, readRow } from '#server/imports/index.ts'
import { call, type Integration, makeIntegration, makeQuote } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/** The test table of the geography. Every endpoint must save a place under one name. */
const inputs = readFileSync(new URL('../../../../geography/src/place-inputs.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => ({ written: line.split('\t')[0] ?? '', stored: line.split('\t')[1] || null }))
const right = inputs.filter(({ stored }) => stored !== null)

let app: TestApp
let acme: Integration

beforeAll(async () => {
  app = await sharedApp()
  acme = await makeIntegration(app)
})

const read = (path: string, query: Record<string, string>) =>
  call(app, 'GET', `${path}?${new URLSearchParams(query)}`, { token: acme.token })

describe('each place in the table', () => {
  test('is stored by a quote request, or rejected with its field', async () => {
    expect(inputs.length).toBeLessThanOrEqual(quotesPerRequestMax)
    const quote = (lanes: readonly { written: string }[]) =>
      call(app, 'POST', '/api/quote-requests', {
        token: acme.tenant.owner,
        body: {
          customer_name: 'Acme',
          accept_unknown_places: true,
          lanes: lanes.map(({ written }) => ({
            origin: written,
            destination: 'Atlanta, GA',
            equipment: 'Power Only',
            quoted_rate: 900,
          })),
        },
      })
    const made = await quote(right)
    expect(made.status).toBe(201)
    expect(made.body.lanes.map(({ origin }: { origin: string }) => origin)).toEqual(
      right.map(({ stored }) => stored),
    )
    expect(new Set(made.body.lanes.map(({ equipment }: { equipment: string }) => equipment))).toEqual(
      new Set(['PO']),
    )
    const refused = await quote(inputs)
    expect(refused.status).toBe(422)
    expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(
      inputs.flatMap(({ stored }, at) => (stored === null ? [`/lanes/${at}/origin`] : [])),
    )
  })

  test('is read from an imported file', () => {
    const columns = readColumns(['Ship From', 'Ship To', 'Equip', 'Sell Rate', 'Quote Date'])
    if (!('columns' in columns)) throw new Error('The header is wrong.')
    const context = {
      ...columns,
      now: Date.parse('2026-06-01T00:00:00Z'),
      assumed: 'all_in' as const,
      known: knownCells(),
    }
    for (const { written, stored } of inputs) {
      const row = readRow([written, 'ATL', 'rfr', '2150', '2026-03-01'], context)
      const quote = row.kind === 'quote' ? row.quote.columns : null
      expect([written, quote?.origin ?? null]).toEqual([written, stored])
      if (quote !== null)
        expect(quote).toMatchObject({ destination: 'Atlanta, GA', equipment: 'R', equipment_code: 'R' })
    }
  })

  test('is read from pasted text', async () => {
    const text = `Origin\tDest\tEquip\tRate\n${inputs.map(({ written }) => `${written}\tATL\tFB\t2150`).join('\n')}`
    const { status, body } = await call(app, 'POST', '/api/pasted-lanes', {
      token: acme.tenant.owner,
      // A place that is not known is asked about, and the person keeps it.
      body: { text, confirmed: inputs.map(({ written }) => written) },
    })
    expect(status).toBe(200)
    type Row = { readonly quote: { readonly origin?: string }; readonly errors: readonly unknown[] }
    const rows: Row[] = body.rows
    expect(rows.map(({ quote }) => quote.origin ?? null)).toEqual(inputs.map(({ stored }) => stored))
    for (const { quote, errors } of rows) expect(errors.length === 0).toBe(quote.origin !== undefined)
  })

  test('is read in a batch, as by lanewise price, and echoed as sent', async () => {
    const results = []
    // The clock of these tests advances by a second with each read, and a batch ends after fifteen seconds.
    const atOnce = 10
    for (let from = 0; from < inputs.length; from += atOnce) {
      const quotes = inputs.slice(from, from + atOnce).map(({ written }) => ({
        origin: written,
        destination: 'ATL',
        proposed_rate: 900,
      }))
      const { body } = await call(app, 'POST', '/api/integrations/insights/batch', {
        token: acme.token,
        body: { lanes: quotes },
      })
      results.push(...body.results)
    }
    for (const [at, { written, stored }] of inputs.entries()) {
      const { status, markup } = results[at]
      expect([written, status]).toEqual([written, stored === null ? 422 : 200])
      // The quotes of the first test are found under every spelling.
      if (stored !== null)
        expect(markup).toMatchObject({ found: true, query: { origin: written, destination: 'ATL' } })
    }
  })

  test('is suggested while typing, and filters a list', async () => {
    for (const { written, stored } of inputs) {
      const { body } = await call(
        app,
        'GET',
        `/api/places?${new URLSearchParams({ q: written, limit: '1' })}`,
        {
          token: acme.tenant.owner,
        },
      )
      expect([written, body.reads_as]).toEqual([written, stored === 'Zzyzx Corners, KS' ? null : stored])
    }
    const listed = await call(app, 'GET', '/api/lanes?origin=OKC', { token: acme.tenant.owner })
    expect(listed.body.lanes.map(({ origin }: { origin: string }) => origin)).toEqual(['Oklahoma City, OK'])
  })
})

test('a number is not equipment, wherever it is written', async () => {
  const query = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: '2150', proposed_rate: '2000' }
  for (const path of ['/api/integrations/insights/markup', '/api/integrations/insights/lane']) {
    const { status, body } = await read(path, path.endsWith('lane') ? { ...query, proposed_rate: '' } : query)
    expect(status).toBe(422)
    expect(JSON.stringify(body.errors)).toContain('2150 looks like a rate')
  }
})

describe('an unknown place', () => {
  const markupPath = '/api/integrations/insights/markup'
  const lanePath = '/api/integrations/insights/lane'
  const typo = { origin: 'Dalas, TX', destination: 'Reno, NV' }
  const named = [{ parameter: 'origin', sent: 'Dalas, TX', closest: ['Dallas, TX'] }]

  test('is named with suggestions, also from memory and in a batch', async () => {
    const query = { ...typo, proposed_rate: '2000', include: 'places' }
    const first = await read(markupPath, query)
    expect(first.body).toEqual({
      found: false,
      query: { ...typo, equipment: null, proposed_rate: 2000, market_rate: null },
      confidence: 'none',
      unknown_places: named,
    })
    expect((await read(markupPath, query)).body).toEqual(first.body)
    const lane = await read(lanePath, { ...typo, include: 'places' })
    expect(lane.body.unknown_places).toEqual(named)
    expect((await read(lanePath, { ...typo, include: 'places' })).body).toEqual(lane.body)
    const batch = await call(app, 'POST', '/api/integrations/insights/batch', {
      token: acme.token,
      body: { lanes: [{ ...typo, proposed_rate: 2000 }], answers: ['markup', 'lane'], include: ['places'] },
    })
    expect(batch.body.results[0]).toMatchObject({ markup: first.body, lane: lane.body })
  })

  test('is named also when the brokerage has quoted it', async () => {
    const village = {
      origin: 'Qqville, TX',
      destination: 'Reno, NV',
      proposed_rate: '2000',
      include: 'places',
    }
    const unknown = [{ parameter: 'origin', sent: 'Qqville, TX', closest: [] }]
    expect((await read(markupPath, village)).body.unknown_places).toEqual(unknown)
    const quote = await makeQuote(app, acme.tenant, { origin: 'Qqville, TX' })
    const { body } = await read(markupPath, { ...village, destination: quote.destination })
    expect([body.found, body.unknown_places]).toEqual([true, unknown])
  })
})

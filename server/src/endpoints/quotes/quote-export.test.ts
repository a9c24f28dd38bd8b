import Papa from 'papaparse'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DatabaseUnavailable } from '#server/database/session/index.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makePerson,
  makeQuote,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let acme: Integration
/** The number of transactions that succeed before the database becomes unavailable. */
let transactionsLeft = Number.POSITIVE_INFINITY

beforeAll(async () => {
  app = await testApp({
    wrapDatabase: (database) => ({
      ...database,
      inTenant: (tenant, work) => {
        if (transactionsLeft <= 0) return Promise.reject(new DatabaseUnavailable('gone'))
        transactionsLeft--
        return database.inTenant(tenant, work)
      },
    }),
    now: Date.UTC(2026, 2, 1, 12),
  })
  acme = await makeIntegration(app)
})
afterAll(() => app.close())

const quote = (token: string, customer: string, lanes: unknown[], reference?: string) =>
  call(app, 'POST', '/api/quote-requests', {
    token,
    body: { customer_name: customer, lanes, ...(reference === undefined ? {} : { reference }) },
  })
const oneQuote = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2150 }

async function exported(path: string, token: string) {
  const { status, headers, body } = await call(app, 'GET', path, { token })
  expect([path, status]).toEqual([path, 200])
  const rows = Papa.parse<Record<string, string>>(body.replace(/^\uFEFF/, ''), {
    header: true,
    skipEmptyLines: true,
  }).data
  return { headers, text: String(body), rows }
}

/** A brokerage with `count` quotes, in requests of a hundred. */
async function brokerageOf(count: number): Promise<string> {
  const tenant = await makeTenant(app)
  for (let made = 0; made < count; made += 100) {
    const quotes = Array.from({ length: Math.min(100, count - made) }, (_, n) => ({
      ...oneQuote,
      quoted_rate: 1000 + made + n,
    }))
    await quote(tenant.owner, `Customer ${made}`, quotes)
  }
  return tenant.owner
}

describe('200', () => {
  test('a file for Excel: a UTF-8 byte-order mark, CRLF line endings, a dated name', async () => {
    await quote(acme.tenant.owner, 'Café "Süd", Inc.', [{ ...oneQuote, estimated_cost: 1800.5 }], 'RFQ 7')
    const { headers, text, rows } = await exported('/api/lanes/export?q=caf%C3%A9', acme.tenant.owner)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="lanewise-lanes-2026-03-01.csv"')
    // fetch removes the byte-order mark from the text.
    expect(text.split('\r\n')).toHaveLength(3)
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      Customer: 'Café "Süd", Inc.',
      'Customer reference': 'RFQ 7',
      'Quoted by': 'Olive Quay',
      'Quoted at': '2026-03-01T12:00:00.000Z',
      'Quoted rate': '2150.00',
      'Estimated cost': '1800.50',
      'Truck cost': '',
      Margin: '',
      Outcome: 'pending',
    })
    const bytes = await fetch(`${app.url}/api/lanes/export`, {
      headers: { Authorization: `Bearer ${acme.tenant.owner}` },
    }).then((response) => response.arrayBuffer())
    expect([...new Uint8Array(bytes).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  })

  test('no cell is a formula, and a negative margin is still a number', async () => {
    const mine = await makeIntegration(app)
    for (const name of ['=1+1', '+1', '-2+3', '@sum', "'quoted", '-5']) {
      await quote(mine.tenant.owner, name, [oneQuote])
    }
    const made = await makeQuote(app, mine.tenant)
    await pushUpdate(app, mine, { lane_ref: made.lane_ref, customer_rate: 1000, truck_cost: 1200.5 })
    const { rows } = await exported('/api/lanes/export', mine.tenant.owner)
    expect(rows.map((row) => row.Customer).sort()).toEqual(
      ["'=1+1", "'+1", "'-2+3", "'@sum", "'quoted", '-5', 'Harvest Table Foods'].sort(),
    )
    const booked = rows.find((row) => row['Quote ID'] === made.lane_ref)
    expect(booked).toMatchObject({ Margin: '-200.50', 'Margin %': '-20.1', 'Truck cost from': 'tms' })
  })

  test('every quote is in it once, for any number of pieces', async () => {
    const token = await brokerageOf(2_100)
    const { rows } = await exported('/api/lanes/export', token)
    expect(rows).toHaveLength(2_100)
    expect(new Set(rows.map((row) => row['Quote ID'])).size).toBe(2_100)
    const list = await call(app, 'GET', '/api/lanes?limit=200', { token })
    expect(rows.slice(0, 200).map((row) => row['Quote ID'])).toEqual(
      list.body.lanes.map((quote: { lane_ref: string }) => quote.lane_ref),
    )
    expect((await exported('/api/lanes/export?customer=customer%20300', token)).rows).toHaveLength(100)
  })

  test('shipments are the quotes with a booking; an empty selection has only a header; a viewer may export both', async () => {
    const mine = await makeIntegration(app)
    const viewer = await makePerson(app, mine.tenant, 'viewer')
    const quote = await makeQuote(app, mine.tenant)
    await makeQuote(app, mine.tenant)
    expect((await exported('/api/shipments/export', viewer.token)).rows).toEqual([])
    await pushUpdate(app, mine, { lane_ref: quote.lane_ref, customer_rate: 2000, carrier_mc: 'MC 77' })
    const { headers, rows } = await exported('/api/shipments/export', viewer.token)
    expect(rows.map((row) => [row['Quote ID'], row['Carrier MC']])).toEqual([[quote.lane_ref, 'MC 77']])
    expect(headers.get('content-disposition')).toContain('lanewise-shipments-')
    expect((await exported('/api/lanes/export', viewer.token)).rows).toHaveLength(2)
    const other = await makeTenant(app)
    expect((await exported('/api/lanes/export', other.owner)).rows).toEqual([])
  })

  test('the import accepts the export of another brokerage unchanged', async () => {
    const mine = await makeIntegration(app)
    await quote(mine.tenant.owner, '=Formula & Sons', [
      { ...oneQuote, market_rate: 2000, pickup_date: '2026-03-04', miles: 781.5, estimated_cost: 1800 },
      { ...oneQuote, equipment: 'Reefer', origin: 'St. Louis, MO' },
    ])
    for (const outcome of ['won', 'lost', 'pending'] as const) await makeQuote(app, mine.tenant, { outcome })
    const booked = await makeQuote(app, mine.tenant)
    await pushUpdate(app, mine, {
      lane_ref: booked.lane_ref,
      customer_rate: 2000,
      truck_cost: 2100.25,
      carrier_name: '+Carrier',
      carrier_mc: 'MC123',
      booked_at: '2026-03-01T09:30:00Z',
    })
    const { text } = await exported('/api/lanes/export', mine.tenant.owner)
    // The booking has the time of the database's clock, which is later than the fixed clock of the service.
    const fixed = app.now
    app.now = Date.now()
    const empty = await makeTenant(app)
    const upload = await fetch(`${app.url}/api/imports?dry_run=true&file_name=lanes.csv`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${empty.owner}`, 'Content-Type': 'text/csv' },
      body: text,
    })
    const started = (await upload.json()) as { import_id: number; status: string; columns: object }
    expect(upload.status).toBe(202)
    const found = await finished(empty.owner, started.import_id)
    app.now = fixed
    expect(found).toMatchObject({ status: 'done', rows_read: 6, rows_added: 6, rows_refused: 0, errors: [] })
    expect(found.ignored_columns).toEqual([
      'Customer reference',
      'Customer on quote',
      'Cost from AP history',
      'AP history basis',
      'Outcome from',
      'Truck cost from',
      'Margin',
      'Margin %',
      'Margin basis',
      'Margin currency',
      'Cancelled at',
      'Cancel reason',
      'Valid until',
    ])
  })

  async function finished(token: string, importId: number) {
    for (;;) {
      const { body } = await call(app, 'GET', `/api/imports/${importId}`, { token })
      if (body.status !== 'running') return body
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  test('a HEAD request gets no file', async () => {
    const response = await fetch(`${app.url}/api/shipments/export`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${acme.tenant.owner}` },
    })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  })
})

describe('401', () => {
  test('a file requires a sign-in', async () => {
    for (const path of ['/api/lanes/export', '/api/shipments/export']) {
      expect((await call(app, 'GET', path)).status).toBe(401)
    }
  })
})

describe('422', () => {
  test('an invalid filter is rejected before the file begins', async () => {
    for (const query of ['from=yesterday', 'origin=Dallas', 'reason=mood', 'outcome=maybe']) {
      const answer = await call(app, 'GET', `/api/lanes/export?${query}`, { token: acme.tenant.owner })
      expect([query, answer.status]).toEqual([query, 422])
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    }
  })
})

describe('503', () => {
  /** One transaction reads the caller, one writes the audit row after the first piece; each piece of the file takes one more. */
  const withTransactions = async (count: number, work: () => Promise<void>) => {
    transactionsLeft = count
    await work().finally(() => {
      transactionsLeft = Number.POSITIVE_INFINITY
    })
  }

  test('an unavailable database is an error, not an empty file', async () => {
    await withTransactions(1, async () => {
      const answer = await call(app, 'GET', '/api/lanes/export', { token: acme.tenant.owner })
      expect(answer.status).toBe(503)
      expect(answer.headers.get('content-disposition')).toBeNull()
    })
  })

  test('an interrupted file closes the connection, so that it is not taken for complete', async () => {
    const token = await brokerageOf(2_100)
    for (const transactions of [3, 4]) {
      await withTransactions(transactions, async () => {
        const response = await fetch(`${app.url}/api/lanes/export`, {
          headers: { Authorization: `Bearer ${token}` },
        })
        expect(response.status).toBe(200)
        await expect(response.text()).rejects.toThrow()
      })
      expect(app.logLines.filter((line) => line.includes('a CSV answer ended early'))).toHaveLength(
        transactions - 2,
      )
    }
  })
})

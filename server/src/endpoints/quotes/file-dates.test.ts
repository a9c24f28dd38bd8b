import { setTimeout as delay } from 'node:timers/promises'
import { utils, write } from '@e965/xlsx'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
  app.now = Date.parse('2026-11-25T12:00:00Z')
})

async function brokerage(settings: object = {}): Promise<MadeTenant> {
  const tenant = await makeTenant(app)
  const body = { time_zone: 'America/Chicago', ...settings }
  expect((await call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body })).body).toMatchObject(body)
  return tenant
}

async function send(tenant: MadeTenant, file: string | Buffer, query = ''): Promise<Answer> {
  const response = await fetch(`${app.url}/api/imports${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: typeof file === 'string' ? file : new Uint8Array(file),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

async function imported(tenant: MadeTenant, file: string | Buffer, query = '') {
  const { status, body } = await send(tenant, file, query)
  expect(status).toBe(202)
  for (;;) {
    const run = (await call(app, 'GET', `/api/imports/${body.import_id}`, { token: tenant.owner })).body
    if (run.status !== 'running') return run
    await delay(20)
  }
}

const quotesOf = async (tenant: MadeTenant) =>
  (await call(app, 'GET', '/api/lanes?sort=oldest', { token: tenant.owner })).body.lanes

const header = 'Ship From,Ship To,Equip,Sell Rate,Quote Date,Status\n'
const quotedOn = (...dates: readonly string[]) =>
  header + dates.map((date, at) => `"Dallas, TX","Atlanta, GA",Van,${2000 + at},"${date}",Lost\n`).join('')
const days = (quotes: readonly { created_at: string }[]) => quotes.map(({ created_at: at }) => at)
const firstOfMonths = ['3/1/2026', '4/1/2026 8:30 PM', '2026-05-01', 'Jun 1, 2026']

/** The sentences about dates. */
const ofDates = ({ understood }: { understood: readonly { code: string }[] }) =>
  understood.filter(({ code }) => code === 'date_order' || code === 'time_zone')

it('a column whose name states a zone and an order is read by them', async () => {
  const tenant = await brokerage()
  const named = (name: string) => header.replace('Quote Date', name)
  const rows = (...dates: string[]) => quotedOn(...dates).slice(header.length)
  const utc = await imported(
    tenant,
    named('Quote Date (UTC)') + rows('2026-03-01 03:00', '2026-03-01', '2026-03-02 08:00 CST'),
  )
  expect(days(await quotesOf(tenant))).toEqual([
    '2026-03-01T03:00:00.000Z',
    '2026-03-01T06:00:00.000Z',
    '2026-03-02T14:00:00.000Z',
  ])
  expect(ofDates(utc)).toMatchObject([
    { detail: 'Quote Date (UTC): times without a zone are in UTC, as the name of the column says.' },
    { detail: 'Times without a zone are in America/Chicago.' },
  ])
  const other = await brokerage()
  await imported(other, named('Quote Date DD/MM/YYYY') + rows('04/03/2026'))
  expect(days(await quotesOf(other))).toEqual(['2026-03-04T06:00:00.000Z'])
})

describe('a quote of a file', () => {
  it.each([
    ['CSV', Buffer.from(quotedOn(...firstOfMonths))],
    ['a workbook', workbookOf(quotedOn(...firstOfMonths))],
  ])(
    'is dated in the time zone of the brokerage, and counts in the month that the file says: %s',
    async (_, file) => {
      const tenant = await brokerage()
      const run = await imported(tenant, file)
      expect([run.status, run.rows_added]).toEqual(['done', 4])
      expect(days(await quotesOf(tenant))).toEqual([
        '2026-03-01T06:00:00.000Z',
        '2026-04-02T01:30:00.000Z',
        '2026-05-01T05:00:00.000Z',
        '2026-06-01T05:00:00.000Z',
      ])
      const months = await call(app, 'GET', '/api/performance?by=month&order=asc', { token: tenant.owner })
      expect(months.body.rows.map(({ label }: { label: string }) => label).toSorted()).toEqual(
        ['March 2026', 'April 2026', 'May 2026', 'June 2026'].toSorted(),
      )
      expect(ofDates(run)).toEqual([
        {
          code: 'date_order',
          column: 'Quote Date',
          detail: 'Quote Date: month first, so 3/1/2026 is March 1, 2026.',
          choices: [{ map: 'dates=day_first', detail: 'Day first: 3 January 2026' }],
        },
        {
          code: 'time_zone',
          column: null,
          detail: 'Times without a zone are in America/Chicago.',
          choices: [],
        },
      ])
    },
  )

  it('keeps a stated zone, and is dated in the morning of a pickup day if it has no other date', async () => {
    const tenant = await brokerage()
    const run = await imported(tenant, quotedOn('2026-03-01T10:00:00Z', '2026-03-01 14:30 CST'))
    expect(days(await quotesOf(tenant))).toEqual(['2026-03-01T10:00:00.000Z', '2026-03-01T20:30:00.000Z'])
    expect(ofDates(run)).toEqual([])
    const other = await brokerage()
    await imported(other, quotedOn('3/1/2026').replace('Quote Date', 'Pickup Date'))
    expect(await quotesOf(other)).toMatchObject([
      { created_at: '2026-03-01T06:00:00.000Z', pickup_date: '2026-03-01' },
    ])
  })

  it('is known after a change of the time zone: the same file adds nothing, with and without ids', async () => {
    const tenant = await brokerage({ time_zone: 'UTC' })
    const text = `Load ID,${header}A1,${quotedOn('3/1/2026').slice(header.length)},${quotedOn('4/1/2026').slice(header.length)}`
    expect(await imported(tenant, text)).toMatchObject({ rows_added: 2, rows_refused: 0 })
    await call(app, 'PATCH', '/api/tenant', { token: tenant.owner, body: { time_zone: 'America/Chicago' } })
    expect(await imported(tenant, text)).toMatchObject({ rows_added: 0, rows_updated: 0, rows_repeated: 2 })
  })
})

describe('the order of day and month', () => {
  it('is that of the column: a day above 12 in one row decides for all rows of the file', async () => {
    const tenant = await brokerage()
    const run = await imported(tenant, quotedOn('03/01/2026', '15/01/2026', '07/02/2026'))
    expect([run.rows_added, run.rows_refused]).toEqual([3, 0])
    expect(days(await quotesOf(tenant)).map((at) => at.slice(0, 10))).toEqual([
      '2026-01-03',
      '2026-01-15',
      '2026-02-07',
    ])
    expect(ofDates(run)[0]).toEqual({
      code: 'date_order',
      column: 'Quote Date',
      detail: 'Quote Date: day first as in 15/01/2026 on line 3, so 03/01/2026 is 3 January 2026.',
      choices: [],
    })
  })

  it('is looked for in the whole file, and decides for its other columns', async () => {
    const tenant = await brokerage()
    const rows = Array.from(
      { length: 400 },
      (_, at) => `"Dallas, TX","Atlanta, GA",Van,${2000 + 5 * at},2026-03-05,03/04/2026,Lost\n`,
    )
    const last = '"Dallas, TX","Atlanta, GA",Van,2500,25/02/2026,03/04/2026,Lost\n'
    const file = `${header.replace('Quote Date', 'Quote Date,Pickup Date')}${rows.join('')}${last}`
    const run = await imported(tenant, file, '?dry_run=true')
    expect([run.rows_added, run.rows_refused]).toEqual([401, 0])
    expect(ofDates(run)[0]).toEqual({
      code: 'date_order',
      column: 'Pickup Date',
      detail: 'Pickup Date: day first like Quote Date, so 03/04/2026 is 3 April 2026.',
      choices: [{ map: 'dates=month_first', detail: 'Month first: March 4, 2026' }],
    })
  })

  it('is that of the map, else of the brokerage, if both are possible', async () => {
    const tenant = await brokerage({ date_order: 'day_first' })
    const dates = async (query: string) => {
      const fresh = await brokerage({ date_order: 'day_first' })
      await imported(fresh, quotedOn('3/1/2026'), query)
      return days(await quotesOf(fresh))
    }
    expect(await dates('')).toEqual(['2026-01-03T06:00:00.000Z'])
    expect(await dates('?map=dates=month_first')).toEqual(['2026-03-01T06:00:00.000Z'])
    const { status, body } = await send(tenant, quotedOn('3/1/2026'), '?map=dates=american')
    expect([status, body.errors[0]]).toMatchObject([
      422,
      {
        parameter: 'map',
        detail: 'The map says dates=american; it must be dates=day_first or dates=month_first.',
      },
    ])
  })

  it('refuses a file that needs both, with both lines, and stores nothing', async () => {
    const tenant = await brokerage()
    const { status, body } = await send(tenant, quotedOn('3/1/2026', '1/25/2026', '26/1/2026'))
    expect([status, body.errors[0].detail]).toEqual([
      422,
      'The dates of Quote Date must all be day first, or all be month first: 1/25/2026 on line 3 can only be month first, and 26/1/2026 on line 4 can only be day first. Correct one of them, or write the dates as 2026-03-01.',
    ])
    expect(await quotesOf(tenant)).toEqual([])
    expect((await call(app, 'GET', '/api/imports', { token: tenant.owner })).body.imports).toEqual([])
  })

  it('is that of the rows in a file of market rates, in the time zone of the brokerage', async () => {
    const tenant = await brokerage()
    const text =
      'Origin,Destination,Equipment,Rate,Date\n"Dallas, TX","Atlanta, GA",V,1960,03/11/2026\n"Dallas, TX","Macon, GA",V,1860,22/11/2026\n'
    const path = '/api/market-rate-files?source=Export&basis=all_in'
    const { body } = await call(app, 'POST', path, { token: tenant.owner, file: text })
    const [order] = body.understood
    expect([body.created, body.failed, order.code, order.choices, order.detail]).toEqual([
      2,
      0,
      'date_order',
      [],
      'Date: day first as in 22/11/2026 on line 3, so 03/11/2026 is 3 November 2026.',
    ])
    const { rates } = (await call(app, 'GET', '/api/market-rates', { token: tenant.owner })).body
    expect(rates.map(({ as_of: at }: { as_of: string }) => at).toSorted()).toEqual([
      '2026-11-03T06:00:00.000Z',
      '2026-11-22T06:00:00.000Z',
    ])
  })

  it('is that of the column of pasted rows', async () => {
    const tenant = await brokerage()
    const paste = async (days: readonly string[], dates?: string) => {
      const text = `Origin\tDestination\tPickup Date\n${days.map((day) => `Dallas, TX\tAtlanta, GA\t${day}`).join('\n')}`
      const sent = { token: tenant.owner, body: { text, ...(dates === undefined ? {} : { dates }) } }
      const { body } = await call(app, 'POST', '/api/pasted-lanes', sent)
      return {
        problem: body.problem,
        said: body.understood.map(({ detail }: { detail: string }) => detail),
        days: body.rows.map(({ quote }: { quote: { pickup_date: string } }) => quote.pickup_date),
        wrong: body.rows.flatMap(({ errors }: { errors: { detail: string }[] }) =>
          errors.map(({ detail }) => detail),
        ),
      }
    }
    expect(await paste(['3/12', '25/12/2026'])).toEqual({
      problem: null,
      said: ['Pickup Date: day first as in 25/12/2026 on line 3, so 3/12 is 3 December.'],
      days: ['2026-12-03', '2026-12-25'],
      wrong: [],
    })
    expect((await paste(['12/3'])).days).toEqual(['2026-12-03'])
    expect((await paste(['3/12'], 'day_first')).days).toEqual(['2026-12-03'])
    const contradiction = '12/25 on line 2 can only be month first, and 25/12 on line 3 can only be day first'
    expect(await paste(['12/25', '25/12'])).toMatchObject({
      problem: null,
      said: [expect.stringContaining(contradiction)],
      wrong: [expect.any(String)],
    })
  })
})

/** The rows of a CSV text as the text cells of a workbook. */
function workbookOf(text: string): Buffer {
  const rows = text
    .trim()
    .split('\n')
    .map((line) => [...line.matchAll(/"([^"]*)"|([^,]+)/g)].map(([, quoted, plain]) => quoted ?? plain))
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Quotes')
  return write(book, { type: 'buffer' }) as Buffer
}

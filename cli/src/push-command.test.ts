import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Lanewise } from '#client/index.ts'
import { importFieldNames, importFields } from '#server/csv/index.ts'
import { type Integration, makeIntegration } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { scriptedServer } from '../../client/testing/scripted-server.ts'
import { runCommandLine } from '../testing/command-line.ts'
import { pushRows, readPushFile } from './push-file.ts'
import type { Surroundings } from './surroundings.ts'

/** Tests `lanewise quotes push` against a running service. */

let app: TestApp
let integration: Integration
let reader: Lanewise
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  app = await testApp({ now: Date.now() })
})
afterAll(() => app.close())

beforeEach(async () => {
  integration = await makeIntegration(app, 'quotes:write read')
  folder = mkdtempSync(join(tmpdir(), 'lanewise-push-'))
  const { token, secret } = integration
  env = { LANEWISE_URL: app.url, LANEWISE_TOKEN: token, LANEWISE_SECRET: secret }
  reader = new Lanewise({ baseUrl: app.url, token, cache: false })
  return () => rmSync(folder, { recursive: true })
})

const file = (name: string, text: string) => writeFileSync(join(folder, name), text)

function push(words: readonly string[], more: Partial<Surroundings> = {}) {
  return runCommandLine(['quotes', 'push', ...words], {
    env,
    folder,
    now: () => app.now,
    ...more,
  })
}

async function quoteOf(externalId: string) {
  const { quotes } = await reader.readQuotes({ external_id: externalId })
  const [found] = quotes
  return found?.removed === false ? found.lane : null
}

const header = 'Load ID,Ship From,Dest City,Dest State,Equip,Quote Price,Customer,Sales Rep,Expires,Status'
const row = (id: string, more = '2150,Harvest,Dana Reyes,,Sent') =>
  `${id},"Dallas, TX",Atlanta,GA,Van,${more}`

describe('a file', () => {
  test('creates, updates and repeats quotes by their ids, with the column names of imports', async () => {
    file(
      'quotes.csv',
      [
        `${header},Quote Date,Est Cost,Market,Rate Type,Lost Reason,Mode,Stop Cities`,
        `${row('A-1', '"$2,150.50",Café Zürich,Dana Reyes,3/1/2030,Sent')},3/1/2026 2:30 PM,0,99,Spot,,FTL,2`,
        `${row('A-2', '1900,Harvest,,,Lost - Price')},2026-03-01,1500,,contract,too high,LTL,"memphis tn; Nashville, TN"`,
        '',
      ].join('\r\n'),
    )
    const inChicago = ['quotes.csv', '--time-zone', 'America/Chicago', '--dates', 'month_first']
    const pushed = await push(inChicago)
    expect(pushed).toMatchObject({
      exit: 0,
      printed: expect.stringMatching(/^rows +2\ncreated +2\nupdated +0\nunchanged +0\nwith errors +0$/),
    })
    expect(pushed.remarked.split('\n')).toEqual([
      'Quote Date: month first, so 3/1/2026 is March 1, 2026.',
      'Expires: month first, so 3/1/2030 is March 1, 2030.',
      'Not pushed: the columns "Market".',
      '2 of 2 rows',
    ])
    expect(existsSync(join(folder, 'quotes.csv.push.jsonl'))).toBe(false)
    expect(await quoteOf('A-1')).toMatchObject({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
      quoted_rate: 2150.5,
      estimated_cost: null,
      customer_name: 'Café Zürich',
      rep_name: 'Dana Reyes',
      valid_until: '2030-03-01T06:00:00.000Z',
      rate_type: 'spot',
      mode: 'truckload',
      stops: [],
      outcome: 'pending',
      created_at: '2026-03-01T20:30:00.000Z',
    })
    expect(await quoteOf('A-2')).toMatchObject({
      estimated_cost: 1500,
      rate_type: 'contract',
      mode: 'ltl',
      stops: ['Memphis, TN', 'Nashville, TN'],
      outcome: 'lost',
      outcome_reason: 'price',
    })

    const again = JSON.parse((await push([...inChicago, '--json'])).printed)
    expect(again).toMatchObject({ rows: 2, created: 0, updated: 0, unchanged: 2, refused: 0 })
    file('quotes.csv', `${header}\n${row('A-1', '2200,Harvest,,,Won')}\n${row('A-3')}\n`)
    const changed = JSON.parse((await push(['quotes.csv', '--json'])).printed)
    expect(changed.results).toMatchObject([
      { row: 2, external_id: 'A-1', result: 'updated', lane_ref: (await quoteOf('A-1'))?.lane_ref },
      { row: 3, external_id: 'A-3', result: 'created' },
    ])
    expect(await quoteOf('A-1')).toMatchObject({ quoted_rate: 2200, outcome: 'won' })
  })

  test.each([
    ['Quote Date', '3/1/2026', [], '"Quote Date" have no time zone: row 2 has "3/1/2026"'],
    ['Quote Date', '2026-03-01T14:30', ['--dates', 'day_first'], '--time-zone America/Chicago'],
    ['Expires', '25/3/2026', [], 'have no time zone'],
    ['Quote Date', '3/1/2026 2:30 PM CST', [], 'Choose --dates month_first or --dates day_first'],
    ['Pickup Date', '3/1/2026', ['--time-zone', 'America/Chicago'], '3/1/2026 may have the month first'],
    [
      'Quote Date',
      '2026-03-01',
      ['--time-zone', 'CST'],
      '--time-zone must be a name such as America/Chicago',
    ],
    ['Quote Date', '2026-03-01', ['--dates', 'american'], '--dates must be month_first or day_first'],
  ])('whose %s is %s is not pushed, and the remedy is named', async (name, date, options, words) => {
    file(
      'dates.csv',
      `Load ID,Ship From,Ship To,Equip,Sell,Customer,${name}\nD-1,"Dallas, TX","Atlanta, GA",V,1,H,${date}\n`,
    )
    expect(await push(['dates.csv', ...options])).toMatchObject({
      exit: 2,
      printed: '',
      remarked: expect.stringContaining(words),
    })
    expect(await quoteOf('D-1')).toBeNull()
  })

  test.each([
    ['25/3/2026 08:00 CST', ['2026-03-25T14:00:00.000Z']],
    ['3/25/2026 00:00Z', ['2026-03-25T00:00:00.000Z']],
    ['3/4/2026 08:00Z\n25/3/2026 08:00Z', ['2026-04-03T08:00:00.000Z', '2026-03-25T08:00:00.000Z']],
  ])('reads the dates %s in the order that they show', (dates, times) => {
    const lines = dates.split('\n').map((date, at) => `E-${at},${date}`)
    const read = readPushFile(Buffer.from(`Load ID,Quote Date\n${lines.join('\n')}\n`), [])
    expect(pushRows(read).map(({ quote }) => quote.quoted_at)).toEqual(times)
  })

  test('with only ids and outcomes updates known quotes', async () => {
    file('quotes.csv', `${header}\n${row('B-1')}\n${row('B-3')}\n`)
    await push(['quotes.csv'])
    file('outcomes.csv', 'My Id;Result;Decided\nB-1;Declined;2026-03-02\nB-2;Won;\nB-3;Expired;2026-03-02\n')
    const pushed = await push(['outcomes.csv', '--column', 'external_id=My Id', '--time-zone', 'UTC'])
    expect(pushed).toMatchObject({
      exit: 6,
      printed: expect.stringContaining(
        'row 3: origin is required: there is no quote with this external_id yet.',
      ),
    })
    expect(await quoteOf('B-1')).toMatchObject({
      outcome: 'lost',
      outcome_reason: null,
      decided_at: '2026-03-02T00:00:00.000Z',
    })
    expect(await quoteOf('B-3')).toMatchObject({ outcome: 'expired' })
  })
})

describe('a wrong row', () => {
  test('is reported with its row and column, by this command or by the service, and the others are pushed', async () => {
    file(
      'quotes.csv',
      [
        header,
        row('C-1'),
        row('C-2', '2.150,Harvest,,,Sent'),
        row('C-3', '=1+1,Harvest,,soon,maybe'),
        row(''),
        row('C-1', '1,Harvest,,,Sent'),
        'C-4,"Dalas, TX",,ZZ,Van,1900,Harvest,,,',
        `${row('C-5')},surplus`,
        '',
        row('C-6', ',,,,'),
        row('C-7'),
      ].join('\n'),
    )
    const pushed = await push(['quotes.csv', '--json'])
    expect(pushed.exit).toBe(6)
    const { created, refused, results } = JSON.parse(pushed.printed)
    expect({ created, refused }).toEqual({ created: 2, refused: 7 })
    const errors = results.flatMap((one: { row: number; errors?: { column: string; detail: string }[] }) =>
      (one.errors ?? []).map(({ column, detail }) => [one.row, column, detail.slice(0, 50)]),
    )
    expect(errors).toEqual([
      [3, 'Quote Price', expect.stringContaining('Quote Price must be an amount of dollars')],
      [4, 'Status', expect.stringContaining('Status must be a known word')],
      [4, 'Quote Price', expect.stringContaining('Quote Price must be a value, not a formula')],
      [4, 'Expires', expect.stringContaining('Expires must be a date')],
      [5, 'Load ID', 'The id of the quote is missing.'],
      [6, 'Load ID', expect.stringContaining('"C-1" is also in row 2')],
      [7, 'Dest City', expect.any(String)],
      [8, null, 'The row has 11 cells, but the header has 10.'],
      [10, 'Quote Price', expect.stringContaining('quoted_rate is required')],
      [10, 'Customer', expect.stringContaining('customer_name is required')],
    ])
    expect(await quoteOf('C-1')).toMatchObject({ quoted_rate: 2150 })
    expect(await quoteOf('C-7')).not.toBeNull()
    for (const id of ['C-2', 'C-3', 'C-4', 'C-5', 'C-6']) expect(await quoteOf(id)).toBeNull()
  })

  test('is reported by --dry-run exactly as by the push, and the dry run pushes nothing', async () => {
    file('quotes.csv', `${header}\n${row('D-1')}\n${row('D-5')}\n`)
    await push(['quotes.csv'])
    file(
      'quotes.csv',
      [
        header,
        row('D-1'),
        row('D-2', 'much,Harvest,,,'),
        row('D-3'),
        'D-4,"Dallas, ZZ",Atlanta,GA,Van,1900,Harvest,,,',
        row('D-5', '2200,Harvest,,,Won'),
        'D-6,"Dallas, TX",Atlanta,GA,curtain side,1900,Harvest,,,',
        'D-7,,,,,1900,,,,',
        'D-8,"Dallas, TX",Reno,GA 89501,V,1900,Harvest,,,',
        `D-9,"Dallas, TX",Atlanta,GA,V,1900,${'x'.repeat(201)},,,`,
      ].join('\n'),
    )
    const tried = await push(['quotes.csv', '--dry-run'])
    expect(tried).toMatchObject({
      exit: 6,
      printed: expect.stringMatching(
        /^rows +9\nwould be created +1\nwould be updated +1\nunchanged +1\nwith errors +6\nrow 3, Quote Price: /,
      ),
    })
    const dry = JSON.parse((await push(['quotes.csv', '--dry-run', '--json'])).printed)
    expect(await quoteOf('D-3')).toBeNull()
    expect(await quoteOf('D-5')).toMatchObject({ quoted_rate: 2150, outcome: 'pending' })
    const { results, ...counts } = JSON.parse((await push(['quotes.csv', '--json'])).printed)
    const created = { ...results[2] }
    delete created.lane_ref
    expect(dry).toEqual({ ...counts, results: results.with(2, created) })
  })
})

test('an unknown place is pushed and listed with what it may mean, by --dry-run, too', async () => {
  file('quotes.csv', `${header}\n${row('U-1')}\nU-2,"Dalas, TX",Atlanta,GA,Van,2150,Harvest,,,Won\n`)
  const line = 'row 3: The origin "Dalas, TX" is not a known place. Did you mean Dallas, TX?'
  for (const words of [['quotes.csv', '--dry-run'], ['quotes.csv']]) {
    const { exit, printed } = await push(words)
    expect(exit).toBe(0)
    expect(printed).toMatch(/^unknown places +1$/m)
    expect(printed.trim().split('\n').at(-1)).toBe(line)
  }
  const { results } = JSON.parse((await push(['quotes.csv', '--json'])).printed)
  expect(results.map((one: { unknown_places?: unknown }) => one.unknown_places)).toEqual([
    undefined,
    [{ parameter: 'origin', sent: 'Dalas, TX', closest: ['Dallas, TX'] }],
  ])
  const words = ['markup', 'Dalas, TX', 'Atlanta, GA', '2150']
  const { printed } = await runCommandLine(words, {
    env,
    folder,
    now: () => app.now,
  })
  expect(printed).toContain('The origin "Dalas, TX" is not a known place. Did you mean Dallas, TX?')
})

test('an interrupted push continues after its last call, also after a journal line was written in part', async () => {
  const ids = Array.from({ length: 1_200 }, (_, at) => `E-${at}`)
  file('quotes.csv', `${header}\n${ids.map((id) => row(id)).join('\n')}\n`)
  const stop = new AbortController()
  const remarked: string[] = []
  const stopped = await push(['quotes.csv'], {
    signal: stop.signal,
    remark: (text) => {
      remarked.push(text)
      if (/^\d+ of 1200 rows/.test(text)) stop.abort()
    },
  })
  expect(stopped.exit).toBe(130)
  const journal = join(folder, 'quotes.csv.push.jsonl')
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n')
  const pushed = lines.length - 1
  expect(pushed).toBeLessThanOrEqual(500)
  expect(remarked.join()).toContain(
    `${pushed} of 1200 rows are pushed. Run the same command again to continue.`,
  )
  writeFileSync(journal, lines.join('\n').slice(0, -20))
  const done = await push(['quotes.csv', '--json'])
  expect(done.exit).toBe(0)
  const { rows, created, unchanged } = JSON.parse(done.printed)
  // The row of the incomplete line was pushed again, which changed nothing.
  expect({ rows, created, unchanged }).toEqual({ rows: 1_200, created: 1_199, unchanged: 1 })
  expect(done.remarked).toContain(`Continuing: ${pushed - 1} rows of an unfinished run are pushed.`)

  writeFileSync(journal, `${lines.join('\n')}\n`)
  file('quotes.csv', `${header}\n${row('E-0')}\n`)
  const other = await push(['quotes.csv'])
  expect(other).toMatchObject({
    exit: 0,
    remarked: expect.stringContaining('changed since the unfinished run'),
  })
})

describe('the command line', () => {
  test('rejects a file without ids, an ambiguous file, and one with nothing to push, before any request', async () => {
    env.LANEWISE_URL = 'http://127.0.0.1:1'
    for (const [text, message] of [
      ['From,To\nx,y\n', 'No column is recognized as the external_id'],
      ['Load ID,Quote ID,From\n1,2,3\n', 'Several columns may be the external_id: "Load ID", "Quote ID"'],
      ['Load ID,Whatever\n1,2\n', 'Only "Load ID" is recognized'],
      ['', 'The file is empty.'],
    ] as const) {
      file('quotes.csv', text)
      expect(await push(['quotes.csv'])).toMatchObject({
        exit: 2,
        printed: '',
        remarked: expect.stringContaining(message),
      })
    }
    expect((await push(['none.csv'])).remarked).toContain('there is no such file')
  })

  test('reports missing credentials, and a token without the scope', async () => {
    file('quotes.csv', `${header}\n${row('F-1')}\n`)
    delete env.LANEWISE_SECRET
    expect(await push(['quotes.csv'])).toMatchObject({
      exit: 3,
      remarked: expect.stringContaining('A signing secret is required'),
    })
    const narrow = await makeIntegration(app, 'read')
    Object.assign(env, { LANEWISE_TOKEN: narrow.token, LANEWISE_SECRET: narrow.secret })
    expect(await push(['quotes.csv'])).toMatchObject({
      exit: 3,
      remarked: expect.stringContaining('0 of 1 rows are pushed. Run the same command again'),
    })
  })

  test('sends items again that the service did not reach, and gives up after three calls without progress', async () => {
    const busy = await scriptedServer()
    try {
      file('quotes.csv', `${header}\n${row('G-1')}\n${row('G-2')}\n`)
      const reached = {
        index: 0,
        status: 200,
        result: 'created',
        external_id: 'G-1',
        lane_ref: '1-1-1',
        lane_id: 1,
      }
      const late = (index: number) => ({ index, status: 503, detail: 'This item was not reached.' })
      const answer = (results: object[]) => ({ status: 200, body: { results } })
      env.LANEWISE_URL = busy.url
      busy.play(answer([reached, late(1)]), answer([late(0)]), answer([late(0)]), answer([late(0)]))
      const pushed = await push(['quotes.csv'])
      expect(pushed).toMatchObject({
        exit: 5,
        remarked: expect.stringContaining('1 of 2 rows are pushed. Run the same command again to continue.'),
      })
      expect(busy.arrived.map(({ body }) => JSON.parse(body).quotes.length)).toEqual([2, 1, 1, 1])
    } finally {
      await busy.close()
    }
  })
})

test('a quoted rate has the terms of its own column, and no charges in the currency of another one', () => {
  const quote = (headers: string, cells: string, ...map: string[]) =>
    pushRows(readPushFile(Buffer.from(`Load ID,${headers}\nA,${cells}\n`), map))[0]?.quote
  const sell = ['Sell Rate,Customer Basis,Customer Currency,Fuel', '2700,linehaul,CAD,300'] as const
  expect(quote(...sell, 'quoted_rate=Sell Rate')).toMatchObject({
    quoted_rate: 2700,
    quoted_basis: 'linehaul',
    quoted_currency: 'CAD',
    quoted_fuel: 300,
  })
  const both = ['Quoted Rate,Sell Rate,Customer Currency,Customer Fuel', '2000,2600,CAD,300'] as const
  expect(quote(...both)).toMatchObject({ quoted_rate: 2000, quoted_fuel: undefined })
  expect(quote(...both, 'quoted_fuel=Customer Fuel')).toMatchObject({ quoted_fuel: 300 })
})

test('no column name of an import is a field that only pushes have', () => {
  for (const name of [
    'Rep',
    'Sales Rep',
    'Expires',
    'Expiration Date',
    'Rate Type',
    'valid_until',
    'rep_name',
  ]) {
    const { columns } = readPushFile(Buffer.from(`external_id,${name}\n`), [])
    expect(Object.values(columns)).toContain(1)
  }
  for (const field of importFieldNames) {
    for (const name of importFields[field].aliases) {
      const { columns } = readPushFile(Buffer.from(`external_id,customer_name,${name}\n`), [
        'external_id=#1',
        'customer_name=#2',
      ])
      const found = Object.entries(columns).find(([, at]) => at === 2)?.[0]
      expect(found).not.toBe('valid_until')
    }
  }
})

import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
  app.now = Date.parse('2026-06-01T00:00:00Z')
})

const names = [
  'Load ID',
  'Customer',
  'Origin',
  'Destination',
  'Equip',
  'Quoted Rate',
  'Quote Date',
  'Status',
  'Lost Reason',
  'AR',
  'AP',
  'Carrier',
  'Rep',
  'Market Rate',
  'Estimated Cost',
  'Miles',
  'Currency',
  'Booked Date',
  'Last Modified',
] as const
type Cells = Readonly<Partial<Record<(typeof names)[number], string>>>
const load: Cells = {
  'Load ID': 'L-1',
  Customer: 'Acme Foods',
  Origin: 'Dallas, TX',
  Destination: 'Atlanta, GA',
  Equip: 'Van',
  'Quoted Rate': '2150',
  'Quote Date': '2026-03-01',
}

const textOf = (rows: readonly Cells[]) =>
  [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))]
    .map((cells) => cells.map((cell) => `"${cell}"`).join(','))
    .join('\n')

async function imported(tenant: MadeTenant, rows: readonly Cells[], query = '') {
  const response = await fetch(`${app.url}/api/imports${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: textOf(rows),
  })
  const { import_id } = (await response.json()) as { import_id: number }
  for (;;) {
    const { body } = await call(app, 'GET', `/api/imports/${import_id}`, { token: tenant.owner })
    if (body.status !== 'running' && body.status !== 'undoing') return body
    await delay(20)
  }
}

/** The quotes of a brokerage without what differs between brokerages and imports. */
async function quotesOf(tenant: MadeTenant) {
  const { body } = await call(app, 'GET', '/api/lanes?limit=200', { token: tenant.owner })
  return body.lanes
    .map(
      ({ lane_ref: _, lane_id: __, request_id: ___, updated_at: ____, ...quote }: Record<string, unknown>) =>
        quote,
    )
    .sort((one: { reference: string }, other: { reference: string }) =>
      one.reference < other.reference ? -1 : 1,
    )
}

const counts = ({
  rows_added,
  rows_updated,
  rows_repeated,
  rows_refused,
  rows_kept,
}: Record<string, number>) => ({
  rows_added,
  rows_updated,
  rows_repeated,
  rows_refused,
  rows_kept,
})

test('the last row of an id counts cell by cell, and the result says so; the same file again changes nothing', async () => {
  const tenant = await makeTenant(app)
  const rows = [
    { ...load, Carrier: 'Blue Mesa', Status: 'Pending' },
    { ...load, 'Load ID': 'L-2' },
    { ...load, 'Quoted Rate': '2250', Status: 'Won', AP: '1800', AR: '2250' },
    { ...load, 'Quoted Rate': '2250', Rep: 'Avery' },
  ]
  const check = await imported(tenant, rows, '?dry_run=true')
  const run = await imported(tenant, rows)
  for (const one of [check, run]) {
    expect(one).toMatchObject({ rows_read: 4, rows_added: 2, rows_updated: 2, rows_won: 1, rows_pending: 1 })
    expect(one.understood).toContainEqual({
      code: 'same_ids',
      column: 'Load ID',
      detail:
        '2 rows repeat an id of this file, such as "L-1" (lines 2 and 5): the later row counts, and its empty cells keep what the earlier row says.',
      choices: [{ map: 'reference=', detail: 'Load ID is not read: each row is a quote of its own' }],
    })
  }
  expect(await quotesOf(tenant)).toContainEqual(
    expect.objectContaining({ quoted_rate: 2250, outcome: 'won', truck_cost: 1800, customer_rate: 2250 }),
  )
  const before = await quotesOf(tenant)
  expect(await imported(tenant, rows)).toMatchObject({ rows_added: 0, rows_updated: 0, rows_repeated: 4 })
  expect(await quotesOf(tenant)).toEqual(before)
})

test.each<[string, readonly Cells[]]>([
  ['rates', ['1000', '1500', '2100', '3100'].map((rate) => ({ ...load, 'Quoted Rate': rate }))],
  [
    'days',
    ['02', '05', '08', '11'].map((day) => ({
      ...load,
      Status: 'Won',
      AR: '2150',
      'Quote Date': '',
      'Booked Date': `2026-03-${day}`,
    })),
  ],
])('a file again changes nothing, although the %s of a load moved on from row to row', async (_, rows) => {
  const tenant = await makeTenant(app)
  expect(await imported(tenant, rows)).toMatchObject({ rows_added: 1, rows_updated: 3, rows_refused: 0 })
  const before = await quotesOf(tenant)
  for (const query of ['?dry_run=true', '']) {
    expect(await imported(tenant, rows, query)).toMatchObject({ rows_repeated: 4, rows_refused: 0 })
  }
  expect(await quotesOf(tenant)).toEqual(before)
})

test('two loads that share an id, but neither customer nor day, are asked about, and none is merged', async () => {
  const tenant = await makeTenant(app)
  const rows = [
    load,
    { ...load, Customer: 'Beta Mills', 'Quoted Rate': '2600', 'Quote Date': '2026-04-11' },
    { ...load, 'Quoted Rate': '2200' },
  ]
  for (const query of ['?dry_run=true', '', '']) {
    const run = await imported(tenant, rows, query)
    expect(run).toMatchObject({ rows_refused: 1, errors: [{ row: 3, column: 'Load ID' }] })
    expect(run.errors[0].detail).toContain('"L-1" is the Load ID of ')
  }
  expect(await quotesOf(tenant)).toMatchObject([{ quoted_customer_name: 'Acme Foods', quoted_rate: 2200 }])
  const own = await imported(tenant, rows, '?map=reference%3D')
  expect(own).toMatchObject({ rows_added: 3, rows_refused: 0 })
})

test('of the rows of an id in a file with the newest first, the one that changed last counts', async () => {
  const booked = { ...load, Status: 'Won', AR: '2150', AP: '1800', Carrier: 'Blue Mesa' }
  const files = [
    {
      rows: [
        { ...booked, 'Quoted Rate': '2250', AP: '1850', 'Last Modified': '3/15/2026' },
        { ...booked, 'Last Modified': '3/9/2026' },
        { ...load, 'Quoted Rate': '2100', 'Last Modified': '3/2/2026' },
      ],
      which: 'the row with the later Last Modified counts, and its empty cells keep what the other rows say.',
    },
    {
      rows: [
        { ...booked, 'Quoted Rate': '2250', AP: '1850', 'Booked Date': '2026-03-05 14:00' },
        { ...booked, 'Booked Date': '2026-03-05 09:00' },
        { ...load, 'Load ID': 'L-2' },
        { ...load, 'Load ID': 'L-2', 'Quoted Rate': '2160' },
      ],
      which:
        'the row with the later Booked Date counts, and its empty cells keep what the other rows say; where rows have none, or the same, the later row counts, and its empty cells keep what the earlier row says.',
    },
  ]
  for (const { rows, which } of files) {
    const tenant = await makeTenant(app)
    for (const query of ['?dry_run=true', '']) {
      const { understood } = await imported(tenant, rows, query)
      const said = understood.filter(({ code }: { code: string }) => code === 'same_ids')
      expect(said).toMatchObject([{ detail: expect.stringContaining(which) }])
    }
    const quotes = await quotesOf(tenant)
    expect(quotes).toContainEqual(expect.objectContaining({ quoted_rate: 2250, truck_cost: 1850 }))
    expect(quotes.filter(({ quoted_rate }: { quoted_rate: number }) => quoted_rate === 2150)).toEqual([])
    expect(await imported(tenant, rows)).toMatchObject({
      rows_added: 0,
      rows_updated: 0,
      rows_repeated: rows.length,
    })
    expect(await quotesOf(tenant)).toEqual(quotes)
  }
})

test('the number of a contract, with many days and lanes, merges no loads, in one file or in several', async () => {
  const lanes = ['Atlanta, GA', 'Macon, GA', 'Atlanta, GA', 'Atlanta, GA']
  const rows = lanes.map((Destination, nth) => ({
    ...load,
    'Load ID': 'C-77',
    Destination,
    'Quoted Rate': String(2150 + nth),
    'Quote Date': `2026-0${nth + 1}-10`,
  }))
  for (const files of [[rows], rows.map((one) => [one])]) {
    const tenant = await makeTenant(app)
    const runs = []
    for (const file of files) runs.push(await imported(tenant, file))
    const [errors, refused] = [
      runs.flatMap((run) => run.errors),
      runs.map(({ rows_refused }) => rows_refused),
    ]
    expect(refused.reduce((sum, one) => sum + one, 0)).toBe(3)
    expect(errors.map(({ column }) => column)).toEqual(['Destination', 'Load ID', 'Load ID'])
    expect(errors[1].detail).toContain('this row has another day ("Acme Foods", 2026-03-10)')
    expect(await quotesOf(tenant)).toMatchObject([{ quoted_rate: 2150 }])
  }
  const own = await imported(await makeTenant(app), rows, '?map=reference%3D')
  expect(own).toMatchObject({ rows_added: 4, rows_refused: 0 })
})

test('charges of a load in rows of their own are asked about, and so is a rate that no truckload has', async () => {
  const tenant = await makeTenant(app)
  const rows = [load, { ...load, 'Quoted Rate': '210' }, { ...load, 'Load ID': 'L-2', 'Quoted Rate': '21' }]
  const run = await imported(tenant, rows)
  expect(run).toMatchObject({ rows_added: 2, rows_refused: 1, errors: [{ row: 3, column: 'Quoted Rate' }] })
  expect(run.errors[0].detail).toContain('$210, and $2,150 before it, in line 2')
  expect(run.understood).toContainEqual({
    code: 'content',
    column: 'Quoted Rate',
    detail:
      '2 rates are too low for a truckload: $210 for 857 miles (line 3), $21 for 857 miles (line 4). Is the file cut, or are the amounts charges or rates per mile?',
    choices: [],
  })
  expect((await quotesOf(tenant)).map(({ quoted_rate }: { quoted_rate: number }) => quoted_rate)).toEqual([
    2150, 21,
  ])
  const booked = { ...load, 'Quoted Rate': '', Status: 'Won' }
  const charges = [
    { ...booked, AR: '210' },
    { ...booked, AR: '2150' },
  ]
  expect(await imported(await makeTenant(app), charges)).toMatchObject({
    rows_added: 1,
    errors: [{ row: 3, column: 'AR' }],
  })
  const update = '?map=same_ids%3Dupdate'
  expect(await imported(await makeTenant(app), rows, update)).toMatchObject({
    rows_updated: 1,
    rows_refused: 0,
  })
})

test.each([
  ['2150', '210', '1900'],
  ['200', '900', '350'],
  ['900', '200', '850'],
  ['350', '900', '400', '410'],
])('no row after a charge of a load changes it: %s, %s, %s', async (first, ...others) => {
  const tenant = await makeTenant(app)
  const sent = [first, ...others].map((rate) => ({ ...load, 'Quoted Rate': rate }))
  for (const added of [1, 0]) {
    const run = await imported(tenant, sent)
    expect(run).toMatchObject({ rows_added: added, rows_refused: others.length })
    expect(await quotesOf(tenant)).toMatchObject([{ quoted_rate: Number(first) }])
  }
  const update = await imported(await makeTenant(app), sent, '?map=same_ids%3Dupdate')
  expect(update).toMatchObject({ rows_updated: others.length, rows_refused: 0 })
})

test('an undo removes a quote that several rows of its file made', async () => {
  const tenant = await makeTenant(app)
  const run = await imported(tenant, [load, { ...load, 'Quoted Rate': '2300' }])
  await call(app, 'POST', `/api/imports/${run.import_id}/undo`, { token: tenant.owner })
  await expect.poll(() => quotesOf(tenant)).toEqual([])
})

const cell = (...values: string[]) => fc.constantFrom('', ...values)
const row = fc.record({
  Customer: cell('Acme Foods', 'ACME FOODS, Inc.', 'Beta Mills'),
  Destination: fc.constantFrom(...Array.from({ length: 7 }, () => 'Atlanta, GA'), 'Macon, GA'),
  'Quoted Rate': cell('2150', '2200', '2300'),
  'Quote Date': cell('2026-03-01', '2026-03-02', '2026-04-20'),
  Status: cell('Pending', 'Won', 'Lost', 'Lost - price', 'Dead'),
  AR: cell('2150', '2300'),
  AP: cell('1800', '1900'),
  Carrier: cell('Blue Mesa', 'N/A'),
  Rep: cell('Avery', 'Sam'),
  'Market Rate': cell('2050', '2090'),
  'Estimated Cost': cell('1750'),
  Miles: cell('790', '40'),
  Currency: cell('CAD', 'USD'),
})

test('rows with one id in one file store and count what they do in one file after the other', async () => {
  const ids = fc.sample(fc.array(row, { minLength: 2, maxLength: 4 }), { numRuns: 150, seed: 45 })
  const files = [0, 1, 2, 3].map((nth) =>
    ids.flatMap((rows, id) => {
      const cells = rows[nth]
      return cells === undefined ? [] : [{ ...load, ...cells, 'Load ID': `L-${100 + id}` }]
    }),
  )
  const [together, apart] = [await makeTenant(app), await makeTenant(app)]
  const check = await imported(together, files.flat(), '?dry_run=true')
  const run = await imported(together, files.flat())
  expect(counts(check)).toEqual(counts(run))
  const runs = []
  for (const file of files) runs.push(counts(await imported(apart, file)))
  const quotes = await quotesOf(apart)
  expect(quotes.length).toBeGreaterThan(100)
  expect(await quotesOf(together)).toEqual(quotes)
  for (const name of ['rows_added', 'rows_updated', 'rows_repeated', 'rows_refused', 'rows_kept'] as const) {
    expect([name, counts(run)[name]]).toEqual([name, runs.reduce((sum, one) => sum + (one[name] ?? 0), 0)])
  }
  expect(run.rows_won + run.rows_lost + run.rows_pending).toBe(quotes.length)
  const again = await imported(together, files.flat())
  expect([again.rows_added, again.rows_updated]).toEqual([0, 0])
  expect(await quotesOf(together)).toEqual(quotes)
})

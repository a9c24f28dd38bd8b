import { beforeAll, expect, test, vi } from 'vitest'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

const lane = 'Dallas, TX\tAtlanta, GA\tV\t'
const pasted = async (tenant: MadeTenant, head: string, rows: readonly string[], more: object = {}) => {
  const lines = rows.map((row) => `${lane}${row}`)
  const text = [`Origin\tDestination\tEquipment\t${head}`, ...lines].join('\n')
  const { status, body } = await call(app, 'POST', '/api/pasted-lanes', {
    token: tenant.owner,
    body: { text, ...more },
  })
  expect(status).toBe(200)
  return body
}

test('a row keeps what was pasted: its basis, charges, currency, rate type and miles', async () => {
  const { rows } = await pasted(
    await makeTenant(app),
    'Linehaul\tFSC\tQuoted Charges\tCurrency\tRate Type\tMiles\tCost',
    ['1700\t350\tlumper 120\tCAD\tContract\t790\t1500'],
  )
  expect(rows).toMatchObject([
    {
      quote: {
        quoted_rate: 1700,
        quoted_basis: 'linehaul',
        quoted_fuel: 350,
        quoted_charges: [{ name: 'lumper', amount: 120 }],
        quoted_currency: 'CAD',
        rate_type: 'contract',
        miles: 790,
        estimated_cost: 1500,
      },
      errors: [],
      notes: [],
    },
  ])
})

test('only a cost on another basis than the rate is converted, by the fuel charge of the row', async () => {
  const tenant = await makeTenant(app)
  const head = 'Linehaul\tFuel\tCost\tCost Basis'
  const { rows } = await pasted(tenant, head, [
    '1700\t320\t1800\tall-in',
    '1700\t\t1800\tall-in',
    '1700\t320\t1800\tgross',
  ])
  expect(rows).toMatchObject([
    {
      quote: { quoted_rate: 1700, quoted_basis: 'linehaul', estimated_cost: 1480 },
      notes: ['The estimated cost of $1,800 all-in is $1,480 linehaul by the fuel charge of the row.'],
    },
    { errors: [{ column: 6, detail: expect.stringContaining('The estimated cost is all-in') }] },
    {
      errors: [{ column: 7, detail: 'The basis of the cost must be linehaul or all_in; it is "gross"' }],
    },
  ])
})

test('a cost in another currency than its row is refused', async () => {
  const tenant = await makeTenant(app)
  const { rows } = await pasted(tenant, 'Rate\tCost\tCost Currency', [
    '1700\t1800\tCAD',
    '1700\t1500\tUSD',
    '1700\t\tCAD',
  ])
  expect(rows.map(({ errors }: { errors: unknown[] }) => errors)).toMatchObject([
    [
      {
        detail:
          'The estimated cost must be in the currency of the rate, which is USD; the column of its currency says CAD. Convert it to US dollars, or remove it',
      },
    ],
    [],
    [],
  ])
})

test('charges that an all-in rate cannot contain are an error of the row, as in a quote request', async () => {
  const { rows } = await pasted(await makeTenant(app), 'All In Rate\tFuel', ['300\t300'])
  expect(rows[0].errors).toMatchObject([{ detail: expect.stringContaining('must be less than') }])
})

test('a person can choose the column of the rate', async () => {
  const tenant = await makeTenant(app)
  const head = 'Spot\tFinal'
  const guessed = await pasted(tenant, head, ['1700\t1850'])
  expect(guessed.columns.slice(3)).toMatchObject([{ field: null }, { field: null }])
  const chosen = await pasted(tenant, head, ['1700\t1850'], {
    columns: [{ column: 5, field: 'quoted_rate' }],
  })
  expect(chosen.rows[0].quote).toMatchObject({ quoted_rate: 1850 })
  const moved = await pasted(tenant, 'Rate\tFinal', ['1700\t1850'], {
    columns: [{ column: 5, field: 'quoted_rate' }],
  })
  expect(moved.columns.slice(3)).toMatchObject([{ field: null }, { field: 'quoted_rate' }])
  const wrong = await call(app, 'POST', '/api/pasted-lanes', {
    token: tenant.owner,
    body: { text: 'x', columns: [{ column: 1, field: 'price' }] },
  })
  expect(wrong.status).toBe(422)
})

test('many rows of one customer need no more reads of the database than one row', async () => {
  const tenant = await makeTenant(app)
  const reads = vi.spyOn(app.database, 'inTenant')
  const readsOf = async (rows: readonly string[]) => {
    reads.mockClear()
    await pasted(tenant, 'Rate\tCustomer', rows)
    return reads.mock.calls.length
  }
  await readsOf(['1500\tAcme'])
  const one = await readsOf(['1500\tAcme'])
  expect(one).toBeGreaterThan(0)
  expect(await readsOf(Array.from({ length: 40 }, (_, nth) => `${1500 + nth}\tAcme`))).toBe(one)
  reads.mockRestore()
})

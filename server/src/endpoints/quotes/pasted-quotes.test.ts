import { beforeAll, expect, test } from 'vitest'
import { call, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

test('pasted linehaul rates are converted to the default basis, and refused without a fuel charge', async () => {
  const tenant = await makeTenant(app)
  const { body } = await call(app, 'POST', '/api/pasted-lanes', {
    token: tenant.owner,
    body: {
      text: 'Origin\tDestination\tEquipment\tLinehaul\tFSC\nDallas, TX\tAtlanta, GA\tV\t1700\t350\nDallas, TX\tAtlanta, GA\tV\t1700\t',
    },
  })
  expect(body.rows).toMatchObject([
    { rate: 2050, fuel: 350, basis: 'linehaul', converted_by: 'charges', errors: [] },
    {
      rate: 1700,
      fuel: null,
      errors: [
        { detail: expect.stringContaining('Add a column with the fuel surcharge, set a fuel schedule') },
      ],
    },
  ])
})

test('pasted rows are read with a column Basis, accessorial charges, and the basis of the cost', async () => {
  const tenant = await makeTenant(app)
  const pasted = async (head: string, ...rows: string[]) => {
    const lines = rows.map((row) => `Dallas, TX\tAtlanta, GA\tV\t${row}`)
    const text = [`Origin\tDestination\tEquipment\t${head}`, ...lines].join('\n')
    return (await call(app, 'POST', '/api/pasted-lanes', { token: tenant.owner, body: { text } })).body.rows
  }
  const head = 'Rate\tBasis\tFuel\tAccessorials\tCost'
  expect(await pasted(head, '1700\tlinehaul\t320\t80\t1500', '2100\tall-in\t320\t80\t1900')).toMatchObject([
    { rate: 2100, cost: 1900, basis: 'linehaul', accessorials: 80, converted_by: 'charges', errors: [] },
    { rate: 2100, cost: 1900, basis: 'all_in', converted_by: null, errors: [] },
  ])
  // A cost without a rate, and a cost whose own column says its basis.
  const costs = [
    ...(await pasted('Linehaul\tCost\tFuel', '\t1500\t320', '\t1500\t')),
    ...(await pasted('Rate\tCarrier Linehaul\tFuel', '2020\t1500\t320')),
  ]
  expect(costs).toMatchObject([
    { rate: null, cost: 1820, cost_basis: 'linehaul', errors: [] },
    { cost: 1500, errors: [{ detail: expect.stringContaining('The estimated cost is linehaul') }] },
    { rate: 2020, basis: null, cost: 1820, cost_basis: 'linehaul', errors: [] },
  ])
})

test('the cost of a pasted row is read with its own column of bases, and refused in another currency than the row', async () => {
  const tenant = await makeTenant(app)
  const ends = 'Dallas, TX\tAtlanta, GA\tV\t'
  const pasted = async (head: string, row: string) => {
    const text = `Origin\tDestination\tEquipment\t${head}\n${ends}${row}`
    return (await call(app, 'POST', '/api/pasted-lanes', { token: tenant.owner, body: { text } })).body
      .rows[0]
  }
  const amounts = 'Linehaul\tFuel\tCost'
  for (const name of ['Cost Basis', 'Carrier Basis', 'AP Basis']) {
    expect(await pasted(`${amounts}\t${name}`, '1700\t320\t1800\tall-in')).toMatchObject({
      ...{ rate: 2020, basis: 'linehaul', cost: 1800, cost_basis: 'all_in', errors: [] },
    })
  }
  expect(await pasted(`${amounts}\tCost Basis`, '1700\t320\t1800\tgross')).toMatchObject({
    errors: [{ detail: 'The basis of the cost must be linehaul or all_in; it is "gross"' }],
  })
  expect(await pasted(`${amounts}\tCost Currency`, '1700\t320\t1800\tCAD')).toMatchObject({
    errors: [
      {
        detail:
          'The currency of the cost must be USD, as that of the row; it is "CAD". Convert the cost to US dollars, or remove it',
      },
    ],
  })
  // A cost's currency is accepted if it is that of the row, or if there is no cost.
  expect(await pasted(`${amounts}\tCost Currency`, '1700\t320\t1500\tUSD')).toMatchObject({ errors: [] })
  expect(await pasted(`${amounts}\tCost Currency`, '1700\t320\t\tCAD')).toMatchObject({ errors: [] })
})

import { expect, test } from 'vitest'
import { readDieselFile } from './diesel-file.ts'
import { readExchangeFile } from './exchange-file.ts'

const usual = { order: 'month_first' } as const
const read = (text: string, settings: Parameters<typeof readExchangeFile>[1] = usual) =>
  readExchangeFile([Buffer.from(text)], settings)
const rates = [{ day: '2026-03-02', usdPerCad: 0.8 }]

test.each([
  ['the rate is the first column', 'FXCADUSD,date\n0.8,2026-03-02\n'],
  ['the rate in the other direction is the first column', 'cad_per_usd,Region,day\n1.25,QC,2026-03-02\n'],
  ['the day is the first column', 'date,Region,usd_per_cad\n2026-03-02,QC,0.8\n'],
  ['both directions are given, of which the first is read', 'FXUSDCAD,FXCADUSD,date\n1.3,0.8,2026-03-02\n'],
])('exchange rates are read if %s', async (_, text) => {
  expect(await read(text)).toEqual(rates)
})

test('the days of a file are in one order: that of its dates, else of its column, else of the brokerage', async () => {
  const days = async (text: string, order: 'day_first' | 'month_first') =>
    (await read(text, { order })).map(({ day }) => day)
  const both = 'date,usd_per_cad\n05/10/2026,0.71\n12/10/2026,0.72\n'
  expect(await days(both, 'day_first')).toEqual(['2026-10-05', '2026-10-12'])
  expect(await days(both, 'month_first')).toEqual(['2026-05-10', '2026-12-10'])
  expect(await days(`${both}19/10/2026,0.73\n`, 'month_first')).toEqual([
    '2026-10-05',
    '2026-10-12',
    '2026-10-19',
  ])
  await expect(read(`${both}19/10/2026,0.73\n10/19/2026,0.73\n`)).rejects.toThrow(
    'The dates of date must all be day first, or all be month first: 19/10/2026 on line 4',
  )
})

test('diesel prices are read if the series or the price is the first column', async () => {
  const [series, week] = ['EMD_EPD2D_PTE_NUS_DPG', '2026-03-02']
  for (const text of [
    `series,value,period\n${series},3.879,${week}`,
    `value,period,series\n3.879,${week},${series}`,
  ]) {
    expect(await readDieselFile([Buffer.from(text)], usual)).toEqual([{ week, mills: 3879 }])
  }
})

test('each exchange rate at the ends of the range is read, and each beyond them is refused with its line', async () => {
  const rateOf = async (name: string, rate: string) => {
    const text = `date,${name}\n2026-03-02,${rate}\n`
    return read(text).then(
      ([one]) => one?.usdPerCad,
      (error: Error) => error.message,
    )
  }
  expect(await rateOf('usd_per_cad', '0.5')).toBe(0.5)
  expect(await rateOf('usd_per_cad', '1.1')).toBe(1.1)
  expect(await rateOf('cad_per_usd', '2')).toBe(0.5)
  for (const rate of ['0', '0.0', '0.49', '1.11', '-0.8', '1e999', 'Infinity', '8e-1', '80', '1.1000001']) {
    expect(await rateOf('usd_per_cad', rate)).toContain(
      `Line 2: the exchange rate "${rate}" must be US dollars`,
    )
  }
  // One Canadian per no US dollar would be an infinite exchange rate.
  for (const rate of ['0', '0.000000', '0.9', '2.01', 'Infinity', '9e-999']) {
    expect(await rateOf('cad_per_usd', rate)).toContain(
      `Line 2: the exchange rate "${rate}" must be Canadian`,
    )
  }
})

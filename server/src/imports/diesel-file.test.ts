import { expect, test } from 'vitest'
import { threadMs } from '#testing/thread-time.ts'
import { ImportFileError } from '../tables/index.ts'
import { readDieselFile } from './diesel-file.ts'

const prices = [
  { week: '2026-03-02', mills: 3879 },
  { week: '2026-03-09', mills: 3900 },
]
const title = 'Weekly U.S. No 2 Diesel Retail Prices'

/** The details with which a file is refused. */
async function refusals(text: string): Promise<string[]> {
  try {
    await readDieselFile([Buffer.from(text)], { order: 'month_first' })
  } catch (error) {
    if (error instanceof ImportFileError) return error.problems.map(({ detail }) => detail)
    throw error
  }
  return []
}

test.each([
  [
    'rows of the API, among other series',
    [
      'period,duoarea,area-name,product,series,value,units',
      '2026-03-09,NUS,U.S.,EPD2D,EMD_EPD2D_PTE_NUS_DPG,3.9,$/GAL',
      '2026-03-09,R10,PADD 1,EPD2D,EMD_EPD2D_PTE_R10_DPG,4.1,$/GAL',
      '2026-03-02,NUS,U.S.,EPD2D,EMD_EPD2D_PTE_NUS_DPG,3.879,$/GAL',
    ],
  ],
  [
    'the sheet "Data 1" with several columns and a week without a price',
    [
      `Back to Contents,"Data 1: ${title}",`,
      'Sourcekey,EMD_EPD2D_PTE_R10_DPG,EMD_EPD2D_PTE_NUS_DPG',
      `Date,Weekly East Coast No 2 Diesel Retail Prices (Dollars per Gallon),${title} (Dollars per Gallon)`,
      '"Feb 23, 2026",4.000,',
      '"Mar 02, 2026",4.050,3.879',
      '"Mar 09, 2026",4.100,3.900',
      ',,',
    ],
  ],
  [
    'the download of the series page, newest week first',
    [
      title,
      'https://www.eia.gov/dnav/pet/hist/',
      'Source: U.S. Energy Information Administration',
      `Week of,${title} Dollars per Gallon`,
      '03/09/2026,3.900',
      '03/02/2026,3.879',
    ],
  ],
])('reads %s', async (_, lines) => {
  expect(
    await readDieselFile([Buffer.from(`\uFEFF${lines.join('\r\n')}\r\n`)], { order: 'month_first' }),
  ).toEqual(prices)
})

test.each([
  ['another file', ['Week,Price', '2026-03-02,3.879'], /must contain the series EMD_EPD2D_PTE_NUS_DPG/],
  [
    'another region',
    ['period,series,value', '2026-03-02,EMD_EPD2D_PTE_R10_DPG,4.1'],
    /must contain the series/,
  ],
  ['half a workbook', ['PK\u0003\u0004'], /workbook/],
  [
    'a price in cents',
    ['period,series,value', '2026-03-02,EMD_EPD2D_PTE_NUS_DPG,387.9'],
    /^Line 2: the price "387.9" must be dollars per gallon/,
  ],
  [
    'a wrong week',
    ['period,series,value', '2026-02-30,EMD_EPD2D_PTE_NUS_DPG,3.9'],
    /^Line 2: the week "2026-02-30" must be a date/,
  ],
  [
    'two prices of a week',
    ['period,series,value', '2026-03-02,EMD_EPD2D_PTE_NUS_DPG,3.9', '2026-03-02,EMD_EPD2D_PTE_NUS_DPG,4'],
    /^Line 3: the week 2026-03-02 has another price/,
  ],
  ['no price', ['period,series,value', '2026-03-02,EMD_EPD2D_PTE_NUS_DPG,NA'], /has no price/],
])('refuses %s with the remedy', async (_, lines, detail) => {
  expect(await refusals(lines.join('\n'))).toEqual([expect.stringMatching(detail)])
})

test.each([
  ['line feeds', '\n'.repeat(3_000_000)],
  ['carriage returns', '\r'.repeat(3_000_000)],
  ['commas', `Week of${','.repeat(3_000_000)}`],
  ['rows of the API', `{"response":{"data":[${'0,'.repeat(1_400_000)}0]}}`],
])('a file of three megabytes of %s is refused before it is read', async (_, text) => {
  expect((await refusals(text))[0]).toMatch(/^The file must have at most 250,000 cells; it has [\d,]+\./)
})

const dayOfSpaces = `period,series,value\n1${' '.repeat(40_000)}x,EMD_EPD2D_PTE_NUS_DPG,3.9`
test('a day of 40,000 spaces is refused, and repeated in part', async () => {
  expect((await refusals(dayOfSpaces)).map(({ length }) => length < 300)).toEqual([true])
})
test('a day of 40,000 spaces is refused in a moment', { tags: 'measure' }, async () => {
  const begun = threadMs()
  await refusals(dayOfSpaces)
  expect(threadMs() - begun).toBeLessThan(500)
})

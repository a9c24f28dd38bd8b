import { gzipSync } from 'node:zlib'
import { utils, write } from '@e965/xlsx'
import iconv from 'iconv-lite'
import { beforeAll, describe, expect, test } from 'vitest'
import { datedFileBytesMax, marketFileBytesMax } from '#contract/limits.ts'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let tenant: MadeTenant
beforeAll(async () => {
  app = await sharedApp()
  tenant = await makeTenant(app)
})

/** A workbook whose first sheet is no table of rates. */
function workbook(text: string, sheet: string): Buffer {
  const book = utils.book_new()
  const contents = [['Workbook contents'], ['Worksheet Name', 'Description', 'Rows'], [sheet, 'Rates', '2']]
  utils.book_append_sheet(book, utils.aoa_to_sheet(contents), 'Contents')
  utils.book_append_sheet(book, utils.aoa_to_sheet(text.split('\n').map((line) => line.split('\t'))), sheet)
  return write(book, { type: 'buffer' })
}

const forms: readonly (readonly [string, (text: string) => Buffer])[] = [
  ['UTF-8 with a byte order mark', (text) => Buffer.from(`\uFEFF${text}`)],
  ['UTF-16 with a byte order mark', (text) => iconv.encode(text, 'utf-16le', { addBOM: true })],
  ['Windows-1252', (text) => iconv.encode(text, 'windows-1252')],
  ['Macintosh', (text) => iconv.encode(text, 'macintosh')],
  ['DOS', (text) => iconv.encode(text, 'cp850')],
  ['gzip', (text) => gzipSync(text)],
  ['semicolons and CRLF', (text) => Buffer.from(text.replaceAll('\t', ';').replaceAll('\n', '\r\n'))],
  ['a workbook', (text) => workbook(text, 'Data 1')],
  ['a workbook in gzip', (text) => gzipSync(workbook(text, 'Data 1'))],
]

/** All forms for one of the readers, and the two least usual ones for the others: one function opens the files of all. */
const formsOf = (path: string) =>
  path === files['market rates'].path
    ? forms
    : forms.filter(([form]) => ['Macintosh', 'a workbook in gzip'].includes(form))

/** A file of each reader, its address, and what its answer has in each form. */
const files = {
  'market rates': {
    path: '/api/market-rate-files',
    text: 'Origin\tDestination\tEquipment\tAll-In Rate\tSource\tDate\nMontréal, QC\tQuébec, QC\tV\t1960\tRégie\t2026-01-05\n',
    answer: { rows: 1, stored: true, failed: 0, errors: [] },
  },
  'diesel prices': {
    path: '/api/fuel/diesel-prices',
    text: 'Source: établi à Montréal\nSourcekey\tEMD_EPD2D_PTE_NUS_DPG\nDate\tWeekly U.S. No 2 Diesel Retail Prices\n2026-03-02\t3.879\n2026-03-09\t3.9\n',
    answer: { weeks: 2, last: { week: '2026-03-09', price: 3.9 } },
  },
  'exchange rates': {
    path: '/api/exchange-rate-files',
    text: 'Taux établis à Montréal\nDate\tFXCADUSD\tRégion\n2026-03-02\t0.7312\tQuébec\n',
    answer: { days: 1, first: { day: '2026-03-02', usd_per_cad: 0.7312 } },
  },
} as const

const send = (path: string, file: Buffer | string) =>
  call(app, 'POST', path, {
    token: tenant.owner,
    file: typeof file === 'string' ? file : new Uint8Array(file),
  })

describe.each(Object.entries(files))('a file of %s', (_, { path, text, answer }) => {
  test('is read in its own bytes, in each encoding and form', async () => {
    for (const [form, encoded] of formsOf(path)) {
      const { status, body } = await send(path, encoded(text))
      expect({ form, status, body }).toMatchObject({ form, status: 200, body: answer })
    }
  })

  test.each([
    ['sheet=Data+1', { status: 200 }],
    [
      'sheet=Data+2',
      { status: 422, body: { errors: [{ pointer: '', detail: expect.stringContaining('"Data 1"') }] } },
    ],
    [
      'map=encoding%3Debcdic',
      { status: 422, body: { errors: [{ parameter: 'map', detail: expect.stringContaining('cp850') }] } },
    ],
    [
      'map=colour%3Dred',
      {
        status: 422,
        body: {
          errors: [{ parameter: 'map', detail: expect.stringContaining('The map says "colour"; it must') }],
        },
      },
    ],
  ])('with %s is read so, or refused with the remedy', async (query, expected) => {
    expect(await send(`${path}?${query}`, workbook(text, 'Data 1'))).toMatchObject(expected)
  })

  test.each([
    ['a web page', '<html><table><tr><td>1</td></tr></table></html>', 'is a web page'],
    ['a PDF', '%PDF-1.7', 'is a PDF'],
    ['nothing', '', 'it is empty'],
    ['half a gzip file', gzipSync(text).subarray(0, 30), 'cannot be unpacked'],
    [
      'UTF-8 with a broken character',
      Buffer.concat([Buffer.from(text), Buffer.from([0xc3])]),
      'must be UTF-8',
    ],
  ])('that is %s is refused, and changes nothing', async (...[, file, words]) => {
    const { status, body } = await send(path, file)
    expect([status, body.detail]).toEqual([422, expect.stringContaining(words)])
  })

  test('that becomes too large when it is unpacked is refused', async () => {
    const most = path === '/api/market-rate-files' ? marketFileBytesMax : datedFileBytesMax
    const large = gzipSync(`${text}${`${'x'.repeat(999)}\n`.repeat(most / 1000 + 1)}`)
    expect(large.length).toBeLessThan(100_000)
    const { status, body } = await send(path, large)
    expect([status, body.detail]).toEqual([
      422,
      expect.stringContaining(`at most ${most / 1024 / 1024} MiB, also unpacked`),
    ])
  })
})

test('the names in a file keep their accents in each encoding and form', async () => {
  const { path, text } = files['market rates']
  for (const [, encoded] of forms) await send(path, encoded(text))
  const { body } = await call(app, 'GET', '/api/market-rates', { token: tenant.owner })
  expect(body.rates).toMatchObject([{ origin: 'Montréal, QC', source: 'Régie' }])
})

test('a file in JSON is 415, which names the right content type', async () => {
  for (const { path, text } of Object.values(files)) {
    const { status, body } = await call(app, 'POST', path, { token: tenant.owner, body: { text } })
    expect([status, body.detail]).toEqual([415, expect.stringContaining('Send Content-Type: text/csv')])
  }
})

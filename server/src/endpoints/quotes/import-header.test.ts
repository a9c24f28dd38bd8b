import { utils, write } from '@e965/xlsx'
import { beforeAll, expect, test } from 'vitest'
import { importHeadBytesMax } from '#contract/limits.ts'
import { type MadeTenant, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let tenant: MadeTenant
beforeAll(async () => {
  app = await sharedApp()
  tenant = await makeTenant(app)
})

const read = async (body: string | Buffer, query = '') => {
  const answer = await fetch(`${app.url}/api/import-headers${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: new Uint8Array(Buffer.from(body)),
  })
  return { status: answer.status, body: (await answer.json()) as { rows?: string[][] } }
}

test('read-import-header finds titles, the delimiter and the encoding, and rows have as many values as the header', async () => {
  const text = 'Loads of March\nShip From;Ship To;Sell Rate\nMontr\xe9al, QC;Boston, MA;2150;x\nDallas, TX\n'
  expect(await read(Buffer.from(text, 'latin1'))).toEqual({
    status: 200,
    body: {
      header: ['Ship From', 'Ship To', 'Sell Rate'],
      header_line: 2,
      rows: [
        ['Montréal, QC', 'Boston, MA', '2150'],
        ['Dallas, TX', '', ''],
      ],
      encoding: 'windows-1252',
      delimiter: ';',
      sheet: null,
      sheets: [],
    },
  })
  const utf16 = Buffer.from('\ufeffShip From\tShip To\nDallas, TX\tMacon, GA\n', 'utf16le')
  expect((await read(utf16)).body).toMatchObject({ encoding: 'utf-16', delimiter: '\t', header_line: 1 })
})

test('a sheet of a workbook is chosen by name, and an unknown one is an error', async () => {
  const book = utils.book_new()
  for (const name of ['March', 'April']) {
    utils.book_append_sheet(
      book,
      utils.aoa_to_sheet([
        ['Ship From', 'Ship To'],
        [name, 'Macon, GA'],
      ]),
      name,
    )
  }
  const bytes: Buffer = write(book, { type: 'buffer', bookType: 'xlsx' })
  const { body } = await read(bytes, '?sheet=April')
  expect(body).toMatchObject({ sheet: 'April', sheets: ['March', 'April'], delimiter: null })
  expect(body.rows).toEqual([['April', 'Macon, GA']])
  expect((await read(bytes, '?sheet=May')).status).toBe(422)
})

test('an empty file and a file that is no table are errors, and nothing is stored', async () => {
  for (const bytes of [
    '',
    '\n\n',
    Buffer.from('PK\u0003\u0004rest of a workbook'),
    Buffer.from([0, 1, 2, 0]),
  ]) {
    expect((await read(bytes)).status).toBe(422)
  }
  expect(
    (await read(`Ship From,Ship To\n${'"Dallas, TX","Macon, GA"\n'.repeat(importHeadBytesMax / 25)}`)).status,
  ).toBe(200)
  const imports = await fetch(`${app.url}/api/imports`, {
    headers: { Authorization: `Bearer ${tenant.owner}` },
  })
  expect(await imports.json()).toEqual({ imports: [] })
})

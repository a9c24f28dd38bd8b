import { utils, write } from '@e965/xlsx'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { filledText } from './filled-table.ts'
import { filledWorkbook } from './filled-workbook.ts'
import { openTable } from './table-file.ts'

/** A workbook with a hidden sheet, a style, a formula with a link to another file, a hidden column and a protected sheet. */
function shippersFile(): Uint8Array {
  const book = utils.book_new()
  const lanes = utils.aoa_to_sheet([
    ['Bid of Harvest'],
    [],
    ['Lane', 'Origin', 'Destination', 'Rate', 'Total'],
    ['H-1', 'Dallas, TX', 'Atlanta, GA', '', 0],
    ['H-2', 'Reno, NV', 'Waco, TX'],
  ])
  lanes.E4 = { t: 'n', f: 'D4*[1]Volumes!A1', v: 0 }
  lanes['!cols'] = [{}, { hidden: true }]
  lanes['!protect'] = { password: 'x' }
  utils.book_append_sheet(book, utils.aoa_to_sheet([['secret']]), 'Notes')
  utils.book_append_sheet(book, lanes, 'Lanes & more')
  book.Workbook = { Sheets: [{ name: 'Notes', Hidden: 1 }, { name: 'Lanes & more' }] }
  const parts = unzipSync(new Uint8Array(write(book, { type: 'buffer', compression: true }) as Buffer))
  const sheet = strFromU8(parts['xl/worksheets/sheet2.xml'] ?? new Uint8Array())
  parts['xl/worksheets/sheet2.xml'] = strToU8(sheet.replace('<c r="D4"', '<c r="D4" s="0" cm="1"'))
  parts['xl/externalLinks/externalLink1.xml'] = strToU8('<externalLink/>')
  return zipSync(parts)
}

const cells = [
  { row: 4, cents: 215_025 },
  { row: 5, cents: 90_000 },
]

describe('a workbook with rates', () => {
  it('has the parts of the shipper but for the cells of the rates, which are numbers with their style', () => {
    const before = shippersFile()
    const filled = filledWorkbook(before, 'Lanes & more', { column: 3, cells })
    const [was, is] = [unzipSync(before), unzipSync(filled)]
    expect(Object.keys(is)).toEqual(Object.keys(was))
    const changed = Object.keys(was).filter(
      (name) => !Buffer.from(was[name] ?? []).equals(Buffer.from(is[name] ?? [])),
    )
    expect(changed).toEqual(['xl/worksheets/sheet2.xml'])
    const xml = (parts: Record<string, Uint8Array>) =>
      strFromU8(parts['xl/worksheets/sheet2.xml'] ?? new Uint8Array())
    const [now, then] = [xml(is), xml(was)]
    expect(now).toContain('<c r="D4" s="0"><v>2150.25</v></c>')
    expect(now).toContain('<c r="D5"><v>900</v></c>')
    // Without those two cells, the sheet is as it was.
    const without = (text: string) => text.replace(/<c r="D[45]"[^>]*?(\/>|>.*?<\/c>)/g, '')
    expect(without(now)).toBe(without(then))
    expect(now).toContain('[1]Volumes!A1')
  })

  it('is refused where a rate would replace a formula, or a merged cell', () => {
    const bytes = shippersFile()
    expect(() => filledWorkbook(bytes, 'Lanes & more', { column: 4, cells })).toThrow(
      "The cell E4 of the shipper's file has a formula",
    )
    const parts = unzipSync(bytes)
    const sheet = strFromU8(parts['xl/worksheets/sheet2.xml'] ?? new Uint8Array())
    parts['xl/worksheets/sheet2.xml'] = strToU8(
      sheet.replace(
        '</sheetData>',
        '</sheetData><mergeCells count="1"><mergeCell ref="D4:D5"/></mergeCells>',
      ),
    )
    expect(() => filledWorkbook(zipSync(parts), 'Lanes & more', { column: 3, cells })).toThrow(
      "The cell D5 of the shipper's file is merged with D4",
    )
  })

  it('is read like any other workbook', async () => {
    const filled = filledWorkbook(shippersFile(), 'Lanes & more', { column: 3, cells })
    const { workbook } = await openTable([Buffer.from(filled)], {
      knownNames: (names) => (names.includes('Lane') ? 3 : 0),
    })
    expect(Buffer.from(workbook?.text ?? []).toString()).toContain('H-1,"Dallas, TX","Atlanta, GA",2150.25,0')
  })
})

describe('a text with rates', () => {
  const text =
    'Bid\r\n\r\nLane;From;To;Rate;"Total ""x"""\r\n"H\n1";Québec;Reno;;1\r\nH-2;a;b\r\nH-3;a;b;"old"\r\n'
  const expected = text
    .replace('Reno;;1', 'Reno;2150.25;1')
    .replace('H-2;a;b', 'H-2;a;b;900')
    .replace('"old"', '10')
  const filled = {
    column: 3,
    cells: [
      { row: 4, cents: 215_025 },
      { row: 6, cents: 90_000 },
      { row: 7, cents: 1_000 },
    ],
  }
  const form = { delimiter: ';', newline: '\n' } as const

  it.each([
    ['utf-8', (of: string) => Buffer.from(of)],
    ['utf-8', (of: string) => Buffer.from(`\ufeff${of}`)],
    ['windows-1252', (of: string) => Buffer.from(of, 'latin1')],
    ['utf-16', (of: string) => Buffer.from(`\ufeff${of}`, 'utf16le')],
    ['utf-16', (of: string) => Buffer.from(`\ufeff${of}`, 'utf16le').swap16()],
  ] as const)('keeps all other bytes in %s', (encoding, bytesOf) => {
    const before = bytesOf(text)
    expect(filledText(before, { ...form, encoding }, filled)).toEqual(bytesOf(expected))
    expect(before).toEqual(bytesOf(text))
  })
})

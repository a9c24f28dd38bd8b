import { utils, type WorkBook, type WorkSheet, write } from '@e965/xlsx'
import { zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { ImportFileError } from './refused.ts'
import { openTable } from './table-file.ts'
import { tablePieces } from './table-pieces.ts'
import { UnreadableWorkbook } from './workbook-archive.ts'
import { sheetText } from './workbook-rows.ts'

const limits = { unpackedBytesMax: 4 * 1024 * 1024, textBytesMax: 1024 * 1024 }

function bytesOf(sheets: Record<string, WorkSheet>, change: (workbook: WorkBook) => void = () => {}) {
  const workbook = utils.book_new()
  for (const [name, sheet] of Object.entries(sheets)) utils.book_append_sheet(workbook, sheet, name)
  change(workbook)
  return new Uint8Array(write(workbook, { type: 'buffer', compression: true }) as Buffer)
}

const sheetOf = (rows: unknown[][]) => utils.aoa_to_sheet(rows)
const linesOf = async (bytes: Uint8Array) => [...(await sheetText(bytes, limits)).lines]

async function read(bytes: Uint8Array, sheet?: string) {
  const table = await openTable([bytes], { vocabulary: 'quotes', sheet })
  const rows = []
  for await (const piece of tablePieces(table)) rows.push(...piece.rows)
  return { ...table, rows }
}

describe('a workbook', () => {
  it('is read as the table that people see, with the row numbers of its sheet', async () => {
    const bytes = bytesOf({
      Quotes: sheetOf([
        ['Quotes of June'],
        [],
        ['Origin', 'Destination', 'Rate'],
        ['Dallas, TX', 'Waco, TX', 900.5],
        [],
        ['Total', '', 900.5],
        ['Québec, QC', 'Say "hi"', 1000],
      ]),
    })
    const { header, rows, workbook } = await read(bytes)
    expect(header).toEqual(['Origin', 'Destination', 'Rate'])
    expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual([
      [4, 'Dallas, TX', 'Waco, TX', '900.5'],
      [7, 'Québec, QC', 'Say "hi"', '1000'],
    ])
    expect(workbook).toMatchObject({ sheet: 'Quotes', sheets: ['Quotes'] })
  })

  it('has dates as ISO 8601, in both calendars of Excel, and numbers as they are', async () => {
    const sheet = sheetOf([[45658, 45658.604166666664, 2150.1, 7501, true, 0.125]])
    const formats: Record<string, string> = {
      A1: 'm/d/yy',
      B1: 'd-mmm-yy h:mm',
      C1: '$#,##0',
      D1: '00000',
      F1: '0%',
    }
    for (const [at, format] of Object.entries(formats)) sheet[at].z = format
    const expected = ['2025-01-01', '2025-01-01 14:30:00', '2150.1', '07501', 'TRUE', '12.5%']
    expect(await linesOf(bytesOf({ S: sheet }))).toEqual([expected.join(',')])
    const in1904 = bytesOf({ S: sheet }, (workbook) => {
      workbook.Workbook = { ...workbook.Workbook, WBProps: { date1904: true } }
    })
    expect((await linesOf(in1904))[0]).toMatch(/^2029-01-02,/)
  })

  it('has the values of formulas, and never their text', async () => {
    const sheet = sheetOf([[900, 100, 0]])
    sheet.C1 = { t: 'n', f: 'A1+B1', v: 1000 }
    sheet.D1 = { t: 's', f: 'HYPERLINK("[other.xlsx]S!A1")', v: 'Acme' }
    sheet.E1 = { t: 'e', f: '1/0', v: 7 }
    sheet['!ref'] = 'A1:E1'
    expect(await linesOf(bytesOf({ S: sheet }))).toEqual(['900,100,1000,Acme,#DIV/0!'])
  })

  it('repeats a value that is merged over rows', async () => {
    const sheet = sheetOf([
      ['Acme', 'Dallas'],
      ['', 'Waco'],
      ['', 'Austin'],
      ['Best', 'El Paso'],
    ])
    sheet['!merges'] = [{ s: { r: 0, c: 0 }, e: { r: 2, c: 0 } }]
    expect(await linesOf(bytesOf({ S: sheet }))).toEqual([
      'Acme,Dallas',
      'Acme,Waco',
      'Acme,Austin',
      'Best,El Paso',
    ])
  })

  it('is read from the first visible sheet with a header, or the one that is asked for', async () => {
    const quotes = sheetOf([
      ['Origin', 'Destination', 'Rate'],
      ['Dallas, TX', 'Waco, TX', 900],
    ])
    const notes = sheetOf([['How to'], ['use'], ['this'], ['file']])
    const hide = (workbook: WorkBook) => {
      workbook.Workbook = {
        Sheets: [{ name: 'Old', Hidden: 1 }, { name: 'Notes' }, { name: 'New' }, { name: 'Also' }],
      }
    }
    const bytes = bytesOf(
      { Old: quotes, Notes: notes, New: quotes, Also: sheetOf([['Origin', 'Rate']]) },
      hide,
    )
    expect((await read(bytes)).workbook).toMatchObject({ sheet: 'New', sheets: ['Notes', 'New', 'Also'] })
    expect((await read(bytes, 'Also')).header).toEqual(['Origin', 'Rate'])
    await expect(read(bytes, 'Old')).rejects.toThrow(
      'no visible sheet "Old"; its sheets are "Notes", "New", "Also"',
    )
  })

  it('is the longest sheet if none has known names', async () => {
    const bytes = bytesOf({ A: sheetOf([['x']]), B: sheetOf([['x'], ['y']]) })
    expect((await sheetText(bytes, limits)).facts.sheet).toBe('B')
  })
})

describe('a workbook that cannot be read', () => {
  const problemOf = async (bytes: Uint8Array) => {
    try {
      await sheetText(bytes, limits)
    } catch (error) {
      if (error instanceof UnreadableWorkbook) return error.message
      throw error
    }
    throw new Error('The workbook was read.')
  }
  const zip = (parts: Record<string, string>) =>
    zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, Buffer.from(text)])))

  it('is refused with the remedy: a damaged one, a ZIP archive, a binary workbook, one without cells', async () => {
    const whole = bytesOf({ S: sheetOf([['Origin']]) })
    expect(await problemOf(whole.slice(0, -30))).toContain('damaged')
    expect(await problemOf(zip({ 'a.csv': 'Origin' }))).toContain('a ZIP archive without a workbook')
    expect(await problemOf(zip({ 'xl/workbook.bin': '' }))).toContain('.xlsb')
    expect(await problemOf(bytesOf({ S: sheetOf([]) }))).toContain('no visible sheet with cells')
    expect(await problemOf(zip({ 'xl/workbook.xml': '<workbook>' }))).toMatch(/damaged|no visible sheet/)
  })

  it('is refused before it is unpacked if its sheets are too large', async () => {
    const bomb = zip({ 'xl/workbook.xml': '', 'xl/worksheets/sheet1.xml': ' '.repeat(5 * 1024 * 1024) })
    expect(bomb.length).toBeLessThan(20_000)
    expect(await problemOf(bomb)).toContain('more than 4 MiB')
  })

  it('is refused if its sheet has too much text', async () => {
    const long = 'x'.repeat(30_000)
    const bytes = bytesOf({ S: sheetOf(Array.from({ length: 40 }, () => [long])) })
    expect(await problemOf(bytes)).toContain('more than 1 MiB of text')
  })

  it('is an error of the file, and the service goes on', { tags: 'long' }, async () => {
    const bomb = zip({ 'xl/workbook.xml': '', 'xl/worksheets/sheet1.xml': ' '.repeat(300 * 1024 * 1024) })
    await expect(read(bomb)).rejects.toThrow(ImportFileError)
    await expect(read(bomb)).rejects.toThrow('more than 256 MiB')
  })
})

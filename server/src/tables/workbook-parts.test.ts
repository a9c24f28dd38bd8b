import { zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { openTable } from './table-file.ts'
import { tablePieces } from './table-pieces.ts'
import { UnreadableWorkbook } from './workbook-archive.ts'
import { type SheetChoice, sheetText } from './workbook-rows.ts'

const limits = { unpackedBytesMax: 4 * 1024 * 1024, textBytesMax: 1024 * 1024 }

const zip = (parts: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, Buffer.from(text)])))

const sheet = (content: string) => `<worksheet><sheetData>${content}</sheetData></worksheet>`

/** A workbook as a program writes it, with the XML of its first sheet. */
function partsOf(xml: string, others: Record<string, string> = {}): Record<string, string> {
  return {
    'xl/workbook.xml':
      '<workbook xmlns:r="r"><sheets><sheet name="Loads" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': xml,
    ...others,
  }
}

const text = (cell: string, value: string) => `<c r="${cell}" t="inlineStr"><is><t>${value}</t></is></c>`
const header = `<row r="1">${text('A1', 'Origin')}${text('B1', 'Destination')}${text('C1', 'Rate')}</row>`
const load = (row: number, attributes = '') =>
  `<row r="${row}" ${attributes}>${text(`A${row}`, 'Dallas')}${text(`B${row}`, 'Waco')}<c r="C${row}"><v>${900 + row}</v></c></row>`

async function read(parts: Record<string, string>, choice?: SheetChoice) {
  const { lines, facts } = await sheetText(zip(parts), limits, choice)
  return { csv: `${lines.join('\n')}\n`, facts }
}
const linesOf = async (parts: Record<string, string>, choice?: SheetChoice) =>
  (await read(parts, choice)).csv.split('\n').slice(0, -1)

async function problemOf(bytes: Uint8Array): Promise<string> {
  try {
    await sheetText(bytes, limits)
  } catch (error) {
    if (error instanceof UnreadableWorkbook) return error.message
    throw error
  }
  throw new Error('The workbook was read.')
}

describe('the cells of a workbook', () => {
  it('are read as other programs write them', async () => {
    const parts = partsOf(
      '<x:worksheet xmlns:x="y"><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c><x:c><x:v>1E3</x:v></x:c></x:row>' +
        '<x:row r="3"><x:c r="B3" t="str"><x:f>A1</x:f><x:v>a&amp;b &#233;</x:v></x:c>' +
        '<x:c r="D3" t="d"><x:v>2026-03-01T14:30:00.000Z</x:v></x:c><x:c r="E3" t="b"><x:v>0</x:v></x:c>' +
        '<x:c r="F3" t="e"><x:v>#N/A</x:v></x:c></x:row></x:sheetData></x:worksheet>',
      {
        'xl/sharedStrings.xml':
          '<sst><si><r><t>Mont</t></r><r><t xml:space="preserve">réal, QC</t></r><rPh sb="0"><t>no</t></rPh></si></sst>',
      },
    )
    expect(await linesOf(parts)).toEqual([
      '"Montréal, QC",1000',
      '',
      ',a&b é,,2026-03-01 14:30:00,FALSE,#N/A',
    ])
  })

  it('are named by relations, also in other folders', async () => {
    const { 'xl/worksheets/sheet1.xml': xml = '', ...parts } = partsOf(sheet(header))
    parts['xl/_rels/workbook.xml.rels'] =
      '<Relationships><Relationship Id="rId1" Type="http://x/worksheet" Target="/xl/tables/Sheet.XML"/></Relationships>'
    expect(await linesOf({ ...parts, 'xl/tables/sheet.xml': xml })).toEqual(['Origin,Destination,Rate'])
  })

  it('of hidden rows and columns are read, counted, and left out on request', async () => {
    const xml = `<worksheet><cols><col min="2" max="2" hidden="1"/><col min="5" max="16384" hidden="true"/></cols>
      <sheetData>${header}${load(2)}${load(3, 'hidden="1"')}<row r="4" hidden="1"/>${load(5)}</sheetData></worksheet>`
    const { csv, facts } = await read(partsOf(xml))
    expect(csv).toBe('Origin,Destination,Rate\nDallas,Waco,902\nDallas,Waco,903\n\nDallas,Waco,905\n')
    expect(facts.hidden).toEqual({ rows: 1, columns: ['B'], areLeftOut: false })
    const fewer = await read(partsOf(xml), { leavesOutHidden: true })
    expect(fewer.csv).toBe('Origin,,Rate\nDallas,,902\n\n\nDallas,,905\n')
    expect(fewer.facts.hidden).toEqual({ rows: 1, columns: ['B'], areLeftOut: true })
  })

  it('keep the value of merged cells whose first row is left out', async () => {
    const xml = `<worksheet><sheetData><row r="1" hidden="1">${text('A1', 'Acme, Inc')}</row><row r="2">${text('B2', 'Waco')}</row>
      <row r="3"/></sheetData><mergeCells><mergeCell ref="A1:A1048576"/><mergeCell ref="XFD1:XFD9"/></mergeCells></worksheet>`
    expect(await linesOf(partsOf(xml), { leavesOutHidden: true })).toEqual(['', '"Acme, Inc",Waco'])
  })

  it('with formulas without a result are named, and have the formula', async () => {
    const formula = (value: string, type = '') => `<c ${type}><f>A1*1,1</f>${value}</c>`
    const xml = sheet(
      `<row>${formula('')}${formula('<v></v>')}${formula('<v>0</v>')}${formula('<v>7</v>')}${formula('<v></v>', 't="str"')}</row>`,
    )
    expect(await read(partsOf(xml))).toMatchObject({
      csv: '"=A1*1,1","=A1*1,1",0,7\n',
      facts: { unresolved: { count: 2, cells: ['A1', 'B1'] } },
    })
    const written = partsOf(xml)
    written['xl/workbook.xml'] = written['xl/workbook.xml']?.replace(
      '</workbook>',
      '<calcPr fullCalcOnLoad="1"/></workbook>',
    ) as string
    expect((await read(written)).facts.unresolved).toEqual({ count: 3, cells: ['A1', 'B1', 'C1'] })
  })

  it('of other sheets with a table are mentioned', async () => {
    const parts = partsOf(sheet(header), { 'xl/worksheets/sheet2.xml': sheet(header) })
    parts['xl/workbook.xml'] =
      '<workbook xmlns:r="r"><sheets><sheet name="A" r:id="rId1"/><sheet name="B" r:id="rId2"/></sheets></workbook>'
    parts['xl/_rels/workbook.xml.rels'] = (parts['xl/_rels/workbook.xml.rels'] ?? '').replace(
      '</Relationships>',
      '<Relationship Id="rId2" Type="http://x/worksheet" Target="worksheets/sheet2.xml"/></Relationships>',
    )
    const { facts } = await read(parts, { isTable: (rows) => rows[0]?.includes('Origin') ?? false })
    expect(facts).toMatchObject({ sheet: 'A', sheets: ['A', 'B'], otherTables: ['B'] })
  })
})

describe('a workbook that is not as it should be', () => {
  const entities =
    '<!DOCTYPE z [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'

  it.each([
    ['entities that multiply', `${entities}${sheet(`<row>${text('A1', '&b;')}</row>`)}`, 'a document type'],
    [
      'an entity of another file',
      `${entities}${sheet(`<row>${text('A1', '&c;')}</row>`)}`,
      'a document type',
    ],
    ['an unknown entity', sheet(`<row>${text('A1', '&b;')}</row>`), 'damaged'],
    ['unclosed elements', '<worksheet><sheetData><row><c>', 'damaged'],
    ['a row beyond the last one', sheet('<row r="2000000"/>'), 'the row 2000000'],
    ['a row after the last one', sheet('<row r="1048576"/><row/>'), 'the row 1048577'],
    ['a cell after the last column', sheet('<row><c r="XFD1"/><c/></row>'), 'the column 16385'],
    ['a row before the first one', sheet('<row r="0"/>'), 'the row 0'],
    ['a cell beyond the last column', sheet('<row><c r="ZZZZ1"/></row>'), 'the cell ZZZZ1'],
    ['a cell without a column', sheet('<row><c r="12"/></row>'), 'the cell 12'],
    ['a merge of no cells', `<worksheet><mergeCell ref="A:A"/></worksheet>`, 'the merged range A:A'],
    [
      'cells without text',
      sheet('<row r="1048576"><c r="XFD1048576" s="1"/></row>'),
      'no visible sheet with cells',
    ],
    ['no cells', sheet(''), 'no visible sheet with cells'],
  ])('is refused with %s', async (_, xml, expected) => {
    expect(await problemOf(zip(partsOf(xml)))).toContain(expected)
  })

  it.each([
    ['an OpenDocument file', { mimetype: 'application/vnd.oasis', 'content.xml': '' }, '.ods'],
    ['a binary workbook', { 'xl/workbook.bin': '' }, '.xlsb'],
    ['a document', { 'word/document.xml': '' }, 'a Word document'],
    ['another archive', { 'loads.csv': '' }, 'a ZIP archive without a workbook'],
  ])('is refused if it is %s', async (_, parts, expected) => {
    expect(await problemOf(zip(parts))).toContain(expected)
  })

  const whole = zip(partsOf(sheet(header + load(2).repeat(1))))

  it.each([0.1, 0.5, 0.9, 0.99])('is refused if only %d of it is there', async (share) => {
    expect(await problemOf(whole.slice(0, Math.floor(whole.length * share)))).toContain('damaged')
  })

  it('is refused if a part is larger than the file says', async () => {
    const bytes = Buffer.from(zip(partsOf(sheet(' '.repeat(1_000_000)))))
    const size = Buffer.alloc(4)
    size.writeUInt32LE(sheet('').length + 1_000_000)
    const said = Buffer.alloc(4)
    said.writeUInt32LE(1_000)
    for (let at = bytes.indexOf(size); at >= 0; at = bytes.indexOf(size)) said.copy(bytes, at)
    expect(await problemOf(bytes)).toContain('damaged')
  })

  it('is refused if it has too many columns, and read if its last row is the last possible one', async () => {
    const open = (xml: string) => openTable([zip(partsOf(xml))], { vocabulary: 'quotes' })
    const wide = sheet(
      `<row>${Array.from({ length: 10_000 }, () => '<c t="inlineStr"><is><t>Name</t></is></c>').join('')}</row>`,
    )
    await expect(open(wide)).rejects.toThrow('at most 1,000 columns')
    const rows = []
    for await (const piece of tablePieces(await open(sheet(header + load(2) + load(1_048_576))))) {
      rows.push(...piece.rows)
    }
    expect(rows.map(({ line }) => line)).toEqual([2, 1_048_576])
  })

  it('is an error and no wait if every row has a cell in the last column', async () => {
    const row = (number: number) => `<row r="${number}"><c r="XFD${number}"><v>1</v></c></row>`
    const many = sheet(Array.from({ length: 100 }, (_, at) => row(at + 1)).join(''))
    expect(await problemOf(zip(partsOf(many)))).toContain('more than 1 MiB of text')
  })
})

import { zipSync } from 'fflate'
import { expect, test, vi } from 'vitest'
import { UnreadableWorkbook } from './workbook-archive.ts'
import { sheetText } from './workbook-rows.ts'

vi.mock('#contract/limits.ts', async (original) => ({
  ...(await original<typeof import('#contract/limits.ts')>()),
  workbookPartsMax: {
    cells: 20,
    texts: 20,
    merges: 20,
    styles: 20,
    formats: 20,
    columns: 20,
    sheets: 20,
    parts: 20,
  },
  workbookCellLengthMax: 200_000,
}))

const cell = '<c t="s"><v>0</v></c>'
const usual: Readonly<Record<string, string>> = {
  'xl/workbook.xml': '<workbook xmlns:r="r"><sheets><sheet name="S" r:id="a"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="a" Type="t/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
  'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row>${cell}</row></sheetData></worksheet>`,
  'xl/sharedStrings.xml': '<sst><si><t>Dallas</t></si></sst>',
}
const sheet = 'xl/worksheets/sheet1.xml'
const texts = 'xl/sharedStrings.xml'
const styles = 'xl/styles.xml'

async function read(changed: Record<string, string>): Promise<string> {
  const parts = Object.entries({ ...usual, ...changed })
  const zip = zipSync(Object.fromEntries(parts.map(([name, text]) => [name, Buffer.from(text)])))
  try {
    const { lines } = await sheetText(zip, { unpackedBytesMax: 8_000_000, textBytesMax: 8_000_000 })
    return lines.join('/')
  } catch (error) {
    if (error instanceof UnreadableWorkbook) return error.message
    throw error
  }
}

/** A part with so many things of one kind, and the words of its refusal when it is one too many. */
const counted: readonly (readonly [string, number, (count: number) => Record<string, string>])[] = [
  ['cells', 20, (n) => ({ [sheet]: `<x><row>${cell.repeat(n - 1)}</row><row>${cell}</row></x>` })],
  ['cells', 20, (n) => ({ [sheet]: `<x><row>${cell}</row>${'<row><c/></row>'.repeat(n - 1)}</x>` })],
  ['cells', 20, (n) => ({ [sheet]: mergedOver(n) })],
  ['texts', 20, (n) => ({ [texts]: `<sst><si><t>Dallas</t></si>${'<si/>'.repeat(n - 1)}</sst>` })],
  ['merges', 20, (n) => ({ [sheet]: `<x><row>${cell}</row>${'<mergeCell ref="A1"/>'.repeat(n)}</x>` })],
  [
    'columns',
    20,
    (n) => ({ [sheet]: `<x>${'<col min="9" max="9" hidden="1"/>'.repeat(n)}<row>${cell}</row></x>` }),
  ],
  ['styles', 20, (n) => ({ [styles]: `<s><cellXfs>${'<xf/>'.repeat(n)}</cellXfs></s>` })],
  ['formats', 20, (n) => ({ [styles]: `<s>${'<numFmt numFmtId="9" formatCode="0"/>'.repeat(n)}</s>` })],
  ['parts', 20, (n) => Object.fromEntries(Array.from({ length: n - 4 }, (_, at) => [`xl/${at}`, '']))],
  [
    'characters in one text',
    200_000,
    (n) => ({ [texts]: `<sst><si><t>Dallas</t><t>${'a'.repeat(n - 6)}</t></si></sst>` }),
  ],
  ['levels of XML', 100, (n) => ({ [styles]: `${'<a>'.repeat(n)}${'</a>'.repeat(n)}` })],
]

/** A value that is merged over so many further rows, in two ranges. */
function mergedOver(rows: number): string {
  const half = Math.ceil(rows / 2) + 1
  const filled = '<row><c t="s"><v>0</v></c></row>'
  const ranges = `<mergeCell ref="A1:A${half}"/><mergeCell ref="A1:A${rows - half + 2}"/>`
  return `<x>${filled.repeat(half)}${ranges}</x>`
}

test.each(counted)(
  'a workbook may have so many %s, %i, and is refused with the number above it',
  async (what, most, made) => {
    expect(await read(made(most))).toMatch(/^(Dallas|a)/)
    expect(await read(made(most + 1))).toContain(`more than ${most.toLocaleString('en-US')} ${what}`)
  },
)

test('a text, tag or remark is refused before it is collected whole', async () => {
  const long = 'a'.repeat(3_000_000)
  for (const part of [
    `<sst><si><t>${long}</t></si></sst>`,
    `<sst a="${long}"/>`,
    `<sst><!-- ${long} --></sst>`,
  ]) {
    expect(await read({ [texts]: part })).toContain('more than 200,000 characters in one text')
  }
})

import { type Archive, Count, refuseLongText, UnreadableWorkbook } from './workbook-archive.ts'
import { builtInFormats, csvCell, type NumberWriter, numberWriter, textCell } from './workbook-cells.ts'

/** What the cells of a workbook's sheets refer to. */
export interface Book {
  /** The sheets that are not hidden, in order. */
  readonly sheets: readonly { readonly name: string; readonly part: string }[]
  /** The texts of cells as CSV, by their number. */
  readonly strings: readonly string[]
  /** Writes the number of a cell, by the number of the cell's style. */
  readonly writers: readonly NumberWriter[]
  /** True if a program without results of formulas wrote the workbook: it asks to calculate them when it is opened. */
  readonly isUncalculated: boolean
}

/** Reads everything but the sheets. @throws UnreadableWorkbook */
export async function readBook(archive: Archive): Promise<Book> {
  const parts = await relatedParts(archive)
  const { sheets, use1904, isUncalculated } = await readSheets(archive, parts)
  const partOf = (type: string, usual: string) => parts.find((one) => one.type === type)?.part ?? usual
  const writers = await readStyles(archive, partOf('styles', 'xl/styles.xml'), use1904)
  const strings = await readStrings(archive, partOf('sharedStrings', 'xl/sharedStrings.xml'))
  return { sheets, strings, writers, isUncalculated }
}

interface RelatedPart {
  readonly id: string
  /** The last word of its type, such as worksheet. */
  readonly type: string
  readonly part: string
}

const nothing = () => {}

async function relatedParts(archive: Archive): Promise<RelatedPart[]> {
  const parts: RelatedPart[] = []
  const count = new Count('parts')
  await archive.read('xl/_rels/workbook.xml.rels', {
    open(name, { Id: id = '', Type: type = '', Target: target = '' }) {
      if (name !== 'Relationship') return
      count.add()
      const part = target.startsWith('/') ? target.slice(1) : new URL(target, 'file:///xl/').pathname.slice(1)
      parts.push({ id, type: type.slice(type.lastIndexOf('/') + 1), part })
    },
    close: nothing,
    text: nothing,
  })
  return parts
}

async function readSheets(archive: Archive, parts: readonly RelatedPart[]) {
  const sheets: { name: string; part: string }[] = []
  let use1904 = false
  let isUncalculated = false
  const count = new Count('sheets')
  await archive.read('xl/workbook.xml', {
    open(name, attributes) {
      if (name === 'workbookPr') use1904 = isTrue(attributes.date1904)
      if (name === 'calcPr') isUncalculated = isTrue(attributes.fullCalcOnLoad)
      if (name === 'sheet') count.add()
      if (name !== 'sheet' || (attributes.state ?? 'visible') !== 'visible') return
      const id = Object.entries(attributes).find(([key]) => /^(.+:)?id$/.test(key))?.[1]
      const part = parts.find((one) => one.id === id && one.type === 'worksheet')?.part
      if (part !== undefined) sheets.push({ name: attributes.name ?? '', part })
    },
    close: nothing,
    text: nothing,
  })
  return { sheets, use1904, isUncalculated }
}

export const isTrue = (attribute: string | undefined) => attribute === '1' || attribute === 'true'

async function readStyles(archive: Archive, part: string, use1904: boolean): Promise<NumberWriter[]> {
  const codes = new Map<string, string>(builtInFormats)
  const writers: NumberWriter[] = []
  const known = new Map<string, NumberWriter>()
  let inCellStyles = false
  const [formats, styles] = [new Count('formats'), new Count('styles')]
  await archive.read(part, {
    open(name, attributes) {
      if (name === 'numFmt') {
        formats.add()
        codes.set(attributes.numFmtId ?? '', attributes.formatCode ?? '')
      }
      if (name === 'cellXfs') inCellStyles = true
      if (name !== 'xf' || !inCellStyles) return
      styles.add()
      const code = codes.get(attributes.numFmtId ?? '') ?? 'General'
      const writer = known.get(code) ?? numberWriter(code, use1904)
      known.set(code, writer)
      writers.push(writer)
    },
    close(name) {
      if (name === 'cellXfs') inCellStyles = false
    },
    text: nothing,
  })
  return writers
}

async function readStrings(archive: Archive, part: string): Promise<string[]> {
  const strings: string[] = []
  const text = new RichText()
  const count = new Count('texts')
  await archive.read(part, {
    open(name) {
      if (name === 'si') text.clear()
      text.open(name)
    },
    close(name) {
      text.close(name)
      if (name !== 'si') return
      count.add()
      strings.push(alone(csvCell(textCell(text.read))))
    },
    text: (piece) => text.add(piece),
  })
  return strings
}

/** The text of a cell in one or several formats, without its phonetic reading. */
export class RichText {
  read = ''
  #isText = false
  #isPhonetic = false

  clear(): void {
    this.read = ''
  }

  open(name: string): void {
    if (name === 't') this.#isText = !this.#isPhonetic
    else if (name === 'rPh') this.#isPhonetic = true
  }

  close(name: string): void {
    if (name === 't') this.#isText = false
    else if (name === 'rPh') this.#isPhonetic = false
  }

  add(piece: string): void {
    if (!this.#isText) return
    this.read += piece
    refuseLongText(this.read.length)
  }
}

/** @throws UnreadableWorkbook if the workbook has no sheet of that name that people see */
export function sheetNamed<Sheet extends { readonly name: string }>(
  sheets: readonly Sheet[],
  name: string,
): Sheet {
  const found = sheets.find((one) => one.name === name)
  if (found !== undefined) return found
  const names = sheets.slice(0, 20).map((one) => `"${one.name}"`)
  throw new UnreadableWorkbook(
    `The workbook has no visible sheet "${name.slice(0, 60)}"; its sheets are ${names.join(', ')}.`,
  )
}

/** A text with memory of its own. A piece of a longer text would keep all of that, which is many times as long. */
const alone = (text: string) => Buffer.from(text).toString()

import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { workbookUnpackedBytesMax } from '#contract/limits.ts'
import { UnreadableWorkbook } from './workbook-rows.ts'

/** An amount in cents for a row of a sheet or a line of a text, from 1. */
export interface FilledCell {
  readonly row: number
  readonly cents: number
}

/** Where amounts are written. */
export interface FilledColumn {
  /** From 0. */
  readonly column: number
  readonly cells: readonly FilledCell[]
}

/** Excel's own date of the first day of ZIP archives: the same workbook has the same bytes whenever it is made. */
const zipTime = new Date(1980, 0, 1)

/**
 * A workbook with amounts in a column of a sheet. Only the part of that sheet changes, and in it only these cells: other cells, formulas,
 * styles, hidden rows and columns, and all other parts keep their bytes. A cell keeps its style. Amounts are numbers.
 *
 * @throws UnreadableWorkbook if a cell has a formula, or is merged into another one
 * @example filledWorkbook(bytes, 'Lanes', { column: 7, cells: [{ row: 12, cents: 215025 }] })
 */
export function filledWorkbook(bytes: Uint8Array, sheet: string, filled: FilledColumn): Uint8Array {
  let total = 0
  const parts = unzipSync(bytes, {
    filter: ({ originalSize }) => {
      total += originalSize
      if (total <= workbookUnpackedBytesMax) return true
      throw new UnreadableWorkbook(
        `The parts of the workbook have more than ${workbookUnpackedBytesMax / 1024 / 1024} MiB. Remove what the rates do not need, and upload it again.`,
      )
    },
  })
  const name = partOfSheet(parts, sheet)
  const part = parts[name]
  if (part === undefined) throw new UnreadableWorkbook(`The workbook has no sheet "${sheet}".`)
  parts[name] = strToU8(filledSheet(strFromU8(part), filled))
  return zipSync(parts, { mtime: zipTime })
}

function textOf(parts: Record<string, Uint8Array>, name: string): string {
  const part = parts[name]
  return part === undefined ? '' : strFromU8(part)
}

/** The name of a sheet's part, which the workbook and its relationships say. */
function partOfSheet(parts: Record<string, Uint8Array>, sheet: string): string {
  const tags = textOf(parts, 'xl/workbook.xml').match(/<(?:\w+:)?sheet\s[^>]*>/g) ?? []
  const tag = tags.find((one) => attribute(one, 'name') === sheet)
  const id = tag === undefined ? null : attribute(tag, ':id')
  const relations = textOf(parts, 'xl/_rels/workbook.xml.rels').match(/<(?:\w+:)?Relationship\s[^>]*>/g) ?? []
  const relation = relations.find((one) => attribute(one, 'Id') === id)
  const target = relation === undefined ? null : attribute(relation, 'Target')
  if (target === null) throw new UnreadableWorkbook(`The workbook has no sheet "${sheet}".`)
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The value of an attribute, without regard to the prefix of its name if `name` begins with a colon. */
function attribute(tag: string, name: string): string | null {
  for (const [, own = '', double, single] of tag.matchAll(/\s([\w:]+)=(?:"([^"]*)"|'([^']*)')/g)) {
    if (own === name || (name.startsWith(':') && own.endsWith(name))) return unescaped(double ?? single ?? '')
  }
  return null
}

function unescaped(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, named) => {
    if (named !== undefined) return entities[named] ?? whole
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}

/** The letters of a column. @example columnLetters(27) // 'AB' */
function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26))
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last
}

/** Where a cell is by its name: its column from 0, and its row from 1. @example placeOf('AB12') // { column: 27, row: 12 } */
function placeOf(name: string): { readonly column: number; readonly row: number } {
  const [, letters = '', row = ''] = /^\$?([A-Z]+)\$?(\d+)$/.exec(name) ?? []
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return { column: column - 1, row: Number(row) }
}

const amountOf = (cents: number) => String(cents / 100)

function filledSheet(xml: string, { column, cells }: FilledColumn): string {
  const wanted = new Map(cells.map(({ row, cents }) => [row, cents]))
  refuseMerged(xml, column, wanted)
  const start = xml.search(/<(?:\w+:)?sheetData\b/)
  const end = xml.search(/<\/(?:\w+:)?sheetData>/)
  if (start < 0 || end < 0) throw new UnreadableWorkbook('The sheet of the workbook has no cells.')
  let row = 0
  const filled = xml
    .slice(start, end)
    .replace(
      /<((?:\w+:)?)row\b([^>]*?)(\/>|>([\s\S]*?)<\/\1row>)/g,
      (whole, prefix, attributes, _rest, inside) => {
        row = Number(attribute(` ${attributes}`, 'r') ?? row + 1)
        const cents = wanted.get(row)
        if (cents === undefined) return whole
        wanted.delete(row)
        const content = filledRow(inside ?? '', { prefix, row, column, cents })
        return `<${prefix}row${attributes}>${content}</${prefix}row>`
      },
    )
  const [left] = wanted.keys()
  if (left !== undefined) throw new UnreadableWorkbook(`The sheet of the workbook has no row ${left}.`)
  return xml.slice(0, start) + filled + xml.slice(end)
}

interface CellToFill {
  readonly prefix: string
  readonly row: number
  readonly column: number
  readonly cents: number
}

/** A cell: its prefix, its attributes, and what is in it. */
const cellForm = /<((?:\w+:)?)c\b([^>]*?)(\/>|>([\s\S]*?)<\/\1c>)/g

function filledRow(inside: string, { prefix, row, column, cents }: CellToFill): string {
  const name = `${columnLetters(column)}${row}`
  const value = `<${prefix}v>${amountOf(cents)}</${prefix}v>`
  let at = -1
  for (const found of inside.matchAll(cellForm)) {
    const [whole, , attributes = '', , content = ''] = found
    const own = attribute(` ${attributes}`, 'r')
    at = own === null ? at + 1 : placeOf(own).column
    if (at < column) continue
    const before = inside.slice(0, found.index)
    if (at > column)
      return `${before}<${prefix}c r="${name}">${value}</${prefix}c>${inside.slice(found.index)}`
    if (/<(?:\w+:)?f\b/.test(content)) {
      throw new UnreadableWorkbook(
        `The cell ${name} of the shipper's file has a formula, which a rate would replace. Choose the column that is meant for rates.`,
      )
    }
    // The type of the cell and its metadata are those of the value that was there.
    const kept = attributes.replace(/\s(?:t|cm|vm)=(?:"[^"]*"|'[^']*')/g, '')
    return `${before}<${prefix}c${kept}>${value}</${prefix}c>${inside.slice(found.index + whole.length)}`
  }
  return `${inside}<${prefix}c r="${name}">${value}</${prefix}c>`
}

function refuseMerged(xml: string, column: number, wanted: ReadonlyMap<number, number>): void {
  for (const [tag] of xml.matchAll(/<(?:\w+:)?mergeCell\s[^>]*>/g)) {
    const [from = '', to = from] = (attribute(tag, 'ref') ?? '').split(':')
    const [start, end] = [placeOf(from), placeOf(to)]
    if (column < start.column || column > end.column) continue
    for (const row of wanted.keys()) {
      if (row < start.row || row > end.row || (row === start.row && column === start.column)) continue
      throw new UnreadableWorkbook(
        `The cell ${columnLetters(column)}${row} of the shipper's file is merged with ${from}. Choose a column whose cells are not merged.`,
      )
    }
  }
}

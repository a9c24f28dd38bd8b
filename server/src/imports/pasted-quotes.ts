import { type DateOrder, dateOrders } from '#contract/date-orders.ts'
import { pastedColumnsMax, pastedRowsMax, unknownPlacesLookedUpMax } from '#contract/limits.ts'
import { equipmentCode, knownEquipment } from '#engine/equipment.ts'
import { modeOfWord } from '#engine/load-mode.ts'
import { LocalClock } from '#engine/local-clock.ts'
import { foldCity, readState } from '#engine/place.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { Steps } from '#engine/steps.ts'
import { placesNamed } from '#geography/gazetteer.ts'
import { nearestSpellings } from '#geography/nearest-spellings.ts'
import { readAnyPlace, readPlaceParts } from '#geography/read-place.ts'
import {
  cellText,
  type DateReader,
  dateColumns,
  dateNumbers,
  guessedInPastes,
  headerNames,
  isCurrency,
  knownNames,
  matchFields,
  noDates,
  orderConflict,
  quoteCandidates,
  readDay,
  readDayNear,
  readMoney,
  seeDate,
  statedAmount,
  utcDates,
} from '../csv/index.ts'
import { type LeftOutRow, type Line, leftOutOf, otherHeader, textRows } from '../tables/index.ts'
import { doubtNote, doubtsOfPercents } from './column-content.ts'
import { type DateSettings, orderNote } from './file-dates.ts'
import { addLeftOut, linesNotes, noneLeftOut } from './import-notes.ts'
import { knownCells } from './known-cells.ts'
import { isDayWord, NamedDays, writtenAmount } from './pasted-cells.ts'
import { type PastedField, pastedColumns, pastedFieldOf } from './pasted-names.ts'
import { type PastedAnswer, type PastedRow, pastedRow, stateWithZip } from './pasted-rows.ts'

type Field = PastedField
type Pasted = Omit<PastedAnswer, 'rows'> & { readonly rows: readonly PastedRow[] }

const zipForm = /^(\d{5}(-?\d{4})?|[A-Z]\d[A-Z]([ -]?\d[A-Z]\d)?)$/i
function isState(cell: string): boolean {
  return readState(stateWithZip(cell).state) !== null
}

const isPlace = (cell: string) => 'value' in readAnyPlace(cell)
/** Whether a cell is the name of a city without its state. Short names may be codes, and Van is an equipment. */
const isCityAlone = (cell: string) =>
  cell.length > 3 &&
  cell.length < 40 &&
  !isEquipment(cell) &&
  (/\d/.test(cell) ? false : placesNamed(foldCity(cell)).length > 0)
const isPlaceOrCity = (cell: string) => isPlace(cell) || isCityAlone(cell)
/** Whether a place includes its state. Then the next column is not its state. */
const isWholePlace = (cell: string) =>
  isPlace(cell) && (/[,\d]/.test(cell) || isState(cell.split(' ').slice(1).at(-1) ?? ''))
const isZip = (cell: string) => zipForm.test(cell)
/** Whether a cell is a postal code. Five digits must be a known one, because they may be an amount. */
const isKnownZip = (cell: string) => isZip(cell) && (isPlace(cell) || !/^\d/.test(cell))
/**
 * A day with the name of its month may lack the year. A day in numbers needs it, because `12/3` could be something else. Digits without
 * a sign may be an id.
 */
const isDate = (cell: string) =>
  isDayWord(cell) ||
  (!/^\d+$/.test(cell) &&
    dateOrders.some(
      (order) => 'value' in (/[a-z]/i.test(cell) ? readDayNear(cell, 0, order) : readDay(cell, order)),
    ))
const isMoney = (cell: string) => 'value' in readMoney(statedAmount(writtenAmount(cell).text).text || '1')
/** Whether a cell is an amount that states a currency. */
const isSigned = (cell: string) => isMoney(cell) && /\p{Sc}|\b(usd|cad)\b/iu.test(cell)
const isEquipment = (cell: string) => knownEquipment(cell) !== null
const isWord = (cell: string) => /\p{L}/u.test(cell)

const fitting: Readonly<Partial<Record<Field, (cell: string) => boolean>>> = {
  origin: isPlace,
  origin_state: isState,
  origin_zip: isZip,
  destination: isPlace,
  destination_state: isState,
  destination_zip: isZip,
  equipment: (cell) => equipmentCode(cell) !== null,
  mode: (cell) => modeOfWord(cell) !== null,
  quoted_rate: isMoney,
  estimated_cost: isMoney,
  quoted_fuel: isMoney,
  quoted_accessorials: isMoney,
  market_rate: isMoney,
  miles: isMoney,
  pickup_date: isDate,
}

/**
 * The columns of a text, without those above the most that are read. A column has a kind if at least half of its cells fit: the others
 * may contain mistakes.
 */
class Cells {
  readonly width: number
  readonly #rows: readonly (readonly string[])[]
  readonly #columns: readonly (readonly string[])[]
  constructor(rows: readonly (readonly string[])[]) {
    this.#rows = rows
    this.width = Math.min(pastedColumnsMax, Math.max(0, ...rows.map((row) => row.length)))
    this.#columns = Array.from({ length: this.width }, (_, at) =>
      rows.flatMap((row) => ((row[at] ?? '') === '' ? [] : [row[at] ?? ''])),
    )
  }

  /**
   * Whether a column of ZIP codes belongs to the place before it: it does if the two agree. It could also be the next place, or
   * amounts.
   */
  *isZipOf(at: number, { city, state }: { readonly city: number; readonly state?: number }): Steps<boolean> {
    if (!(yield* this.mostly(at, isKnownZip))) return false
    let agreeing = 0
    for (const row of this.#rows) {
      const read = readPlaceParts({
        city: row[city] || null,
        state: (state === undefined ? '' : row[state]) || null,
        zip: row[at] || null,
      })
      if ('value' in read) agreeing++
      yield
    }
    return agreeing * 2 >= this.#rows.length
  }

  *mostly(at: number, is: (cell: string) => boolean): Steps<boolean> {
    const cells = this.#columns[at] ?? []
    let fitting = 0
    for (const cell of cells) {
      if (is(cell)) fitting++
      yield
    }
    return cells.length > 0 && fitting * 2 >= cells.length
  }
}

/** Assigns columns by their names. If a name means fields of different kinds, the cells decide. */
function* fieldsByName(header: readonly string[], cells: Cells): Steps<(Field | null)[]> {
  const names = yield* headerNames(header)
  const fits = (at: number, field: Field) => cells.mostly(at, fitting[field] ?? isWord)
  const table = { fieldOf: pastedFieldOf, guesses: guessedInPastes, fits }
  const { of } = matchFields(yield* quoteCandidates(names, table), 'first')
  const fieldAt = new Map([...of].map(([field, { at }]) => [at, field]))
  return header.map((_, at) => fieldAt.get(at) ?? null)
}

/**
 * Assigns columns by their cells. A code such as LA may be a city or a state: it is read in the way in which both ends of the
 * lane are found.
 */
function* fieldsByContent(cells: Cells): Steps<(Field | null)[]> {
  const fields = yield* walkColumns(cells, true)
  return hasEnds(fields) ? fields : yield* walkColumns(cells, false)
}

function hasEnds(fields: readonly (Field | null)[]): boolean {
  return (['origin', 'destination'] as const).every(
    (end) => fields.includes(end) || fields.includes(`${end}_zip`),
  )
}

function* walkColumns(cells: Cells, hasStateColumns: boolean): Steps<(Field | null)[]> {
  const fields: (Field | null)[] = Array.from({ length: cells.width }, () => null)
  const ends = ['origin', 'destination'] as const
  // Beside amounts with a currency, other numbers are miles, weights or ids.
  let isOfAmounts = isMoney
  for (let at = 0; at < cells.width; at++) if (yield* cells.mostly(at, isSigned)) isOfAmounts = isSigned
  const amounts: Field[] = ['quoted_rate', 'estimated_cost', 'market_rate']
  const take = (at: number, field: Field | undefined) => {
    if (field !== undefined && !fields.includes(field)) fields[at] = field
  }
  for (let at = 0; at < cells.width; at++) {
    const end = ends.find((one) => !fields.includes(one))
    const isAmount = (yield* cells.mostly(at, isMoney)) && !(yield* cells.mostly(at, isPlace))
    const isCity =
      hasStateColumns &&
      (yield* cells.mostly(at, isWord)) &&
      (yield* cells.mostly(at + 1, isState)) &&
      !(yield* cells.mostly(at, isWholePlace)) &&
      !isAmount
    if (end !== undefined && isCity) {
      take(at, end)
      take(++at, `${end}_state`)
      if (yield* cells.isZipOf(at + 1, { city: at - 1, state: at })) take(++at, `${end}_zip`)
    } else if (end !== undefined && (yield* cells.mostly(at, isPlaceOrCity))) {
      take(at, end)
      if (!(yield* cells.mostly(at, isZip)) && (yield* cells.isZipOf(at + 1, { city: at })))
        take(++at, `${end}_zip`)
    } else if (yield* cells.mostly(at, isEquipment)) take(at, 'equipment')
    else if (yield* cells.mostly(at, isCurrency)) take(at, 'quoted_currency')
    else if (yield* cells.mostly(at, isOfAmounts))
      take(
        at,
        amounts.find((field) => !fields.includes(field)),
      )
    else if (yield* cells.mostly(at, isDate)) take(at, 'pickup_date')
    else if (yield* cells.mostly(at, (cell) => equipmentCode(cell) !== null && cell.length <= 4))
      take(at, 'equipment')
    else if (yield* cells.mostly(at, isWord)) take(at, 'customer_name')
  }
  return fields
}

/**
 * A comma between cells may also be part of an amount: "$2" and "150" are read as $2,150, and "2.150" and "50" at the end as
 * $2,150.50. This is safe because no load is quoted below $100 with a cost in whole hundreds next to it, or has a cost of two
 * digits.
 */
function withWholeAmounts(cells: readonly string[]): string[] {
  const joined: string[] = []
  for (const [at, cell] of cells.entries()) {
    const before = joined.at(-1) ?? ''
    const hasThousands = /^\d{3}(\.\d{1,2})?$/.test(cell) && /^\$?\s?\d{1,2}$/.test(before)
    const hasDecimals =
      at === cells.length - 1 &&
      /^\d{2}( ?\$)?$/.test(cell) &&
      /^\$? ?(\d{3,4}|\d{1,3}([. ]\d{3})+)$/.test(before)
    if (hasThousands || hasDecimals) joined[joined.length - 1] = `${before},${cell}`
    else joined.push(cell)
  }
  return joined
}

/** Lines of a text per step: it may have 30,000. */
const linesPerStep = 200

function* linesOf(text: string): Steps<{ lines: Line[]; isComma: boolean }> {
  const delimiter = ['\t', ';'].find((mark) => text.includes(mark)) ?? ','
  const rows = textRows(text, delimiter)
  // A row with a misplaced double quote is read without its quotes.
  const raw = rows.some(({ malformed }) => malformed) ? text.split(/\r\n|\n|\r/) : []
  const lines: Line[] = []
  for (const [nth, { line, cells, malformed }] of rows.entries()) {
    if (nth % linesPerStep === 0) yield
    const read = malformed ? (raw[line - 1] ?? '').replaceAll('"', '').split(delimiter) : cells
    const texts = read.map((cell) => (cellText(cell) ?? '').replaceAll(/\s+/g, ' '))
    if (texts.some((cell) => cell !== '')) lines.push({ line, cells: texts })
  }
  return { lines, isComma: delimiter === ',' }
}

function isHeader(cells: readonly string[]): boolean {
  // Rows with more cells are refused.
  const filled = cells.slice(0, pastedColumnsMax).filter((cell) => cell !== '')
  const names = filled.filter((cell) => knownNames([cell]) > 0)
  return names.length >= 2 && names.length * 2 >= filled.length && !filled.some((cell) => /\d{3}/.test(cell))
}

const inDigits: ReadonlySet<Field | null> = new Set(['quoted_rate', 'estimated_cost', 'pickup_date'])
const inFirstRow: typeof fitting = {
  ...fitting,
  origin: isPlaceOrCity,
  destination: isPlaceOrCity,
  equipment: isEquipment,
}

/**
 * Whether the first line is a header of unknown words, such as one in another language: it has no digits, its words are above amounts or
 * days, and none of them is a value of its column.
 */
function* isOtherHeader([first, ...rest]: readonly Line[]): Steps<boolean> {
  if (first === undefined || rest.length === 0 || first.cells.some((cell) => /\d/.test(cell))) return false
  const fields = yield* fieldsByContent(new Cells(rest.map(({ cells }) => cells)))
  const named = first.cells.flatMap((cell, at) => (cell === '' ? [] : [{ cell, field: fields[at] ?? null }]))
  return (
    named.some(({ field }) => inDigits.has(field)) &&
    !named.some(({ cell, field }) => field !== null && inFirstRow[field]?.(cell) === true)
  )
}

/** The fields by the names of columns; if these do not name both places, also by the cells, except of columns with a known name. */
function* fieldsOf(names: readonly string[] | null, cells: Cells): Steps<(Field | null)[]> {
  const byName = names === null ? [] : yield* fieldsByName(names, cells)
  // The currency of an amount is never dropped because the name of its column is not known.
  for (const [at, field] of byName.entries()) {
    if (field !== null || byName.includes('quoted_currency')) continue
    if (yield* cells.mostly(at, isCurrency)) byName[at] = 'quoted_currency'
  }
  if (hasEnds(byName)) return byName
  const byContent = yield* fieldsByContent(cells)
  return Array.from({ length: Math.max(byName.length, byContent.length) }, (_, at) => {
    const field = byContent[at] ?? null
    const isKnown = knownNames([names?.[at] ?? '']) > 0
    return byName[at] ?? (isKnown || byName.includes(field) ? null : field)
  })
}

/**
 * Places with similar names, for the first wrong places of a text. Each different place is looked up once, after the rows are
 * read and in steps, because a look-up takes milliseconds.
 */
class Spellings {
  readonly #found = new Map<string, string[]>()

  /** The suggestions for a place. The list is empty until `lookUp` has run. */
  readonly of = (place: string): string[] => {
    const found = this.#found.get(place) ?? []
    if (this.#found.size < unknownPlacesLookedUpMax) this.#found.set(place, found)
    return found
  };

  *lookUp(): Steps<void> {
    for (const [place, found] of this.#found) {
      found.push(...nearestSpellings(place))
      yield
    }
  }
}

const noPlaces =
  'We cannot tell which columns are the pickup and the delivery. Choose the columns of the origin and the destination.'

/** How the brokerage writes dates, and the order of day and month that a person chose for these rows. */
interface PastedDates extends DateSettings {
  readonly chosen: DateOrder | null
}

/** How the column of pickup days is read. Where its dates contradict each other, those in the other order are errors of their rows. */
function pickupDates(
  rows: readonly Line[],
  { name, at }: { readonly name: string; readonly at: number },
  { chosen, order, timeZone }: PastedDates,
) {
  const seen = noDates()
  for (const { cells, line } of rows) seeDate(seen, cells[at] ?? '', line)
  const conflict = orderConflict(name, seen, chosen)
  const shown = conflict === null ? seen : { ...seen, month_first: null, day_first: null }
  const clock = new LocalClock(timeZone)
  const { readers, notes } = dateColumns([{ name, seen: shown }], { chosen, setting: order }, clock)
  const note = { code: 'date_order' as const, column: name, detail: conflict?.detail ?? '', choices: [] }
  const reader = readers[0] ?? utcDates
  return {
    reader: conflict?.of === 'years' ? withoutShortYears(reader) : reader,
    notes: [...(conflict === null ? [] : [note]), ...notes.map(orderNote)],
    clock,
  }
}

/** Refuses dates such as 26-03-02, because it is not known which of their numbers is the year. */
function withoutShortYears(reader: DateReader): DateReader {
  return {
    ...reader,
    dayNear: (text, now) =>
      dateNumbers(text)?.year?.length === 2
        ? { wrong: 'a date with a year of four digits, such as 2026-03-01' }
        : reader.dayNear(text, now),
  }
}

/** How pasted rows are read. */
export interface PasteReading {
  /** Epoch milliseconds: a pickup day without a year is the nearest one. */
  readonly now: number
  /** The default basis of the brokerage. */
  readonly assumed: RateBasis
  readonly dates: PastedDates
  /** Columns whose field a person chose, from 1. */
  readonly chosen?: readonly { readonly column: number; readonly field: PastedField | null }[]
  /** Whether the first line is the header; null if it is to be recognized. */
  readonly hasHeader?: boolean | null
  /** Cells that a person confirmed although their place or equipment is not known. */
  readonly confirmed?: readonly string[]
}

/**
 * Reads rows copied from a spreadsheet or an e-mail. A header line names the columns; without one, the columns are
 * detected from their cells. A value that does not fit its column is an error of its row.
 *
 * Reads in steps: each of 18,000 cells is tried as a place, an amount and a day.
 *
 * @example finished(readPasted('Dallas TX 75201\tATL\t2150', { now, assumed, dates })).rows[0]?.quote.quoted_rate // 2150
 */
export function* readPasted(text: string, reading: PasteReading): Steps<Pasted> {
  const table = yield* tableOf(text, reading.hasHeader ?? null)
  const { names, rows, cells, leftOut } = table
  const answer = (fields: readonly (Field | null)[], problem: string | null, read: PastedRow[] = []) => ({
    header: names?.join('\t') ?? null,
    columns: fields
      .slice(0, pastedColumnsMax)
      .map((field, at) => ({ column: at + 1, name: names?.[at] || null, field })),
    problem,
    understood: linesNotes({ aboveHeader: [] }, leftOut),
    rows: read,
  })
  if (rows.length > pastedRowsMax) {
    const count = rows.length.toLocaleString('en-US')
    return answer(
      [],
      `At most ${pastedRowsMax} rows are read at once; these are ${count}. Paste them in parts, or import a file of past quotes.`,
    )
  }
  if (table.otherHeader !== null) {
    return answer(
      [],
      `Line ${table.otherHeader} is another header, with other columns. Paste each table by itself.`,
    )
  }
  const lines = [names ?? [], ...rows.map((row) => row.cells)]
  if (lines.some((line) => line.length > pastedColumnsMax)) {
    return answer([], `Rows may have at most ${pastedColumnsMax} cells.`)
  }
  const fields = withChosen(yield* fieldsOf(names, cells), reading.chosen ?? [])
  if (rows.length > 0 && !hasEnds(fields)) {
    const error = { column: null, detail: noPlaces.slice(0, -1), suggestions: [], is_unknown: false }
    return answer(
      fields,
      noPlaces,
      rows.map((row) => ({ ...row, cells: [...row.cells], quote: {}, errors: [error], notes: [] })),
    )
  }
  const { read, notes } = yield* readRows(table, fields, reading)
  const whole = answer(fields, null, read)
  return { ...whole, understood: [...whole.understood, ...notes] }
}

/** The rows of a text, its header, and the lines that are no rows: totals, and the header again. */
function* tableOf(text: string, hasHeader: boolean | null) {
  const { lines, isComma } = yield* linesOf(text)
  const first = lines[0]?.cells ?? []
  const isRecognized = isHeader(first) || (yield* isOtherHeader(lines.slice(0, pastedRowsMax)))
  const names = (hasHeader ?? isRecognized) ? first : null
  const header = { header: names ?? [], headerRows: names === null ? [] : [{ cells: names }] }
  const rows: Line[] = []
  const others: (Line & { readonly why: LeftOutRow['why'] })[] = []
  const isOtherTable = otherHeader(header.header)
  for (const [nth, { line, cells: own }] of (names === null ? lines : lines.slice(1)).entries()) {
    if (nth % linesPerStep === 0) yield
    // When a row has as many cells as there are names, every cell is in its place.
    const cells = isComma && (names === null || own.length > names.length) ? withWholeAmounts(own) : own
    const why = leftOutOf(cells, header)
    // A single text is a row with gaps, which a person can fill or leave out.
    if (why === 'total' || why === 'header') others.push({ line, cells, why })
    else rows.push({ line, cells })
  }
  return {
    names,
    otherHeader: rows.find(({ cells }) => isOtherTable(cells))?.line ?? null,
    rows,
    cells: new Cells(rows.slice(0, pastedRowsMax).map((row) => row.cells)),
    leftOut: addLeftOut(noneLeftOut, others),
  }
}

/** Reads each row by the fields of its columns. */
function* readRows(
  { names, rows }: { readonly names: readonly string[] | null; readonly rows: readonly Line[] },
  fields: readonly (Field | null)[],
  { now, assumed, dates: written, confirmed = [] }: PasteReading,
) {
  const pickupAt = fields.indexOf('pickup_date')
  const pickup = { name: names?.[pickupAt] || 'Pickup', at: pickupAt }
  const { reader, notes, clock } = pickupDates(rows, pickup, written)
  const spellings = new Spellings()
  const context = {
    columns: pastedColumns(names ?? [], fields),
    known: knownCells(),
    assumed,
    now,
    dates: reader,
    days: new NamedDays(now, clock),
    confirmed: new Set(confirmed),
    suggestionsFor: spellings.of,
  }
  const read: PastedRow[] = []
  for (const row of rows) {
    read.push(pastedRow(row, context))
    yield
  }
  yield* spellings.lookUp()
  const cells = rows.map((row) => row.cells)
  const doubts = doubtsOfPercents(cells, context.columns).map(doubtNote)
  return { read, notes: [...notes, ...doubts] }
}

/** The recognized fields with those that a person chose. A field has one column, so the recognized one gives way. */
function withChosen(
  recognized: readonly (Field | null)[],
  chosen: NonNullable<PasteReading['chosen']>,
): (Field | null)[] {
  const byColumn = new Map(chosen.map(({ column, field }) => [column - 1, field]))
  const taken = new Set(byColumn.values())
  return recognized.map((field, at) =>
    byColumn.has(at) ? (byColumn.get(at) ?? null) : taken.has(field) ? null : field,
  )
}

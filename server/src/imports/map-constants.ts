import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import { quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import {
  type Cell,
  givenText,
  type ImportFieldName,
  importFieldNames,
  kindOfUnit,
  quoteCells,
  readCell,
  readOutcome,
  shortened,
} from '../csv/index.ts'
import { readCity, readGivenPlace, readStateCell, readZip } from './place-cells.ts'

type Reader = (text: string) => Cell<unknown>

/** A day or a moment that is the same in every order of day and month. */
const readIsoDay: Reader = (text) =>
  /^\d{4}-\d\d-\d\d(?!\d)/.test(text) ? quoteCells.time(text) : { wrong: 'a day such as 2026-03-01' }

type Unit = keyof typeof quoteCells

/** Units whose values differ from row to row, or have a pair of their own in the map. */
const withoutConstants: ReadonlySet<Unit> = new Set([
  'rate',
  'cost',
  'charge',
  'charges',
  'miles',
  'stops',
  'basis',
  'currency',
])

const readOfUnit = (unit: Unit): Reader =>
  unit === 'time' || unit === 'day'
    ? readIsoDay
    : (text) =>
        givenText(text, kindOfUnit[unit]) === null
          ? { wrong: 'a value, not a word for none' }
          : (quoteCells[unit] as Reader)(text)

const fields: readonly { readonly sent: string; readonly unit: Unit }[] = [
  ...quoteFieldsOf('file').map((field) => quoteTable[field]),
  ...sentBookingFields.map((field) => {
    const { sent, unit } = bookingTable[field]
    return { sent, unit: unit === 'cents' ? ('charge' as const) : unit }
  }),
]

/**
 * How the value of a field that the map states for all rows is read. Amounts, miles and ids are of one row, and so is what says that a row
 * is left out: they have none. The map states the currency and the basis of a file in pairs of their own.
 */
const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...fields.flatMap(({ sent, unit }): [string, Reader][] =>
    withoutConstants.has(unit) ? [] : [[sent, readOfUnit(unit)]],
  ),
  ...(['origin', 'destination'] as const).flatMap((end): [string, Reader][] => [
    [end, readGivenPlace],
    [`${end}_city`, readCity],
    [`${end}_state`, readStateCell],
    [`${end}_zip`, readZip],
  ]),
  ['decided_at', readIsoDay],
  ['outcome', readOutcome],
  ['outcome_reason', readOfUnit('text')],
])

/** The fields of which the map can state one value for all rows. */
export const constantFields: ReadonlySet<ImportFieldName> = new Set(
  importFieldNames.filter((field) => readers.has(field)),
)

/**
 * Why a field cannot have a value for all rows; null if it can. The value is checked as a cell is.
 *
 * @example constantFault('equipment', 'FTL') // 'The map says equipment==FTL; it must be ...'
 */
export function constantFault(field: ImportFieldName, text: string): string | null {
  const reader = readers.get(field)
  const [, term] = /_(basis|currency)$/.exec(field) ?? []
  if (term !== undefined)
    return `The map says ${field}==${shortened(text)}; for all rows, it must be ${term === 'basis' ? 'basis=linehaul or basis=all_in' : 'currency=USD or currency=CAD'}.`
  if (reader === undefined)
    return `The map says ${field}==${shortened(text)}, but each row has its own ${field}; name its column.`
  const cell = text === '' ? { wrong: 'a value, as in equipment==Van' } : readCell(text, reader)
  return 'wrong' in cell ? `The map says ${field}==${shortened(text)}; it must be ${cell.wrong}.` : null
}

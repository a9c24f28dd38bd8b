import { pastedFields } from '#contract/pasted-quotes.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import {
  amountFields,
  headerFault,
  headerTerms,
  type ImportFieldName,
  isStored,
  quoted,
} from '../csv/index.ts'
import type { RowColumns } from './row-reader.ts'

export type PastedField = (typeof pastedFields)[number]

/** The field of a pasted row for each field of an import that has another name. Columns of other fields are ignored. */
const otherNames: Readonly<Partial<Record<ImportFieldName, PastedField>>> = {
  origin_city: 'origin',
  destination_city: 'destination',
  customer_rate: 'quoted_rate',
  customer_basis: 'quoted_basis',
  customer_fuel: 'quoted_fuel',
  customer_accessorials: 'quoted_accessorials',
  customer_charges: 'quoted_charges',
  customer_currency: 'quoted_currency',
  truck_cost: 'estimated_cost',
  truck_basis: 'cost_basis',
  truck_currency: 'cost_currency',
}
const isField = (name: string): name is PastedField => (pastedFields as readonly string[]).includes(name)

/** The field of a pasted row for a field of quotes; null if pasted rows have none. */
export const pastedFieldOf = (name: ImportFieldName): PastedField | null =>
  isField(name) ? name : (otherNames[name] ?? null)

/** The field of quotes whose cells are read like those of a field of pasted rows. */
export function quoteFieldOf(field: PastedField): ImportFieldName {
  if (field === 'cost_basis') return 'truck_basis'
  return field === 'cost_currency' ? 'truck_currency' : field
}

/** The words for fields in an error, if they are not those of the field's name. */
const words: Readonly<Partial<Record<PastedField, string>>> = {
  quoted_rate: 'rate',
  quoted_basis: 'basis',
  quoted_fuel: 'fuel charge',
  quoted_accessorials: 'accessorial charges',
  quoted_charges: 'charges by name',
  quoted_currency: 'currency',
  cost_basis: 'basis of the cost',
  cost_currency: 'currency of the cost',
  customer_name: 'customer',
}
const nameOf = (field: PastedField) =>
  `The ${words[field] ?? field.replace(/_(state|zip)$/, '').replaceAll('_', ' ')}`
const names = Object.fromEntries(pastedFields.map((field) => [quoteFieldOf(field), nameOf(field)]))

export interface PastedColumns extends RowColumns {
  /** The basis that the name of a column of amounts states. */
  readonly bases: Readonly<Partial<Record<ImportFieldName, RateBasis>>>
  /** Why the cells of a column cannot be read, by its position: its name says that they are not US or Canadian dollars per load. */
  readonly faults: ReadonlyMap<number, string>
}

/** The columns of pasted rows, for the reader of the rows of files. */
export function pastedColumns(
  header: readonly string[],
  fields: readonly (PastedField | null)[],
): PastedColumns {
  const faults = new Map<number, string>()
  const placed = fields.flatMap((field, at) => {
    if (field === null) return []
    const read = quoteFieldOf(field)
    const fault = amountFields.has(read) ? headerFault(header[at] ?? '') : null
    if (fault === null) return [[read, at] as const]
    const name = quoted(header[at] ?? '')
    faults.set(at, `The column ${name} ${fault}. Convert its amounts, or leave the column out`)
    return []
  })
  const named = placed.flatMap(([field, at]) =>
    amountFields.has(field) ? [[field, header[at] ?? ''] as const] : [],
  )
  const ofNames = <Value>(read: (name: string) => Value | undefined | null) =>
    Object.fromEntries(
      named.flatMap(([field, name]) => {
        const value = read(name)
        return value == null ? [] : [[field, value]]
      }),
    ) as Partial<Record<ImportFieldName, Value>>
  return {
    positions: Object.fromEntries(placed),
    names,
    constants: {},
    currencies: ofNames((name) => headerTerms(name).currencies.find(isStored)),
    bases: ofNames((name) => headerTerms(name).basis),
    words: {},
    faults,
    width: fields.length,
  }
}

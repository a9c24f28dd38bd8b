import { pastedFields } from '#contract/pasted-quotes.ts'
import type { ImportFieldName } from '../csv/index.ts'

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

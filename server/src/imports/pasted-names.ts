import { pastedFields } from '#contract/pasted-quotes.ts'
import { isAmountUnit, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  headerTerms,
  type ImportFieldName,
} from '../csv/index.ts'

export type PastedField = (typeof pastedFields)[number]

const amountFields: ReadonlySet<string> = new Set(
  quoteFieldsOf('request').flatMap((field) =>
    isAmountUnit(quoteTable[field].unit) ? quoteTable[field].sent : [],
  ),
)
export const isPastedAmount = (field: PastedField) => amountFields.has(field)

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

/** Column names with a different or more specific meaning in pasted rows than in a file of past quotes. */
const meansHere: ReadonlyMap<string, readonly PastedField[]> = new Map(
  Object.entries<readonly PastedField[]>({
    Rate: ['quoted_rate'],
    Price: ['quoted_rate'],
    Amount: ['quoted_rate'],
    Total: ['quoted_rate'],
    'All In': ['quoted_rate'],
    'Line Haul': ['quoted_rate'],
    'Target Rate': ['quoted_rate'],
    'Flat Rate': ['quoted_rate'],
    'All In Rate': ['quoted_rate'],
    Cost: ['estimated_cost'],
    Date: ['pickup_date'],
    Pickup: ['origin', 'pickup_date'],
    'Pick Up': ['origin', 'pickup_date'],
    PU: ['origin', 'pickup_date'],
    Delivery: ['destination'],
    Shipper: ['origin', 'customer_name'],
    Consignee: ['destination'],
    Type: ['equipment'],
    Mode: ['equipment'],
  }).map(([name, fields]) => [foldedHeader(name), fields]),
)

/** The possible fields of a column name, most likely first. */
export function pastedFieldsNamed(name: string): readonly PastedField[] {
  const fields = fieldsOfName(foldedHeader(name))
  if (fields.length > 0) return fields
  const { currencies, name: bare } = headerTerms(name)
  return currencies.length === 0 ? [] : fieldsOfName(foldedHeader(bare)).filter(isPastedAmount)
}

function fieldsOfName(folded: string): readonly PastedField[] {
  const here = meansHere.get(folded)
  if (here !== undefined) return here
  const named = fieldOfHeader.get(folded)
  if (named === undefined) return []
  const field = isField(named) ? named : otherNames[named]
  return field === undefined ? [] : [field]
}

export const stateNames: ReadonlySet<string> = new Set(['state', 'st', 'province', 'prov'])
export const zipNames: ReadonlySet<string> = new Set(['zip', 'zipcode', 'postalcode', 'postal'])

/** True for a known column name. */
export function isPastedName(cell: string): boolean {
  const folded = foldedHeader(cell)
  return (
    pastedFieldsNamed(cell).length > 0 ||
    stateNames.has(folded) ||
    zipNames.has(folded) ||
    fieldOfHeader.has(folded) ||
    ambiguousHeaders.has(folded)
  )
}

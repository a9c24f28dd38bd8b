import type { Currency } from '#engine/rate-basis.ts'
import { currencyWords, type ImportFieldName } from '../csv/index.ts'
import type { Columns } from './columns.ts'
import type { RowReader } from './row-reader.ts'

/** A currency that applies to an amount, and what states it, worded to begin a clause. */
interface OtherCurrency {
  readonly currency: Currency
  readonly states: string
}

/** The currency in a column of currencies; null if the cell is empty or the file has no such column. */
export function ofColumn(
  names: Columns['names'],
  field: 'quoted_currency' | 'customer_currency' | 'truck_currency',
  currency: Currency | null,
): OtherCurrency | null {
  return currency === null ? null : { currency, states: `the column ${names[field] ?? field} says` }
}

/**
 * The currency of an amount: its own, else that of a column of currencies, else that of the file. Adds an error if two of them differ,
 * except for a currency that the map states: it is only for amounts without another one.
 */
export function currencyOfAmount(
  row: RowReader,
  amount: 'quoted_rate' | 'customer_rate' | 'truck_cost',
  { column, file }: { readonly column: OtherCurrency | null; readonly file: Columns['fileCurrency'] },
): Currency | null {
  const own = row.currencyOf(amount)
  const above: OtherCurrency | null =
    file === null || file.currency === null || file.from === 'map'
      ? null
      : { currency: file.currency, states: 'a line above the header says' }
  const said = own?.currency ?? column?.currency ?? file?.currency ?? null
  for (const other of [column, above]) {
    if (said === null || other === null || other.currency === said) continue
    const first = own === null ? `${column?.states} ${said}` : `it says ${said} ${own.place}`
    const remedy = other === above ? '; if the line is wrong, import the file with currency=' : ''
    row.wrong(amount, `must be in one currency: ${first}, and ${other.states} ${other.currency}${remedy}`)
    break
  }
  return said
}

/** Adds an error for each amount that states another currency than the amount that it belongs to. */
export function checkCurrencies(
  row: RowReader,
  fields: readonly ImportFieldName[],
  of: { readonly name: string; readonly currency: Currency | null },
): void {
  const currency = of.currency ?? 'USD'
  for (const field of fields) {
    const own = row.currencyOf(field)
    if (own === null || own.currency === currency) continue
    row.wrong(
      field,
      `must be in the currency of ${of.name}, which is ${currency}; it says ${own.currency} ${own.place}. Convert it to ${currencyWords(currency)}, or leave it out with the map ${field}=`,
    )
  }
}

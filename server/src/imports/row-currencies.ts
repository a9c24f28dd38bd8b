import type { Currency } from '#engine/rate-basis.ts'
import { currencyWords, StatedCurrencies } from '../csv/index.ts'
import type { Columns } from './columns.ts'

/** The currency that an amount states, and what states it. */
export interface OwnCurrency {
  readonly currency: Currency
  /** Worded to precede "says". */
  readonly by: string
}

/** A row of a file or of pasted rows, for the comparison of the currencies of its amounts. */
export interface RowOfAmounts<Field extends string> {
  /** The currency that the cell of an amount or the name of its column states. */
  currencyOf(field: Field): OwnCurrency | null
  /** Adds an error, worded to follow the name of the amount. */
  wrong(field: Field, what: string): void
  /** How a person leaves out an amount, worded to follow "or". */
  leaveOut(field: Field): string
}

/** The currency in a column of currencies; null if the cell is empty or the file has no such column. */
export function ofColumn(
  names: Columns['names'],
  field: 'quoted_currency' | 'customer_currency' | 'truck_currency',
  currency: Currency | null,
): OwnCurrency | null {
  return currency === null ? null : { currency, by: `the column ${names[field] ?? field}` }
}

/**
 * The currency of an amount: its own, else that of a column of currencies, else that of the file. Adds an error if two of them differ,
 * except for a currency that the map states: it is only for amounts without another one.
 */
export function currencyOfAmount<Field extends string>(
  row: RowOfAmounts<Field>,
  amount: Field,
  { column, file }: { readonly column: OwnCurrency | null; readonly file: Columns['fileCurrency'] },
): Currency | null {
  const stated = new StatedCurrencies()
  for (const one of [row.currencyOf(amount), column]) if (one !== null) stated.say(one.currency, one.by)
  if (file !== null && file.from !== 'map') {
    stated.say(
      file.currency,
      'a line above the header',
      '; if the line is wrong, import the file with currency=',
    )
  }
  const { contradiction } = stated
  if (contradiction !== null) row.wrong(amount, `must be ${contradiction.detail}`)
  return stated.currency ?? file?.currency ?? null
}

/** Adds an error for each amount that states another currency than the amount that it belongs to. */
export function checkCurrencies<Field extends string>(
  row: RowOfAmounts<Field>,
  fields: readonly Field[],
  of: { readonly name: string; readonly currency: Currency | null },
): void {
  const currency = of.currency ?? 'USD'
  for (const field of fields) {
    const own = row.currencyOf(field)
    if (own === null || own.currency === currency) continue
    row.wrong(
      field,
      `must be in the currency of ${of.name}, which is ${currency}; ${own.by} says ${own.currency}. Convert it to ${currencyWords(currency)}, or ${row.leaveOut(field)}`,
    )
  }
}

import type { pastedFields } from '#contract/pasted-quotes.ts'
import { isAmountUnit, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import type { Currency } from '#engine/rate-basis.ts'
import { type Cell, currencyWords, headerTerms, isStored, quoted, statedAmount } from '../csv/index.ts'

export type PastedField = (typeof pastedFields)[number]

const amountFields: ReadonlySet<string> = new Set(
  quoteFieldsOf('request').flatMap((field) =>
    isAmountUnit(quoteTable[field].unit) ? quoteTable[field].sent : [],
  ),
)
export const isAmount = (field: PastedField) => amountFields.has(field)

/** What the name of a column states about its amounts. */
type Terms = ReturnType<typeof headerTerms> & { readonly column: string }
export type NamedTerms = ReadonlyMap<PastedField, Terms>

/** What the names of the columns of amounts state about them. */
export function amountTerms(names: readonly string[], fields: readonly (PastedField | null)[]): NamedTerms {
  return new Map(
    fields.flatMap((field, at): [PastedField, Terms][] => {
      const column = names[at] ?? ''
      return field === null || !isAmount(field) ? [] : [[field, { ...headerTerms(column), column }]]
    }),
  )
}

/** The problem of a column whose name says that its amounts are not US or Canadian dollars per load; null without one. */
export function headerProblem(named: NamedTerms): string | null {
  for (const { column, unit, currencies } of named.values()) {
    const start = `The column ${quoted(column)} has amounts`
    if (unit !== null) return `${start} ${unit}. Paste a column with dollars per load, or leave it out.`
    if (currencies.length > 1 || !currencies.every(isStored)) {
      return `${start} in ${currencies.join(' and ')}. Only US and Canadian dollars are stored; convert the amounts, or leave the column out.`
    }
  }
  return null
}

/** The currencies that the amounts of a row state, each in its cell or in the name of its column. */
export class StatedCurrencies {
  readonly #named: NamedTerms
  readonly #said = new Map<PastedField, Currency>()
  constructor(named: NamedTerms) {
    this.#named = named
  }

  /** Reads an amount without its currency, which it remembers. Null for a cell that says that there is no amount. */
  read(field: PastedField, text: string, reader: (text: string) => Cell<unknown>): Cell<unknown> {
    const { text: plain, currency, wrong } = statedAmount(text)
    if (plain === '') return { value: null }
    if (wrong !== null) return { wrong }
    const ofName = this.#named.get(field)?.currencies.find(isStored)
    if (currency !== null && ofName !== undefined && currency !== ofName) {
      return { wrong: `in ${ofName}, as the name of the column says` }
    }
    const said = currency ?? ofName
    if (said !== undefined) this.#said.set(field, said)
    return reader(plain)
  }

  say(field: PastedField, currency: Currency): void {
    this.#said.set(field, currency)
  }

  of(field: PastedField): Currency | null {
    return this.#said.get(field) ?? null
  }

  /** The currency of the first amount that states one; null if none does. */
  first(): Currency | null {
    return [...this.#said.values()][0] ?? null
  }

  /** The amounts that are not in the currency of their row. */
  others(ofRow: Currency): { readonly field: PastedField; readonly said: Currency }[] {
    return [...this.#said].flatMap(([field, said]) => (said === ofRow ? [] : [{ field, said }]))
  }
}

/** Why an amount cannot be read in the currency of its row. */
export function currencyFault(name: string, ofRow: Currency, said: Currency): string {
  return `The currency of the ${name} must be ${ofRow}, as that of the row; it is "${said}". Convert the ${name.replace('estimated ', '')} to ${currencyWords(ofRow)}, or remove it`
}

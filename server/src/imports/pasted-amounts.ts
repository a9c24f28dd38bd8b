import {
  amountFields,
  type Cell,
  headerFault,
  headerTerms,
  isStored,
  quoted,
  statedAmount,
} from '../csv/index.ts'
import type { PastedField } from './pasted-names.ts'
import type { OwnCurrency } from './row-currencies.ts'

/** What the name of a column states about its amounts. */
type Terms = ReturnType<typeof headerTerms> & { readonly column: string }
export type NamedTerms = ReadonlyMap<PastedField, Terms>

/** What the names of the columns of amounts state about them. */
export function amountTerms(names: readonly string[], fields: readonly (PastedField | null)[]): NamedTerms {
  return new Map(
    fields.flatMap((field, at): [PastedField, Terms][] => {
      const column = names[at] ?? ''
      return field === null || !amountFields.has(field) ? [] : [[field, { ...headerTerms(column), column }]]
    }),
  )
}

/** The problem of a column whose name says that its amounts are not US or Canadian dollars per load; null without one. */
export function headerProblem(named: NamedTerms): string | null {
  for (const { column } of named.values()) {
    const fault = headerFault(column)
    if (fault !== null) return `The column ${quoted(column)} ${fault}. Convert them, or leave the column out.`
  }
  return null
}

/** The amounts of a pasted row, and the currencies that they state: each in its cell, or in the name of its column. */
export class PastedAmounts {
  readonly #named: NamedTerms
  readonly #said = new Map<PastedField, OwnCurrency>()
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
    if (currency !== null) this.#said.set(field, { currency, by: 'its cell' })
    else if (ofName !== undefined) this.#said.set(field, { currency: ofName, by: 'its name' })
    return reader(plain)
  }

  /** Remembers the currency in another column, for an amount that states none. */
  say(field: PastedField, own: OwnCurrency): void {
    if (!this.#said.has(field)) this.#said.set(field, own)
  }

  currencyOf(field: PastedField): OwnCurrency | null {
    return this.#said.get(field) ?? null
  }

  /** The amounts that state a currency, in the order in which they were read. */
  get stating(): PastedField[] {
    return [...this.#said.keys()]
  }
}

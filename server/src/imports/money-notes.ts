import { basisWords, type RateBasis } from '#engine/rate-basis.ts'
import { currencyWords, quoted } from '../csv/index.ts'
import type { Columns, FieldWithBasis } from './columns.ts'
import type { ImportNote } from './import-notes.ts'
import { basisFields } from './stored-columns.ts'

/** The amounts about which a sentence is said, each with the map key of its basis and its column of currencies. */
const amounts = [
  { field: 'quoted_rate', name: 'Quoted rates', basis: 'basis', currency: 'quoted_currency' },
  { field: 'customer_rate', name: 'Customer rates', basis: 'basis', currency: 'customer_currency' },
  { field: 'truck_cost', name: 'Truck costs', basis: 'cost_basis', currency: 'truck_currency' },
] as const satisfies readonly { readonly field: FieldWithBasis; readonly [word: string]: string }[]
type Amount = (typeof amounts)[number]

/** What is said about an amount, without its name. */
interface Said {
  readonly detail: string
  readonly choices: ImportNote['choices']
}

/**
 * How the currency and the basis of a file's amounts were read.
 *
 * @param assumed the default basis of the brokerage
 * @example moneyNotes(columns, 'all_in')[0]?.detail // 'Quoted rates: US dollars, unless a cell says otherwise.'
 */
export function moneyNotes(columns: Columns, assumed: RateBasis): ImportNote[] {
  const present = amounts.filter(({ field }) => columns.names[field] !== undefined)
  return [
    ...notesOf('currency', present, (amount) => currencySaid(columns, amount)),
    ...notesOf('basis', present, (amount) => basisSaid(columns, amount, assumed)),
  ]
}

/** One note for all amounts with the same sentence. */
function notesOf(
  code: ImportNote['code'],
  present: readonly Amount[],
  said: (amount: Amount) => Said | null,
): ImportNote[] {
  const all = present.flatMap((amount) => {
    const one = said(amount)
    return one === null ? [] : [{ amount, ...one }]
  })
  return [...Map.groupBy(all, ({ detail }) => detail)].map(([detail, same]) => {
    const names = same.map(({ amount }) => amount.name)
    const list = names.length < 3 ? names.join(' and ') : `${names[0]}, ${names.slice(1).join(' and ')}`
    const sentence = `${list.charAt(0)}${list.slice(1).toLowerCase()}: ${detail}.`
    const choices = new Map(same.flatMap((one) => one.choices).map((choice) => [choice.map, choice]))
    return { code, column: null, detail: sentence, choices: [...choices.values()] }
  })
}

function currencySaid({ names, currencies, fileCurrency }: Columns, { field, currency }: Amount): Said {
  const named = currencies[field]
  if (named !== undefined) {
    const detail = `${currencyWords(named)}, because the column ${quoted(names[field] ?? '')} says so`
    return { detail, choices: [] }
  }
  const file = fileCurrency?.currency ?? 'USD'
  const other = file === 'USD' ? 'CAD' : 'USD'
  const choices = [
    {
      map: `currency=${other}`,
      detail: `Amounts without a currency of their own are ${currencyWords(other)}.`,
    },
  ]
  const column = names[currency] ?? names.quoted_currency
  if (column !== undefined) {
    return { detail: `as the column ${quoted(column)} says, else ${currencyWords(file)}`, choices }
  }
  if (fileCurrency === null || fileCurrency.currency === null) {
    return { detail: `${currencyWords(file)}, unless a cell says otherwise`, choices }
  }
  const { from } = fileCurrency
  const why = from === 'map' ? 'as chosen' : `because a line above the header says so: ${quoted(from.line)}`
  return { detail: `${currencyWords(file)}, ${why}`, choices }
}

function basisSaid({ names, bases }: Columns, { field, basis: key }: Amount, assumed: RateBasis): Said {
  const stated = bases[field]
  const basis = stated?.basis ?? assumed
  const other = basis === 'all_in' ? 'linehaul' : 'all_in'
  const what = key === 'basis' ? 'rates' : 'truck costs'
  const choices = [{ map: `${key}=${other}`, detail: `The ${what} are ${basisWords[other]}.` }]
  const column = names[basisFields[field]]
  const why =
    stated?.from === 'map'
      ? 'as chosen'
      : stated?.from === 'name'
        ? `because the column ${quoted(names[field] ?? '')} says so`
        : 'the default basis of the brokerage'
  return column === undefined
    ? { detail: `${basisWords[basis]}, ${why}`, choices }
    : { detail: `as the column ${quoted(column)} says, else ${basisWords[basis]}`, choices }
}

import { withoutQuotes } from '#contract/import-map.ts'
import { basisWords } from '#engine/rate-basis.ts'
import {
  type Cell,
  currenciesOfNote,
  foldedWords,
  type ImportFieldName,
  importFieldNames,
  isStored,
  likelyEquipment,
  likelyOutcome,
  quoteCells,
  quoted,
  readCurrency,
  readEquipment,
  readOutcome,
  readYesNo,
} from '../csv/index.ts'

/** The fields whose cells are words, not names, numbers or times. */
export const wordFields = [
  'outcome',
  'equipment',
  'rate_type',
  'mode',
  'cancelled',
  'quoted_currency',
  'customer_currency',
  'truck_currency',
  'quoted_basis',
  'customer_basis',
  'truck_basis',
] as const satisfies readonly ImportFieldName[]
export type WordField = (typeof wordFields)[number]

/** A word of a column, in the first spelling that was seen. */
export interface Word {
  readonly field: WordField
  readonly text: string
  /** The code of equipment that is not known, if its rows are saved with it. */
  readonly savedAs?: string
}

/** What words mean, by their folded text: another text, which the field reads, or `skip` to leave the row out. */
export type WordMeanings = Partial<Record<WordField, ReadonlyMap<string, string>>>

/** The meaning that leaves out the rows with a word. */
export const skip = 'skip'

/** Signs alone, or letters of other alphabets, have no folded text. */
export const wordKey = (text: string) => foldedWords(text) || text.trim()

export function isWordField(field: ImportFieldName): field is WordField {
  return (wordFields as readonly string[]).includes(field)
}

/** The words of a row's errors, each once: a cell can be read for several fields. */
export function wordsOf(errors: readonly { readonly word?: Word }[]): Word[] {
  return [...new Map(errors.flatMap(({ word }) => (word === undefined ? [] : [[word.field, word]]))).values()]
}

const ofCurrency = { read: readCurrency, must: 'USD or CAD', likely: () => null }
const ofBasis = { read: quoteCells.basis, must: Object.keys(basisWords).join(' or '), likely: () => null }
const kinds: Readonly<
  Record<
    WordField,
    {
      readonly read: (text: string) => Cell<unknown>
      readonly must: string
      readonly likely: (text: string) => string | null
    }
  >
> = {
  outcome: {
    read: readOutcome,
    must: 'won, lost, lost price, lost service, lost capacity, lost no_response, pending or expired',
    likely: likelyOutcome,
  },
  equipment: { read: readEquipment, must: 'an equipment code such as V, R or F', likely: likelyEquipment },
  rate_type: { read: quoteCells.rateType, must: 'spot or contract', likely: () => null },
  mode: {
    read: quoteCells.mode,
    must: 'truckload, partial, ltl, drayage or intermodal',
    likely: () => null,
  },
  cancelled: { read: readYesNo, must: 'yes or no', likely: () => null },
  quoted_currency: ofCurrency,
  customer_currency: ofCurrency,
  truck_currency: ofCurrency,
  quoted_basis: ofBasis,
  customer_basis: ofBasis,
  truck_basis: ofBasis,
}

/** What an unknown word may mean; null without a hint. @example likelyMeaning({ field: 'outcome', text: 'Lost to CHR' }) // 'lost' */
export function likelyMeaning({ field, text }: Word): string | null {
  return kinds[field].likely(text)
}

/** The left side of the pair that states a word in a map. @example wordPair({ field: 'outcome', text: 'No, lost' }) // 'outcome:"No, lost"' */
export function wordPair({ field, text }: Word): string {
  return `${field}:${/[",=]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text}`
}

/**
 * Notes what a word means, as a pair of a map states it.
 *
 * @returns what is wrong with the pair; null if nothing is; undefined if it is about no word
 * @example readMeaning('outcome:Lost to CHR', 'lost', meanings) // null; the rows with this word are lost
 */
export function readMeaning(
  left: string,
  value: string,
  meanings: { [Field in WordField]?: Map<string, string> },
): string | null | undefined {
  const at = left.indexOf(':')
  const name = left.slice(0, at).trim().toLowerCase()
  const field = at < 0 ? undefined : importFieldNames.find((one) => one === name)
  if (field === undefined) return undefined
  if (!isWordField(field)) {
    return `The map states a word of ${field}; only words of ${wordFields.join(', ')} can be stated.`
  }
  const text = withoutQuotes(left.slice(at + 1).trim())
  const said = `The map says ${quoted(`${field}:${text}=${value}`)}`
  if (text === '') return `${said}; between ":" and "=" must be a word of the column.`
  const isOther = field.endsWith('currency') && currenciesOfNote(text).some((one) => !isStored(one))
  if (value !== skip && (isOther || value === '' || 'wrong' in kinds[field].read(value))) {
    return `${said}; ${isOther ? 'an amount in another currency can only be left out with skip' : `the meaning must be ${kinds[field].must}, or skip to leave out its rows`}.`
  }
  const words = meanings[field] ?? new Map<string, string>()
  const before = words.get(wordKey(text))
  if (before !== undefined && before !== value) {
    return `${said}, and ${quoted(before)} for the same word; state it once.`
  }
  meanings[field] = words.set(wordKey(text), value)
  return null
}

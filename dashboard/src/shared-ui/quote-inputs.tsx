import { NativeSelect, TextInput, type TextInputProps } from '@mantine/core'
import type { ChangeEvent } from 'react'
import { milesMax } from '#contract/limits.ts'
import { modes } from '#engine/load-mode.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { readCharges } from '#engine/named-charges.ts'
import { basisWords, type Currency, type RateBasis } from '#engine/rate-basis.ts'
import { useSession } from '../api/index.ts'
import { calendarDay, dollars, readDollars } from './formats.ts'
import { modeNames } from './load-mode.tsx'
import { type RateType, rateTypeNames, requestedRateType } from './rate-type.tsx'

/** What an empty choice stands for, and why. */
interface Assumed {
  readonly basis: RateBasis
  readonly currency: Currency
  readonly rateType: RateType
  readonly why: string
}

/** A field of a quote as a person types it: an input on the desk, in a requote, or a column of pasted rows. */
interface TypedFieldRow {
  readonly label: string
  /** Where it stands on the desk: in the row of the quote, or behind More. */
  readonly stands: 'row' | 'more'
  /** The fields of the API that its text is read as. A reader returns null for a text that is not its own. */
  readonly reads: Readonly<Record<string, (text: string) => unknown>>
  /** What to enter instead of a text that no reader can read. */
  readonly wrong?: string
  /** What a save asks for while the field is empty; absent if it may stay empty. */
  readonly missing?: string
  /** The choices of a select, first the one of an empty field. Absent: a text field. */
  readonly choices?: (assumed: Assumed) => readonly (readonly [value: string, label: string])[]
  readonly input?: Pick<TextInputProps, 'inputMode' | 'leftSection' | 'placeholder' | 'type'>
  /** The filled field in the words of the card, if its row does not show it. */
  readonly words?: (text: string) => string
}

const decimal = { inputMode: 'decimal' } as const
const dollarAmount = { ...decimal, leftSection: '$' } as const
const textOrNull = (text: string) => text.trim() || null
const amountWords = (text: string) => {
  const read = readDollars(text)
  return read === null ? text : dollars(read)
}
const currencyNames: Readonly<Record<Currency, string>> = { USD: 'US dollars', CAD: 'Canadian dollars' }

/** The fields of a typed quote, in the order of the desk. CONTRIBUTING.md lists the other changes that a new field needs. */
export const typedFields = {
  origin: {
    label: 'Origin',
    stands: 'row',
    reads: { origin: (text: string) => text.trim() },
    missing: 'Where is the pickup?',
  },
  destination: {
    label: 'Destination',
    stands: 'row',
    reads: { destination: (text: string) => text.trim() },
    missing: 'Where is the delivery?',
  },
  equipment: {
    label: 'Equipment',
    stands: 'row',
    reads: { equipment: textOrNull },
    missing: 'Which equipment?',
  },
  rate: {
    label: 'Rate',
    stands: 'row',
    reads: { quoted_rate: readDollars },
    wrong: 'Enter the rate in dollars, such as 2,150',
    missing: 'What is the rate?',
    input: decimal,
  },
  cost: {
    label: 'Cost',
    stands: 'row',
    reads: { estimated_cost: readDollars },
    wrong: 'Enter the amount in dollars, such as 1,800',
    input: decimal,
  },
  basis: {
    label: 'The rate includes',
    stands: 'more',
    reads: { quoted_basis: readBasis },
    choices: ({ basis, why }) => [
      ['', `${basisWords[basis]} (${why})`],
      ['linehaul', 'linehaul only'],
      ['all_in', 'all-in'],
    ],
  },
  fuel: {
    label: 'Fuel charge',
    stands: 'more',
    reads: { quoted_fuel: readDollars },
    wrong: 'Enter dollars per load, such as 320',
    input: dollarAmount,
    words: (text) => `fuel ${amountWords(text)}`,
  },
  charges: {
    label: 'Accessorials',
    stands: 'more',
    reads: { quoted_accessorials: readDollars, quoted_charges: readNamedCharges },
    wrong: 'Dollars, or a name and dollars each, such as lumper 120; detention 75',
    input: { placeholder: 'lumper 120; detention 75' },
    words: String,
  },
  currency: {
    label: 'Currency',
    stands: 'more',
    reads: { quoted_currency: readCurrency },
    choices: ({ currency }) => [
      ['', currencyNames[currency]],
      ...Object.entries(currencyNames).filter(([one]) => one !== currency),
    ],
  },
  rateType: {
    label: 'Rate type',
    stands: 'more',
    reads: { rate_type: (text: string) => requestedRateType({ rate_type: text }).rate_type ?? null },
    choices: ({ rateType }) => [
      ['', `${rateTypeNames[rateType]} (default)`],
      ...Object.entries(rateTypeNames),
    ],
    words: String,
  },
  mode: {
    label: 'Mode',
    stands: 'more',
    reads: { mode: (text: string) => modes.find((one) => one === text) ?? null },
    choices: () => modes.map((mode) => [mode === 'truckload' ? '' : mode, modeNames[mode]]),
    words: String,
  },
  stops: {
    label: 'Stops',
    stands: 'more',
    reads: { stops: readStops },
    input: { placeholder: 'Memphis, TN; Nashville, TN' },
    words: (text) => `via ${text}`,
  },
  market: {
    label: 'Market rate',
    stands: 'more',
    reads: { market_rate: readDollars },
    wrong: 'Enter the amount in dollars, such as 1,800',
    input: dollarAmount,
    words: (text) => `market ${amountWords(text)}`,
  },
  miles: {
    label: 'Miles',
    stands: 'more',
    reads: { miles: readMiles },
    wrong: 'Enter the miles, such as 780',
    input: decimal,
    words: (text) => `${text} miles`,
  },
  pickup: {
    label: 'Pickup date',
    stands: 'more',
    reads: { pickup_date: textOrNull },
    input: { type: 'date' },
    words: (text) => `pickup ${calendarDay(text)}`,
  },
} as const satisfies Record<string, TypedFieldRow>

type Table = typeof typedFields
export type TypedField = keyof Table
const rowOf = (field: TypedField): TypedFieldRow => typedFields[field]

/** The terms of a rate, as typed: its basis, charges and currency. Empty: the brokerage's default basis, or US dollars. */
export interface RateTerms {
  readonly basis: '' | RateBasis
  readonly fuel: string
  readonly charges: string
  readonly currency: '' | Currency
}
export const termsFields = ['basis', 'fuel', 'charges', 'currency'] as const satisfies readonly TypedField[]
export const noTerms: RateTerms = { basis: '', fuel: '', charges: '', currency: '' }

/** A quote as typed: the text of every field, empty where nothing is typed. */
export type TypedQuote = Readonly<Record<Exclude<TypedField, keyof RateTerms>, string>> & RateTerms

export const typedFieldNames = Object.keys(typedFields) as readonly TypedField[]
export const fieldsBehindMore = typedFieldNames.filter((field) => rowOf(field).stands === 'more')
export const nothingTyped = {
  ...Object.fromEntries(typedFieldNames.map((field) => [field, ''])),
  ...noTerms,
} as TypedQuote

type Reads = Table[TypedField]['reads']
type NamesOf<Some> = Some extends Some ? keyof Some : never
type ReaderOf<Name extends string> = Extract<Reads, Record<Name, unknown>>[Name]
/** The fields of the API that some fields are read as; null where a text is empty or cannot be read. */
export type ReadFields<F extends TypedField> = {
  readonly [Name in NamesOf<Table[F]['reads']> & string]: ReaderOf<Name> extends (text: string) => infer Value
    ? Value
    : never
}

/** Reads fields in the form of the API. @example readFields({ miles: '1,250 mi' }, ['miles']) // { miles: 1250 } */
export function readFields<F extends TypedField>(
  typed: Readonly<Record<F, string>>,
  fields: readonly F[],
): ReadFields<F> {
  const read = fields.flatMap((field) =>
    Object.entries(rowOf(field).reads).map(([name, reader]) => [name, reader(typed[field])]),
  )
  return Object.fromEntries(read) as ReadFields<F>
}

/** The text of each field for values of the API. @example typedAs({ quoted_rate: 2150 }).rate // '2150' */
export function typedAs(sent: { readonly [Name in NamesOf<Reads>]?: unknown }): TypedQuote {
  const values = new Map<string, unknown>(Object.entries(sent))
  const texts = typedFieldNames.map((field) => {
    // Charges by name say more than their sum.
    const value = Object.keys(rowOf(field).reads).findLast((name) => values.get(name) != null)
    const parts = value === undefined ? [] : [values.get(value)].flat()
    return [field, parts.map(asTyped).join('; ')]
  })
  return { ...nothingTyped, ...Object.fromEntries(texts) }
}

const isCharge = (value: unknown): value is { readonly name: string; readonly amount: number } =>
  typeof value === 'object'
const asTyped = (value: unknown) => (isCharge(value) ? `${value.name} ${value.amount}` : String(value))

/** The field that a field of the API is read from. @example fieldReadAs('quoted_rate') // 'rate' */
export function fieldReadAs(name: string): TypedField | undefined {
  return typedFieldNames.find((field) => Object.hasOwn(rowOf(field).reads, name))
}

/** The label of each field of the API. */
export const labelsReadAs = Object.fromEntries(
  typedFieldNames.flatMap((field) =>
    Object.keys(rowOf(field).reads).map((name) => [name, rowOf(field).label]),
  ),
) as Readonly<Record<NamesOf<Reads>, string>>

/** Why a text cannot be read; null if it is empty or can be read. */
export function unreadable(field: TypedField, text: string): string | null {
  const { wrong = null, reads } = rowOf(field)
  const isRead = Object.values(reads).some((read) => read(text) !== null)
  return isRead || !/[^$\s]/.test(text) ? null : wrong
}

/** Why a quote with this text cannot be saved: the text is missing or cannot be read. Null if it can. */
export function faultOf(field: TypedField, text: string): string | null {
  return unreadable(field, text) ?? (/[^$\s]/.test(text) ? null : (rowOf(field).missing ?? null))
}

/** The filled fields that no row shows, in words. @example typedInWords({ ...nothingTyped, miles: '790' }, 'all_in') // ['790 miles'] */
export function typedInWords(typed: TypedQuote, assumed: RateBasis): string[] {
  const words = typedFieldNames.flatMap((field) =>
    typed[field] === '' ? [] : (rowOf(field).words?.(typed[field]) ?? []),
  )
  return saysTerms(typed) ? [termsInWords(typed, assumed), ...words] : words
}

/** Typed miles; null if they are no number from 1 to 10,000. @example readMiles('1,250 mi') // 1250 */
function readMiles(text: string): number | null {
  const digits = text.trim().replace(/(?<!\s)\s*mi(les)?$/i, '')
  const miles = /^\d{1,3}(,?\d{3})?(\.\d{1,2})?$/.test(digits) ? Number(digits.replace(',', '')) : Number.NaN
  return miles > 0 && miles <= milesMax ? miles : null
}

function readBasis(text: string): RateBasis | null {
  return text === 'linehaul' || text === 'all_in' ? text : null
}

function readCurrency(text: string): Currency | null {
  return text === 'USD' || text === 'CAD' ? text : null
}

/** Charges by name; null for one amount. @example readNamedCharges('lumper 120') // [{ name: 'lumper', amount: 120 }] */
function readNamedCharges(text: string) {
  const charges = readDollars(text) === null ? (readCharges(text) ?? []) : []
  return charges.length === 0
    ? null
    : charges.map(({ name, cents }) => ({ name, amount: dollarsFromCents(cents) }))
}

/** Places separated by semicolons. @example readStops('Memphis, TN; Tulsa, OK') // ['Memphis, TN', 'Tulsa, OK'] */
function readStops(text: string): string[] | null {
  const stops = text.split(';').flatMap((place) => place.trim() || [])
  return stops.length === 0 ? null : stops
}

export function saysTerms(terms: RateTerms): boolean {
  return termsFields.some((field) => terms[field].trim() !== '')
}

/** @example termsInWords({ ...noTerms, basis: 'linehaul' }, 'all_in') // 'linehaul, US dollars' */
export function termsInWords(
  { basis, currency }: Pick<RateTerms, 'basis' | 'currency'>,
  assumed: RateBasis,
): string {
  return `${basisWords[basis === '' ? assumed : basis]}, ${currencyNames[currency === '' ? 'USD' : currency]}`
}

export interface QuoteInputProps extends Omit<TextInputProps, 'value' | 'onChange' | 'error'> {
  readonly field: TypedField
  readonly value: string
  readonly error?: string | undefined
  /** What an empty choice stands for, if not the default of the brokerage. */
  readonly assumed?: Partial<Assumed>
  readonly 'data-field'?: string
  readonly onType: (text: string) => void
}

/** The input of a field of a typed quote, without the suggestions that places and equipment have. */
export function QuoteInput({ field, assumed, onType, ...props }: QuoteInputProps) {
  const { default_basis: basis, default_rate_type: rateType } = useSession().tenant
  const { label, choices, input } = rowOf(field)
  const onChange = (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
    onType(event.currentTarget.value)
  if (choices === undefined)
    return <TextInput label={label} autoComplete="off" {...input} {...props} onChange={onChange} />
  const { value, error, 'data-field': name } = props
  const data = choices({ basis, rateType, currency: 'USD', why: 'default', ...assumed })
  return (
    <NativeSelect
      label={label}
      value={value}
      error={error}
      data-field={name}
      data={data.map(([of, words]) => ({ value: of, label: words }))}
      onChange={onChange}
    />
  )
}

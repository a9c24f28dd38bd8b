import { NativeSelect, TextInput } from '@mantine/core'
import { dollarsFromCents } from '#engine/money.ts'
import { readCharges } from '#engine/named-charges.ts'
import { basisWords } from '#engine/rate-basis.ts'
import { readDollars } from './formats.ts'
import { knownFields } from './quote-facts.ts'

/** The terms of a rate, as typed: its basis, charges and currency. Empty: the brokerage's default basis, or US dollars. */
export interface RateTerms {
  readonly basis: '' | 'linehaul' | 'all_in'
  readonly fuel: string
  readonly charges: string
  readonly currency: '' | 'USD' | 'CAD'
}
export type TermsField = keyof RateTerms

export const noTerms: RateTerms = { basis: '', fuel: '', charges: '', currency: '' }

export function saysTerms({ basis, fuel, charges, currency }: RateTerms): boolean {
  return [basis, fuel, charges, currency].some((text) => text.trim() !== '')
}

/** The errors of terms that cannot be read. */
export function termsErrors({ fuel, charges }: RateTerms): Partial<Record<TermsField, string>> {
  return {
    ...(fuel.trim() !== '' && readDollars(fuel) === null
      ? { fuel: 'Enter dollars per load, such as 320' }
      : {}),
    ...(charges.trim() !== '' && readCharges(charges) === null && readDollars(charges) === null
      ? { charges: 'Dollars, or a name and dollars each, such as lumper 120; detention 75' }
      : {}),
  }
}

/** Terms in the form of the API; null where nothing is stated. */
export function statedTerms({ basis, fuel, charges, currency }: RateTerms) {
  const [total, named] = [readDollars(charges), readCharges(charges) ?? []]
  const isNamed = total === null && named.length > 0
  return {
    quoted_basis: basis === '' ? null : basis,
    quoted_fuel: readDollars(fuel),
    quoted_accessorials: total,
    quoted_charges: isNamed
      ? named.map(({ name, cents }) => ({ name, amount: dollarsFromCents(cents) }))
      : null,
    quoted_currency: currency === '' ? null : currency,
  }
}

/** Terms in the form of the API, without empty fields. */
export const termsBody = (terms: RateTerms) => knownFields(statedTerms(terms))

const currencyNames = { USD: 'US dollars', CAD: 'Canadian dollars' } as const

/** @example termsInWords({ ...noTerms, basis: 'linehaul' }, 'all_in') // 'linehaul, US dollars' */
export function termsInWords(
  { basis, currency }: Pick<RateTerms, 'basis' | 'currency'>,
  assumed: 'linehaul' | 'all_in',
): string {
  return `${basisWords[basis === '' ? assumed : basis]}, ${currencyNames[currency === '' ? 'USD' : currency]}`
}

/** The fields for a rate's basis, charges and currency. */
export function RateTermsFields({
  terms,
  assumed,
  assumedCurrency = 'USD',
  why = 'default',
  errors,
  nameOf,
  onChange,
}: {
  terms: RateTerms
  /** The basis and the currency of empty fields, and why they apply. */
  assumed: 'linehaul' | 'all_in'
  assumedCurrency?: 'USD' | 'CAD'
  why?: string
  errors: Partial<Record<TermsField, string | undefined>>
  /** The value of `data-field` of each field. */
  nameOf: (field: TermsField) => string
  onChange: (field: TermsField, text: string) => void
}) {
  const props = (field: TermsField) => ({
    value: terms[field],
    error: errors[field],
    'data-field': nameOf(field),
    onChange: (event: { currentTarget: { value: string } }) => onChange(field, event.currentTarget.value),
  })
  return (
    <>
      <NativeSelect
        label="The rate includes"
        data={[
          { value: '', label: `${basisWords[assumed]} (${why})` },
          { value: 'linehaul', label: 'linehaul only' },
          { value: 'all_in', label: 'all-in' },
        ]}
        {...props('basis')}
      />
      <TextInput
        label="Fuel charge"
        leftSection="$"
        inputMode="decimal"
        autoComplete="off"
        {...props('fuel')}
      />
      <TextInput
        label="Accessorials"
        placeholder="lumper 120; detention 75"
        autoComplete="off"
        {...props('charges')}
      />
      <NativeSelect
        label="Currency"
        data={[
          { value: '', label: currencyNames[assumedCurrency] },
          ...(['USD', 'CAD'] as const)
            .filter((one) => one !== assumedCurrency)
            .map((value) => ({ value, label: currencyNames[value] })),
        ]}
        {...props('currency')}
      />
    </>
  )
}

import { TextInput } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { useSession } from '../api/index.ts'
import {
  calendarDay,
  dollars,
  ModeChoice,
  RateTermsFields,
  RateTypeChoice,
  readDollars,
  saysTerms,
  termsInWords,
} from '../shared-ui/index.ts'
import type { DeskError, DeskField, DeskQuote } from './desk-draft.ts'

/** The fields behind "More", in their order: a name for each text field. */
const textFields = {
  stops: 'Stops (optional)',
  market: 'Market rate (optional)',
  miles: 'Miles (optional)',
  pickup: 'Pickup date (optional)',
} as const

export const moreFields = [
  'rateType',
  'mode',
  'stops',
  'market',
  'miles',
  'pickup',
  'basis',
  'fuel',
  'charges',
  'currency',
] as const satisfies readonly DeskField[]

/** The details of a quote that its row has no room for. */
export function MoreFields({
  quote,
  errors,
  input,
  onChange,
  onEnter,
}: {
  quote: DeskQuote
  errors: readonly DeskError[]
  input: (field: DeskField) => { value: string; error: string | undefined; 'data-field': string }
  onChange: (field: DeskField, text: string) => void
  onEnter: (event: KeyboardEvent) => void
}) {
  const { default_rate_type: assumedType, default_basis: assumed } = useSession().tenant
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: one shortcut for all fields inside
    <div className="desk-more" onKeyDown={onEnter}>
      <RateTermsFields
        terms={quote}
        assumed={assumed}
        errors={Object.fromEntries(errors.map(({ field, text }) => [field, text]))}
        nameOf={(field) => `${quote.id}-${field}`}
        onChange={onChange}
      />
      <RateTypeChoice
        {...input('rateType')}
        assumed={assumedType}
        onChange={(text) => onChange('rateType', text)}
      />
      <ModeChoice {...input('mode')} onChange={(text) => onChange('mode', text)} />
      {(Object.keys(textFields) as (keyof typeof textFields)[]).map((field) => (
        <TextInput
          key={field}
          label={textFields[field]}
          autoComplete="off"
          {...(field === 'stops' ? { placeholder: 'Memphis, TN; Nashville, TN' } : {})}
          {...(field === 'market' ? { leftSection: '$' } : {})}
          {...(field === 'pickup' ? { type: 'date' } : {})}
          {...(field === 'market' || field === 'miles' ? { inputMode: 'decimal' as const } : {})}
          {...input(field)}
          onChange={(event) => onChange(field, event.currentTarget.value)}
        />
      ))}
    </div>
  )
}

/** The filled fields behind "More" in words. @example moreInWords({ ...quote, miles: '790' }, 'all_in') // ['790 miles'] */
export function moreInWords(quote: DeskQuote, assumed: 'linehaul' | 'all_in'): string[] {
  const { rateType, mode, stops, market, miles, pickup, fuel, charges } = quote
  const amount = (text: string) => {
    const read = readDollars(text)
    return read === null ? text : dollars(read)
  }
  return [
    ...(saysTerms(quote) ? [termsInWords(quote, assumed)] : []),
    ...(fuel === '' ? [] : [`fuel ${amount(fuel)}`]),
    ...[charges, rateType, mode].filter((text) => text !== ''),
    ...(stops === '' ? [] : [`via ${stops}`]),
    ...(market === '' ? [] : [`market ${amount(market)}`]),
    ...(miles === '' ? [] : [`${miles} miles`]),
    ...(pickup === '' ? [] : [`pickup ${calendarDay(pickup)}`]),
  ]
}

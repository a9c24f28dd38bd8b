import { NativeSelect } from '@mantine/core'
import { useSession } from '../api/index.ts'
import { type AddressFilter, AddressSelect } from './address-select.tsx'

export type RateType = 'spot' | 'contract'

export const rateTypeNames: Readonly<Record<RateType, string>> = { spot: 'Spot', contract: 'Contract' }

/** The rate type in an address, as a parameter of the service; none if the address names none. */
export function rateTypeAsked({ rate_type: asked }: { readonly rate_type?: string | undefined }): {
  rate_type?: RateType
} {
  return asked === 'spot' || asked === 'contract' ? { rate_type: asked } : {}
}

type Typed = { readonly rate_type: RateType | null }

/** Spot or contract: as the quote says, else by the default of the brokerage. */
export function RateTypeOf({ lane }: { lane: Typed }) {
  const { default_rate_type: assumed } = useSession().tenant
  return rateTypeNames[lane.rate_type ?? assumed]
}

/** The rate type of a quote in a list whose quotes are mostly of the default type: nothing for those. @example ' · Contract' */
export function OtherRateType({ lane: { rate_type: said } }: { lane: Typed }) {
  const { default_rate_type: assumed } = useSession().tenant
  return said === null || said === assumed ? null : ` · ${rateTypeNames[said]}`
}

/** Filters by spot or contract. */
export function RateTypeFilter({ search, ...filter }: AddressFilter) {
  const { rate_type: rateType } = rateTypeAsked(search)
  return (
    <AddressSelect
      {...filter}
      param="rate_type"
      label="Rate type"
      all="Spot and contract"
      names={rateTypeNames}
      value={rateType}
    />
  )
}

/** The rate type of a quote; an empty value is the assumed one, such as the default of the brokerage. */
export function RateTypeChoice({
  value,
  assumed,
  why = 'default',
  error,
  onChange,
  ...field
}: {
  value: string
  assumed: RateType
  /** Why the type is assumed, in words. */
  why?: string
  error?: string | undefined
  onChange: (rateType: string) => void
  'data-field'?: string
}) {
  return (
    <NativeSelect
      {...field}
      label="Rate type"
      data={[
        { value: '', label: `${rateTypeNames[assumed]} (${why})` },
        ...Object.entries(rateTypeNames).map(([type, label]) => ({ value: type, label })),
      ]}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

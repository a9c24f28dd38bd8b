import { ChoiceFilter, type FilterField } from './choice-filter.tsx'

export type RateType = 'spot' | 'contract'

export const rateTypeNames: Readonly<Record<RateType, string>> = { spot: 'Spot', contract: 'Contract' }

/** The rate type in an address, as a parameter of the service; none if the address names none. */
export function requestedRateType({ rate_type: asked }: { readonly rate_type?: string | undefined }): {
  rate_type?: RateType
} {
  return asked === 'spot' || asked === 'contract' ? { rate_type: asked } : {}
}

/** Filters by spot or contract. */
export function RateTypeFilter(filter: FilterField) {
  return (
    <ChoiceFilter
      {...filter}
      name="rate_type"
      label="Rate type"
      all="Spot and contract"
      names={rateTypeNames}
    />
  )
}

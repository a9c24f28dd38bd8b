import type { Query } from '../api/index.ts'
import { type AddressParams, type Period, requestedMode, requestedRateType } from '../shared-ui/index.ts'

export type ShipmentsQuery = Query<'list-shipments'>
type Sort = NonNullable<ShipmentsQuery['sort']>

export const sortNames: Readonly<Record<Sort, string>> = {
  newest: 'Newest quote',
  oldest: 'Oldest quote',
  booked: 'Last booked',
  margin_high: 'Highest margin',
  margin_low: 'Lowest margin',
  rate_high: 'Highest AR',
  rate_low: 'Lowest AR',
  customer: 'Customer, A to Z',
  updated: 'Last changed',
}

const filterNames = [
  'customer',
  'origin',
  'destination',
  'equipment',
  'rate_type',
  'mode',
  'quoted_by',
  'q',
] as const

/** True when a filter other than the period is set. */
export function isFiltered(search: AddressParams): boolean {
  return filterNames.some((name) => (search[name] ?? '') !== '')
}

export function sortOf(search: AddressParams): Sort {
  const sort = search.sort ?? ''
  return Object.hasOwn(sortNames, sort) ? (sort as Sort) : 'newest'
}

/** The filters of the list as API parameters. The export uses the same parameters. */
export function selectionOf(search: AddressParams, period: Period): Query<'export-shipments'> {
  const rep = Number(search.quoted_by ?? Number.NaN)
  const texts = Object.fromEntries(
    (['customer', 'origin', 'destination', 'equipment', 'q'] as const).flatMap((name) => {
      const value = search[name]?.trim() ?? ''
      return value === '' ? [] : [[name, value]]
    }),
  )
  return {
    ...texts,
    ...requestedRateType(search),
    ...requestedMode(search),
    ...(Number.isSafeInteger(rep) && rep > 0 ? { quoted_by: rep } : {}),
    ...(period.from === undefined ? {} : { from: period.from }),
    ...(period.to === undefined ? {} : { to: period.to }),
  }
}

import { performanceSorts } from '#contract/performance-sorts.ts'
import { type Answer, type Query, useAnswer } from '../api/index.ts'
import {
  type AddressParams,
  countedQuotes,
  daysOf,
  monthWithin,
  type Period,
  periodOf,
  requestedRateType,
} from '../shared-ui/index.ts'

export type Grouping = Query<'get-performance'>['by']
export type PerformanceFigures = Answer<'get-performance'>['totals']
export type PerformanceRow = Answer<'get-performance'>['rows'][number]

/** The rows of the table “Where margin goes”. */
export const groupingNames: Readonly<Record<Grouping, string>> = {
  lane: 'Lane',
  customer: 'Customer',
  rep: 'Rep',
  carrier: 'Carrier',
  equipment: 'Equipment',
  month: 'Month',
}

/** The rows with one shipment each, in the same choice as the groupings. */
export const ungrouped = 'shipment'

/** The views of “Forecast quality”. */
export const forecastNames = { calibration: 'Test on past quotes', recorded: 'Recorded forecasts' } as const
export type ForecastView = keyof typeof forecastNames

/** The tabs of the page. */
export const tabNames = {
  overview: 'Overview',
  margin: 'Where margin goes',
  forecast: 'Forecast quality',
} as const
export type Tab = keyof typeof tabNames
export type View = 'overview' | 'margin' | ForecastView

/** The view that a tab opens with. */
export const firstViewOf: Readonly<Record<Tab, View>> = {
  overview: 'overview',
  margin: 'margin',
  forecast: 'calibration',
}

export function viewOf({ view }: AddressParams): View {
  return view === 'margin' || isForecast(view) ? view : 'overview'
}

export const isForecast = (view: string | undefined): view is ForecastView =>
  Object.hasOwn(forecastNames, view ?? '')

export const tabOf = (view: View): Tab => (isForecast(view) ? 'forecast' : view)

export const groupingOf = ({ by }: AddressParams): Grouping =>
  (Object.keys(groupingNames) as Grouping[]).find((one) => one === by) ?? 'lane'

/** The filters by period, equipment, customer, spot or contract, and rep, as API parameters. */
export function selectionOf(search: AddressParams, period: Period): Query<'list-margin-gaps'> {
  const rep = Number(search.quoted_by ?? Number.NaN)
  const equipment = search.equipment?.trim() ?? ''
  const customer = search.customer?.trim() ?? ''
  return {
    ...(equipment === '' ? {} : { equipment }),
    ...(customer === '' ? {} : { customer }),
    ...requestedRateType(search),
    ...(Number.isSafeInteger(rep) && rep > 0 ? { quoted_by: rep } : {}),
    ...(period.from === undefined ? {} : { from: period.from }),
    ...(period.to === undefined ? {} : { to: period.to }),
  }
}

/** The sort order in the address, else the largest loss first; undefined for months, which are in the order of time. */
export function orderOf(search: AddressParams): Pick<Query<'get-performance'>, 'sort' | 'order'> | undefined {
  const sort = performanceSorts.find((one) => one === search.sort)
  if (sort !== undefined) return { sort, order: search.order === 'asc' ? 'asc' : 'desc' }
  return groupingOf(search) === 'month' ? undefined : { sort: 'lost_to_cost', order: 'desc' }
}

/** The filters of the page in its address. */
export function sharedParams(search: AddressParams): AddressParams {
  const { period, from, to, customer, equipment, rate_type, quoted_by } = search
  return { period, from, to, customer, equipment, rate_type, quoted_by }
}

/** The address parameters with which the Shipments page shows the shipments of a row; null if no filter can select them. */
export function paramsOfRow(
  by: Grouping,
  row: PerformanceRow,
  search: AddressParams,
  now: Date,
): AddressParams | null {
  const shared = sharedParams(search)
  switch (by) {
    case 'lane':
      return row.lane === null ? null : { ...shared, ...row.lane }
    case 'customer':
      return { ...shared, customer: row.label }
    case 'rep':
      // Imported quotes have no rep, and lists cannot filter for quotes without a rep.
      return row.key === '' ? null : { ...shared, quoted_by: row.key }
    case 'carrier':
      // Lists cannot filter for quotes without a carrier.
      return row.key === '' ? null : { ...shared, carrier: row.label }
    case 'equipment':
      return { ...shared, equipment: row.key }
    case 'month':
      // A row counts only the days of its month that are in the period.
      return { ...shared, ...monthWithin(row.key, periodOf(search, 'all', now)) }
  }
}

/** Converts these parameters for the Quotes page, which has no named periods: a period becomes a first and a last day. */
export function quotesParams(params: AddressParams, now: Date): AddressParams {
  const { period: _period, from: _from, to: _to, ...others } = params
  return countedQuotes({ ...others, ...daysOf(periodOf(params, 'all', now)) })
}

/** The nouns for the rows of a grouping. */
export const rowWords: Readonly<Record<Grouping, { readonly one: string; readonly many: string }>> = {
  month: { one: 'month', many: 'months' },
  lane: { one: 'lane', many: 'lanes' },
  customer: { one: 'customer', many: 'customers' },
  rep: { one: 'rep', many: 'reps' },
  carrier: { one: 'carrier', many: 'carriers' },
  equipment: { one: 'equipment type', many: 'equipment types' },
}

/**
 * One page of the figures by a grouping. `data` is null while the answer is still for another grouping, because the page would show
 * lanes as months for a moment. `totals` are the same for all groupings, so they are from either answer.
 */
export function useFigures(query: Query<'get-performance'>, { cursor }: AddressParams, enabled = true) {
  const { data, error, isPlaceholderData, refetch } = useAnswer(
    'get-performance',
    { query: { ...query, ...(cursor === undefined ? {} : { cursor }) } },
    { keeps: true, enabled },
  )
  return {
    data: data?.by === query.by ? data : null,
    totals: data?.totals,
    isOld: isPlaceholderData,
    error,
    retry: () => void refetch(),
  }
}

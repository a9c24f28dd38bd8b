import type { Answer, Query } from '../api/index.ts'
import { type AddressWords, daysOf, isMonth, monthWithin, type Period, periodOf } from '../shared-ui/index.ts'

export type Grouping = Query<'get-performance'>['by']
export type PerformanceRow = Answer<'get-performance'>['rows'][number]

const groupingNames: Readonly<Record<Grouping, string>> = {
  month: 'Months',
  lane: 'Lanes',
  customer: 'Customers',
  rep: 'Reps',
  equipment: 'Equipment',
}

export type View = Grouping | 'gaps' | 'calibration'

export const viewNames: Readonly<Record<View, string>> = {
  ...groupingNames,
  gaps: 'Below the quote',
  calibration: 'Calibration',
}

export function viewOf(search: AddressWords): View {
  const view = search.view ?? ''
  return Object.hasOwn(viewNames, view) ? (view as View) : 'month'
}

export function isGrouping(view: View): view is Grouping {
  return Object.hasOwn(groupingNames, view)
}

/** Which lanes are counted: those of the period, and of an equipment type, a customer or a rep. */
export function selectionOf(search: AddressWords, period: Period): Query<'list-margin-gaps'> {
  const rep = Number(search.quoted_by ?? Number.NaN)
  const equipment = search.equipment?.trim() ?? ''
  const customer = search.customer?.trim() ?? ''
  return {
    ...(equipment === '' ? {} : { equipment }),
    ...(customer === '' ? {} : { customer }),
    ...(Number.isSafeInteger(rep) && rep > 0 ? { quoted_by: rep } : {}),
    ...(period.from === undefined ? {} : { from: period.from }),
    ...(period.to === undefined ? {} : { to: period.to }),
  }
}

const sorts = ['quotes', 'win_rate', 'margin', 'margin_pct', 'landed_vs_quoted'] as const

export interface Order {
  readonly sort: (typeof sorts)[number]
  readonly order: 'desc' | 'asc'
}

/** The order that the address asks for; undefined leaves it to the service: by quotes, and months by time. */
export function orderOf(search: AddressWords): Order | undefined {
  const sort = sorts.find((one) => one === search.sort)
  return sort === undefined ? undefined : { sort, order: search.order === 'asc' ? 'asc' : 'desc' }
}

/** The words by which the Shipments page is told to show the same lanes as a row; null where no list can be told. */
export function wordsOfRow(
  by: Grouping,
  row: PerformanceRow,
  search: AddressWords,
  now: Date,
): AddressWords | null {
  const { period, from, to, customer, equipment, quoted_by } = search
  const shared = { period, from, to, customer, equipment, quoted_by }
  switch (by) {
    case 'lane':
      return row.lane === null ? null : { ...shared, ...row.lane }
    case 'customer':
      return { ...shared, customer: row.label }
    case 'rep':
      // Imported lanes have no rep, and no list can be asked for lanes without one.
      return row.key === '' ? null : { ...shared, quoted_by: row.key }
    case 'equipment':
      return { ...shared, equipment: row.key }
    case 'month':
      // A row counts only what of its month lies in the period.
      return { ...shared, ...monthWithin(row.key, periodOf(search, 'all', now)) }
  }
}

/**
 * The same for the Quotes page, which knows no periods by name: it takes the days on which they begin and end, and of a
 * month in UTC the moments.
 */
export function quotesWords(words: AddressWords, now: Date): AddressWords {
  const { period: _period, from: _from, to: _to, ...others } = words
  const period = periodOf(words, 'all', now)
  const { from, to } = isMonth(period.choice) ? period : daysOf(period)
  return { ...others, from, to }
}

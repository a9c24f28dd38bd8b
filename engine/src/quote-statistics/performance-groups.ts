/**
 * How did each lane, customer, rep, carrier, equipment or month do: quotes, wins, margin? A page of such groups in the requested
 * order, from the sums of performance-sums.ts. The ratios and their intervals are in performance.ts.
 */

import type { QuoteBook } from '../book/quote-book.ts'
import { lowerCase } from '../customer-name.ts'
import type { PerformanceSums } from '../performance.ts'
import { FACTS, type QuoteColumns } from '../quotes/quote-columns.ts'
import type { PricingRule } from '../rules/pricing-rules.ts'
import { firstInOrder } from '../statistics/first-in-order.ts'
import type { Steps } from '../steps.ts'
import { compareCodePoints } from './code-points.ts'
import { type CustomerRecords, mainKeyOf } from './customer-records.ts'
import { lowestRates } from './lowest-rates.ts'
import { LocalMonths, monthName } from './months.ts'
import {
  AT,
  addSums,
  emptySums,
  type GroupSums,
  NUMBERS_PER_GROUP,
  newestOf,
  quotesOf,
  ROWS_PER_STEP,
  sumByGroup,
  sumsOf,
} from './performance-sums.ts'
import type { IsSelected } from './quote-selection.ts'

export const PERFORMANCE_GROUPINGS = ['lane', 'customer', 'rep', 'carrier', 'equipment', 'month'] as const
export type PerformanceGrouping = (typeof PERFORMANCE_GROUPINGS)[number]

export const PERFORMANCE_RANKS = [
  'quotes',
  'win_rate',
  'margin',
  'margin_pct',
  'landed_vs_quoted',
  'lost_to_cost',
  'lost_to_rate',
  'quoted_too_low',
  'last_quoted',
  'month',
] as const
export type PerformanceRank = (typeof PERFORMANCE_RANKS)[number]

/** The groups of the selected quotes with their sums. A group is a number below `count`. */
export interface PerformanceGroups {
  readonly count: number
  readonly sums: GroupSums
  /** The unique key of a group, and the values that it consists of: places and equipment for a lane, else the key. */
  keyOf(group: number): string
  partsOf(group: number): readonly string[]
  /** The most frequent spelling of the name of a customer or a carrier. */
  writtenOf(group: number): string
  /** The first day of a month in epoch milliseconds, as if its time zone were UTC. */
  monthOf(group: number): number | null
}

export interface PerformanceQuestion {
  readonly by: PerformanceGrouping
  readonly isSelected: IsSelected
  readonly records: CustomerRecords
  /** The rules that are on. */
  readonly rules: readonly PricingRule[]
  /** The IANA time zone in which months begin. */
  readonly timeZone: string
  /** Only groups with a name, as written or as a key, that contains this text, in any case. */
  readonly named?: string
}

/**
 * Sums up the selected quotes of a book by lane, customer, rep, carrier, equipment or month. A rep is the person who quoted, not
 * the one who imported a quote. Quotes of a merged name count for the customer that it was merged into.
 */
export function* performanceGroups(book: QuoteBook, question: PerformanceQuestion): Steps<PerformanceGroups> {
  const { by, isSelected, rules, records, named } = question
  const { lanes, names } = book
  const lowestRate = lowestRates(book, rules, records)
  const sum = (groups: number, groupOf: (columns: QuoteColumns, row: number) => number) =>
    sumByGroup(book, { groups, groupOf, isSelected, lowestRate })
  switch (by) {
    case 'lane': {
      const sums = yield* sum(lanes.length, (columns, row) => columns.lane[row]!)
      return yield* compact(sums, (lane) => {
        const places = lanes[lane]?.places
        return places === undefined
          ? ['']
          : [places.originKey, places.destinationKey, places.equipmentCode].filter(
              (part, nth) => nth === 0 || part !== '',
            )
      })
    }
    case 'equipment': {
      const sums = yield* sum(lanes.length, (columns, row) => columns.lane[row]!)
      return yield* folded(sums, { keyOf: (lane) => lanes[lane]?.places.equipmentCode ?? '' })
    }
    case 'customer': {
      const sums = yield* sum(names.customers.length, (columns, row) => columns.names[row]!)
      return yield* folded(sums, {
        keyOf: (number) => mainKeyOf(records, names.customers[number]?.key ?? ''),
        writtenOf: (number) => names.customers[number]?.written ?? '',
        named,
      })
    }
    case 'carrier': {
      const sums = yield* sum(names.carriers.length, (columns, row) => columns.carrier[row]!)
      return yield* folded(sums, {
        keyOf: (number) => names.carriers[number]?.key ?? '',
        writtenOf: (number) => names.carriers[number]?.written ?? '',
        named,
      })
    }
    case 'rep': {
      const people = new Map<number, number>()
      const keys: string[] = []
      const sums = yield* sum(0, (columns, row) => {
        const isImported = (columns.facts[row]! & FACTS.imported) !== 0
        const person = isImported ? 0 : columns.person[row]!
        const known = people.get(person)
        if (known !== undefined) return known
        const number = keys.push(person === 0 ? '' : String(person)) - 1
        people.set(person, number)
        return number
      })
      return yield* compact(sums, (number) => [keys[number] ?? ''])
    }
    case 'month': {
      const local = new LocalMonths(question.timeZone)
      const sums = yield* sum(0, (columns, row) => local.of(columns.quotedAt[row]!).number)
      const dayOf = (number: number) => `${monthName(local.months[number] ?? { year: 0, month: 0 })}-01`
      const found = yield* compact(sums, (number) => [`${dayOf(number)} 00:00:00`])
      return { ...found, monthOf: (group) => Date.parse(found.keyOf(group).slice(0, 10)) }
    }
  }
}

/** The groups that have quotes. */
function* compact(sums: GroupSums, partsOf: (number: number) => readonly string[]): Steps<PerformanceGroups> {
  const numbers: number[] = []
  const all = sums.length / NUMBERS_PER_GROUP
  for (let number = 0; number < all; number++) {
    if (number % ROWS_PER_STEP === 0) yield
    if (quotesOf(sums, number) > 0) numbers.push(number)
  }
  const kept = emptySums(numbers.length)
  for (const [group, number] of numbers.entries()) addSums(sums, number, kept, group)
  const parts = (group: number) => partsOf(numbers[group] ?? 0)
  return {
    count: numbers.length,
    sums: kept,
    keyOf: (group) => parts(group).join('>'),
    partsOf: parts,
    writtenOf: () => '',
    monthOf: () => null,
  }
}

/** Puts groups with the same key together, named by their most frequent spelling. */
function* folded(
  sums: GroupSums,
  {
    keyOf,
    writtenOf = () => '',
    named,
  }: {
    readonly keyOf: (number: number) => string
    readonly writtenOf?: (number: number) => string
    readonly named?: string | undefined
  },
): Steps<PerformanceGroups> {
  const byKey = new Map<string, { numbers: number[]; spellings: Map<string, number> }>()
  const all = sums.length / NUMBERS_PER_GROUP
  for (let number = 0; number < all; number++) {
    if (number % ROWS_PER_STEP === 0) yield
    const quotes = quotesOf(sums, number)
    if (quotes === 0) continue
    const [key, written] = [keyOf(number), writtenOf(number)]
    const group = byKey.get(key) ?? { numbers: [], spellings: new Map<string, number>() }
    byKey.set(key, group)
    group.numbers.push(number)
    group.spellings.set(written, (group.spellings.get(written) ?? 0) + quotes)
  }
  const wanted = named === undefined ? null : lowerCase(named)
  const isNamed = (key: string, spellings: Iterable<string>) =>
    wanted === null || [key, ...spellings].some((text) => lowerCase(text).includes(wanted))
  const groups = [...byKey].filter(([key, { spellings }]) => isNamed(key, spellings.keys()))
  const kept = emptySums(groups.length)
  const spelled: string[] = []
  for (const [group, [, { numbers, spellings }]] of groups.entries()) {
    if (group % ROWS_PER_STEP === 0) yield
    for (const number of numbers) addSums(sums, number, kept, group)
    spelled.push(mostFrequent(spellings))
  }
  const keyOfGroup = (group: number) => groups[group]?.[0] ?? ''
  return {
    count: groups.length,
    sums: kept,
    keyOf: keyOfGroup,
    partsOf: (group) => [keyOfGroup(group)],
    writtenOf: (group) => spelled[group] ?? '',
    monthOf: () => null,
  }
}

/** The most frequent spelling of a name: of equally frequent ones, the first by code points. */
export function mostFrequent(spellings: ReadonlyMap<string, number>): string {
  let [best, most] = ['', 0]
  for (const [written, quotes] of spellings) {
    if (quotes > most || (quotes === most && compareCodePoints(written, best) < 0))
      [best, most] = [written, quotes]
  }
  return best
}

/** The end of a page: the sort value of its last row (null if it has none), its number of quotes, and its key. */
export interface PerformanceCursor {
  readonly rank: number | null
  readonly quotes: number
  readonly key: string
}

export interface PerformanceOrder {
  readonly rank: PerformanceRank
  readonly direction: 'asc' | 'desc'
  readonly cursor: PerformanceCursor | null
  readonly limit: number
}

export interface PerformanceRow extends PerformanceSums {
  readonly key: string
  readonly parts: readonly string[]
  readonly written: string
  readonly lastQuotedAt: number
  readonly rank: number | null
}

export interface PerformancePage {
  readonly rows: readonly PerformanceRow[]
  readonly rowsTotal: number
  readonly totals: PerformanceSums
}

/**
 * A page of groups, and the sums of all of them. Groups with equal sort values are ordered by number of quotes, most first, then by
 * key; those without the value are last.
 */
export function* performancePage(groups: PerformanceGroups, order: PerformanceOrder): Steps<PerformancePage> {
  const { count, sums } = groups
  const total = emptySums(1)
  const ranks = new Float64Array(count)
  for (let group = 0; group < count; group++) {
    if (group % ROWS_PER_STEP === 0) yield
    addSums(sums, group, total, 0)
    ranks[group] = rankOf(groups, group, order.rank) ?? Number.NaN
  }
  const sign = order.direction === 'desc' ? -1 : 1
  const compareTo = (one: number, rank: number, quotes: number, key: () => string) => {
    const own = ranks[one]!
    if (own !== rank && !(Number.isNaN(own) && Number.isNaN(rank))) {
      if (Number.isNaN(own)) return 1
      if (Number.isNaN(rank)) return -1
      return sign * (own - rank)
    }
    return quotes - quotesOf(sums, one) || compareCodePoints(groups.keyOf(one), key())
  }
  const { cursor } = order
  const candidates = new Int32Array(count)
  let left = 0
  for (let group = 0; group < count; group++) {
    if (group % ROWS_PER_STEP === 0) yield
    const isAfter =
      cursor === null || compareTo(group, cursor.rank ?? Number.NaN, cursor.quotes, () => cursor.key) > 0
    if (isAfter) candidates[left++] = group
  }
  const page = firstInOrder(candidates.subarray(0, left), order.limit, (one, other) =>
    compareTo(one, ranks[other]!, quotesOf(sums, other), () => groups.keyOf(other)),
  )
  yield
  return {
    rows: Array.from(page, (group) => ({
      ...sumsOf(sums, group),
      key: groups.keyOf(group),
      parts: groups.partsOf(group),
      written: groups.writtenOf(group),
      lastQuotedAt: newestOf(sums, group),
      rank: rankOf(groups, group, order.rank),
    })),
    rowsTotal: count,
    totals: sumsOf(total, 0),
  }
}

/** The value that a group is sorted by; null without it. */
function rankOf(groups: PerformanceGroups, group: number, rank: PerformanceRank): number | null {
  const { sums } = groups
  const of = (name: keyof typeof AT) => sums[group * NUMBERS_PER_GROUP + AT[name]]!
  const ifCompared = (cents: number) => (of('comparableShipments') > 0 ? cents : null)
  switch (rank) {
    case 'quotes':
      return of('quotes')
    case 'win_rate': {
      const decided = of('won') + of('lost')
      return decided > 0 ? of('won') / decided : null
    }
    case 'margin':
      return of('shipments') > 0 ? of('customerRateCents') - of('truckCostCents') : null
    case 'margin_pct': {
      const revenue = of('customerRateCents')
      return revenue === 0 ? null : (revenue - of('truckCostCents')) / revenue
    }
    case 'landed_vs_quoted':
      return ifCompared(of('comparableMarginCents') - of('quotedMarginCents'))
    case 'lost_to_cost':
      return ifCompared(of('lostToCostCents'))
    case 'lost_to_rate':
      return ifCompared(of('lostToRateCents'))
    case 'quoted_too_low':
      return of('quotesWithCost') > 0 ? of('quotedTooLowCents') : null
    case 'last_quoted':
      return newestOf(sums, group)
    case 'month': {
      const first = groups.monthOf(group)
      return first === null ? null : first / 1000
    }
  }
}

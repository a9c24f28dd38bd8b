/**
 * Quotes, wins, revenue, truck cost and shortfalls of the quotes in the book, added up by group. Sums of whole cents are exact in
 * any order.
 * docs/model.md, "Quoted and landed margin", explains the sums.
 */

import type { QuoteBook } from '../book/quote-book.ts'
import type { PerformanceSums } from '../performance.ts'
import { FACTS, LOST, type QuoteColumns, WON } from '../quotes/quote-columns.ts'
import type { Steps } from '../steps.ts'
import type { LowestRate } from './lowest-rates.ts'
import type { IsSelected } from './quote-selection.ts'

/** Rows that are summed in one step: about a millisecond. */
export const ROWS_PER_STEP = 10_000

const names = [
  'quotes',
  'won',
  'lost',
  'shipments',
  'customerRateCents',
  'truckCostCents',
  'comparableShipments',
  'comparableMarginCents',
  'quotedMarginCents',
  'lostToCostCents',
  'lostToRateCents',
  'quotesWithCost',
  'quotedTooLow',
  'quotedTooLowWon',
  'quotedTooLowCents',
] as const satisfies readonly (keyof PerformanceSums)[]

/** The numbers of a group: the sums in the order of `names`, and the time of its newest quote. */
export const NUMBERS_PER_GROUP = names.length + 1
const NEWEST = names.length

/** The place of each number of a group. */
export const AT = Object.fromEntries(names.map((name, nth) => [name, nth])) as Readonly<
  Record<(typeof names)[number], number>
>

/** The sums of groups, one after the other: see `NUMBERS_PER_GROUP`. */
export type GroupSums = Float64Array<ArrayBuffer>

export function emptySums(groups: number): GroupSums {
  const sums = new Float64Array(groups * NUMBERS_PER_GROUP)
  for (let group = 0; group < groups; group++)
    sums[group * NUMBERS_PER_GROUP + NEWEST] = Number.NEGATIVE_INFINITY
  return sums
}

export function sumsOf(sums: GroupSums, group: number): PerformanceSums {
  const at = group * NUMBERS_PER_GROUP
  return Object.fromEntries(names.map((name, nth) => [name, sums[at + nth] ?? 0])) as Record<
    (typeof names)[number],
    number
  >
}

export const quotesOf = (sums: GroupSums, group: number) => sums[group * NUMBERS_PER_GROUP]!
/** When the newest quote of a group was quoted, in epoch milliseconds. */
export const newestOf = (sums: GroupSums, group: number) => sums[group * NUMBERS_PER_GROUP + NEWEST]!

export function addSums(from: GroupSums, group: number, to: GroupSums, other: number): void {
  const [at, target] = [group * NUMBERS_PER_GROUP, other * NUMBERS_PER_GROUP]
  for (let nth = 0; nth < NEWEST; nth++) to[target + nth]! += from[at + nth]!
  to[target + NEWEST] = Math.max(to[target + NEWEST]!, from[at + NEWEST]!)
}

/**
 * Sums up the selected quotes of a book by group.
 *
 * A margin has landed when AR and AP are both booked; it is compared with the quoted one if the quoted rate and the expected cost
 * are known. A quote is too low if its rate is below the lowest rate.
 */
export function* sumByGroup(
  { columns }: QuoteBook,
  {
    groups,
    groupOf,
    isSelected,
    lowestRate,
  }: {
    /** The number of groups that is known before; `groupOf` may find more. */
    readonly groups: number
    readonly groupOf: (columns: QuoteColumns, row: number) => number
    readonly isSelected: IsSelected
    readonly lowestRate: LowestRate
  },
): Steps<GroupSums> {
  let sums = emptySums(groups)
  for (let row = 0; row < columns.rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    if (columns.lane[row]! < 0 || !isSelected(columns, row)) continue
    const at = groupOf(columns, row) * NUMBERS_PER_GROUP
    if (at >= sums.length) {
      const more = emptySums(2 * (at / NUMBERS_PER_GROUP + 1))
      more.set(sums)
      sums = more
    }
    addQuote(sums, at, columns, row, lowestRate)
  }
  return sums
}

function addQuote(
  sums: GroupSums,
  at: number,
  columns: QuoteColumns,
  row: number,
  lowestRate: LowestRate,
): void {
  const add = (nth: number, by: number) => {
    sums[at + nth]! += by
  }
  const outcome = columns.outcomeOf(row)
  const isWon = outcome === WON
  add(0, 1)
  if (isWon) add(1, 1)
  else if (outcome === LOST) add(2, 1)
  sums[at + NEWEST] = Math.max(sums[at + NEWEST]!, columns.quotedAt[row]!)
  const quoted = columns.quotedCents[row]!
  const quotedCost = columns.quotedCostCents[row]!
  const isPriced = quoted !== 0 && quotedCost !== 0
  const landed = FACTS.customerRate | FACTS.truckCost
  if ((columns.facts[row]! & landed) === landed) {
    const revenue = columns.rateCents[row]!
    const cost = columns.costCents[row]!
    add(3, 1)
    add(4, revenue)
    add(5, cost)
    if (isPriced) {
      add(6, 1)
      add(7, revenue - cost)
      add(8, quoted - quotedCost)
      if (cost > quotedCost) add(9, cost - quotedCost)
      if (quoted > revenue) add(10, quoted - revenue)
    }
  }
  if (!isPriced) return
  const tooLow = lowestRate(columns, row) - quoted
  add(11, 1)
  if (tooLow <= 0) return
  add(12, 1)
  if (!isWon) return
  add(13, 1)
  add(14, tooLow)
}

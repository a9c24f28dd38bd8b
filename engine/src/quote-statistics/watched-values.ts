import type { QuoteBook } from '../book/quote-book.ts'
import { FACTS, LOST, UNKNOWN_COST, WON } from '../book/quote-columns.ts'
import { median } from '../statistics/median.ts'
import { QUOTES_PER_STEP, type Steps } from '../steps.ts'
import type { WatchedMetric, WatchedValue } from '../watch/lane-watch.ts'
import { type CustomerRecords, mainKeyOf } from './customer-records.ts'
import type { IsSelected } from './quote-selection.ts'

const dayMs = 86_400_000

/** What is followed: a lane by its keys, a market by the codes of its ends, or all lanes of a selection. */
export interface WatchedScope {
  readonly originKey?: string
  readonly destinationKey?: string
  readonly equipmentCode?: string | null
  readonly originMarket?: string
  readonly destinationMarket?: string
}

/** The values of a scope by metric, and the customers behind them. */
export interface WatchedValues {
  readonly values: Readonly<Record<WatchedMetric, readonly WatchedValue[]>>
  readonly customers: readonly string[]
}

/** A number from 0 to 1 that follows from a number: multiplication by the golden ratio spreads consecutive ones. */
const chanceOf = (id: number) => (id * 0.618_033_988_749_895) % 1

/**
 * The costs, rates and results of the selected quotes since a time. The quotes of a customer on a lane on one day are often one decision,
 * so they count once, as their middle. A rate counts on the day of its quote, a cost too; a result on the day of the decision.
 */
export function* watchedValues(
  { lanes, columns, names }: QuoteBook,
  scope: WatchedScope,
  {
    isSelected,
    records,
    since,
  }: { readonly isSelected: IsSelected; readonly records: CustomerRecords; readonly since: number },
): Steps<WatchedValues> {
  const found: Record<
    WatchedMetric,
    Map<string, { day: number; group: string; of: number[]; id: number }>
  > = {
    cost: new Map(),
    rate: new Map(),
    win_rate: new Map(),
  }
  const customers = new Set<string>()
  let seen = 0
  for (const { number, places } of lanes) {
    const isOfScope =
      (scope.originKey === undefined || scope.originKey === places.originKey) &&
      (scope.destinationKey === undefined || scope.destinationKey === places.destinationKey) &&
      (scope.originMarket === undefined || scope.originMarket === places.originMarket) &&
      (scope.destinationMarket === undefined || scope.destinationMarket === places.destinationMarket) &&
      (scope.equipmentCode == null || scope.equipmentCode === places.equipmentCode)
    if (!isOfScope) continue
    for (const row of columns.rowsOf(number)) {
      if (++seen % QUOTES_PER_STEP === 0) yield
      const at = columns.quotedAt[row] as number
      if (at < since || !isSelected(columns, row)) continue
      const facts = columns.facts[row] as number
      if ((facts & FACTS.notDirect) !== 0) continue
      const named = names.customers[columns.names[row] as number]
      const customer = mainKeyOf(records, named?.key ?? '')
      customers.add(named?.written ?? '')
      if (named !== undefined && named.quotedKey !== named.key) customers.add(named.quotedKey)
      const group = `${number} ${columns.rateTypeOf(row)}`
      const add = (metric: WatchedMetric, day: number, value: number) => {
        const key = `${day} ${group} ${customer}`
        const one = found[metric].get(key)
        if (one === undefined) {
          found[metric].set(key, { day, group, of: [value], id: columns.laneId[row] as number })
        } else one.of.push(value)
      }
      const day = Math.floor(at / dayMs)
      const [rate, cost] = [columns.quotedCents[row] as number, columns.costCents[row] as number]
      if (rate > 0) add('rate', day, Math.log(rate / 100))
      if ((facts & FACTS.truckCost) !== 0 && cost !== UNKNOWN_COST && cost > 0) {
        add('cost', day, Math.log(cost / 100))
      }
      const outcome = columns.outcomeOf(row)
      if (outcome === WON || outcome === LOST) {
        const decided = Math.floor((columns.decidedAt[row] as number) / dayMs)
        add('win_rate', decided, outcome === WON ? 1 : 0)
      }
    }
  }
  const listed = (metric: WatchedMetric): WatchedValue[] =>
    [...found[metric].values()].map(({ day, group, of, id }) => ({
      day,
      group,
      value: metric === 'win_rate' ? (of[0] as number) : (median(of) ?? 0),
      chance: chanceOf(id),
    }))
  return {
    values: { cost: listed('cost'), rate: listed('rate'), win_rate: listed('win_rate') },
    customers: [...customers].filter((name) => name !== ''),
  }
}

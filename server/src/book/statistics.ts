import type { MissedColumns } from '#engine/backtest/missed-margin.ts'
import { type ConvertedCounts, convertedCounts } from '#engine/quote-statistics/basis-counts.ts'
import { type MarginGaps, marginGaps } from '#engine/quote-statistics/margin-gaps.ts'
import {
  listMissed,
  type MissedGroups,
  type MissedSums,
  missedByGroup,
  type PlacedMissed,
} from '#engine/quote-statistics/missed-sums.ts'
import {
  type PerformanceGrouping,
  type PerformanceOrder,
  type PerformancePage,
  performanceGroups,
  performancePage,
} from '#engine/quote-statistics/performance-groups.ts'
import { type QuoteSelection, selectedRows } from '#engine/quote-statistics/quote-selection.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { readCustomerRecords } from '../database/queries/index.ts'
import { currentViewer, type Database, forBrokerage, type TenantId } from '../database/session/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import type { Books } from './books.ts'
import type { BrokerageBook } from './brokerage-book.ts'

/** Statistics of a brokerage, computed from its book as the current person may see it. */
export interface Statistics {
  /** The basis of all amounts. They are US dollars. */
  readonly basis: RateBasis
  performance(
    by: PerformanceGrouping,
    selection: QuoteSelection,
    order: PerformanceOrder & { readonly named?: string },
  ): Promise<PerformancePage>
  /** The shipments of a selection whose actual margin is below the quoted one. */
  marginGaps(selection: QuoteSelection, page: Parameters<typeof marginGaps>[2]): Promise<MarginGaps>
  /** The judged quotes of a selection that still have the outcome that they were judged for. */
  missedBy(
    judged: JudgedQuotes,
    selection: QuoteSelection,
    asked: Omit<Parameters<typeof missedByGroup>[2], 'isSelected' | 'records'>,
  ): Promise<MissedGroups>
  listMissed(
    judged: JudgedQuotes,
    selection: QuoteSelection,
    asked: Omit<Parameters<typeof listMissed>[2], 'isSelected'>,
  ): Promise<{ readonly totals: MissedSums; readonly quotes: readonly PlacedMissed[] }>
  /** How many quotes of a selection were converted, and how many could not be. */
  converted(selection: QuoteSelection): Promise<ConvertedCounts>
}

/** The result of a test on history. `asOf` is the time of the test: two results of a brokerage have different ones. */
export interface JudgedQuotes {
  readonly missed: MissedColumns
  readonly asOf: number
}

const noneConverted: ConvertedCounts = {
  convertedBy: { charges: 0, schedule: 0, exchange: 0 },
  keptApart: 0,
  keptApartInCad: 0,
}

/** Approximate memory of a small result, in bytes. */
const smallBytes = 500

/**
 * The statistics of a brokerage, with everything that was committed before the call.
 *
 * @throws DatabaseUnavailable when the book, or what it depends on, cannot be read
 * @throws Problem when the quotes of the brokerage do not fit into the memory of the service
 */
export async function statisticsOf(
  {
    books,
    database,
  }: { readonly books: Books<BrokerageBook>; readonly database: Pick<Database, 'inTenant'> },
  tenant: TenantId,
): Promise<Statistics> {
  const reader = currentViewer()
  const { quotes: book, settings, versions } = await books.read(tenant)
  const { access } = versions
  const records = await book.customerRecords(access, () =>
    // They are those of the whole brokerage, whoever waits for them.
    forBrokerage(() => database.inTenant(tenant, (transaction) => readCustomerRecords(transaction, tenant))),
  )
  const nameOf = (kind: string, ...about: readonly unknown[]) =>
    JSON.stringify([kind, reader?.userId ?? null, ...about])
  return {
    basis: settings.basis,
    async performance(by, selection, { named, ...order }) {
      const groups = await book.statistics(
        nameOf('performance', by, selection, named),
        access,
        (quotes) =>
          performanceGroups(quotes, {
            by,
            isSelected: selectedRows(quotes, selection, records, reader),
            records,
            rules: settings.rules,
            timeZone: settings.timeZone,
            ...(named === undefined ? {} : { named }),
          }),
        ({ sums }) => sums.byteLength,
      )
      return yieldBetweenSteps(performancePage(groups, order))
    },
    marginGaps: (selection, page) =>
      book.statistics(
        nameOf('margin gaps', selection, page),
        access,
        (quotes) => marginGaps(quotes, selectedRows(quotes, selection, records, reader), page),
        ({ gaps }) => smallBytes * (1 + gaps.length),
      ),
    missedBy: ({ missed, asOf }, selection, asked) =>
      book.statistics(
        nameOf('missed by', asOf, selection, asked),
        access,
        (quotes) => {
          const isSelected = selectedRows(quotes, selection, records, reader)
          return missedByGroup(quotes, missed, { ...asked, isSelected, records })
        },
        ({ rows }) => smallBytes * (1 + rows.length),
      ),
    listMissed: ({ missed, asOf }, selection, asked) =>
      book.statistics(
        nameOf('missed', asOf, selection, asked),
        access,
        (quotes) =>
          listMissed(quotes, missed, {
            ...asked,
            isSelected: selectedRows(quotes, selection, records, reader),
          }),
        ({ quotes }) => smallBytes * (1 + quotes.length),
      ),
    async converted(selection) {
      if (!settings.mixed) return noneConverted
      return book.statistics(
        nameOf('converted', selection),
        access,
        (quotes) => convertedCounts(quotes, selectedRows(quotes, selection, records, reader)),
        () => smallBytes,
      )
    },
  }
}

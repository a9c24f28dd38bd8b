import { Problem } from '#contract/errors.ts'
import type { MissedColumns } from '#engine/backtest/missed-margin.ts'
import type { BookLane, QuoteBook } from '#engine/book/quote-book.ts'
import type { MarketRate } from '#engine/market-rate.ts'
import {
  type ConvertedCounts,
  convertedCounts,
  noneConverted,
} from '#engine/quote-statistics/basis-counts.ts'
import { type CustomerAnswers, customerAnswers } from '#engine/quote-statistics/customer-answers.ts'
import { type LaneRecord, recordOfLanes } from '#engine/quote-statistics/lane-record.ts'
import { localDay } from '#engine/quote-statistics/local-days.ts'
import { lowestRates } from '#engine/quote-statistics/lowest-rates.ts'
import { type MarginGaps, marginGaps } from '#engine/quote-statistics/margin-gaps.ts'
import { listMissed, type MissedSums, type PlacedMissed } from '#engine/quote-statistics/missed-sums.ts'
import {
  type PerformanceGrouping,
  type PerformanceOrder,
  type PerformancePage,
  performanceGroups,
  performancePage,
} from '#engine/quote-statistics/performance-groups.ts'
import {
  type IsSelected,
  type QuoteSelection,
  rowsWithIds,
  selectedRows,
} from '#engine/quote-statistics/quote-selection.ts'
import { type FigureOfQuotes, quotesBehind } from '#engine/quote-statistics/quotes-behind.ts'
import { type ShipmentTotals, shipmentTotals } from '#engine/quote-statistics/shipment-totals.ts'
import {
  type MarketOfLanes,
  newestMilesOf,
  newestRateOf,
  type StandingOfQuotes,
  standingOfQuotes,
} from '#engine/quote-statistics/standing-of-quotes.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { mapInSteps } from '#engine/steps.ts'
import { type BookSettings, readCustomerRecords } from '../database/queries/index.ts'
import { currentViewer, type Database, forBrokerage, type TenantId } from '../database/session/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import type { Books } from './books.ts'
import { BrokerageBook } from './brokerage-book.ts'
import { openQuotes } from './quote-rows.ts'

/** Statistics of a brokerage, computed from its book as the current person may see it. */
export interface Statistics {
  /** The basis of all amounts, which are in US dollars. */
  readonly basis: RateBasis
  /** All lanes of the book, by number. */
  readonly lanes: readonly BookLane[]
  performance(
    by: PerformanceGrouping,
    selection: QuoteSelection,
    order: PerformanceOrder & { readonly named?: string },
  ): Promise<PerformancePage>
  /** The shipments of a selection whose actual margin is below the quoted one. */
  marginGaps(selection: QuoteSelection, page: Parameters<typeof marginGaps>[2]): Promise<MarginGaps>
  /** The quotes of a backtest that missed margin and still have the outcome of its time. */
  missed(
    judged: JudgedQuotes,
    page: Omit<Parameters<typeof listMissed>[2], 'isSelected'>,
  ): Promise<{ readonly totals: readonly MissedSums[]; readonly quotes: readonly PlacedMissed[] }>
  /**
   * How a selection's customer decides: quotes up to `now`, in two periods of `days` days in the brokerage's time zone. The last day
   * is today.
   */
  customerAnswers(
    selection: QuoteSelection,
    periods: { readonly now: number; readonly days: number },
  ): Promise<CustomerAnswers>
  /** The quotes of a selection, compared with the market rates of their days. */
  standing(selection: QuoteSelection, market: MarketOfBook): Promise<StandingOfQuotes>
  /** The newest market rates that lanes were compared with. */
  newestRates(
    selection: QuoteSelection,
    market: MarketOfBook,
    lanes: readonly number[],
  ): Promise<(MarketRate | null)[]>
  /** How many quotes of a selection were converted, and how many do not count because they cannot be, or are of no direct truckload. */
  converted(selection: QuoteSelection): Promise<ConvertedCounts>
  /** The ids of the quotes of a selection that count in a figure, in no particular order. */
  behind(figure: FigureOfQuotes, selection: QuoteSelection): Promise<readonly number[]>
  /**
   * The totals of shipments, and how many of their quotes were converted. The shipments are those of a selection, or of given quotes
   * that the reader may see.
   */
  shipments(
    which: QuoteSelection | { readonly quoteIds: readonly number[] },
  ): Promise<{ readonly totals: ShipmentTotals; readonly converted: ConvertedCounts }>
  /** The months and the newest quotes (points) of a city pair. If an equipment is selected, the points are only of that one. */
  laneRecord(selection: CityPair & QuoteSelection, pointsMax: number): Promise<LaneRecord>
}

type CityPair = Required<Pick<QuoteSelection, 'originKey' | 'destinationKey'>>

/** What statistics are read from. */
interface StatisticsParts {
  readonly books: Pick<Books<BrokerageBook>, 'read'>
  readonly database: Pick<Database, 'inTenant'>
}

/** The market rates of a book's lanes, by lane number, and the miles that convert them. */
export interface MarketOfBook {
  marketOf(lane: number): MarketOfLanes
  /** The miles between the places of a lane; null if one of them is unknown. */
  measuredMiles(lane: number): number | null
}

/** The quotes that a backtest judged. `asOf` is the time of the backtest, and identifies it within the brokerage. */
export interface JudgedQuotes {
  readonly missed: MissedColumns
  readonly asOf: number
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
  { books, database }: StatisticsParts,
  tenant: TenantId,
): Promise<Statistics> {
  const reader = currentViewer()
  const { quotes: book, settings, versions } = await books.read(tenant)
  const { access } = versions
  const records = await book.customerRecords(access, () =>
    // The records are those of the whole brokerage, also if customers are hidden from the person who waits.
    forBrokerage(() => database.inTenant(tenant, (transaction) => readCustomerRecords(transaction, tenant))),
  )
  const nameOf = (kind: string, ...about: readonly unknown[]) =>
    JSON.stringify([kind, reader?.userId ?? null, ...about])
  return {
    basis: settings.basis,
    lanes: book.quotes.lanes,
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
    missed: ({ missed, asOf }, page) =>
      book.statistics(
        nameOf('missed', asOf, page),
        access,
        (quotes) =>
          listMissed(quotes, missed, { ...page, isSelected: selectedRows(quotes, {}, records, reader) }),
        ({ quotes }) => smallBytes * (1 + quotes.length),
      ),
    customerAnswers(selection, { now, days }) {
      const { timeZone } = settings
      const periods = {
        recentFrom: localDay(timeZone, now, days - 1),
        beforeFrom: localDay(timeZone, now, 2 * days - 1),
      }
      return book.statistics(
        nameOf('customer answers', selection, periods),
        access,
        (quotes) => customerAnswers(quotes, selectedRows(quotes, selection, records, reader), periods),
        () => smallBytes,
      )
    },
    ...againstMarket(book, (quotes, selection) => selectedRows(quotes, selection, records, reader)),
    ...ofLists({ book, settings, access, records, reader, nameOf }),
  }
}

/** The most quotes that are read for one answer without the book of their brokerage: 20 MB. */
const quotesWithoutBookMax = 200_000

/**
 * Statistics of some quotes: from the book of the brokerage, or from these quotes alone if the book does not fit into memory.
 *
 * @param idsOf the ids of all quotes that the statistics are about
 * @throws Problem when the quotes of the brokerage do not fit into the memory of the service, and these are too many
 */
export async function statisticsOfSome(
  parts: StatisticsParts,
  tenant: TenantId,
  idsOf: () => Promise<readonly number[]>,
): Promise<Statistics> {
  try {
    return await statisticsOf(parts, tenant)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const only = await idsOf()
    if (only.length > quotesWithoutBookMax) throw error
    const quotes = new BrokerageBook()
    const { versions, settings, days } = await openQuotes(parts.database, tenant, quotes, { only })
    const books = { read: async () => ({ quotes, versions, settings, days }) }
    return statisticsOf({ ...parts, books }, tenant)
  }
}

/** The data that all members of `Statistics` read. */
interface Read {
  readonly book: BrokerageBook
  readonly settings: BookSettings
  readonly access: Parameters<BrokerageBook['statistics']>[1]
  readonly records: Parameters<typeof selectedRows>[2]
  readonly reader: Parameters<typeof selectedRows>[3]
  readonly nameOf: (kind: string, ...about: readonly unknown[]) => string
}

/** The members of `Statistics` for lists of quotes and pages of lanes. */
function ofLists({
  book,
  settings,
  access,
  records,
  reader,
  nameOf,
}: Read): Pick<Statistics, 'converted' | 'behind' | 'shipments' | 'laneRecord'> {
  return {
    async converted(selection) {
      if (!settings.mixed && book.quotes.apart.size === 0) return noneConverted
      const lanes = quotesOf(book.quotes, selection)
      if (lanes === null) {
        return book.statistics(
          nameOf('converted', selection),
          access,
          (quotes) => convertedCounts(quotes, selectedRows(quotes, selection, records, reader)),
          () => smallBytes,
        )
      }
      const { originKey: _, destinationKey: __, equipmentCode: ___, ...others } = selection
      return book.reading((quotes) =>
        convertedCounts(quotes, selectedRows(quotes, others, records, reader), lanes),
      )
    },
    behind: (figure, selection) =>
      book.statistics(
        nameOf('behind', figure, selection),
        access,
        (quotes) =>
          quotesBehind(quotes, figure, {
            isSelected: selectedRows(quotes, selection, records, reader),
            lowestRate: lowestRates(quotes, settings.rules, records),
          }),
        (ids) => smallBytes + 8 * ids.length,
      ),
    shipments(which) {
      const totalsOf = (isSelectedIn: (quotes: QuoteBook) => IsSelected) =>
        function* (quotes: QuoteBook) {
          const isSelected = isSelectedIn(quotes)
          const totals = yield* shipmentTotals(quotes, isSelected)
          return { totals, converted: yield* convertedCounts(quotes, isSelected) }
        }
      if ('quoteIds' in which) return book.reading(totalsOf(() => rowsWithIds(which.quoteIds)))
      return book.statistics(
        nameOf('shipments', which),
        access,
        totalsOf((quotes) => selectedRows(quotes, { ...which, booked: true }, records, reader)),
        () => smallBytes,
      )
    },
    laneRecord(selection, pointsMax) {
      const { equipmentCode = null, originKey, destinationKey, ...others } = selection
      const lanes = book.quotes.corridor(originKey, destinationKey)?.lanes ?? []
      return book.reading((quotes) =>
        recordOfLanes(quotes, lanes, {
          isSelected: selectedRows(quotes, others, records, reader),
          timeZone: settings.timeZone,
          equipmentCode,
          pointsMax,
        }),
      )
    },
  }
}

/** The lanes of a selection of one city pair; null for other selections. */
function quotesOf(
  quotes: QuoteBook,
  { originKey, destinationKey, equipmentCode }: QuoteSelection,
): BookLane[] | null {
  if (originKey === undefined || destinationKey === undefined) return null
  const lanes = quotes.corridor(originKey, destinationKey)?.lanes ?? []
  return lanes.filter(({ places }) => equipmentCode === undefined || places.equipmentCode === equipmentCode)
}

/** The members that compare quotes with market rates. They are not cached: the rates can change without a change of the book. */
function againstMarket(
  book: BrokerageBook,
  selectedOf: (quotes: QuoteBook, selection: QuoteSelection) => IsSelected,
): Pick<Statistics, 'standing' | 'newestRates'> {
  return {
    standing: (selection, market) =>
      book.reading((quotes) => {
        const isSelected = selectedOf(quotes, selection)
        return standingOfQuotes(quotes, { isSelected, ...milesToConvert(quotes, isSelected, market) })
      }),
    newestRates: (selection, market, lanes) =>
      book.reading((quotes) => {
        const isSelected = selectedOf(quotes, selection)
        const { marketOf, milesOf } = milesToConvert(quotes, isSelected, market)
        return mapInSteps(lanes, (lane) =>
          newestRateOf(quotes, lane, { isSelected, market: marketOf(lane), miles: () => milesOf(lane) }),
        )
      }),
  }
}

/** The market rates of lanes, and their miles: measured, else those of their newest quotes. Each lane is measured once. */
function milesToConvert(
  quotes: QuoteBook,
  isSelected: IsSelected,
  { marketOf, measuredMiles }: MarketOfBook,
): { marketOf: MarketOfBook['marketOf']; milesOf: (lane: number) => number | null } {
  const known = new Map<number, number | null>()
  return {
    marketOf,
    milesOf(lane) {
      const miles = known.get(lane)
      if (miles !== undefined) return miles
      const found = measuredMiles(lane) ?? newestMilesOf(quotes, lane, isSelected)
      known.set(lane, found)
      return found
    },
  }
}

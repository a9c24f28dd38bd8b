import type { AnswerOf } from '#contract/endpoint.ts'
import type * as contract from '#contract/performance.ts'
import { dollarsIfKnown } from '#engine/money.ts'
import { type PerformanceSums, performanceOf } from '#engine/performance.ts'
import type {
  PerformanceCursor,
  PerformanceGrouping,
  PerformanceRank,
  PerformanceRow,
} from '#engine/quote-statistics/performance-groups.ts'
import type { QuoteSelection } from '#engine/quote-statistics/quote-selection.ts'
import { statisticsOf } from '../../book/index.ts'
import { customers, performance, userNames } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { cursorPosition, wrongCursor } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'
import { basisAnswer } from './compared-basis.ts'

type PerformanceAnswer = AnswerOf<typeof contract.getPerformance>

export function figures(sums: PerformanceSums): PerformanceAnswer['totals'] {
  const found = performanceOf(sums)
  const interval = found.winRateInterval
  return {
    quotes: sums.quotes,
    won: sums.won,
    lost: sums.lost,
    pending: found.pending,
    decided: found.decided,
    win_rate_pct: found.winRatePct,
    win_rate_interval: interval === null ? null : { low_pct: interval.lowPct, high_pct: interval.highPct },
    shipments: sums.shipments,
    customer_rate: dollarsIfKnown(found.customerRateCents),
    truck_cost: dollarsIfKnown(found.truckCostCents),
    margin: dollarsIfKnown(found.marginCents),
    margin_pct: found.marginPct,
    comparable_shipments: sums.comparableShipments,
    quoted_margin: dollarsIfKnown(found.quotedMarginCents),
    landed_vs_quoted: dollarsIfKnown(found.landedVsQuotedCents),
    lost_to_cost: dollarsIfKnown(found.lostToCostCents),
    lost_to_rate: dollarsIfKnown(found.lostToRateCents),
    gained: dollarsIfKnown(found.gainedCents),
    quotes_with_cost: sums.quotesWithCost,
    quoted_too_low: sums.quotedTooLow,
    quoted_too_low_won: sums.quotedTooLowWon,
    quoted_too_low_amount: dollarsIfKnown(found.quotedTooLowCents),
  }
}

type Named = Pick<PerformanceAnswer['rows'][number], 'key' | 'label' | 'lane'>

/** The label of each row: the latest spelling of the lane's places, the name of the rep, or the month in words. */
export async function namesOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  by: PerformanceGrouping,
  rows: readonly Pick<PerformanceRow, 'key' | 'parts' | 'written'>[],
): Promise<Named[]> {
  switch (by) {
    case 'lane': {
      const keys = rows.map(({ parts: [originKey = '', destinationKey = '', equipmentCode = ''] }) => ({
        originKey,
        destinationKey,
        equipmentCode,
      }))
      const places = await performance.placesOfLanes(transaction, tenant, keys)
      return rows.map(({ key }, index) => {
        const [equipment, place] = [keys[index]?.equipmentCode ?? '', places[index]]
        const [origin, destination] = [place?.origin ?? '', place?.destination ?? '']
        return {
          key,
          label: `${origin} to ${destination}, ${equipment}`,
          lane: { origin, destination, equipment },
        }
      })
    }
    case 'rep': {
      const names = await userNames(
        transaction,
        tenant,
        rows.filter(({ key }) => key !== '').map(({ key }) => Number(key)),
      )
      return rows.map(({ key }) => ({
        key,
        label: names.get(Number(key)) ?? 'No rep (imported)',
        lane: null,
      }))
    }
    case 'month':
      return rows.map(({ key }) => ({
        key: key.slice(0, 7),
        label: monthInWords(key.slice(0, 10)),
        lane: null,
      }))
    case 'customer': {
      const records = await customers.customersOfKeys(
        transaction,
        tenant,
        rows.map(({ key }) => key),
      )
      const names = new Map(records.map((record) => [record.key, record.name]))
      return rows.map(({ key, written }) => ({ key, label: names.get(key) ?? written, lane: null }))
    }
    case 'carrier':
      return rows.map(({ key, written }) => ({
        key,
        label: key === '' ? 'No carrier' : written,
        lane: null,
      }))
    case 'equipment':
      return rows.map(({ key }) => ({ key, label: key, lane: null }))
  }
}

const monthForm = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** @example monthInWords('2026-03-01') // 'March 2026' */
function monthInWords(firstDay: string): string {
  return monthForm.format(new Date(firstDay))
}

/** How rows are grouped and ordered. */
interface AskedOrder {
  readonly by: PerformanceGrouping
  readonly sort?: PerformanceRank
  readonly order?: 'desc' | 'asc'
}

/** The order of the rows. A cursor belongs to the order with its `name`. */
export function orderOf(query: AskedOrder) {
  const rank: PerformanceRank = query.sort ?? (query.by === 'month' ? 'month' : 'quotes')
  return { rank, direction: query.order ?? 'desc', name: `${query.by}.${rank}.${query.order ?? 'desc'}` }
}

export function readPerformanceCursor(text: string | undefined, order: string): PerformanceCursor | null {
  if (text === undefined) return null
  const [of, rank, quotes, key] = cursorPosition(text) ?? []
  const isRank = rank === null || (typeof rank === 'number' && Number.isFinite(rank))
  const isQuotes = typeof quotes === 'number' && Number.isSafeInteger(quotes)
  if (of !== order || !isRank || !isQuotes || typeof key !== 'string' || key.includes('\0')) {
    throw wrongCursor()
  }
  return { rank, quotes, key }
}

export interface AskedRows {
  readonly query: AskedOrder
  readonly selection: QuoteSelection
  readonly cursor: PerformanceCursor | null
  readonly limit: number
  /** Only rows with a name that contains this text. */
  readonly named?: string
}

/** A page of rows with their names and figures, the totals of all pages, and the cursor of the next page. */
export async function performancePage(
  parts: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  { query, selection, cursor, limit, named }: AskedRows,
): Promise<
  Pick<PerformanceAnswer, 'rows' | 'rows_total' | 'totals' | 'basis'> & {
    next: PerformanceCursor | null
    /** When the newest quote of each row was quoted. */
    lastQuoted: Date[]
  }
> {
  const statistics = await statisticsOf(parts, tenant)
  const { rank, direction } = orderOf(query)
  const order = { rank, direction, cursor, limit: limit + 1, ...(named === undefined ? {} : { named }) }
  const found = await statistics.performance(query.by, selection, order)
  const converted = await statistics.converted(selection)
  const page = found.rows.slice(0, limit)
  const names = await parts.database.inTenant(tenant, (transaction) =>
    namesOf(transaction, tenant, query.by, page),
  )
  return {
    rows: names.map((named, index) => ({ ...named, ...figures(page[index] ?? found.totals) })),
    rows_total: found.rowsTotal,
    totals: figures(found.totals),
    basis: basisAnswer({ basis: statistics.basis, ...converted }),
    next: found.rows.length > limit ? (page.at(-1) ?? null) : null,
    lastQuoted: page.map(({ lastQuotedAt }) => new Date(lastQuotedAt)),
  }
}

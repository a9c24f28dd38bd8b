import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { exportPerformance, getPerformance, listMarginGaps } from '#contract/performance.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { type PerformanceSums, performanceOf, shortfall } from '#engine/performance.ts'
import type { GapCursor, MarginGap } from '#engine/quote-statistics/margin-gaps.ts'
import type {
  PerformanceCursor,
  PerformanceGrouping,
  PerformanceRank,
  PerformanceRow,
} from '#engine/quote-statistics/performance-groups.ts'
import type { QuoteSelection } from '#engine/quote-statistics/quote-selection.ts'
import { statisticsOf } from '../../book/index.ts'
import {
  customers,
  type LaneFilter,
  lanesById,
  performance,
  userNames,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { laneAnswers, readEquipment } from '../../lanes/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorPosition, cursorText, wrongCursor } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'
import { basisAnswer } from './compared-basis.ts'
import { performanceCsvHead, performanceCsvLines } from './performance-csv.ts'

type PerformanceAnswer = AnswerOf<typeof getPerformance>
type Selection = Pick<
  QueryOf<typeof listMarginGaps>,
  'from' | 'to' | 'equipment' | 'rate_type' | 'customer' | 'quoted_by'
>

/** The selected lanes, and the period. */
export function readSelection(
  query: Selection,
  tenant: TenantId,
): {
  selection: QuoteSelection
  filter: LaneFilter
  period: { from: string | null; to: string | null }
} {
  const errors: FieldError[] = []
  const equipmentCode =
    query.equipment === undefined ? null : readEquipment(query.equipment, { parameter: 'equipment' }, errors)
  if (errors.length > 0) throw invalid(errors)
  const moment = (text: string | undefined) => {
    const time = text === undefined ? null : readTime(text)
    return time === null ? null : new Date(time)
  }
  const [from, to] = [moment(query.from), moment(query.to)]
  return {
    selection: {
      ...(equipmentCode === null ? {} : { equipmentCode }),
      ...(query.rate_type === undefined ? {} : { rateType: query.rate_type }),
      ...(query.customer === undefined ? {} : { customerName: query.customer }),
      ...(query.quoted_by === undefined ? {} : { quotedBy: query.quoted_by }),
      ...(from === null ? {} : { from: from.getTime() }),
      ...(to === null ? {} : { to: to.getTime() }),
    },
    filter: {
      ...(equipmentCode === null ? {} : { equipmentCode }),
      ...(query.rate_type === undefined ? {} : { rateType: query.rate_type }),
      ...(query.customer === undefined ? {} : { customer: { tenant, name: query.customer } }),
      ...(query.quoted_by === undefined ? {} : { quotedBy: query.quoted_by }),
      ...(from === null ? {} : { from }),
      ...(to === null ? {} : { to }),
    },
    period: { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null },
  }
}

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

/** The selection and order that a cursor belongs to. */
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

function readGapCursor(text: string | undefined): GapCursor | null {
  if (text === undefined) return null
  const [of, shortfallCents, laneId] = cursorPosition(text) ?? []
  const isNumber = (value: unknown) => typeof value === 'number' && Number.isSafeInteger(value)
  if (of !== 'gap' || !isNumber(shortfallCents) || !isNumber(laneId)) throw wrongCursor()
  return { shortfallCents: Number(shortfallCents), laneId: Number(laneId) }
}

interface AskedRows {
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

/** Rows per piece of an export, which bounds its memory. */
export const exportedAtOnce = 10_000

/** A CSV file, one page of lines after the other. */
export async function* csvPages<Cursor>(
  head: string,
  page: (cursor: Cursor | null) => Promise<{ lines: string; next: Cursor | null }>,
): AsyncGenerator<string, void> {
  let before = head
  let cursor: Cursor | null = null
  for (;;) {
    const { lines, next }: { lines: string; next: Cursor | null } = await page(cursor)
    yield before + lines
    if (next === null) return
    before = ''
    cursor = next
  }
}

function csvOf(
  parts: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  asked: Pick<AskedRows, 'query' | 'selection'>,
): AsyncGenerator<string, void> {
  const { by } = asked.query
  return csvPages(performanceCsvHead(by), async (cursor: PerformanceCursor | null) => {
    const piece = { ...asked, cursor, limit: exportedAtOnce }
    const { rows, next, basis } = await performancePage(parts, tenant, piece)
    return { lines: performanceCsvLines(by, rows, basis.amounts), next }
  })
}

export const performanceEndpoints: ServedEndpoint[] = [
  serve(getPerformance, async ({ caller, query }, { books, database }) => {
    const { selection, period } = readSelection(query, caller.tenant)
    const limit = query.limit ?? pageSizeDefault
    const { name } = orderOf(query)
    const cursor = readPerformanceCursor(query.cursor, name)
    const {
      next,
      lastQuoted: _,
      ...page
    } = await performancePage({ books, database }, caller.tenant, { query, selection, cursor, limit })
    return {
      by: query.by,
      ...period,
      ...page,
      next_cursor: next === null ? null : cursorText([name, next.rank, next.quotes, next.key]),
    }
  }),

  serve(exportPerformance, async ({ caller, query, now }, { books, database }) => ({
    fileName: `lanewise-performance-by-${query.by}-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf({ books, database }, caller.tenant, {
      query,
      selection: readSelection(query, caller.tenant).selection,
    }),
  })),

  serve(listMarginGaps, async ({ caller: { tenant }, query }, { books, database }) => {
    const { selection, period } = readSelection(query, tenant)
    const limit = query.limit ?? pageSizeDefault
    const cursor = readGapCursor(query.cursor)
    const statistics = await statisticsOf({ books, database }, tenant)
    const found = await statistics.marginGaps(selection, { cursor, limit: limit + 1 })
    const converted = await statistics.converted({ ...selection, booked: true })
    const page = found.gaps.slice(0, limit)
    const last = page.at(-1)
    // The amounts of the book are on the default basis. The answer shows each lane as it was stored.
    const lanes = await database.inTenant(tenant, async (transaction) => {
      const ids = page.map(({ laneId }) => laneId)
      return laneAnswers(transaction, tenant, await lanesById(transaction, tenant, ids, { lock: false }))
    })
    const byId = new Map(lanes.map((lane) => [lane.lane_id, lane]))
    return {
      ...period,
      gaps: page.flatMap((gap) => gapAnswer(byId.get(gap.laneId), gap)),
      next_cursor:
        found.gaps.length > limit && last !== undefined
          ? cursorText(['gap', last.shortfallCents, last.laneId])
          : null,
      totals: {
        shipments_compared: found.compared,
        below: found.below,
        shortfall: dollarsFromCents(found.shortfallCents),
      },
      basis: basisAnswer({ basis: statistics.basis, ...converted }),
    }
  }),
]

type Gap = AnswerOf<typeof listMarginGaps>['gaps'][number]

function gapAnswer(lane: Gap['lane'] | undefined, shipment: MarginGap): Gap[] {
  const gap = shortfall(shipment)
  if (lane === undefined || gap === null) return []
  const { quotedRateCents, quotedCostCents, customerRateCents, truckCostCents } = shipment
  return [
    {
      lane,
      quoted_margin: dollarsFromCents(quotedRateCents - quotedCostCents),
      margin: dollarsFromCents(customerRateCents - truckCostCents),
      shortfall: dollarsFromCents(gap.shortfallCents),
      compared: {
        quoted_rate: dollarsFromCents(quotedRateCents),
        expected_cost: dollarsFromCents(quotedCostCents),
        customer_rate: dollarsFromCents(customerRateCents),
        truck_cost: dollarsFromCents(truckCostCents),
      },
      because: gap.because,
    },
  ]
}

import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { exportPerformance, getPerformance, listMarginGaps } from '#contract/performance.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { type PerformanceSums, performanceOf, shortfall } from '#engine/performance.ts'
import {
  customers,
  type LaneFilter,
  lanesById,
  people,
  performance,
  pricingRules,
  readBasisCounts,
  userNames,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { Database, TenantId } from '../../database/session/index.ts'
import { laneAnswers, readEquipment } from '../../lanes/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorPosition, cursorText, wrongCursor } from '../page-cursor.ts'
import { basisAnswer } from './compared-basis.ts'
import { performanceCsvHead, performanceCsvLines } from './performance-csv.ts'

type PerformanceAnswer = AnswerOf<typeof getPerformance>
type Selection = Pick<QueryOf<typeof listMarginGaps>, 'from' | 'to' | 'equipment' | 'customer' | 'quoted_by'>

/** The selected lanes, and the period. */
export function readSelection(
  query: Selection,
  tenant: TenantId,
): {
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
    filter: {
      ...(equipmentCode === null ? {} : { equipmentCode }),
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
  by: performance.PerformanceGrouping,
  rows: readonly Pick<performance.PerformanceRow, 'key' | 'parts' | 'written'>[],
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
  readonly by: performance.PerformanceGrouping
  readonly sort?: performance.PerformanceRank
  readonly order?: 'desc' | 'asc'
}

/** The selection and order that a cursor belongs to. */
export function orderOf(query: AskedOrder) {
  const rank: performance.PerformanceRank = query.sort ?? (query.by === 'month' ? 'month' : 'quotes')
  return { rank, direction: query.order ?? 'desc', name: `${query.by}.${rank}.${query.order ?? 'desc'}` }
}

export function readPerformanceCursor(
  text: string | undefined,
  order: string,
): performance.PerformanceCursor | null {
  if (text === undefined) return null
  const [of, rank, quotes, key] = cursorPosition(text) ?? []
  const isRank = rank === null || (typeof rank === 'number' && Number.isFinite(rank))
  const isQuotes = typeof quotes === 'number' && Number.isSafeInteger(quotes)
  if (of !== order || !isRank || !isQuotes || typeof key !== 'string' || key.includes('\0')) {
    throw wrongCursor()
  }
  return { rank, quotes, key }
}

function readGapCursor(text: string | undefined): performance.GapCursor | null {
  if (text === undefined) return null
  const [of, shortfallCents, laneId] = cursorPosition(text) ?? []
  const isNumber = (value: unknown) => typeof value === 'number' && Number.isSafeInteger(value)
  if (of !== 'gap' || !isNumber(shortfallCents) || !isNumber(laneId)) throw wrongCursor()
  return { shortfallCents: Number(shortfallCents), laneId: Number(laneId) }
}

interface AskedRows {
  readonly query: AskedOrder
  readonly filter: LaneFilter
  readonly cursor: performance.PerformanceCursor | null
  readonly limit: number
  /** Only rows with a name that contains this text. */
  readonly named?: string
}

/** A page of rows with their names and figures, the totals of all pages, and the cursor of the next page. */
export async function performancePage(
  transaction: TenantTransaction,
  tenant: TenantId,
  { query, filter, cursor, limit, named }: AskedRows,
): Promise<
  Pick<PerformanceAnswer, 'rows' | 'rows_total' | 'totals' | 'basis'> & {
    next: performance.PerformanceCursor | null
    /** When the newest quote of each row was quoted. */
    lastQuoted: Date[]
  }
> {
  const brokerage = await people.tenantOfSession(transaction, tenant)
  const { rank, direction } = orderOf(query)
  const found = await performance.performanceBy(
    transaction,
    tenant,
    query.by,
    filter,
    { rank, direction, cursor, limit: limit + 1, ...(named === undefined ? {} : { named }) },
    {
      rules: pricingRules.rulesInForce(brokerage.pricing_rules),
      timeZone: brokerage.time_zone,
      expiredCountsAsLost: brokerage.expired_counts_as_lost,
    },
  )
  const page = found.rows.slice(0, limit)
  const names = await namesOf(transaction, tenant, query.by, page)
  return {
    rows: names.map((named, index) => ({ ...named, ...figures(page[index] ?? found.totals) })),
    rows_total: found.rowsTotal,
    totals: figures(found.totals),
    basis: basisAnswer(await readBasisCounts(transaction, tenant, filter)),
    next: found.rows.length > limit ? (page.at(-1) ?? null) : null,
    lastQuoted: page.map(({ lastQuotedMs }) => new Date(lastQuotedMs)),
  }
}

/** Rows per transaction of an export, which bounds its memory. Each computes all rows again, so there are few. */
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
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  asked: Pick<AskedRows, 'query' | 'filter'>,
): AsyncGenerator<string, void> {
  const { by } = asked.query
  return csvPages(performanceCsvHead(by), async (cursor: performance.PerformanceCursor | null) => {
    const { rows, next, basis } = await database.inTenant(tenant, (transaction) =>
      performancePage(transaction, tenant, { ...asked, cursor, limit: exportedAtOnce }),
    )
    return { lines: performanceCsvLines(by, rows, basis.amounts), next }
  })
}

export const performanceEndpoints: ServedEndpoint[] = [
  serve(getPerformance, async ({ caller, query }, { database }) => {
    const { filter, period } = readSelection(query, caller.tenant)
    const limit = query.limit ?? pageSizeDefault
    const { name } = orderOf(query)
    const cursor = readPerformanceCursor(query.cursor, name)
    const {
      next,
      lastQuoted: _,
      ...page
    } = await database.inTenant(caller.tenant, (transaction) =>
      performancePage(transaction, caller.tenant, { query, filter, cursor, limit }),
    )
    return {
      by: query.by,
      ...period,
      ...page,
      next_cursor: next === null ? null : cursorText([name, next.rank, next.quotes, next.key]),
    }
  }),

  serve(exportPerformance, async ({ caller, query, now }, { database }) => ({
    fileName: `lanewise-performance-by-${query.by}-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf(database, caller.tenant, { query, filter: readSelection(query, caller.tenant).filter }),
  })),

  serve(listMarginGaps, async ({ caller, query }, { database }) => {
    const { filter, period } = readSelection(query, caller.tenant)
    const limit = query.limit ?? pageSizeDefault
    const cursor = readGapCursor(query.cursor)
    return database.inTenant(caller.tenant, async (transaction) => {
      const rows = await performance.listMarginGaps(transaction, caller.tenant, filter, {
        cursor,
        limit: limit + 1,
      })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      // The rows have amounts on the default basis. The answer shows each lane as it was stored.
      const stored = await lanesById(
        transaction,
        caller.tenant,
        page.map(({ lane_id }) => lane_id),
        { lock: false },
      )
      const byId = new Map(stored.map((lane) => [lane.lane_id, lane]))
      const lanes = await laneAnswers(
        transaction,
        caller.tenant,
        page.map((row) => byId.get(row.lane_id) ?? row),
      )
      const totals = await performance.marginGapTotals(transaction, caller.tenant, filter)
      return {
        ...period,
        gaps: lanes.flatMap((lane, index) => gapAnswer(lane, page[index])),
        next_cursor:
          rows.length > limit && last !== undefined
            ? cursorText(['gap', last.shortfall_cents, last.lane_id])
            : null,
        totals: {
          shipments_compared: totals.compared,
          below: totals.below,
          shortfall: dollarsFromCents(totals.shortfallCents),
        },
        basis: basisAnswer(await readBasisCounts(transaction, caller.tenant, { ...filter, booked: true })),
      }
    })
  }),
]

type Gap = AnswerOf<typeof listMarginGaps>['gaps'][number]

function gapAnswer(lane: Gap['lane'], row: performance.GapRow | undefined): Gap[] {
  if (row === undefined) return []
  const [customerRateCents, truckCostCents] = [row.customer_rate_cents ?? 0, row.truck_cost_cents ?? 0]
  const gap = shortfall({
    quotedRateCents: row.quoted_rate_cents,
    quotedCostCents: row.quoted_cost_cents,
    customerRateCents,
    truckCostCents,
  })
  if (gap === null) return []
  return [
    {
      lane,
      quoted_margin: dollarsFromCents(row.quoted_rate_cents - row.quoted_cost_cents),
      margin: dollarsFromCents(customerRateCents - truckCostCents),
      shortfall: dollarsFromCents(gap.shortfallCents),
      compared: {
        quoted_rate: dollarsFromCents(row.quoted_rate_cents),
        expected_cost: dollarsFromCents(row.quoted_cost_cents),
        customer_rate: dollarsFromCents(customerRateCents),
        truck_cost: dollarsFromCents(truckCostCents),
      },
      because: gap.because,
    },
  ]
}

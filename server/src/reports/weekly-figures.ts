import { roleAtLeast } from '#contract/endpoint.ts'
import type { Role } from '#contract/roles.ts'
import { type Performance, type PerformanceSums, performanceOf } from '#engine/performance.ts'
import type { PerformanceRow } from '#engine/quote-statistics/performance-groups.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { type ReportWeek, reportWeek } from '#engine/report-week.ts'
import { type Books, type BrokerageBook, type Statistics, statisticsOf } from '../book/index.ts'
import { performance } from '../database/queries/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'

/** Weeks in the picture. */
const weeksShown = 8
const lanesShown = 5
/** Lanes of a week that are compared. A brokerage with more lanes in a week is told of those with the most quotes. */
const lanesComparedMax = 10_000

/** The sums of a week, and what follows from them: the figures of the page Results. Amounts are whole cents. */
export type WeekFigures = Performance & Pick<PerformanceSums, 'quotes' | 'won' | 'shipments'>

/** A lane with its names. */
export interface ReportedLane {
  readonly origin: string
  readonly destination: string
  readonly equipment: string
}

/** What a person is told of a week. Amounts are whole cents of US dollars on the default basis of the brokerage. */
export interface WeeklyReport {
  readonly week: ReportWeek
  readonly basis: RateBasis
  readonly now: WeekFigures
  readonly before: WeekFigures
  /** The lane whose bookings earned the least compared with the quotes; null if none lost. */
  readonly leak: { readonly lane: ReportedLane; readonly lostCents: number } | null
  /** The lanes whose margin moved the most against the week before. */
  readonly moved: readonly {
    readonly lane: ReportedLane
    readonly quotes: number
    readonly marginCents: number
    readonly beforeCents: number
  }[]
  /** The margin of the last weeks, this one last; null without shipments. */
  readonly margins: readonly (number | null)[]
}

/** Whether a person gets the report by mail: owners and admins do, unless they chose; others only if they chose. */
export const getsReport = (role: Role, choice: boolean | null): boolean =>
  choice ?? roleAtLeast(role, 'admin')

const byQuotes = { rank: 'quotes', direction: 'desc', cursor: null } as const

function figuresOf(sums: PerformanceSums): WeekFigures {
  const { quotes, won, shipments } = sums
  return { ...performanceOf(sums), quotes, won, shipments }
}

const marginOf = (row: PerformanceSums | undefined) =>
  row === undefined ? 0 : row.customerRateCents - row.truckCostCents

/** The lanes of two weeks whose margins differ the most. */
function movedLanes(now: readonly PerformanceRow[], before: readonly PerformanceRow[]) {
  const earlier = new Map(before.map((row) => [row.key, row]))
  const seen = new Set(now.map(({ key }) => key))
  const pairs = [
    ...now.map((row) => ({
      row,
      quotes: row.quotes,
      now: marginOf(row),
      before: marginOf(earlier.get(row.key)),
    })),
    ...before
      .filter(({ key }) => !seen.has(key))
      .map((row) => ({ row, quotes: 0, now: 0, before: marginOf(row) })),
  ]
  return pairs
    .filter((pair) => pair.now !== pair.before)
    .sort(
      (one, other) =>
        Math.abs(other.now - other.before) - Math.abs(one.now - one.before) ||
        (one.row.key < other.row.key ? -1 : 1),
    )
    .slice(0, lanesShown)
}

/** The margin of the weeks before, each as long as this one. */
async function earlierMargins(statistics: Statistics, { from, to }: ReportWeek): Promise<(number | null)[]> {
  const margins: (number | null)[] = []
  for (let back = weeksShown - 1; back > 0; back--) {
    const selection = { from: from - back * (to - from), to: to - back * (to - from) }
    const { totals } = await statistics.performance('month', selection, { ...byQuotes, limit: 1 })
    margins.push(performanceOf(totals).marginCents)
  }
  return margins
}

/**
 * The report of the last whole week before `at`, as the current person may see it: the figures of the page Results for these days.
 *
 * @throws Problem when the quotes of the brokerage do not fit into the memory of the service
 */
export async function weeklyReport(
  parts: { readonly books: Books<BrokerageBook>; readonly database: Database },
  tenant: TenantId,
  { at, timeZone }: { readonly at: number; readonly timeZone: string },
): Promise<WeeklyReport> {
  const week = reportWeek(timeZone, at)
  const statistics = await statisticsOf(parts, tenant)
  const [now, before] = [
    { from: week.from, to: week.to },
    { from: week.beforeFrom, to: week.from },
  ]
  const all = { ...byQuotes, limit: lanesComparedMax }
  const lanesNow = await statistics.performance('lane', now, all)
  const lanesBefore = await statistics.performance('lane', before, all)
  const worst = await statistics.performance('lane', now, {
    rank: 'landed_vs_quoted',
    direction: 'asc',
    cursor: null,
    limit: 1,
  })
  const moved = movedLanes(lanesNow.rows, lanesBefore.rows)
  const [least] = worst.rows
  const lostCents = -(least === undefined ? 0 : (performanceOf(least).landedVsQuotedCents ?? 0))
  const leaking = least !== undefined && lostCents > 0 ? [least] : []
  const rows = [...moved.map(({ row }) => row), ...leaking]
  const named = await placesOf(parts.database, tenant, rows)
  const leak = named[moved.length]
  return {
    week,
    basis: statistics.basis,
    now: figuresOf(lanesNow.totals),
    before: figuresOf(lanesBefore.totals),
    leak: leak === undefined ? null : { lane: leak, lostCents },
    moved: moved.map(({ quotes, now: marginCents, before: beforeCents }, nth) => ({
      lane: named[nth] as ReportedLane,
      quotes,
      marginCents,
      beforeCents,
    })),
    margins: [...(await earlierMargins(statistics, week)), performanceOf(lanesNow.totals).marginCents],
  }
}

/** The lanes of rows in their latest spelling. */
async function placesOf(
  database: Database,
  tenant: TenantId,
  rows: readonly Pick<PerformanceRow, 'parts'>[],
): Promise<ReportedLane[]> {
  const keys = rows.map(({ parts: [originKey = '', destinationKey = '', equipmentCode = ''] }) => ({
    originKey,
    destinationKey,
    equipmentCode,
  }))
  const places = await database.inTenant(tenant, (transaction) =>
    performance.placesOfLanes(transaction, tenant, keys),
  )
  return keys.map(({ equipmentCode }, nth) => ({
    origin: places[nth]?.origin ?? '',
    destination: places[nth]?.destination ?? '',
    equipment: equipmentCode,
  }))
}

import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { exportMarketStanding, getMarketStanding } from '#contract/market-standing.ts'
import type { ComparedBasis } from '#contract/rate-basis.ts'
import {
  compareRates,
  MARKET_RATE_RULE,
  type MarketKind,
  type MarketRate,
  marketRateAt,
  whyNoMarketRate,
} from '#engine/market-rate.ts'
import {
  type AgainstMarket,
  abovePct,
  addDay,
  addStanding,
  noStanding,
  paidAboveCents,
  quotedBelowCents,
  type Standing,
} from '#engine/market-standing.ts'
import { dollarsFromCents } from '#engine/money.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { Steps } from '#engine/steps.ts'
import { csvHead, csvLines } from '../csv/index.ts'
import { type MarketPair, marketRates, readBasisCounts } from '../database/queries/index.ts'
import type { StaleReads, TenantId } from '../database/session/index.ts'
import { marketPairs, measuredMiles } from '../lanes/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import { comparableRate, rateConversions } from './comparable-rates.ts'
import { basisAnswer, basisCells, basisHeaders } from './compared-basis.ts'
import { type ServedEndpoint, serve } from './endpoint-call.ts'
import { readSelection } from './performance.ts'

type Answer = AnswerOf<typeof getMarketStanding>
type Query = QueryOf<typeof exportMarketStanding>
const dayMs = 86_400_000

interface LaneStanding {
  readonly lane: Answer['lanes'][number]['lane']
  readonly sums: Standing
  /** The newest market rate that was compared with. */
  readonly rate: MarketRate
}

interface WholeStanding {
  readonly lanes: readonly LaneStanding[]
  readonly months: ReadonlyMap<string, Standing>
  readonly totals: Standing
  readonly without: Answer['without_market']
  /** The default basis of the brokerage, which all amounts have, and the numbers of quotes that were converted or kept apart. */
  readonly compared: ComparedBasis
}

const nameOfPair = ({ scope, originArea, destinationArea }: MarketPair) =>
  `${scope}\n${originArea}\n${destinationArea}`

/** Compares every lane and day of the selection with the market rate of its day. */
async function standingOf(staleReads: StaleReads, tenant: TenantId, query: Query): Promise<WholeStanding> {
  const { filter } = readSelection(query, tenant)
  const { compared, conversions, days, rates, pairsOf } = await staleReads.inTenant(
    tenant,
    async (transaction) => {
      const found = await marketRates.laneDays(transaction, tenant, filter)
      const pairs = new Map<string, MarketPair[]>()
      for (const day of found) {
        const key = `${day.origin_key}\n${day.destination_key}`
        if (pairs.has(key)) continue
        pairs.set(
          key,
          marketPairs(
            { key: day.origin_key, state: day.origin_state, market: day.origin_market },
            { key: day.destination_key, state: day.destination_state, market: day.destination_market },
          ),
        )
      }
      const wanted = new Map([...pairs.values()].flat().map((pair) => [nameOfPair(pair), pair]))
      const since =
        filter.from === undefined
          ? null
          : new Date(filter.from.getTime() - MARKET_RATE_RULE.staleDays * dayMs)
      const stored =
        wanted.size === 0
          ? []
          : await marketRates.marketRatesSince(transaction, tenant, [...wanted.values()], since)
      const conversions = await rateConversions(transaction, tenant, stored)
      const compared = basisAnswer(await readBasisCounts(transaction, tenant, filter))
      return { compared, conversions, days: found, rates: stored, pairsOf: pairs }
    },
  )
  const ratesOf = new Map<string, marketRates.DatedMarketRate[]>()
  for (const row of rates) {
    const pair = { scope: row.scope, originArea: row.origin_area, destinationArea: row.destination_area }
    const key = `${nameOfPair(pair)}\n${row.equipment_code}`
    const list = ratesOf.get(key)
    if (list === undefined) ratesOf.set(key, [row])
    else list.push(row)
  }
  const sums = await yieldBetweenSteps(
    compare(days, conversions.basis, (day, lastMiles) => {
      const found = (pairsOf.get(`${day.origin_key}\n${day.destination_key}`) ?? []).flatMap(
        (pair) => ratesOf.get(`${nameOfPair(pair)}\n${day.equipment_code}`) ?? [],
      )
      // The miles convert a rate of another basis, as on the page of the lane.
      const miles =
        found.length === 0 || conversions.days.size === 0
          ? null
          : (measuredMiles(day.origin, day.destination) ?? lastMiles)
      return found.map((row): MarketRate => comparableRate(row, conversions, miles)).sort(compareRates)
    }),
  )
  return { ...sums, compared }
}

/** Comparisons of a rate with a day in one step, which takes some milliseconds. A lane can have 65,000: five sources of weekly rates. */
const comparisonsPerStep = 50_000
/** What a day without any rate costs, in comparisons. */
const comparisonsPerDay = 10

/** Adds up the days of each lane, of each month, and of all, in steps. */
function* compare(
  days: readonly marketRates.LaneDayRow[],
  basis: RateBasis,
  ratesOfLane: (day: marketRates.LaneDayRow, lastMiles: number | null) => readonly MarketRate[],
): Steps<Omit<WholeStanding, 'compared'>> {
  const byLane = new Map<string, marketRates.LaneDayRow[]>()
  for (const day of days) {
    const key = `${day.origin_key}\n${day.destination_key}\n${day.equipment_code}`
    const list = byLane.get(key)
    if (list === undefined) byLane.set(key, [day])
    else list.push(day)
  }
  const lanes: LaneStanding[] = []
  const months = new Map<string, Standing>()
  const without = { lanes: 0, loads: 0, quotes: 0, other_basis: 0, other_currency: 0, stale: 0 }
  let comparisons = 0
  for (const [first, ...others] of byLane.values()) {
    if (first === undefined) continue
    const rates = ratesOfLane(first, others.findLast(({ miles }) => miles !== null)?.miles ?? first.miles)
    const countWithout = (loads: number, at: number, kind: MarketKind) => {
      without.loads += loads
      if (loads === 0) return
      comparisons += rates.length
      const why = whyNoMarketRate(rates, { at, basis, kind })
      if (why !== null) without[why] += loads
    }
    let sums = noStanding
    let newest: MarketRate | null = null
    for (const day of [first, ...others]) {
      comparisons += rates.length + comparisonsPerDay
      if (comparisons > comparisonsPerStep) {
        yield
        comparisons = 0
      }
      // The last moment of the day, so that a rate published on the day counts for it.
      const at = day.day.getTime() + dayMs - 1
      const sell = marketRateAt(rates, { at, basis, kind: 'sell' })
      const buy = marketRateAt(rates, { at, basis, kind: 'buy' })
      if (sell === null) {
        countWithout(day.won + day.lost, at, 'sell')
        without.quotes += day.won + day.lost
      }
      if (buy === null) countWithout(day.paid, at, 'buy')
      const used = day.won + day.lost === 0 ? buy : day.paid === 0 ? sell : (sell ?? buy)
      if (used === null) continue
      const market = { sell: sell?.midCents ?? null, buy: buy?.midCents ?? null }
      const laneDay = {
        won: { count: day.won, cents: day.won_cents },
        lost: { count: day.lost, cents: day.lost_cents },
        paid: { count: day.paid, cents: day.paid_cents },
      }
      sums = addDay(sums, laneDay, market)
      const month = day.day.toISOString().slice(0, 7)
      months.set(month, addDay(months.get(month) ?? noStanding, laneDay, market))
      if (newest === null || used.asOf > newest.asOf) newest = used
    }
    if (newest === null) without.lanes += 1
    else {
      const { origin, destination, equipment_code: equipment } = first
      lanes.push({ lane: { origin, destination, equipment }, sums, rate: newest })
    }
  }
  const totals = lanes.reduce((sum, { sums }) => addStanding(sum, sums), noStanding)
  return { lanes, months: new Map([...months].sort(([a], [b]) => (a < b ? -1 : 1))), totals, without }
}

/** The lanes of a view in its order; equal ones by name, so that the order is always the same. */
function shown(lanes: readonly LaneStanding[], show: Query['show']): LaneStanding[] {
  const amount = ({ sums }: LaneStanding) => {
    switch (show ?? 'all') {
      case 'all':
        return sums.won.loads + sums.lost.loads + sums.paid.loads
      case 'paying_above':
        return paidAboveCents(sums)
      case 'quoting_below':
        return quotedBelowCents(sums)
    }
  }
  const name = ({ lane }: LaneStanding) => `${lane.origin} ${lane.destination} ${lane.equipment}`
  return lanes
    .filter((lane) => amount(lane) > 0)
    .sort((one, other) => amount(other) - amount(one) || (name(one) < name(other) ? -1 : 1))
}

function against(sum: AgainstMarket): Answer['totals']['won'] {
  const average = (cents: number) => (sum.loads === 0 ? null : dollarsFromCents(cents / sum.loads))
  return {
    loads: sum.loads,
    own: average(sum.ownCents),
    market: average(sum.marketCents),
    above_pct: abovePct(sum),
  }
}

function figures(sums: Standing): Answer['totals'] {
  return {
    won: against(sums.won),
    lost: against(sums.lost),
    paid: against(sums.paid),
    paid_above: dollarsFromCents(paidAboveCents(sums)),
    quoted_below: dollarsFromCents(quotedBelowCents(sums)),
  }
}

function laneAnswer({ lane, sums, rate }: LaneStanding): Answer['lanes'][number] {
  const { scope, source, asOf } = rate
  return { lane, ...figures(sums), scope, source, as_of: new Date(asOf).toISOString() }
}

type Cell = (lane: Answer['lanes'][number]) => string | number | null
const money = (dollars: number | null) => (dollars === null ? '' : dollars.toFixed(2))

const csvColumns: readonly (readonly [header: string, cell: Cell])[] = [
  ['Origin', ({ lane }) => lane.origin],
  ['Destination', ({ lane }) => lane.destination],
  ['Equipment', ({ lane }) => lane.equipment],
  ...(['won', 'lost', 'paid'] as const).flatMap((kind): [string, Cell][] => {
    const title = `${kind[0]?.toUpperCase()}${kind.slice(1)}`
    return [
      [`${title} loads`, (row) => row[kind].loads],
      [`${title} average`, (row) => money(row[kind].own)],
      [`Market of ${kind}`, (row) => money(row[kind].market)],
      [`${title} above market %`, (row) => row[kind].above_pct],
    ]
  }),
  ['Paid above market', (row) => money(row.paid_above)],
  ['Quoted below market', (row) => money(row.quoted_below)],
  ['Market area', ({ scope }) => scope],
  ['Market source', ({ source }) => source],
  ['Market as of', ({ as_of }) => as_of.slice(0, 10)],
]

async function* csvOf(staleReads: StaleReads, tenant: TenantId, query: Query): AsyncGenerator<string, void> {
  const { lanes, compared } = await standingOf(staleReads, tenant, query)
  const rows = shown(lanes, query.show).map(laneAnswer)
  yield csvHead([...csvColumns.map(([header]) => header), ...basisHeaders]) +
    csvLines(rows.map((row) => [...csvColumns.map(([, cell]) => cell(row)), ...basisCells(compared.amounts)]))
}

export const marketStandingEndpoints: ServedEndpoint[] = [
  serve(getMarketStanding, async ({ caller, query }, { staleReads }) => {
    const { compared, lanes, months, totals, without } = await standingOf(staleReads, caller.tenant, query)
    const rows = shown(lanes, query.show)
    return {
      basis: compared.amounts,
      compared,
      lanes: rows.slice(0, query.limit ?? pageSizeDefault).map(laneAnswer),
      lanes_total: rows.length,
      months: [...months].map(([month, sums]) => ({ month, ...figures(sums) })),
      totals: figures(totals),
      without_market: { ...without },
    }
  }),

  serve(exportMarketStanding, async ({ caller, query, now }, { staleReads }) => ({
    fileName: `lanewise-against-the-market-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf(staleReads, caller.tenant, query),
  })),
]

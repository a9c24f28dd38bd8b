import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { exportMarketStanding, getMarketStanding } from '#contract/market-standing.ts'
import type { ComparedBasis } from '#contract/rate-basis.ts'
import { MarketHistory, marketRateAt, type WhyNoMarketRate } from '#engine/market-history.ts'
import { MARKET_RATE_RULE, type MarketKind, type MarketRate } from '#engine/market-rate.ts'
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
import { mapInSteps, type Steps } from '#engine/steps.ts'
import { csvHead, csvLines } from '../../csv/index.ts'
import {
  type MarketPair,
  marketRates,
  type PackedLanes,
  readBasisCounts,
} from '../../database/queries/index.ts'
import type { Database, TenantId } from '../../database/session/index.ts'
import { marketPairs, measuredMiles } from '../../lanes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { type RateConversions, rateConversions, rateToCompare } from '../performance/comparable-rates.ts'
import { basisAnswer, basisCells, basisHeaders } from '../performance/compared-basis.ts'
import { readSelection } from '../performance/performance.ts'
import {
  type StandingDay,
  type StandingLane,
  standingDays,
  sumOf,
  unpackLanes,
} from '../quotes/standing-lanes.ts'

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

/** The rates of each pair of areas, equipment and kind. */
type Histories = ReadonlyMap<string, MarketHistory<MarketRate>>
/** The rates of a lane by kind, most specific area first. */
type RatesOfLane = Readonly<Record<MarketKind, readonly MarketHistory<MarketRate>[]>>

const nameOfPair = ({ scope, originArea, destinationArea }: MarketPair, equipmentCode: string) =>
  `${scope}\n${originArea}\n${destinationArea}\n${equipmentCode}`

/** The names of the areas that a lane is in, with its equipment, most specific first. */
const pairsOf = (lane: StandingLane) =>
  marketPairs(
    { key: lane.originKey, state: lane.originState, market: lane.originMarket },
    { key: lane.destinationKey, state: lane.destinationState, market: lane.destinationMarket },
  ).map((pair) => nameOfPair(pair, lane.equipment))

/** Compares every lane and day of the selection with the market rate of its day. */
async function standingOf(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  query: Query,
): Promise<WholeStanding> {
  const { filter } = readSelection(query, tenant)
  const since =
    filter.from === undefined ? null : new Date(filter.from.getTime() - MARKET_RATE_RULE.staleDays * dayMs)
  const { compared, packed, stored } = await database.inTenant(tenant, async (transaction) => ({
    packed: await marketRates.standingLanes(transaction, tenant, filter),
    stored: await marketRates.storedPairs(transaction, tenant),
    compared: basisAnswer(await readBasisCounts(transaction, tenant, filter)),
  }))
  const named = new Map(stored.map((pair) => [nameOfPair(pair, pair.equipmentCode), pair]))
  // Between two transactions: this work waits for its turn, and a transaction would keep its connection meanwhile.
  const lanes = await yieldBetweenSteps(lanesWithPairs(packed, named))
  const wanted = [...new Set(lanes.flatMap(({ pairs }) => pairs))].flatMap((name) => named.get(name) ?? [])
  const { conversions, rates } = await database.inTenant(tenant, async (transaction) => {
    const found =
      wanted.length === 0 ? [] : await marketRates.marketRatesSince(transaction, tenant, wanted, since)
    return { rates: found, conversions: await rateConversions(transaction, tenant, found) }
  })
  // The default basis changed between the two.
  if (conversions.basis !== compared.amounts) return standingOf(database, tenant, query)
  const histories = await yieldBetweenSteps(historiesOf(rates, conversions))
  const sums = await yieldBetweenSteps(compare(lanes, histories))
  return { ...sums, compared }
}

interface LaneWithPairs {
  readonly lane: StandingLane
  /** The names of its areas that rates are stored for, most specific first. */
  readonly pairs: readonly string[]
}

function* lanesWithPairs(packed: PackedLanes, named: ReadonlyMap<string, unknown>): Steps<LaneWithPairs[]> {
  const lanes = yield* unpackLanes(packed)
  return yield* mapInSteps(lanes, (lane) => ({
    lane,
    pairs: pairsOf(lane).filter((name) => named.has(name)),
  }))
}

function* historiesOf(
  rows: readonly marketRates.DatedMarketRate[],
  conversions: RateConversions,
): Steps<Histories> {
  const rates = yield* mapInSteps(rows, (row) => {
    const pair = { scope: row.scope, originArea: row.origin_area, destinationArea: row.destination_area }
    const key = `${nameOfPair(pair, row.equipment_code)}\n${row.kind}`
    return { key, rate: rateToCompare(row, conversions) }
  })
  const histories = new Map<string, MarketHistory<MarketRate>>()
  for (const [key, of] of Map.groupBy(rates, (one) => one.key)) {
    yield
    const list = of.map(({ rate }) => rate)
    histories.set(key, new MarketHistory(list, conversions.basis))
  }
  return histories
}

/** Comparisons of a rate with a day in one step, which takes some milliseconds. */
const comparisonsPerStep = 50_000
/** What a quote costs, in comparisons. */
const comparisonsPerQuote = 10

/** Adds up the days of each lane, of each month, and of all, in steps. */
function* compare(
  quoted: readonly LaneWithPairs[],
  histories: Histories,
): Steps<Omit<WholeStanding, 'compared'>> {
  const lanes: LaneStanding[] = []
  const months = new Map<string, Standing>()
  const without = { lanes: 0, loads: 0, quotes: 0, other_basis: 0, other_currency: 0, stale: 0 }
  let comparisons = 0
  const countWithout = (loads: number, why: WhyNoMarketRate | null) => {
    without.loads += loads
    if (why !== null) without[why] += loads
  }
  for (const { lane, pairs } of quoted) {
    if (comparisons > comparisonsPerStep) {
      yield
      comparisons = 0
    }
    comparisons += comparisonsPerQuote * lane.quotes.length
    const rates = ratesOf(pairs, histories)
    if (rates.sell.length + rates.buy.length === 0) {
      const quotes = sumOf(lane.quotes, 'won').count + sumOf(lane.quotes, 'lost').count
      countWithout(quotes + sumOf(lane.quotes, 'paid').count, null)
      without.quotes += quotes
      without.lanes += 1
      continue
    }
    const days = standingDays(lane)
    const miles = milesOf(lane, days)
    const before = comparedIn(rates)
    let sums = noStanding
    let newest: MarketRate | null = null
    for (const day of days) {
      // The last moment of the day, so that a rate published on the day counts for it.
      const at = day.at + dayMs - 1
      const sell = marketRateAt(rates.sell, at, miles)
      const buy = marketRateAt(rates.buy, at, miles)
      const quotes = day.won.count + day.lost.count
      if (sell.used === null) {
        countWithout(quotes, sell.why)
        without.quotes += quotes
      }
      if (buy.used === null) countWithout(day.paid.count, buy.why)
      const used = quotes === 0 ? buy.used : day.paid.count === 0 ? sell.used : (sell.used ?? buy.used)
      if (used === null) continue
      const market = { sell: sell.used?.midCents ?? null, buy: buy.used?.midCents ?? null }
      sums = addDay(sums, day, market)
      const month = new Date(day.at).toISOString().slice(0, 7)
      months.set(month, addDay(months.get(month) ?? noStanding, day, market))
      if (newest === null || used.asOf > newest.asOf) newest = used
    }
    if (newest === null) without.lanes += 1
    else {
      const { origin, destination, equipment } = lane
      lanes.push({ lane: { origin, destination, equipment }, sums, rate: newest })
    }
    comparisons += comparedIn(rates) - before
  }
  const totals = lanes.reduce((sum, { sums }) => addStanding(sum, sums), noStanding)
  return { lanes, months: new Map([...months].sort(([a], [b]) => (a < b ? -1 : 1))), totals, without }
}

function ratesOf(pairs: readonly string[], histories: Histories): RatesOfLane {
  const of = (kind: MarketKind) => pairs.flatMap((pair) => histories.get(`${pair}\n${kind}`) ?? [])
  return { sell: of('sell'), buy: of('buy') }
}

const comparedIn = ({ sell, buy }: RatesOfLane) =>
  sell.reduce((sum, { comparisons }) => sum + comparisons, 0) +
  buy.reduce((sum, { comparisons }) => sum + comparisons, 0)

/** The miles of a lane, which convert a rate of another basis, as on the page of the lane. They are measured if they are needed. */
function milesOf(lane: StandingLane, days: readonly StandingDay[]): () => number | null {
  let known: number | null | undefined
  return () => {
    if (known === undefined) {
      known =
        measuredMiles(lane.origin, lane.destination) ??
        days.findLast(({ miles }) => miles !== null)?.miles ??
        null
    }
    return known
  }
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

async function* csvOf(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  query: Query,
): AsyncGenerator<string, void> {
  const { lanes, compared } = await standingOf(database, tenant, query)
  const rows = shown(lanes, query.show).map(laneAnswer)
  yield csvHead([...csvColumns.map(([header]) => header), ...basisHeaders]) +
    csvLines(rows.map((row) => [...csvColumns.map(([, cell]) => cell(row)), ...basisCells(compared.amounts)]))
}

export const marketStandingEndpoints: ServedEndpoint[] = [
  serve(getMarketStanding, async ({ caller, query }, { database }) => {
    const { compared, lanes, months, totals, without } = await standingOf(database, caller.tenant, query)
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

  serve(exportMarketStanding, async ({ caller, query, now }, { database }) => ({
    fileName: `lanewise-against-the-market-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf(database, caller.tenant, query),
  })),
]

import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { exportMarketStanding, getMarketStanding } from '#contract/market-standing.ts'
import type { ComparedBasis } from '#contract/rate-basis.ts'
import type { LanePlaces } from '#engine/book/quote-book.ts'
import { MarketHistory } from '#engine/market-history.ts'
import { MARKET_RATE_RULE, type MarketKind, type MarketRate } from '#engine/market-rate.ts'
import {
  type AgainstMarket,
  abovePct,
  paidAboveCents,
  quotedBelowCents,
  type Standing,
} from '#engine/market-standing.ts'
import { dollarsFromCents } from '#engine/money.ts'
import type { QuoteSelection } from '#engine/quote-statistics/quote-selection.ts'
import {
  MarketOfLanes,
  type StandingOfLane,
  type StandingOfQuotes,
} from '#engine/quote-statistics/standing-of-quotes.ts'
import { mapInSteps, type Steps } from '#engine/steps.ts'
import { type MarketOfBook, type Statistics, statisticsOf } from '../../book/index.ts'
import { csvHead, csvLinesInSteps } from '../../csv/index.ts'
import { type MarketPair, marketRates, performance } from '../../database/queries/index.ts'
import type { Database, TenantId } from '../../database/session/index.ts'
import { marketPairs, milesBetweenKeys } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { type RateConversions, rateConversions, rateToCompare } from '../performance/comparable-rates.ts'
import { basisAnswer, basisCells, basisHeaders } from '../performance/compared-basis.ts'
import { readSelection } from '../performance/quote-selection.ts'

type Answer = AnswerOf<typeof getMarketStanding>
type Query = QueryOf<typeof exportMarketStanding>
const dayMs = 86_400_000

/** Market rates by pair of areas, equipment and kind. */
type Histories = ReadonlyMap<string, MarketHistory<MarketRate>>

const nameOfPair = ({ scope, originArea, destinationArea }: MarketPair, equipmentCode: string) =>
  `${scope}\n${originArea}\n${destinationArea}\n${equipmentCode}`

/** The names of the pairs of areas that a lane is in, with its equipment, most specific first. */
const pairsOf = (places: LanePlaces) =>
  marketPairs(
    { key: places.originKey, state: places.originState, market: places.originMarket },
    { key: places.destinationKey, state: places.destinationState, market: places.destinationMarket },
  ).map((pair) => nameOfPair(pair, places.equipmentCode))

interface WholeStanding {
  readonly statistics: Statistics
  readonly selection: QuoteSelection
  readonly standing: StandingOfQuotes
  readonly market: MarketOfBook
  /** The default basis of the brokerage, which all amounts have, and the numbers of quotes that were converted or could not be. */
  readonly compared: ComparedBasis
}

/** Compares every quote of the selection with the market rate of its day. */
async function standingOf(
  { books, database }: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  query: Query,
): Promise<WholeStanding> {
  const { selection } = readSelection(query, tenant)
  const { from } = selection
  const since = from === undefined ? null : new Date(from - MARKET_RATE_RULE.staleDays * dayMs)
  const statistics = await statisticsOf({ books, database }, tenant)
  const stored = await database.inTenant(tenant, (transaction) =>
    marketRates.storedPairs(transaction, tenant),
  )
  const named = new Map(stored.map((pair) => [nameOfPair(pair, pair.equipmentCode), pair]))
  const { lanes } = statistics
  // This work waits for its turn, so it runs outside a transaction, which would hold its connection meanwhile.
  const pairs = await yieldBetweenSteps(
    mapInSteps(lanes, ({ places }) => pairsOf(places).filter((name) => named.has(name))),
  )
  const wanted = [...new Set(pairs.flat())].flatMap((name) => named.get(name) ?? [])
  const { conversions, rates } = await database.inTenant(tenant, async (transaction) => {
    const found =
      wanted.length === 0 ? [] : await marketRates.marketRatesSince(transaction, tenant, wanted, since)
    return { rates: found, conversions: await rateConversions(transaction, tenant, found) }
  })
  // Starts over if the default basis changed between the two reads.
  if (conversions.basis !== statistics.basis) return standingOf({ books, database }, tenant, query)
  const histories = await yieldBetweenSteps(historiesOf(rates, conversions))
  const markets = marketsOf(pairs, histories)
  const market: MarketOfBook = {
    marketOf: (lane) => markets[lane] ?? noMarket,
    measuredMiles: (lane) => {
      const places = lanes[lane]?.places
      return places === undefined ? null : milesBetweenKeys(places.originKey, places.destinationKey)
    },
  }
  const standing = await statistics.standing(selection, market)
  const converted = await statistics.converted(selection)
  return {
    statistics,
    selection,
    standing,
    market,
    compared: basisAnswer({ basis: statistics.basis, ...converted }),
  }
}

const noMarket = new MarketOfLanes([], [])

/** The market rates of each lane. Lanes in the same areas share them. */
function marketsOf(pairs: readonly (readonly string[])[], histories: Histories): MarketOfLanes[] {
  const known = new Map<string, MarketOfLanes>()
  return pairs.map((names) => {
    const name = names.join('\0')
    const of = (kind: MarketKind) => names.flatMap((pair) => histories.get(`${pair}\n${kind}`) ?? [])
    const market = known.get(name) ?? new MarketOfLanes(of('sell'), of('buy'))
    known.set(name, market)
    return market
  })
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

/** The lanes of a view, largest amount first. Lanes with equal amounts have the order of the book. */
function shown(lanes: readonly StandingOfLane[], show: Query['show']): StandingOfLane[] {
  const amount = ({ sums }: StandingOfLane) => {
    switch (show ?? 'all') {
      case 'all':
        return sums.won.loads + sums.lost.loads + sums.paid.loads
      case 'paying_above':
        return paidAboveCents(sums)
      case 'quoting_below':
        return quotedBelowCents(sums)
    }
  }
  return lanes
    .filter((lane) => amount(lane) > 0)
    .sort((one, other) => amount(other) - amount(one) || one.lane - other.lane)
}

/** Lanes with their places as they are written, and the newest market rate that each was compared with. */
async function laneAnswers(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  { statistics, selection, market }: WholeStanding,
  page: readonly StandingOfLane[],
): Promise<Answer['lanes']> {
  const numbers = page.map(({ lane }) => lane)
  const keys = numbers.flatMap((lane) => statistics.lanes[lane]?.places ?? [])
  const places = await database.inTenant(tenant, (transaction) =>
    performance.placesOfLanes(transaction, tenant, keys),
  )
  const rates = await statistics.newestRates(selection, market, numbers)
  return page.flatMap(({ sums }, at): Answer['lanes'] => {
    const [place, rate] = [places[at], rates[at]]
    if (place === undefined || rate === undefined || rate === null) return []
    const lane = { ...place, equipment: keys[at]?.equipmentCode ?? '' }
    const { scope, source, asOf } = rate
    return [{ lane, ...figures(sums), scope, source, as_of: new Date(asOf).toISOString() }]
  })
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
  parts: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  query: Query,
): AsyncGenerator<string, void> {
  const whole = await standingOf(parts, tenant, query)
  const rows = await laneAnswers(parts.database, tenant, whole, shown(whole.standing.lanes, query.show))
  const cells = basisCells(whole.compared.amounts)
  const lines = csvLinesInSteps(rows, (row) => [...csvColumns.map(([, cell]) => cell(row)), ...cells])
  yield csvHead([...csvColumns.map(([header]) => header), ...basisHeaders]) + (await yieldBetweenSteps(lines))
}

export const marketStandingEndpoints: ServedEndpoint[] = [
  serve(getMarketStanding, async ({ caller: { tenant }, query }, { books, database }) => {
    const whole = await standingOf({ books, database }, tenant, query)
    const { compared, standing } = whole
    const rows = shown(standing.lanes, query.show)
    return {
      basis: compared.amounts,
      compared,
      lanes: await laneAnswers(database, tenant, whole, rows.slice(0, query.limit ?? pageSizeDefault)),
      lanes_total: rows.length,
      months: [...standing.months].map(([month, sums]) => ({ month, ...figures(sums) })),
      totals: figures(standing.totals),
      without_market: { ...standing.without },
    }
  }),

  serve(exportMarketStanding, async ({ caller, query, now }, { books, database }) => ({
    fileName: `lanewise-against-the-market-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvOf({ books, database }, caller.tenant, query),
  })),
]

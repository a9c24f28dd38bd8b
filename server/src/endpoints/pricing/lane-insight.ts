import type { AnswerOf } from '#contract/endpoint.ts'
import { includedIn } from '#contract/fields.ts'
import { laneAdvice, laneInsight } from '#contract/lane-insight.ts'
import type { QuoteBook } from '#engine/book/quote-book.ts'
import {
  countScope,
  countScopeHistory,
  countScopeMiles,
  newestQuotes,
  type Scope,
} from '#engine/book/scope-counts.ts'
import { countsSameUntil, type HistoryCount } from '#engine/history-counts.ts'
import { describeLane, rescaledAverage } from '#engine/lane-insight.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { type Outlier, outliersInSteps } from '#engine/outliers.ts'
import type { Pool } from '#engine/rate-type.ts'
import { isEnough, type LaneScope, type ScopeCounts, scopesFor } from '#engine/scopes.ts'
import type { Steps } from '#engine/steps.ts'
import { askedScope, type BrokerageBook, type NamedScope, ownScope } from '../../book/index.ts'
import { type AskedLane, lanePlaces, readAskedLane } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type AskedBy, type ReadCall, serve } from '../endpoint-call.ts'
import { marketReference } from '../market/market-reference.ts'
import type { Parts } from '../parts.ts'
import { evidenceAnswer } from './evidence.ts'
import { type AskedInsight, poolOf, type SharedExtras, sharedExtras } from './insight-extras.ts'
import { shortHaulMiles } from './markup-estimate.ts'

/** True for the lane's own quotes, whose rates need no scaling by miles. */
function isOwnLane(scope: LaneScope): boolean {
  return scope === 'equipment' || scope === 'corridor'
}

/** The counts of one scope, and whether they are enough to answer from. */
type Level = ScopeCounts & { readonly scope: LaneScope; readonly enough: boolean }

/** The scope that answers for a lane: the most trusted one with enough quotes. */
interface FoundScope {
  readonly scope: LaneScope
  readonly quotes: NamedScope
  /** The counts of the scopes that were tried, most trusted first. This scope is the last. */
  readonly levels: readonly Level[]
}

function findScope(book: QuoteBook, asked: AskedLane, pool: Pool): FoundScope | null {
  const levels: Level[] = []
  for (const scope of scopesFor(asked.equipmentCode !== null)) {
    const quotes = askedScope(book, scope, asked, pool)
    if (quotes === null) continue
    const counts = countScope(quotes)
    const enough = isEnough(scope, counts)
    levels.push({ scope, ...counts, enough })
    if (enough) return { scope, quotes, levels }
  }
  return null
}

/** All data of the book that an answer about a lane needs. */
interface LaneCounts extends FoundScope {
  readonly counts: readonly HistoryCount[]
  /** The outcomes of all quotes of the brokerage in the pool. */
  readonly parent: { readonly wins: number; readonly decided: number }
  /** The miles of the lane; null when a place is unknown. */
  readonly miles: number | null
  /** The average of rates scaled by miles. Null when the plain mean is used. */
  readonly avgRateCents: number | null
}

/**
 * Reads the book, in steps. The counts are cached in the book until its quotes change. Null when no scope has enough
 * quotes.
 */
function* readBook(
  book: BrokerageBook,
  asked: AskedLane,
  { pool, now }: { readonly pool: Pool; readonly now: number },
): Steps<LaneCounts | null> {
  const found = findScope(book.quotes, asked, pool)
  if (found === null) return null
  const { scope, quotes } = found
  const counts = yield* book.result(`history ${quotes.name}`, quotes.area, now, function* () {
    const value = yield* countScopeHistory(book.quotes, quotes, now)
    return { value, until: countsSameUntil(value, now) }
  })
  const { origin, destination } = asked.places
  const [, wins, losses] = book.quotes.counts(pool)
  const miles = lanePlaces(origin, destination, null).miles ?? null
  return {
    ...found,
    counts,
    parent: { wins, decided: wins + losses },
    miles,
    avgRateCents:
      isOwnLane(scope) || miles === null ? null : yield* scaledAverage(book, quotes, { miles, now }),
  }
}

/** The average rate of a wider scope, each rate scaled to the miles of the lane. */
function* scaledAverage(
  book: BrokerageBook,
  quotes: NamedScope,
  { miles, now }: { miles: number; now: number },
): Steps<number | null> {
  const counts = yield* book.result(`miles ${quotes.name}`, quotes.area, now, function* () {
    return { value: yield* countScopeMiles(book.quotes, quotes), until: Number.POSITIVE_INFINITY }
  })
  return rescaledAverage(counts, miles, yield* book.haulLog(quotes.pool, now))
}

type Query = ReadCall<typeof laneInsight>['query']

interface InsightExtras {
  readonly outliers?: readonly Outlier[]
  readonly common: SharedExtras
  readonly market?: Awaited<ReturnType<typeof marketReference>>['answer']
}

/** The answer for a lane, from its data in the book. */
function answer(
  query: Query,
  asked: AskedLane,
  lane: LaneCounts | null,
  { outliers, common, market }: InsightExtras,
): AnswerOf<typeof laneInsight> {
  const echo = { origin: query.origin, destination: query.destination, equipment: query.equipment ?? null }
  const additions = { ...common, ...(market === undefined ? {} : { market }) }
  if (lane === null) return { found: false as const, query: echo, ...additions }
  const { scope, history, scores, signals, summary, evidence } = describeLane({
    counts: lane.counts,
    parent: lane.parent,
    askedScope: asked.equipmentCode === null ? 'corridor' : 'equipment',
    usedScope: lane.scope,
    avgRateCents: lane.avgRateCents,
  })
  return {
    found: true as const,
    query: echo,
    scope,
    history: {
      total_quotes: history.totalQuotes,
      wins: history.wins,
      losses: history.losses,
      win_rate_pct: history.winRatePct,
      months_active: history.monthsActive,
      avg_rate_usd: dollarsFromCents(history.avgRateCents),
    },
    scores,
    signals,
    summary,
    ...additions,
    ...(outliers === undefined
      ? {}
      : {
          evidence: evidenceAnswer({
            ...evidence,
            outliers,
            levels: lane.levels,
            miles: lane.miles,
            shortHaul: lane.miles !== null && lane.miles < shortHaulMiles,
          }) as Record<string, unknown>,
        }),
  }
}

/** Outliers are searched only among this many of a scope's newest quotes, because the search compares all of them. */
const outlierQuotesMax = 20_000

function* outliersOf(book: BrokerageBook, scope: Scope): Steps<Outlier[]> {
  return yield* outliersInSteps(yield* newestQuotes(book.quotes, scope, outlierQuotesMax))
}

/** The insight for a lane whose parameters are valid: read the book, describe, answer. */
export async function insightOfLane(
  query: Query,
  asked: AskedLane,
  { caller, now }: AskedBy,
  parts: Pick<Parts, 'books' | 'database'>,
  additions: Pick<AskedInsight, 'include' | 'closest' | 'isPerson'> = { include: includedIn(query.include) },
): Promise<AnswerOf<typeof laneInsight>> {
  const { include } = additions
  const open = await parts.books.read(caller.tenant)
  const { quotes: book } = open
  const { pool } = poolOf(query, open.settings, additions)
  const lane = await yieldBetweenSteps(readBook(book, asked, { pool, now }))
  const outliers =
    !include.has('evidence') || lane === null
      ? undefined
      : await yieldBetweenSteps(outliersOf(book, lane.quotes))
  const market = include.has('market')
    ? await marketReference(
        asked,
        await yieldBetweenSteps(
          newestQuotes(
            book.quotes,
            ownScope(book.quotes, asked, { equipmentCode: asked.equipmentCode, pool }),
            Number.POSITIVE_INFINITY,
          ),
        ),
        {},
        { caller, now },
        open,
        parts,
      )
    : null
  return answer(query, asked, lane, {
    common: await sharedExtras({ ...additions, query, asked }, open, caller.tenant, parts),
    ...(market === null ? {} : { market: market.answer }),
    ...(outliers === undefined ? {} : { outliers }),
  })
}

export const laneInsightEndpoint = serve(laneInsight, (call, parts) =>
  insightOfLane(call.query, readAskedLane(call.query), call, parts),
)
export const laneAdviceEndpoint = serve(laneAdvice, (call, parts) =>
  insightOfLane(call.query, readAskedLane(call.query), call, parts, {
    include: includedIn(call.query.include),
    isPerson: true,
  }),
)

import type { AnswerOf } from '#contract/endpoint.ts'
import { laneAdvice, laneInsight } from '#contract/lane-insight.ts'
import type { QuoteBook } from '#engine/book/quote-book.ts'
import { countScope, countScopeHistory, countScopeMiles, newestQuotes } from '#engine/book/scope-counts.ts'
import { countsHoldUntil } from '#engine/history-counts.ts'
import { describeLane, type LaneInsight, rescaledAverage } from '#engine/lane-insight.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { outliers } from '#engine/outliers.ts'
import { isEnough, type LaneScope, type ScopeCounts, scopesFor } from '#engine/scopes.ts'
import type { Steps } from '#engine/steps.ts'
import { type AskedScope, askedScope, type BrokerageBook } from '../book/index.ts'
import {
  type AskedLane,
  type FindClosest,
  lanePlaces,
  readAskedLane,
  unknownEnds,
  unknownPlaces,
} from '../lanes/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import { answeredEvidence } from './answered-evidence.ts'
import { type AskedBy, type ReadCall, serve } from './endpoint-call.ts'
import { shortHaulMiles } from './markup-estimate.ts'
import type { Parts } from './parts.ts'

/** The lane's own quotes, whose rates need no scaling. */
function isOwnLane(scope: LaneScope): boolean {
  return scope === 'equipment' || scope === 'corridor'
}

/** What a scope held. */
type Level = ScopeCounts & { readonly scope: LaneScope; readonly enough: boolean }

/** The scope that a lane's insight is taken from: the first with enough behind it, most trusted first. */
interface FoundScope {
  readonly scope: LaneScope
  readonly of: AskedScope
  /** What it and each level before it held. */
  readonly levels: readonly Level[]
}

function firstEnough(book: QuoteBook, asked: AskedLane): FoundScope | null {
  const levels: Level[] = []
  for (const scope of scopesFor(asked.equipmentCode !== null)) {
    const of = askedScope(book, scope, asked)
    if (of === null) continue
    const counts = countScope(of)
    const enough = isEnough(scope, counts)
    levels.push({ scope, ...counts, enough })
    if (enough) return { scope, of, levels }
  }
  return null
}

/** What is known about a lane. */
interface Known {
  /** Null when there is nothing at any level. */
  readonly insight: (LaneInsight & { readonly levels: readonly Level[]; readonly of: AskedScope }) | null
  /** Ends that may be typing errors; none where the lane has quotes of its own. */
  readonly unknown: ReturnType<typeof unknownEnds>
}

function* knownOf(book: BrokerageBook, asked: AskedLane, now: number): Steps<Known> {
  const { quotes } = book
  const found = firstEnough(quotes, asked)
  const unknown = found !== null && isOwnLane(found.scope) ? [] : unknownEnds(quotes, asked)
  if (found === null) return { insight: null, unknown }
  const { scope, of, levels } = found
  const counts = yield* book.result(`history ${of.name}`, of.area, now, function* () {
    const value = yield* countScopeHistory(quotes, of, now)
    return { value, until: countsHoldUntil(value, now) }
  })
  const miles = milesOf(asked)
  const insight = describeLane({
    counts,
    parent: { wins: quotes.won, decided: quotes.decided },
    askedScope: asked.equipmentCode === null ? 'corridor' : 'equipment',
    usedScope: scope,
    // Where the miles are unknown the plain mean stands in.
    avgRateCents: isOwnLane(scope) || miles === null ? null : yield* averageOf(book, of, { miles, now }),
  })
  return { insight: { ...insight, levels, of }, unknown }
}

/** The average rate of a wider scope, each rate scaled to the miles of the lane. */
function* averageOf(
  book: BrokerageBook,
  of: AskedScope,
  { miles, now }: { miles: number; now: number },
): Steps<number | null> {
  const counts = yield* book.result(`miles ${of.name}`, of.area, now, function* () {
    return { value: yield* countScopeMiles(book.quotes, of), until: Number.POSITIVE_INFINITY }
  })
  return rescaledAverage(counts, miles, yield* book.haulLog(now))
}

function milesOf({ places }: AskedLane): number | null {
  return lanePlaces(places.origin, places.destination, null).miles ?? null
}

function answer(
  { query }: Pick<ReadCall<typeof laneInsight>, 'query'>,
  asked: AskedLane,
  { insight, unknown }: Known,
  { evidence, closest }: { evidence?: Record<string, unknown>; closest?: FindClosest } = {},
): AnswerOf<typeof laneInsight> {
  const echo = { origin: query.origin, destination: query.destination, equipment: query.equipment ?? null }
  const places = unknownPlaces(query, asked, unknown, closest)
  if (insight === null) return { found: false as const, query: echo, ...places }
  const { scope, history, scores, signals, summary } = insight
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
    ...places,
    ...(evidence === undefined ? {} : { evidence }),
  }
}

/** The newest quotes of a wide scope that outliers are looked for in: each look compares all of them. */
const outlierQuotesMax = 20_000

/** With the counts behind the numbers, and the quotes that stand out. */
async function evidenceOf({ quotes: book }: BrokerageBook, asked: AskedLane, { insight }: Known) {
  if (insight === null) return undefined
  const quotes = await yieldBetweenSteps(newestQuotes(book, insight.of, outlierQuotesMax))
  const miles = milesOf(asked)
  return answeredEvidence({
    ...insight.evidence,
    outliers: outliers(quotes),
    levels: insight.levels,
    miles,
    shortHaul: miles !== null && miles < shortHaulMiles,
  }) as Record<string, unknown>
}

/** The answer for a lane of a batch. */
export async function insightOfLane(
  lane: ReadCall<typeof laneInsight>['query'],
  asked: AskedLane,
  { caller, now }: AskedBy,
  { books }: Parts,
  closest: FindClosest,
): Promise<AnswerOf<typeof laneInsight>> {
  const { quotes: book } = await books.read(caller.tenant)
  return answer({ query: lane }, asked, await yieldBetweenSteps(knownOf(book, asked, now)), { closest })
}

async function insightIntoLane(
  call: ReadCall<typeof laneInsight>,
  { books }: Parts,
): Promise<AnswerOf<typeof laneInsight>> {
  const { caller, query, now } = call
  const asked = readAskedLane(query)
  const { quotes: book } = await books.read(caller.tenant)
  const known = await yieldBetweenSteps(knownOf(book, asked, now))
  const evidence = query.include === undefined ? undefined : await evidenceOf(book, asked, known)
  return answer(call, asked, known, evidence === undefined ? {} : { evidence })
}

function insightFromMemory(
  call: ReadCall<typeof laneInsight>,
  { books }: Parts,
): AnswerOf<typeof laneInsight> | null {
  const { caller, query, now } = call
  const open = query.include === undefined ? books.peek(caller.tenant) : null
  if (open === null) return null
  const asked = readAskedLane(query)
  const known = knownOf(open.quotes, asked, now).next()
  return known.done === true ? answer(call, asked, known.value) : null
}

export const laneInsightEndpoint = serve(laneInsight, insightIntoLane, { fromMemory: insightFromMemory })
export const laneAdviceEndpoint = serve(laneAdvice, insightIntoLane)

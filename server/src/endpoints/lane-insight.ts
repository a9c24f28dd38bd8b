import type { AnswerOf } from '#contract/endpoint.ts'
import { laneAdvice, laneInsight } from '#contract/lane-insight.ts'
import { dayOf } from '#engine/estimate/day.ts'
import { type HaulLog, rateByMiles } from '#engine/estimate/rate-by-miles.ts'
import { countsHoldUntil, type HistoryCount } from '#engine/history-counts.ts'
import { describeLane, type LaneInsight, rescaledAverage } from '#engine/lane-insight.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { outliers } from '#engine/outliers.ts'
import { regionOf, STATES_OF_REGION } from '#engine/regions.ts'
import { isEnough, type LaneScope, lanesMatter, type ScopeCounts, scopesFor } from '#engine/scopes.ts'
import {
  countDecidedLanes,
  type HistoryOf,
  readHaulQuotes,
  readHistory,
  readHistoryCounts,
  readMilesCounts,
  readTenantStanding,
  readTotals,
} from '../database/histories.ts'
import type { TenantId, TenantTransaction, TenantVersions } from '../database/open-database.ts'
import { type AskedLane, laneName, lanePlaces, readAskedLane } from '../lane-places.ts'
import type { Remembered, TenantMemory } from '../tenant-memory.ts'
import { modelHoldsUntil } from '../tenant-models.ts'
import { type FindClosest, readUnknownEnds, unknownPlaces } from '../unknown-places.ts'
import { answeredEvidence } from './answered-evidence.ts'
import { type AskedBy, type Parts, type ReadCall, serve } from './call.ts'
import { shortHaulMiles } from './markup-estimate.ts'

function statesOf(region: string): string[] {
  return (STATES_OF_REGION[region] ?? '').split(' ')
}

/** The quotes that a scope takes in, or null where the lane has no such scope (a place outside every region). */
function historyOf(scope: LaneScope, { origin, destination, equipmentCode }: AskedLane): HistoryOf | null {
  const equipment = equipmentCode === null ? {} : { equipmentCode }
  const corridor = { originKey: origin.key, destinationKey: destination.key }
  switch (scope) {
    case 'equipment':
      return { corridor, ...equipment }
    case 'corridor':
      return { corridor }
    case 'market':
      return origin.market === null || destination.market === null
        ? null
        : { markets: { origin: origin.market, destination: destination.market }, ...equipment }
    case 'state_pair':
      return { states: { origins: [origin.state], destinations: [destination.state] }, ...equipment }
    case 'region': {
      const [from, to] = [regionOf(origin.state), regionOf(destination.state)]
      if (from === null || to === null) return null
      return { states: { origins: statesOf(from), destinations: statesOf(to) }, ...equipment }
    }
    case 'tenant':
      return equipment
  }
}

/** The lane's own quotes, whose rates need no scaling. */
function isOwnLane(scope: LaneScope): boolean {
  return scope === 'equipment' || scope === 'corridor'
}

/** What a scope held. Its lanes are null where they were not counted: that takes long, and few scopes ask for them. */
type Level = Omit<ScopeCounts, 'lanes'> & {
  readonly lanes: number | null
  readonly scope: LaneScope
  readonly enough: boolean
}

/** The scope that a lane's insight is taken from: the first with enough behind it, most trusted first. */
interface FoundScope {
  readonly scope: LaneScope
  readonly of: HistoryOf
  readonly counts: readonly HistoryCount[]
  /** What it and each level before it held. */
  readonly levels: readonly Level[]
}

async function firstEnough(
  transaction: TenantTransaction,
  tenant: TenantId,
  asked: AskedLane,
  { now, everyLane }: { now: number; everyLane: boolean },
): Promise<FoundScope | null> {
  const levels: Level[] = []
  for (const scope of scopesFor(asked.equipmentCode !== null)) {
    const of = historyOf(scope, asked)
    if (of === null) continue
    const counts = await readHistoryCounts(transaction, tenant, of, now)
    const decided = counts.reduce((sum, { won, lost }) => sum + won + lost, 0)
    const quotes = counts.reduce((sum, { pending }) => sum + pending, decided)
    // A corridor is one city pair; of wider scopes the database knows.
    const lanes = isOwnLane(scope)
      ? Math.min(1, decided)
      : everyLane || lanesMatter(scope)
        ? await countDecidedLanes(transaction, tenant, of)
        : null
    const enough = isEnough(scope, { quotes, decided, lanes: lanes ?? 0 })
    levels.push({ scope, quotes, decided, lanes, enough })
    if (enough) return { scope, of, counts, levels }
  }
  return null
}

/** What is known about a lane. It is the same for everybody who asks meanwhile. */
interface Known {
  /** Null when there is nothing at any level. */
  readonly insight: (LaneInsight & { readonly levels: readonly Level[]; readonly of: HistoryOf }) | null
  /** Ends that may be typing errors; none where the lane has quotes of its own. */
  readonly unknown: Awaited<ReturnType<typeof readUnknownEnds>>
}

async function readInsight(
  transaction: TenantTransaction,
  tenant: TenantId,
  asked: AskedLane,
  {
    now,
    parts: { memory },
    everyLane = false,
  }: { now: number; parts: Pick<Parts, 'memory'>; everyLane?: boolean },
): Promise<Remembered<Known>> {
  const { versions } = await readTenantStanding(transaction, tenant)
  const found = await firstEnough(transaction, tenant, asked, { now, everyLane })
  const never = Number.POSITIVE_INFINITY
  const unknown =
    found !== null && isOwnLane(found.scope) ? [] : await readUnknownEnds(transaction, tenant, asked)
  if (found === null) return { value: { insight: null, unknown }, versions, until: never, bytes: 0 }
  const { scope, of, counts, levels } = found
  const miles = milesOf(asked)
  // Where the miles are unknown the plain mean stands in.
  const avgRateCents =
    isOwnLane(scope) || miles === null
      ? null
      : rescaledAverage(
          await readMilesCounts(transaction, tenant, of),
          miles,
          await haulLogOf(transaction, tenant, { now, versions, memory }),
        )
  const insight = describeLane({
    counts,
    parent: await readTotals(transaction, tenant),
    askedScope: asked.equipmentCode === null ? 'corridor' : 'equipment',
    usedScope: scope,
    avgRateCents,
  })
  const until = Math.min(countsHoldUntil(counts, now), avgRateCents === null ? never : modelHoldsUntil(now))
  return { value: { insight: { ...insight, levels, of }, unknown }, versions, until, bytes: insightBytes }
}

interface KnownHaul {
  readonly haulLog: HaulLog
  readonly facts: number
}

/**
 * The tenant's curve by miles, the one its estimates use: remembered, so that one lane after another asks once. What is
 * remembered at older facts than this transaction has seen is no part of its answer.
 */
async function haulLogOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  { now, versions, memory }: { now: number; versions: TenantVersions; memory: TenantMemory },
): Promise<HaulLog> {
  const read = async (): Promise<Remembered<KnownHaul>> => {
    const haulLog = rateByMiles(await readHaulQuotes(transaction, tenant, dayOf(now)), dayOf(now))
    return {
      value: { haulLog, facts: versions.facts },
      versions,
      until: modelHoldsUntil(now),
      bytes: haulLogBytes,
    }
  }
  const known = await memory.recall(tenant, 'haul', now, read)
  return known.facts < versions.facts ? (await read()).value.haulLog : known.haulLog
}

/** A curve's five numbers and the functions that hold them. */
const haulLogBytes = 500

/** About what an insight takes: its numbers, its sentence, and its buckets. */
const insightBytes = 2_500

function milesOf({ places }: AskedLane): number | null {
  return lanePlaces(places.origin, places.destination, null).miles ?? null
}

const nameOf = (asked: AskedLane) => `insight ${laneName(asked)}`

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

/** With the counts behind the numbers, and the quotes that stand out: those are read for each question. */
async function insightWithEvidence(
  call: ReadCall<typeof laneInsight>,
  parts: Parts,
): Promise<AnswerOf<typeof laneInsight>> {
  const { caller, query, now } = call
  const asked = readAskedLane(query)
  const { known, quotes } = await parts.database.inTenant(caller.tenant, async (transaction) => {
    const { value } = await readInsight(transaction, caller.tenant, asked, { now, parts, everyLane: true })
    const { insight } = value
    return {
      known: value,
      quotes: insight === null ? [] : await readHistory(transaction, caller.tenant, insight.of),
    }
  })
  const { insight } = known
  if (insight === null) return answer(call, asked, known)
  const miles = milesOf(asked)
  const evidence = answeredEvidence({
    ...insight.evidence,
    outliers: outliers(quotes),
    levels: insight.levels,
    miles,
    shortHaul: miles !== null && miles < shortHaulMiles,
  })
  return answer(call, asked, known, { evidence: evidence as Record<string, unknown> })
}

/** What is remembered of a lane, or is read now. */
function recallInsight(asked: AskedLane, { caller, now }: AskedBy, parts: Parts): Promise<Known> {
  return parts.memory.recall(caller.tenant, nameOf(asked), now, () =>
    parts.database.inTenant(caller.tenant, (transaction) =>
      readInsight(transaction, caller.tenant, asked, { now, parts }),
    ),
  )
}

/** The answer for a lane of a batch. */
export async function insightOfLane(
  lane: ReadCall<typeof laneInsight>['query'],
  asked: AskedLane,
  by: AskedBy,
  parts: Parts,
  closest: FindClosest,
): Promise<AnswerOf<typeof laneInsight>> {
  return answer({ query: lane }, asked, await recallInsight(asked, by, parts), { closest })
}

async function insightIntoLane(
  call: ReadCall<typeof laneInsight>,
  parts: Parts,
): Promise<AnswerOf<typeof laneInsight>> {
  const { query } = call
  if (query.include !== undefined) return insightWithEvidence(call, parts)
  const asked = readAskedLane(query)
  return answer(call, asked, await recallInsight(asked, call, parts))
}

function insightFromMemory(
  call: ReadCall<typeof laneInsight>,
  parts: Parts,
): AnswerOf<typeof laneInsight> | null {
  const { caller, query, now } = call
  if (query.include !== undefined) return null
  const asked = readAskedLane(query)
  const known = parts.memory.peek<Known>(caller.tenant, nameOf(asked), now)
  return known === undefined ? null : answer(call, asked, known)
}

export const laneInsightEndpoint = serve(laneInsight, insightIntoLane, { fromMemory: insightFromMemory })
export const laneAdviceEndpoint = serve(laneAdvice, insightIntoLane)

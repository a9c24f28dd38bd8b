import type { AnswerOf } from '#contract/endpoint.ts'
import { laneAdvice, laneInsight } from '#contract/lane-insight.ts'
import { isDecided, type PastQuote } from '#engine/history.ts'
import { describeLane } from '#engine/lane-insight.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { regionOf, STATES_OF_REGION } from '#engine/regions.ts'
import { isEnough, type LaneScope, scopesFor } from '#engine/scopes.ts'
import { mean } from '#engine/statistics/mean.ts'
import { type HistoryOf, readHistory, tenantTotals } from '../database/histories.ts'
import type { TenantId, TenantTransaction } from '../database/open-database.ts'
import { type KnownPlace, knownOrFolded, lanePlaces, readAskedLane } from '../lane-places.ts'
import { answeredEvidence } from './answered-evidence.ts'
import { type Parts, type ReadCall, serve } from './call.ts'
import { shortHaulMiles } from './markup-estimate.ts'

interface AskedLane {
  readonly origin: KnownPlace
  readonly destination: KnownPlace
  readonly equipmentCode: string | null
}

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

/** The first scope with enough behind it, most trusted first, and what each level before it held. */
async function firstEnough(transaction: TenantTransaction, tenant: TenantId, asked: AskedLane) {
  const levels: { scope: LaneScope; quotes: number; decided: number; lanes: number; enough: boolean }[] = []
  for (const scope of scopesFor(asked.equipmentCode !== null)) {
    const of = historyOf(scope, asked)
    if (of === null) continue
    const quotes = await readHistory(transaction, tenant, of)
    const decided = quotes.filter(isDecided)
    const counts = {
      quotes: quotes.length,
      decided: decided.length,
      lanes: new Set(decided.map((quote) => `${quote.originKey}>${quote.destinationKey}`)).size,
    }
    const enough = isEnough(scope, counts)
    levels.push({ scope, ...counts, enough })
    if (enough) return { scope, quotes, levels }
  }
  return null
}

/** The lane's own quotes, whose rates need no scaling. */
function isOwnLane(scope: LaneScope): boolean {
  return scope === 'equipment' || scope === 'corridor'
}

/**
 * The average rate of a wider scope, in cents, each rate scaled to the asked lane's miles by the tenant's length-of-haul
 * curve: dollars of other mileages would be wrong, not merely wide. Null (the plain mean) where the miles are unknown.
 */
function rescaledAverage(
  quotes: readonly PastQuote[],
  miles: number | null,
  haulLog: (miles: number | null) => number,
): number | null {
  if (miles === null) return null
  return mean(
    quotes
      .filter((quote) => quote.rateCents > 0)
      .map((quote) => quote.rateCents * Math.exp(haulLog(miles) - haulLog(quote.miles))),
  )
}

/** The one loop of lane insight: for each scope, most trusted first, fetch its history; enough? describe it. */
async function insightIntoLane(
  { caller, query, now }: ReadCall<typeof laneInsight>,
  { database, models }: Parts,
): Promise<AnswerOf<typeof laneInsight>> {
  const { origin, destination, equipmentCode } = readAskedLane(query)

  const echo = { origin: query.origin, destination: query.destination, equipment: query.equipment ?? null }
  const asked = { origin: knownOrFolded(origin), destination: knownOrFolded(destination), equipmentCode }
  const answer = await database.inTenant(caller.tenant, async (transaction) => {
    const found = await firstEnough(transaction, caller.tenant, asked)
    if (found === null) return null
    const haulLog = isOwnLane(found.scope)
      ? null
      : (await models.of(transaction, caller.tenant, now)).estimator.haulLog
    return { ...found, haulLog, totals: await tenantTotals(transaction, caller.tenant) }
  })
  if (answer === null) return { found: false as const, query: echo }

  const miles = lanePlaces(origin, destination, null).miles ?? null
  const insight = describeLane({
    quotes: answer.quotes,
    parent: answer.totals,
    now,
    askedScope: equipmentCode === null ? 'corridor' : 'equipment',
    usedScope: answer.scope,
    avgRateCents: answer.haulLog === null ? null : rescaledAverage(answer.quotes, miles, answer.haulLog),
  })
  const { history } = insight
  return {
    found: true as const,
    query: echo,
    scope: insight.scope,
    history: {
      total_quotes: history.totalQuotes,
      wins: history.wins,
      losses: history.losses,
      win_rate_pct: history.winRatePct,
      months_active: history.monthsActive,
      avg_rate_usd: dollarsFromCents(history.avgRateCents),
    },
    scores: insight.scores,
    signals: insight.signals,
    summary: insight.summary,
    ...(query.include === undefined
      ? {}
      : {
          evidence: answeredEvidence({
            ...insight.evidence,
            levels: answer.levels,
            miles,
            shortHaul: miles !== null && miles < shortHaulMiles,
          }) as Record<string, unknown>,
        }),
  }
}

export const laneInsightEndpoint = serve(laneInsight, insightIntoLane)
export const laneAdviceEndpoint = serve(laneAdvice, insightIntoLane)

import type { AnswerOf } from '#contract/endpoint.ts'
import type { MarkupExtra } from '#contract/estimate.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { type MarkupOfBatch, markup, quoteAdvice } from '#contract/markup.ts'
import { type LaneRates, laneRates } from '#engine/lane-rates.ts'
import { adviseMarkup, type MarkupAdvice } from '#engine/markup.ts'
import { centsFromDollars, dollarsIfKnown } from '#engine/money.ts'
import { outliers } from '#engine/outliers.ts'
import type { WinProbabilityMethod } from '#engine/win-probability.ts'
import {
  type HistoryOf,
  type HistoryQuote,
  readHistory,
  readRateCounts,
  readTenantStanding,
} from '../database/histories.ts'
import type { TenantId, TenantTransaction } from '../database/open-database.ts'
import { findTenant } from '../database/people.ts'
import { type AskedLane, laneName, readAskedLane } from '../lane-places.ts'
import type { Remembered } from '../tenant-memory.ts'
import { type PreparedModel, prepared } from '../tenant-models.ts'
import { type FindClosest, readUnknownEnds, unknownPlaces } from '../unknown-places.ts'
import { answeredEvidence } from './answered-evidence.ts'
import { type AskedBy, type Parts, type ReadCall, serve } from './call.ts'
import { estimatedOffer, evidenceQuotes, floorsOf } from './markup-estimate.ts'

/** A lane prepared for any rate, and how the brokerage wants its win probability read. */
interface PricedLane {
  readonly rates: LaneRates
  /** Ends that may be typing errors; none where the lane has quotes. */
  readonly unknown: Awaited<ReturnType<typeof readUnknownEnds>>
  readonly method: WinProbabilityMethod
}

/** The exact city pair only (and equipment, when given): the interface gives this endpoint no fallback. */
function historyOf({ origin, destination, equipmentCode }: AskedLane): HistoryOf {
  return {
    corridor: { originKey: origin.key, destinationKey: destination.key },
    ...(equipmentCode === null ? {} : { equipmentCode }),
  }
}

async function readPricedLane(
  transaction: TenantTransaction,
  tenant: TenantId,
  asked: AskedLane,
): Promise<Remembered<PricedLane>> {
  const of = historyOf(asked)
  const { versions, method } = await readTenantStanding(transaction, tenant)
  const rates = laneRates(await readRateCounts(transaction, tenant, of))
  const unknown = rates.quotes === 0 ? await readUnknownEnds(transaction, tenant, asked) : []
  return {
    value: { rates, method, unknown },
    versions,
    until: Number.POSITIVE_INFINITY,
    bytes: pricedLaneBytes + rates.ratesCents.length * rateBytes,
  }
}

/** About what a prepared lane takes, and each of its rates: three numbers in lists. */
const pricedLaneBytes = 700
const rateBytes = 26

const nameOf = (asked: AskedLane) => `rates ${laneName(asked)}`

/** What is said beside the advice when it is asked for with `include`. */
interface Extras {
  readonly members: Readonly<Record<string, unknown>>
  readonly closest?: FindClosest
  readonly evidence?: (advice: MarkupAdvice) => ReturnType<typeof evidenceOf>
}

const noExtras: Extras = { members: {} }

type Query = ReadCall<typeof markup>['query']

function answer<Proposed extends number | null>(
  query: Omit<Query, 'proposed_rate'> & { readonly proposed_rate: Proposed },
  asked: AskedLane,
  { rates, method, unknown }: PricedLane,
  { members, evidence, closest }: Extras = noExtras,
) {
  const echo = {
    origin: query.origin,
    destination: query.destination,
    equipment: query.equipment ?? null,
    proposed_rate: query.proposed_rate,
    market_rate: query.market_rate ?? null,
  }
  if (rates.quotes === 0) {
    return {
      found: false as const,
      query: echo,
      confidence: 'none' as const,
      ...unknownPlaces(query, asked, unknown, closest),
      ...members,
    }
  }
  const advice = adviseMarkup(rates, {
    // Without a rate nothing is decided, and no number depends on it.
    proposedRateCents: centsFromDollars(query.proposed_rate ?? 0) ?? 0,
    marketRateCents: query.market_rate === undefined ? null : centsFromDollars(query.market_rate),
    method,
  })
  return {
    found: true as const,
    query: echo,
    win_probability: advice.winProbability,
    confidence: advice.confidence,
    markup_pct: advice.markupPct,
    suggested_rate: dollarsIfKnown(advice.suggestedRateCents),
    rate_band: {
      floor: dollarsIfKnown(advice.rateBand.floorCents),
      median: dollarsIfKnown(advice.rateBand.medianCents),
      ceiling: dollarsIfKnown(advice.rateBand.ceilingCents),
    },
    verdict: advice.verdict,
    ...members,
    ...(evidence === undefined ? {} : { evidence: evidence(advice) }),
  }
}

/** The extras that need the model of the whole tenant. */
const estimated: ReadonlySet<MarkupExtra> = new Set(['estimate', 'curve', 'optimum'])

/** The extras are made of the quotes themselves, not of their counts: they are read for each question. */
async function adviceWithExtras(
  call: ReadCall<typeof markup>,
  include: ReadonlySet<MarkupExtra>,
  { database, models }: Parts,
): Promise<AnswerOf<typeof markup>> {
  const { caller, query, now } = call
  const asked = readAskedLane(query)
  const { lane, history, tenant, facts } = await database.inTenant(caller.tenant, async (transaction) => ({
    lane: await readPricedLane(transaction, caller.tenant, asked),
    history: await readHistory(transaction, caller.tenant, historyOf(asked)),
    tenant: await findTenant(transaction, caller.tenant),
    facts: [...include].some((extra) => estimated.has(extra))
      ? await models.of(transaction, caller.tenant, now)
      : null,
  }))
  const model = facts === null ? null : await prepared(facts)
  const proposedRateCents = centsFromDollars(query.proposed_rate) ?? 0
  const { places, equipmentCode } = asked
  const estimate =
    model === null || tenant === null
      ? null
      : estimatedOffer(model, { ...places, equipmentCode, proposedRateCents }, history, {
          floors: floorsOf(tenant),
          now,
        })
  const page = { number: query.evidence_page ?? 1, size: query.evidence_limit ?? pageSizeDefault }
  return answer(query, asked, lane.value, {
    members:
      estimate === null
        ? {}
        : {
            ...(include.has('estimate') ? { estimate: estimate.estimate } : {}),
            ...(include.has('curve') ? { curve: estimate.curve } : {}),
            ...(include.has('optimum') ? { optimum: estimate.optimum } : {}),
          },
    ...(include.has('evidence')
      ? { evidence: (advice: MarkupAdvice) => evidenceOf(advice, history, model, page) }
      : {}),
  })
}

function evidenceOf(
  advice: MarkupAdvice,
  history: readonly HistoryQuote[],
  model: PreparedModel | null,
  page: { number: number; size: number },
) {
  return {
    ...(answeredEvidence({ ...advice.evidence, outliers: outliers(history) }) as Record<string, unknown>),
    ...evidenceQuotes(history, model, page),
  }
}

/** What is remembered of a lane for any rate, or is read now. */
function recallPricedLane(asked: AskedLane, { caller, now }: AskedBy, parts: Parts): Promise<PricedLane> {
  return parts.memory.recall(caller.tenant, nameOf(asked), now, () =>
    parts.database.inTenant(caller.tenant, (transaction) =>
      readPricedLane(transaction, caller.tenant, asked),
    ),
  )
}

/** The answer for a lane of a batch. Without a proposed rate it is for the one that it suggests, or else for the median. */
export async function markupOfLane(
  lane: Omit<Query, 'proposed_rate'> & Partial<Pick<Query, 'proposed_rate'>>,
  asked: AskedLane,
  by: AskedBy,
  parts: Parts,
  closest: FindClosest,
): Promise<MarkupOfBatch> {
  const priced = await recallPricedLane(asked, by, parts)
  const { suggestion, band } = priced.rates
  const proposed = lane.proposed_rate ?? dollarsIfKnown(suggestion.rateCents ?? band?.medianCents ?? null)
  return answer({ ...lane, proposed_rate: proposed }, asked, priced, { members: {}, closest })
}

async function adviceOnRate(call: ReadCall<typeof markup>, parts: Parts): Promise<AnswerOf<typeof markup>> {
  const { query } = call
  if (query.include !== undefined) {
    const include = new Set(query.include.split(',').map((part) => part.trim()) as MarkupExtra[])
    return adviceWithExtras(call, include, parts)
  }
  const asked = readAskedLane(query)
  return answer(query, asked, await recallPricedLane(asked, call, parts))
}

function adviceFromMemory(call: ReadCall<typeof markup>, parts: Parts): AnswerOf<typeof markup> | null {
  const { caller, query, now } = call
  if (query.include !== undefined) return null
  const asked = readAskedLane(query)
  const lane = parts.memory.peek<PricedLane>(caller.tenant, nameOf(asked), now)
  return lane === undefined ? null : answer(query, asked, lane)
}

export const markupEndpoint = serve(markup, adviceOnRate, { fromMemory: adviceFromMemory })
export const quoteAdviceEndpoint = serve(quoteAdvice, adviceOnRate)

import type { AnswerOf } from '#contract/endpoint.ts'
import type { MarkupExtra } from '#contract/estimate.ts'
import { includedIn } from '#contract/fields.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { type MarkupOfBatch, markup, quoteAdvice } from '#contract/markup.ts'
import { countScopeRates, newestQuotes } from '#engine/book/scope-counts.ts'
import { type LaneRates, laneRates } from '#engine/lane-rates.ts'
import { adviseMarkup, type MarkupAdvice } from '#engine/markup.ts'
import { centsFromDollars, dollarsIfKnown } from '#engine/money.ts'
import { type Outlier, outliersInSteps } from '#engine/outliers.ts'
import type { Pool } from '#engine/rate-type.ts'
import type { Steps } from '#engine/steps.ts'
import type { WinProbabilityMethod } from '#engine/win-probability.ts'
import { type BrokerageBook, type NamedScope, type OpenBook, ownScope } from '../../book/index.ts'
import { readLaneRefs } from '../../database/queries/index.ts'
import { type AskedLane, readAskedLane } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type AskedBy, type ReadCall, serve } from '../endpoint-call.ts'
import { checkReference, marketReference } from '../market/market-reference.ts'
import type { Parts } from '../parts.ts'
import { offerAppraiser } from './appraise-offer.ts'
import { evidenceAnswer } from './evidence.ts'
import { readEvidenceQuotes } from './evidence-quotes.ts'
import {
  type AskedInsight,
  isPlain,
  poolOf,
  rateTypeIn,
  type SharedExtras,
  sharedExtras,
} from './insight-extras.ts'
import { estimatedOffer } from './markup-estimate.ts'
import { sealAdvice } from './shown-advice.ts'

/** The rates of a lane, and the brokerage's setting for win probability. Enough to advise on any rate. */
interface PricedLane {
  readonly scope: NamedScope
  readonly rates: LaneRates
  readonly method: WinProbabilityMethod
}

/** Reads the exact city pair (and equipment, when given): this endpoint has no wider scopes. */
function* pricedLane(
  { quotes: book, settings }: OpenBook<BrokerageBook>,
  asked: AskedLane,
  { pool, now }: { readonly pool: Pool; readonly now: number },
): Steps<PricedLane> {
  const scope = ownScope(book.quotes, asked, { equipmentCode: asked.equipmentCode, pool })
  const rates = yield* book.result(`rates ${scope.name}`, scope.area, now, function* () {
    return {
      value: laneRates(yield* countScopeRates(book.quotes, scope)),
      until: Number.POSITIVE_INFINITY,
    }
  })
  return {
    scope,
    rates,
    method: settings.method,
  }
}

interface Extras {
  /** The members requested with `include`. */
  readonly common?: SharedExtras
  readonly members?: Readonly<Record<string, unknown>>
  readonly evidence?: (advice: MarkupAdvice) => ReturnType<typeof evidenceOf>
  /** The stored market rate, if it is the reference of markup_pct. */
  readonly marketRateCents?: number | null
}

type Query = ReadCall<typeof markup>['query']

function answer<Proposed extends number | null>(
  query: Omit<Query, 'proposed_rate'> & { readonly proposed_rate: Proposed },
  { rates, method }: PricedLane,
  { common = {}, members = {}, evidence, marketRateCents = null }: Extras = {},
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
      ...common,
      ...members,
    }
  }
  const advice = adviseMarkup(rates, {
    // In a batch, the rate is missing only if the lane has no decided quotes. Then no number of the answer depends on it.
    proposedRateCents: centsFromDollars(query.proposed_rate ?? 0) ?? 0,
    marketRateCents: query.market_rate === undefined ? marketRateCents : centsFromDollars(query.market_rate),
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
    ...common,
    ...members,
    ...(evidence === undefined ? {} : { evidence: evidence(advice) }),
  }
}

/** The extras that need the estimator of the whole brokerage. */
const pricedExtras = ['estimate', 'curve', 'optimum', 'risk', 'rules'] as const

/** The advice with the extras of `include`. The extras need the quotes themselves, not only their counts. */
async function adviceWithExtras(
  { caller, query, now }: ReadCall<typeof markup>,
  include: ReadonlySet<MarkupExtra>,
  parts: Pick<Parts, 'books' | 'database' | 'secretKeys'>,
  repId: number | null,
): Promise<AnswerOf<typeof markup>> {
  const { books, database } = parts
  const asked = readAskedLane(query)
  const open = await books.read(caller.tenant)
  const { quotes: book } = open
  const additions = { include, isPerson: repId !== null }
  const { pool } = poolOf(query, open.settings, additions)
  const lane = await yieldBetweenSteps(pricedLane(open, asked, { pool, now }))
  const needsEstimate = pricedExtras.some((extra) => include.has(extra))
  const model = needsEstimate ? await book.advice(now) : null
  const askedFor = { tenant: caller.tenant, now, repId, customerName: query.customer }
  const costCents = query.estimated_cost === undefined ? null : centsFromDollars(query.estimated_cost)
  const offer = needsEstimate
    ? await (await offerAppraiser(open, askedFor, parts))({
        asked,
        enteredCents: costCents,
        rateType: rateTypeIn(pool),
      })
    : null
  const history =
    offer?.history ??
    (await yieldBetweenSteps(newestQuotes(book.quotes, lane.scope, Number.POSITIVE_INFINITY)))
  const proposedRateCents = centsFromDollars(query.proposed_rate) ?? 0
  const estimate = offer === null || model === null ? null : estimatedOffer(offer, proposedRateCents, now)
  const evidence = include.has('evidence')
    ? await readEvidenceQuotes(history, model, {
        page: { number: query.evidence_page ?? 1, size: query.evidence_limit ?? pageSizeDefault },
        asked,
        refsOf: (quoteIds) =>
          database.inTenant(caller.tenant, (transaction) =>
            readLaneRefs(transaction, caller.tenant, quoteIds),
          ),
      })
    : null
  const outliers = evidence === null ? [] : await yieldBetweenSteps(outliersInSteps(history))
  const market = asksForMarket(query, include)
    ? await marketReference(asked, history, query, { caller, now }, open, parts)
    : null
  return answer(query, lane, {
    common: await sharedExtras({ ...additions, query, asked }, open, caller.tenant, parts),
    members: {
      ...(estimate === null
        ? {}
        : Object.fromEntries(
            pricedExtras.flatMap((extra) => (include.has(extra) ? [[extra, estimate[extra]]] : [])),
          )),
      ...(offer === null || repId === null
        ? {}
        : {
            advice: sealAdvice(
              offer.appraisal,
              proposedRateCents,
              { ...askedFor, userId: repId, load: null, settings: open.settings },
              parts.secretKeys,
            ),
          }),
      ...(market === null || !include.has('market') ? {} : { market: market.answer }),
    },
    ...(market === null ? {} : { marketRateCents: market.marketRateCents }),
    ...(evidence === null
      ? {}
      : { evidence: (advice: MarkupAdvice) => evidenceOf(advice, outliers, evidence) }),
  })
}

/** The stored market rate is read if the answer is to show it, and if it is the reference of markup_pct. */
const asksForMarket = ({ reference }: Pick<Query, 'reference'>, include: ReadonlySet<MarkupExtra>) =>
  include.has('market') || reference === 'market'

function evidenceOf(
  advice: MarkupAdvice,
  outliers: readonly Outlier[],
  quotes: Awaited<ReturnType<typeof readEvidenceQuotes>>,
) {
  return {
    ...(evidenceAnswer({ ...advice.evidence, outliers }) as Record<string, unknown>),
    ...quotes,
  }
}

/** The advice for a lane of a batch. Without a proposed rate, it is for the suggested rate, or else the median. */
export async function markupOfLane(
  quote: Omit<Query, 'proposed_rate'> & Partial<Pick<Query, 'proposed_rate'>>,
  asked: AskedLane,
  by: AskedBy,
  parts: Pick<Parts, 'books' | 'database'>,
  additions: Pick<AskedInsight, 'include' | 'closest' | 'isPerson'>,
): Promise<MarkupOfBatch> {
  const open = await parts.books.read(by.caller.tenant)
  const { pool } = poolOf(quote, open.settings, additions)
  const priced = await yieldBetweenSteps(pricedLane(open, asked, { pool, now: by.now }))
  const { suggestion, band } = priced.rates
  const proposed = quote.proposed_rate ?? dollarsIfKnown(suggestion.rateCents ?? band?.medianCents ?? null)
  const ask = { ...additions, query: quote, asked }
  return answer({ ...quote, proposed_rate: proposed }, priced, {
    common: await sharedExtras(ask, open, by.caller.tenant, parts),
  })
}

/** @param repId the person who asks; null for a machine */
async function markupAnswer(
  call: ReadCall<typeof markup>,
  parts: Pick<Parts, 'books' | 'database' | 'secretKeys'>,
  repId: number | null,
): Promise<AnswerOf<typeof markup>> {
  const { caller, query, now } = call
  checkReference(query)
  const include = includedIn<MarkupExtra>(query.include)
  if (!isPlain(include) || query.reference === 'market') {
    return adviceWithExtras(call, include, parts, repId)
  }
  const asked = readAskedLane(query)
  const open = await parts.books.read(caller.tenant)
  const additions = { include, isPerson: repId !== null }
  const { pool } = poolOf(query, open.settings, additions)
  const priced = await yieldBetweenSteps(pricedLane(open, asked, { pool, now }))
  return answer(query, priced, {
    common: await sharedExtras({ ...additions, query, asked }, open, caller.tenant, parts),
  })
}

export const markupEndpoint = serve(markup, (call, parts) => markupAnswer(call, parts, null))
export const quoteAdviceEndpoint = serve(quoteAdvice, (call, parts) =>
  markupAnswer(call, parts, call.caller.userId),
)

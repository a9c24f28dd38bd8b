import type { AnswerOf } from '#contract/endpoint.ts'
import type { MarkupExtra } from '#contract/estimate.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import { markup, quoteAdvice } from '#contract/markup.ts'
import { adviseMarkup } from '#engine/markup.ts'
import { centsFromDollars, dollarsIfKnown } from '#engine/money.ts'
import { readHistory } from '../database/histories.ts'
import { findTenant } from '../database/people.ts'
import { knownOrFolded, readAskedLane } from '../lane-places.ts'
import { answeredEvidence } from './answered-evidence.ts'
import { type Parts, type ReadCall, serve } from './call.ts'
import { estimatedOffer, evidenceQuotes, floorsOf } from './markup-estimate.ts'

/** The extras that need the model of the whole tenant. */
const estimated: ReadonlySet<MarkupExtra> = new Set(['estimate', 'curve', 'optimum'])

/** The exact city pair only (and equipment, when given): the interface gives this endpoint no fallback. */
async function adviceOnRate(
  { caller, query, now }: ReadCall<typeof markup>,
  { database, models }: Parts,
): Promise<AnswerOf<typeof markup>> {
  const { origin, destination, equipmentCode } = readAskedLane(query)
  const include = new Set((query.include ?? '').split(',').map((part) => part.trim()) as MarkupExtra[])

  const { history, tenant, model } = await database.inTenant(caller.tenant, async (transaction) => ({
    history: await readHistory(transaction, caller.tenant, {
      corridor: { originKey: knownOrFolded(origin).key, destinationKey: knownOrFolded(destination).key },
      ...(equipmentCode === null ? {} : { equipmentCode }),
    }),
    tenant: await findTenant(transaction, caller.tenant),
    model: [...include].some((extra) => estimated.has(extra))
      ? await models.of(transaction, caller.tenant, now)
      : null,
  }))

  const proposedRateCents = centsFromDollars(query.proposed_rate) ?? 0
  const offer = { origin, destination, equipmentCode, proposedRateCents }
  const estimate =
    model === null || tenant === null
      ? null
      : estimatedOffer(model, offer, history, { floors: floorsOf(tenant), now })
  const extras =
    estimate === null
      ? {}
      : {
          ...(include.has('estimate') ? { estimate: estimate.estimate } : {}),
          ...(include.has('curve') ? { curve: estimate.curve } : {}),
          ...(include.has('optimum') ? { optimum: estimate.optimum } : {}),
        }
  const echo = {
    origin: query.origin,
    destination: query.destination,
    equipment: query.equipment ?? null,
    proposed_rate: query.proposed_rate,
    market_rate: query.market_rate ?? null,
  }
  if (history.length === 0)
    return { found: false as const, query: echo, confidence: 'none' as const, ...extras }

  const advice = adviseMarkup(history, {
    proposedRateCents,
    marketRateCents: query.market_rate === undefined ? null : centsFromDollars(query.market_rate),
    method: tenant?.win_probability_method ?? 'at_or_below',
  })
  const page = { number: query.evidence_page ?? 1, size: query.evidence_limit ?? pageSizeDefault }
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
    ...extras,
    ...(include.has('evidence')
      ? {
          evidence: {
            ...(answeredEvidence(advice.evidence) as Record<string, unknown>),
            ...evidenceQuotes(history, model, page),
          },
        }
      : {}),
  }
}

export const markupEndpoint = serve(markup, adviceOnRate)
export const quoteAdviceEndpoint = serve(quoteAdvice, adviceOnRate)

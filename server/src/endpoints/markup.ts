import { type FieldError, invalid } from '#contract/errors.ts'
import { markup } from '#contract/markup.ts'
import { adviseMarkup } from '#engine/markup.ts'
import { centsFromDollars, dollarsFromCents } from '#engine/money.ts'
import { readHistory } from '../database/histories.ts'
import { findTenant } from '../database/people.ts'
import { readEquipment, readPlaceKey } from '../lane-places.ts'
import { answeredEvidence } from './answered-evidence.ts'
import { serve } from './call.ts'

function dollars(cents: number | null): number | null {
  return cents === null ? null : dollarsFromCents(Math.round(cents))
}

/** The exact city pair only (and equipment, when given): the interface gives this endpoint no fallback. */
export const markupEndpoint = serve(markup, async ({ caller, query }, { database }) => {
  const errors: FieldError[] = []
  const originKey = readPlaceKey(query.origin, { parameter: 'origin' }, errors)
  const destinationKey = readPlaceKey(query.destination, { parameter: 'destination' }, errors)
  const equipmentCode =
    query.equipment === undefined ? null : readEquipment(query.equipment, { parameter: 'equipment' }, errors)
  if (originKey === null || destinationKey === null || errors.length > 0) throw invalid(errors)

  const { history, method } = await database.inTenant(caller.tenant, async (transaction) => ({
    history: await readHistory(transaction, caller.tenant, {
      corridor: { originKey, destinationKey },
      ...(equipmentCode === null ? {} : { equipmentCode }),
    }),
    method: (await findTenant(transaction, caller.tenant))?.win_probability_method ?? 'at_or_below',
  }))

  const echo = {
    origin: query.origin,
    destination: query.destination,
    equipment: query.equipment ?? null,
    proposed_rate: query.proposed_rate,
    market_rate: query.market_rate ?? null,
  }
  if (history.length === 0) return { found: false as const, query: echo, confidence: 'none' as const }
  const advice = adviseMarkup(history, {
    proposedRateCents: centsFromDollars(query.proposed_rate) ?? 0,
    marketRateCents: query.market_rate === undefined ? null : centsFromDollars(query.market_rate),
    method,
  })
  return {
    found: true as const,
    query: echo,
    win_probability: advice.winProbability,
    confidence: advice.confidence,
    markup_pct: advice.markupPct,
    suggested_rate: dollars(advice.suggestedRateCents),
    rate_band: {
      floor: dollars(advice.rateBand.floorCents),
      median: dollars(advice.rateBand.medianCents),
      ceiling: dollars(advice.rateBand.ceilingCents),
    },
    verdict: advice.verdict,
    ...(query.include === undefined
      ? {}
      : { evidence: answeredEvidence(advice.evidence) as Record<string, unknown> }),
  }
})

import { type Appraisal, appraise } from '#engine/appraisal/appraisal.ts'
import { chanceOn } from '#engine/estimate/optimum.ts'
import type { PastQuote } from '#engine/rules/rule-test.ts'
import type { Steps } from '#engine/steps.ts'
import { type EffectsByType, type Pricing, placedAs, pricingOf } from '../../book/index.ts'
import { customers, type PastQuoteRow, pastQuotes } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'

/** A quote of the past with today's chances of winning its lane. */
export interface EstimatedPastQuote extends PastQuote {
  readonly row: PastQuoteRow
}

/** The newest quotes as they were made, each with today's chances of its lane and its customer. */
export async function estimatedPastQuotes(
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  which: { readonly since: Date; readonly limit: number },
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<EstimatedPastQuote[]> {
  const pricing = await pricingOf(parts, tenant, now)
  const { rows, merged } = await parts.database.inTenant(tenant, async (transaction) => ({
    rows: await pastQuotes(transaction, tenant, which),
    merged: await customers.mergedHashes(transaction, tenant),
  }))
  const effects = await pricing.book?.quotes.customerEffects(pricing.book, new Map(merged))
  // One work for all quotes: a work for each would take less than a slice, so none of them would yield.
  return yieldBetweenSteps(appraisedInSteps(rows, pricing, { effects: effects ?? null, now }))
}

function* appraisedInSteps(
  rows: readonly PastQuoteRow[],
  { book, settings }: Pricing,
  { effects, now }: { readonly effects: EffectsByType | null; readonly now: number },
): Steps<EstimatedPastQuote[]> {
  const quotes: EstimatedPastQuote[] = []
  for (const row of rows) {
    const appraisal = yield* appraise(
      book,
      // The test applies the rules before and after a change itself.
      { ...settings, rules: [] },
      {
        ...placedAs(row),
        parties: {
          customerKeys: row.customer_keys,
          tier: row.tier,
          repId: row.created_by,
          teamIds: row.team_ids,
          rateType: row.rate_type,
        },
        customer:
          effects === null
            ? null
            : {
                hash: row.customer_hash,
                effects: effects[row.rate_type ?? settings.rateType],
              },
        // The amounts of the row are converted already.
        terms: { basis: null, fuelCents: null, accessorialCents: null },
        day: { fuelMillsPerMile: null, usdPerCad: null },
        enteredCents: row.estimated_cost_cents,
        expectedThenCents: row.expected_cost_cents,
        now,
      },
    )
    quotes.push({
      laneRef: row.lane_ref,
      lane: appraisal.lane.key,
      rateCents: row.quoted_rate_cents,
      outcome: row.outcome,
      facts: appraisal.facts,
      costs: appraisal.costs,
      chanceAt: chanceOf(appraisal),
      row,
    })
    yield
  }
  return quotes
}

/** The chance at a rate, computed when it is asked for: most quotes are within the rules. */
function chanceOf(appraisal: Appraisal): PastQuote['chanceAt'] {
  if (appraisal.goingCents === null) return null
  return (rateCents) => (appraisal.belief === null ? 0 : chanceOn(appraisal.belief)(rateCents))
}

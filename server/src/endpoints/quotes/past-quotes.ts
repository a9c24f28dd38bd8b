import { type Appraisal, appraise } from '#engine/appraisal/appraisal.ts'
import type { PastQuote } from '#engine/backtest/rule-test.ts'
import type { CountedAmounts } from '#engine/counted-amounts.ts'
import { chanceOn } from '#engine/estimate/optimum.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { Steps } from '#engine/steps.ts'
import { type EffectsByType, type Pricing, placedAs, pricingOf } from '../../book/index.ts'
import {
  conversions,
  countedQuote,
  customers,
  type PastQuoteRow,
  pastQuotes,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { countedMiles } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'

/** A quote of the past, with its amounts in US dollars on the default basis, as statistics count it. */
interface CountedPastQuote {
  readonly row: PastQuoteRow
  readonly amounts: CountedAmounts
}

/** The newest quotes as they were made, with the chance of each by today's data on its lane and customer. */
export async function estimatedPastQuotes(
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  which: { readonly since: Date; readonly limit: number },
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<PastQuote[]> {
  const pricing = await pricingOf(parts, tenant, now)
  const { past, merged } = await parts.database.inTenant(tenant, async (transaction) => ({
    past: await countedPastQuotes(transaction, tenant, which, pricing.settings.basis),
    merged: await customers.mergedHashes(transaction, tenant),
  }))
  const effects = await pricing.book?.quotes.customerEffects(pricing.book, new Map(merged))
  // All quotes share one run of steps, because a run yields only after a time slice, and one quote takes less.
  return yieldBetweenSteps(appraisedInSteps(past, pricing, { effects: effects ?? null, now }))
}

/** The newest quotes with a rate whose amounts can be converted. */
async function countedPastQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  which: { readonly since: Date; readonly limit: number },
  basis: RateBasis,
): Promise<CountedPastQuote[]> {
  const days = await conversions.conversionDays(transaction, tenant)
  const rows = await pastQuotes(transaction, tenant, which)
  return rows.flatMap((row) => {
    const amounts = countedQuote(row, { basis, days, miles: countedMiles(row) })
    return amounts === null ? [] : [{ row, amounts }]
  })
}

function* appraisedInSteps(
  past: readonly CountedPastQuote[],
  { book, settings }: Pricing,
  { effects, now }: { readonly effects: EffectsByType | null; readonly now: number },
): Steps<PastQuote[]> {
  const quotes: PastQuote[] = []
  for (const { row, amounts } of past) {
    const appraisal = yield* appraise(
      book,
      // No rules: the test itself applies those before and those after a change.
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
        // The amounts are converted already.
        terms: { basis: null, fuelCents: null, accessorialCents: null },
        day: { fuelMillsPerMile: null, usdPerCad: null },
        enteredCents: amounts.estimatedCents || null,
        expectedThenCents: amounts.expectedCents || null,
        now,
      },
    )
    quotes.push({
      laneRef: row.lane_ref,
      lane: appraisal.lane.key,
      rateCents: amounts.quotedCents,
      outcome: row.outcome,
      facts: appraisal.facts,
      costs: appraisal.costs,
      chanceAt: chanceOf(appraisal),
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

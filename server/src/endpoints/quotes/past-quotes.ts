import { type Appraisal, appraise } from '#engine/appraisal/appraisal.ts'
import type { CountedAmounts } from '#engine/counted-amounts.ts'
import { chanceOn } from '#engine/estimate/optimum.ts'
import type { ConvertedCounts } from '#engine/quote-statistics/basis-counts.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { PastQuote } from '#engine/rules/rule-test.ts'
import type { Steps } from '#engine/steps.ts'
import { type EffectsByType, type Pricing, placedAs, pricingOf } from '../../book/index.ts'
import {
  conversions,
  countedLane,
  customers,
  type PastQuoteRow,
  pastQuotes,
  statedAmounts,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'

/** A quote of the past, with its amounts in US dollars on the default basis, as statistics count it. */
interface CountedPastQuote {
  readonly row: PastQuoteRow
  readonly amounts: CountedAmounts
}

/** A quote of the past with today's chances of winning its lane. */
export interface EstimatedPastQuote extends PastQuote {
  readonly row: PastQuoteRow
}

/** Past quotes, how many of them were converted, and how many were left out. */
export interface EstimatedPastQuotes {
  readonly quotes: EstimatedPastQuote[]
  readonly basis: RateBasis
  readonly converted: ConvertedCounts
}

/** The newest quotes as they were made, each with today's chances of its lane and its customer. */
export async function estimatedPastQuotes(
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  which: { readonly since: Date; readonly limit: number },
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<EstimatedPastQuotes> {
  const pricing = await pricingOf(parts, tenant, now)
  const { basis } = pricing.settings
  const { found, merged } = await parts.database.inTenant(tenant, async (transaction) => ({
    found: await countedPastQuotes(transaction, tenant, { ...which, basis }),
    merged: await customers.mergedHashes(transaction, tenant),
  }))
  const effects = await pricing.book?.quotes.customerEffects(pricing.book, new Map(merged))
  // One work for all quotes: a work for each would take less than a slice, so none of them would yield.
  const quotes = await yieldBetweenSteps(
    appraisedInSteps(found.quotes, pricing, { effects: effects ?? null, now }),
  )
  return { quotes, basis, converted: found.converted }
}

/** The newest quotes with a rate whose amounts can be converted. */
async function countedPastQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  { basis, ...which }: { readonly since: Date; readonly limit: number; readonly basis: RateBasis },
): Promise<{ quotes: CountedPastQuote[]; converted: ConvertedCounts }> {
  const quotes: CountedPastQuote[] = []
  const convertedBy = { charges: 0, schedule: 0, exchange: 0 }
  let [keptApart, keptApartInCad] = [0, 0]
  const days = await conversions.conversionDays(transaction, tenant)
  for (const row of await pastQuotes(transaction, tenant, which)) {
    const amounts = countedLane(row, basis, days)
    if (amounts === null) {
      keptApart++
      if (statedAmounts.some((of) => row[`${of}_currency`] === 'CAD')) keptApartInCad++
    } else {
      if (amounts.convertedBy !== null) convertedBy[amounts.convertedBy]++
      quotes.push({ row, amounts })
    }
  }
  return { quotes, converted: { convertedBy, keptApart, keptApartInCad } }
}

function* appraisedInSteps(
  past: readonly CountedPastQuote[],
  { book, settings }: Pricing,
  { effects, now }: { readonly effects: EffectsByType | null; readonly now: number },
): Steps<EstimatedPastQuote[]> {
  const quotes: EstimatedPastQuote[] = []
  for (const { row, amounts } of past) {
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

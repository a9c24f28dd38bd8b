import type { AnswerOf } from '#contract/endpoint.ts'
import { ruleTestQuotesMax } from '#contract/limits.ts'
import type { testPricingRule } from '#contract/pricing-rules.ts'
import { dollarsFromCents } from '#engine/money.ts'
import type { PricingRule } from '#engine/rules/pricing-rules.ts'
import { conditionsInWords } from '#engine/rules/rule-conditions.ts'
import { type RuleTest, ruleTestInWords, testRuleInSteps } from '#engine/rules/rule-test.ts'
import type { TenantId } from '../../database/session/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'
import { basisAnswer } from '../performance/compared-basis.ts'
import { type EstimatedPastQuote, estimatedPastQuotes } from '../quotes/past-quotes.ts'

const examplesMax = 50
const dayMs = 86_400_000

/** Applies the rules with and without a rule to the newest quotes. */
export async function testOnHistory(
  rules: {
    readonly tested: PricingRule
    readonly before: readonly PricingRule[]
    readonly after: readonly PricingRule[]
  },
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof testPricingRule>> {
  const since = new Date(now - 365 * dayMs)
  const { quotes, basis, converted } = await estimatedPastQuotes(
    { tenant, now },
    { since, limit: ruleTestQuotesMax },
    parts,
  )
  const found = await yieldBetweenSteps(testRuleInSteps(rules, quotes))
  return {
    because: conditionsInWords(rules.tested.conditions),
    basis: basisAnswer({ basis, ...converted }),
    quotes: quotes.length,
    applies: found.applies,
    without_cost: found.withoutCost,
    no_rate: found.noRate,
    changed: found.changed.length,
    changed_won: found.changed.filter(({ quote }) => quote.outcome === 'won').length,
    changed_lost: found.changed.filter(({ quote }) => quote.outcome === 'lost').length,
    estimate: estimateAnswer(found.estimate),
    sentence: ruleTestInWords(found),
    examples: found.changed.slice(0, examplesMax).map(({ quote, allowedCents, detail }) => ({
      lane_ref: quote.laneRef,
      customer_name: quote.row.quoted_customer_name,
      origin: quote.row.origin,
      destination: quote.row.destination,
      quoted_at: quote.row.created_at.toISOString(),
      outcome: quote.outcome,
      quoted_rate: dollarsFromCents(quote.rateCents),
      allowed_rate: dollarsFromCents(allowedCents),
      detail,
    })),
  }
}

function estimateAnswer(
  estimate: RuleTest<EstimatedPastQuote>['estimate'],
): AnswerOf<typeof testPricingRule>['estimate'] {
  if (estimate === null) return null
  const tenths = (value: number) => Math.round(10 * value) / 10
  const { marginBeforeCents: before, marginAfterCents: after, range80 } = estimate
  return {
    quotes: estimate.quotes,
    wins_before: tenths(estimate.winsBefore),
    wins_after: tenths(estimate.winsAfter),
    margin_before: dollarsFromCents(before),
    margin_after: dollarsFromCents(after),
    difference: dollarsFromCents(after - before),
    range_80: { low: dollarsFromCents(range80.lowCents), high: dollarsFromCents(range80.highCents) },
  }
}

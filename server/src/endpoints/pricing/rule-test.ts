import type { getBacktest } from '#contract/backtest.ts'
import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { ruleTestQuotesMax } from '#contract/limits.ts'
import {
  type PastQuote,
  type RuleTest,
  ruleTestInWords,
  testRuleInSteps,
} from '#engine/backtest/rule-test.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { type PricingRule, UNSAVED_RULE } from '#engine/rules/pricing-rules.ts'
import { conditionsInWords } from '#engine/rules/rule-conditions.ts'
import { pricingRules } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'
import { estimatedPastQuotes } from '../quotes/past-quotes.ts'
import { readRule, ruleOf } from './read-rule.ts'

const examplesMax = 50

type RuleAnswer = NonNullable<Extract<AnswerOf<typeof getBacktest>, { status: 'done' }>['rule']>

interface ComparedRules {
  readonly tested: PricingRule
  readonly before: readonly PricingRule[]
  readonly after: readonly PricingRule[]
}

/** The rule to test, saved or not, and the rules in force without and with it. @throws Problem 422 with every wrong field, or not-found */
export function rulesToCompare(
  { rule_id: ruleId, ...rule }: NonNullable<BodyOf<typeof getBacktest>['rule']>,
  tenant: TenantId,
  { database }: Pick<Parts, 'database'>,
): Promise<ComparedRules> {
  return database.inTenant(tenant, async (transaction) => {
    const saved = await pricingRules.readRules(transaction, tenant)
    if (ruleId !== undefined) ruleOf(saved, ruleId)
    const read = await readRule(transaction, tenant, rule, '/rule')
    const before = pricingRules.rulesInForce(saved).filter((one) => one.ruleId !== ruleId)
    const tested = { ruleId: ruleId ?? UNSAVED_RULE, ...read }
    return { tested, before, after: [...before, tested] }
  })
}

/** Applies the rules without and with the tested rule to the newest quotes since a time. */
export async function testOnHistory(
  rules: ComparedRules,
  { since, ...asked }: { readonly tenant: TenantId; readonly now: number; readonly since: Date },
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<RuleAnswer> {
  const quotes = await estimatedPastQuotes(asked, { since, limit: ruleTestQuotesMax }, parts)
  const found = await yieldBetweenSteps(testRuleInSteps(rules, quotes))
  return {
    because: conditionsInWords(rules.tested.conditions),
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
      quoted_rate: dollarsFromCents(quote.rateCents),
      allowed_rate: dollarsFromCents(allowedCents),
      detail,
    })),
  }
}

function estimateAnswer(estimate: RuleTest<PastQuote>['estimate']): RuleAnswer['estimate'] {
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

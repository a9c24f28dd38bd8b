import { formatDollars } from '../money.ts'
import {
  applyRules,
  checkRate,
  nearestAllowed,
  type PricingRule,
  type RuleCosts,
} from '../rules/pricing-rules.ts'
import { meets, type QuoteFacts } from '../rules/rule-conditions.ts'
import type { Steps } from '../steps.ts'
import { counted } from '../wording.ts'
import { rangeOfSumInSteps } from './dollars.ts'

/** A past quote as it was made. `chanceAt` is today's chance of winning on its lane; null if it cannot be estimated. */
export interface PastQuote {
  readonly laneRef: string
  readonly lane: string
  readonly rateCents: number
  readonly outcome: string
  readonly facts: QuoteFacts
  readonly costs: RuleCosts
  readonly chanceAt: ((rateCents: number) => number) | null
}

interface ChangedQuote<Quote> {
  readonly quote: Quote
  /** The nearest rate that the rules would have allowed. */
  readonly allowedCents: number
  readonly detail: string
}

export interface RuleTest<Quote> {
  readonly applies: number
  readonly withoutCost: number
  readonly noRate: number
  readonly changed: readonly ChangedQuote<Quote>[]
  /** Null if none of the changed quotes has a cost and a chance. */
  readonly estimate: {
    readonly quotes: number
    readonly winsBefore: number
    readonly winsAfter: number
    readonly marginBeforeCents: number
    readonly marginAfterCents: number
    readonly range80: { readonly lowCents: number; readonly highCents: number }
  } | null
}

/** Quotes per step. With the most rules that a brokerage can have, a quote takes some tens of microseconds. */
const QUOTES_PER_STEP = 20

/**
 * Finds the past quotes that a rule would have changed: it applies to them, and the nearest allowed rate is another one with it. In steps,
 * because thousands of quotes with hundreds of rules take longer than other requests may wait.
 */
export function* testRuleInSteps<Quote extends PastQuote>(
  {
    tested,
    before,
    after,
  }: { tested: PricingRule; before: readonly PricingRule[]; after: readonly PricingRule[] },
  quotes: readonly Quote[],
): Steps<RuleTest<Quote>> {
  const applying = quotes.filter(({ facts }) => meets(tested.conditions, facts))
  let noRate = 0
  const changed: ChangedQuote<Quote>[] = []
  for (const [index, quote] of applying.entries()) {
    if (index % QUOTES_PER_STEP === 0) yield
    const { facts, costs, rateCents } = quote
    const limits = applyRules(after, facts, costs)
    if (limits.contradicts) noRate++
    const allowedCents = nearestAllowed(limits, rateCents)
    const allowedBefore = nearestAllowed(applyRules(before, facts, costs), rateCents)
    if (allowedCents === allowedBefore) continue
    const detail =
      checkRate(limits, rateCents)
        .reasons.map((reason) => reason.detail)
        .join(' ') || `${formatDollars(rateCents)} would be within the rules.`
    changed.push({ quote, allowedCents, detail })
  }
  return {
    applies: applying.length,
    withoutCost: applying.filter(({ costs }) => (costs.enteredCents ?? costs.expectedCents) === null).length,
    noRate,
    changed,
    estimate: yield* estimateInSteps(changed),
  }
}

function* estimateInSteps<Quote extends PastQuote>(
  changed: readonly ChangedQuote<Quote>[],
): Steps<RuleTest<Quote>['estimate']> {
  const byLane = new Map<string, number>()
  const sum = { quotes: 0, winsBefore: 0, winsAfter: 0, marginBeforeCents: 0, marginAfterCents: 0 }
  for (const [index, { quote, allowedCents }] of changed.entries()) {
    if (index % QUOTES_PER_STEP === 0) yield
    const { lane, rateCents, chanceAt, costs } = quote
    const costCents = costs.enteredCents ?? costs.expectedCents
    if (costCents === null || chanceAt === null) continue
    const [chance, then] = [chanceAt(rateCents), chanceAt(allowedCents)]
    const [margin, marginThen] = [chance * (rateCents - costCents), then * (allowedCents - costCents)]
    sum.quotes++
    sum.winsBefore += chance
    sum.winsAfter += then
    sum.marginBeforeCents += margin
    sum.marginAfterCents += marginThen
    byLane.set(lane, (byLane.get(lane) ?? 0) + marginThen - margin)
  }
  return sum.quotes === 0 ? null : { ...sum, range80: yield* rangeOfSumInSteps([...byLane.values()]) }
}

/**
 * @example ruleTestInWords(test)
 * // 'This rule would have changed 9 of 42 quotes. An estimate: 1.3 fewer wins, and $295 more margin in all.'
 */
export function ruleTestInWords({ applies, changed, estimate, noRate }: RuleTest<unknown>): string {
  const first =
    applies === 0
      ? 'No past quote meets the conditions of this rule.'
      : `This rule would have changed ${changed.length.toLocaleString('en-US')} of ${applies.toLocaleString('en-US')} ${applies === 1 ? 'quote' : 'quotes'}.`
  const none =
    noRate === 0
      ? ''
      : ` For ${counted(noRate, 'quote')}, the minimum would be above the maximum, so the maximum would be ignored.`
  if (estimate === null) return first + none
  const wins = estimate.winsAfter - estimate.winsBefore
  const margin = estimate.marginAfterCents - estimate.marginBeforeCents
  return `${first}${none} An estimate: ${Math.abs(wins).toFixed(1)} ${wins < 0 ? 'fewer' : 'more'} wins, and ${formatDollars(100 * Math.round(Math.abs(margin) / 100))} ${margin < 0 ? 'less' : 'more'} margin in all.`
}

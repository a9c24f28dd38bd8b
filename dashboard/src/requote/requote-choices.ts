import { bestChoice, NO_CHOICE } from '#engine/estimate/counter-offer.ts'
import type { CallFailed } from '../api/index.ts'
import { onOwnTerms, type QuoteAdvice } from '../shared-ui/index.ts'

/** A rate with its chance, margin and worth, in dollars on the terms of the requote; null if unknown. */
export interface Choice {
  readonly rate: number
  readonly chance: number | null
  readonly interval80: { readonly low: number; readonly high: number } | null
  readonly margin: number | null
  readonly marginPct: number | null
  readonly worth: number | null
  readonly rules: QuoteAdvice['outside_rules']
}

/**
 * The choice of a rate, with the margin over a truck cost. The chance takes a counter-offer into account.
 *
 * @param advice the advice on this rate; null while it is not known
 */
export function choiceAt(rate: number, cost: number | null, advice: QuoteAdvice | null): Choice {
  const { counter_offer: countered = null, estimate = null, outside_rules: rules = [] } = advice ?? {}
  // A rate that cannot be converted has no chance, because the estimate is for another rate.
  const isComparable = advice?.conversion != null
  const [chance, interval80] = !isComparable
    ? [null, null]
    : countered === null
      ? [estimate?.probability ?? null, estimate?.interval_80 ?? null]
      : [countered.win_probability, countered.interval_80]
  const margin = cost === null ? null : Math.round((rate - cost) * 100) / 100
  return {
    rate,
    chance,
    interval80,
    margin,
    marginPct: margin === null ? null : (margin / rate) * 100,
    worth: margin === null || chance === null ? null : chance * margin,
    rules,
  }
}

/** The expected truck cost on the terms of the requote; null if it is not known. */
export function expectedCost(advice: QuoteAdvice | null): number | null {
  const expected = advice?.estimate?.expected_cost?.amount
  return expected === undefined || advice?.conversion == null ? null : onOwnTerms(advice.conversion, expected)
}

/** A choice with the rules that refused its save, if the advice did not have them. */
export function withRefusal(choice: Choice | null, error: CallFailed | null): Choice | null {
  if (choice === null || choice.rules.length > 0 || error?.code !== 'outside-rules') return choice
  const rules = error.errors.map(({ code, detail }) => ({
    code: code === 'blocked' ? ('blocked' as const) : ('needs-approval' as const),
    detail,
  }))
  return { ...choice, rules }
}

export type ChoiceName = NonNullable<ReturnType<typeof bestChoice>>

/** Whether the rules forbid a rate even with an approval. */
export function isBlocked({ rules }: Pick<Choice, 'rules'>): boolean {
  return rules.some(({ code }) => code === 'blocked')
}

const worthOf = (choice: Choice | null) => (choice === null || isBlocked(choice) ? NO_CHOICE : choice.worth)

/** The answer to a counter-offer that earns most on average; null if it is not known, or without a counter-offer. */
export function bestOf(accept: Choice | null, requote: Choice | null): ChoiceName | null {
  return accept === null ? null : bestChoice(worthOf(accept), worthOf(requote))
}

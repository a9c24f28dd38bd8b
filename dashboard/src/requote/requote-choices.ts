import { bestChoice, NO_CHOICE } from '#engine/estimate/counter-offer.ts'
import type { CallFailed } from '../api/index.ts'
import { onOwnTerms, type QuoteAdvice } from '../shared-ui/index.ts'

/** A rate with what it earns. Dollars on the terms of the requote; null where it is not known. */
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
 * A rate with what it earns, over a truck cost. After a counter-offer, the chance is that after it.
 *
 * @param advice the advice on this rate; null while it is not known
 */
export function choiceAt(rate: number, cost: number | null, advice: QuoteAdvice | null): Choice {
  const { counter_offer: countered = null, estimate = null, outside_rules: rules = [] } = advice ?? {}
  // A rate that cannot be converted has no chance: the estimate is for another one.
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

/** A choice with the rules that refused to save it, where the advice did not know them. */
export function withRefusal(choice: Choice | null, error: CallFailed | null): Choice | null {
  if (choice === null || choice.rules.length > 0 || error?.code !== 'outside-rules') return choice
  const rules = error.errors.map(({ code, detail }) => ({
    code: code === 'blocked' ? ('blocked' as const) : ('needs-approval' as const),
    detail,
  }))
  return { ...choice, rules }
}

export type ChoiceName = NonNullable<ReturnType<typeof bestChoice>>

/** Whether the rules forbid a rate, also with an approval. */
export function isBlocked({ rules }: Pick<Choice, 'rules'>): boolean {
  return rules.some(({ code }) => code === 'blocked')
}

const worthOf = (choice: Choice | null) => (choice === null || isBlocked(choice) ? NO_CHOICE : choice.worth)

/** The answer to a counter-offer that earns most on average; null if it is not known, or without a counter-offer. */
export function bestOf(accept: Choice | null, requote: Choice | null): ChoiceName | null {
  return accept === null ? null : bestChoice(worthOf(accept), worthOf(requote))
}

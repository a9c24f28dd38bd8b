import type { Optimum } from '../estimate/best-rate.ts'
import { type AppliedRules, type RuledRate, ruledRate } from '../rules/pricing-rules.ts'

/** The inputs that decide which rate to quote. */
export interface RateChoice {
  readonly rules: AppliedRules
  /** Null without a cost or without quotes to learn from. */
  readonly optimum: Optimum | null
  /** The going rate, which is recommended if there is no optimum; null if not known. */
  readonly goingCents: number | null
}

/** The rates that are recommended for a quote, within the rules and rounded by them. */
export interface RatesToQuote {
  /** The target of the rules, else the best rate, else the going rate. */
  readonly toQuote: RuledRate | null
  /** The best rate, even if the rules have a target. Null without an optimum. */
  readonly best: RuledRate | null
  /** The lowest rate that earns nearly as much as the best one. Null without an optimum, or if it is not below the rate to quote. */
  readonly safer: RuledRate | null
}

/**
 * The recommended rates. The service and its pages compute them with this function only.
 *
 * @example ratesToQuote({ rules, optimum: null, goingCents: 202531 }).toQuote?.rateCents // 202500
 */
export function ratesToQuote({ rules, optimum, goingCents }: RateChoice): RatesToQuote {
  const withoutTarget = { ...rules, target: null }
  const wanted = optimum?.rateCents ?? goingCents
  const toQuote = ruledRate(rules, wanted)
  const safer = optimum === null ? null : ruledRate(withoutTarget, optimum.flatZone.lowCents)
  return {
    toQuote,
    best: optimum === null ? null : ruledRate(withoutTarget, optimum.rateCents),
    safer: safer !== null && toQuote !== null && safer.rateCents < toQuote.rateCents ? safer : null,
  }
}

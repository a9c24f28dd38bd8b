import type { Optimum } from '../estimate/best-rate.ts'
import { type AppliedRules, type RuledRate, ruledRate } from '../rules/pricing-rules.ts'

/** The inputs that decide which rate to quote. */
export interface RateChoice {
  readonly rules: AppliedRules
  /** Null without a cost, without enough to go on, or if no rate earns anything. */
  readonly optimum: Optimum | null
  /** The going rate, which is recommended if no cost is known; null if it is not known, or if there is not enough to go on. */
  readonly goingCents: number | null
  /** The cost that the optimum was computed with; null if none is known. No rate below it is recommended. */
  readonly costCents: number | null
}

/** The rates that are recommended for a quote, within the rules and rounded by them. */
export interface RatesToQuote {
  /** The target of the rules, else the best rate, else the going rate. Null if that is not known, or below the cost. */
  readonly toQuote: RuledRate | null
  /** The best rate, even if the rules have a target. Null without an optimum. */
  readonly best: RuledRate | null
  /** The lowest rate that earns nearly as much as the best one. Null without an optimum, or if it is not below the rate to quote. */
  readonly safer: RuledRate | null
}

/**
 * The recommended rates. The service and its pages compute them with this function only.
 *
 * @example ratesToQuote({ rules, optimum: null, goingCents: 202531, costCents: null }).toQuote?.rateCents // 202500
 */
export function ratesToQuote({ rules, optimum, goingCents, costCents }: RateChoice): RatesToQuote {
  const withoutTarget = { ...rules, target: null }
  const covered = (rate: RuledRate | null) =>
    rate !== null && rate.rateCents >= (costCents ?? 0) ? rate : null
  const toQuote = covered(ruledRate(rules, optimum?.rateCents ?? (costCents === null ? goingCents : null)))
  const safer = optimum === null ? null : covered(ruledRate(withoutTarget, optimum.flatZone.lowCents))
  return {
    toQuote,
    best: optimum === null ? null : covered(ruledRate(withoutTarget, optimum.rateCents)),
    safer: safer !== null && toQuote !== null && safer.rateCents < toQuote.rateCents ? safer : null,
  }
}

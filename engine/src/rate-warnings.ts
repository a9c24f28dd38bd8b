import { formatDollars } from './money.ts'

/**
 * The limits beyond which a rate is so unusual that a person should confirm it. The service never refuses such a rate: a loss can be
 * intended. Measured on about 4,500 US truckloads of 2017, each compared with the loads before it: docs/model.md.
 */
export const RATE_WARNING_RULE = {
  /** Percent below and above the going rate, for a lane with quotes of its own. */
  goingRate: { belowPct: 30, abovePct: 50 },
  /** The same for a lane that was never quoted: its going rate is an estimate from other lanes. */
  goingRateOfOthers: { belowPct: 50, abovePct: 100 },
  /** A rate above this many times the cost: more than half of it would be margin. */
  costTimesMax: 2,
} as const

export type RateWarningCode =
  | 'below_cost'
  | 'below_floor'
  | 'below_going_rate'
  | 'above_going_rate'
  | 'above_cost'

/** A rate with the amounts to compare it with, in cents. An unknown amount is null and is not compared. */
export interface RateToCheck {
  readonly rateCents: number
  /** The truck cost, and whether a person entered it or the service expects it. */
  readonly cost: { readonly cents: number; readonly source: 'entered' | 'expected' } | null
  /** The lowest rate that the brokerage's rules allow, in whole cents. */
  readonly floorCents: number | null
  /** The going rate, and whether the lane has quotes of its own. */
  readonly goingRate: { readonly cents: number; readonly isOwn: boolean } | null
}

export interface RateWarning {
  readonly code: RateWarningCode
  /** One sentence that states the rate and the amount that it was compared with. */
  readonly detail: string
}

/**
 * The reasons why a person should confirm a rate before it is quoted, most important first. Empty for a usual rate.
 *
 * @example rateWarnings({ rateCents: 25000, cost: { cents: 206100, source: 'expected' }, floorCents: null, goingRate: null })
 * // [{ code: 'below_cost', detail: '$250 is $1,811 below the expected cost of $2,061.' }]
 */
export function rateWarnings({ rateCents, cost, floorCents, goingRate }: RateToCheck): RateWarning[] {
  const rate = formatDollars(rateCents)
  const costIs = cost?.source === 'entered' ? 'your cost' : 'the expected cost'
  const warnings: RateWarning[] = []
  const warn = (code: RateWarningCode, detail: string) => warnings.push({ code, detail })

  if (cost !== null && rateCents < cost.cents) {
    warn(
      'below_cost',
      `${rate} is ${formatDollars(cost.cents - rateCents)} below ${costIs} of ${formatDollars(cost.cents)}.`,
    )
  }
  if (floorCents !== null && rateCents < floorCents) {
    warn(
      'below_floor',
      `${rate} is ${formatDollars(floorCents - rateCents)} below your minimum of ${formatDollars(floorCents)}.`,
    )
  }
  if (goingRate !== null && goingRate.cents > 0) {
    const { belowPct, abovePct } = goingRate.isOwn
      ? RATE_WARNING_RULE.goingRate
      : RATE_WARNING_RULE.goingRateOfOthers
    const differencePct = (100 * (rateCents - goingRate.cents)) / goingRate.cents
    const going = `the going rate of ${whole(goingRate.cents)}`
    if (differencePct < -belowPct) {
      warn('below_going_rate', `${rate} is ${Math.round(-differencePct)}% below ${going}.`)
    }
    if (differencePct > abovePct) {
      warn('above_going_rate', `${rate} is ${Math.round(differencePct)}% above ${going}.`)
    }
  }
  if (cost !== null && cost.cents > 0 && rateCents > RATE_WARNING_RULE.costTimesMax * cost.cents) {
    const times = (Math.floor((10 * rateCents) / cost.cents) / 10).toFixed(1)
    warn('above_cost', `${rate} is ${times} times ${costIs} of ${formatDollars(cost.cents)}.`)
  }
  return warnings
}

/** Whole dollars; below a dollar, with cents, so that a difference never reads as $0. */
function whole(cents: number): string {
  return formatDollars(cents < 100 ? Math.max(1, Math.round(cents)) : Math.round(cents / 100) * 100)
}

import { formatDollars } from './money.ts'

/**
 * A fuel surcharge schedule in force from `fromDay` to `untilDay` (inclusive; null without an end). Days are `YYYY-MM-DD`.
 * Prices of diesel are in mills (tenths of a cent) per gallon, as the EIA publishes them; surcharges in mills per mile.
 *
 * - `miles_per_gallon`: the price of a mile's fuel above its base price, (price - base) / miles per gallon.
 * - `steps`: the surcharge of the last step whose price has been reached, and 0 below the first one.
 */
export interface FuelPeriod {
  readonly fromDay: string
  readonly untilDay: string | null
  readonly rule: FuelRule
}
export type FuelRule =
  | { readonly kind: 'miles_per_gallon'; readonly baseMills: number; readonly milesPerGallon: number }
  | { readonly kind: 'steps'; readonly steps: readonly FuelStep[] }
export interface FuelStep {
  readonly fromMills: number
  readonly perMileMills: number
}

/** The published price of a week: the Monday for which it was surveyed, and mills per gallon. */
export interface DieselPrice {
  readonly week: string
  readonly mills: number
}

/** A published price applies until the next one. If none follows within this time, the price of the day is unknown. */
export const DIESEL_PRICE_DAYS_MAX = 14

const dayMilliseconds = 86_400_000
/** @example dayAfter('2026-02-28') // '2026-03-01' */
function dayAfter(day: string): string {
  return new Date(Date.parse(day) + dayMilliseconds).toISOString().slice(0, 10)
}

/** A mistake of a schedule: the index of the period, from 0, the member that is wrong, and what would be right. */
export interface FuelMistake {
  readonly index: number
  readonly member: 'from' | 'until' | 'steps'
  readonly detail: string
}

/**
 * The mistakes of a schedule. Its periods must follow each other: in a gap, a day would have no surcharge, and in an overlap two.
 * The last period may be without an end.
 *
 * @param periods in any order
 * @returns an empty list for a valid schedule
 * @example fuelMistakes([january, march])[0]?.detail
 *   // 'from: No period covers 2026-02-01 to 2026-02-28. It must be 2026-02-01, or the period before must end on 2026-02-28.'
 */
export function fuelMistakes(periods: readonly FuelPeriod[]): FuelMistake[] {
  const mistakes: FuelMistake[] = []
  for (const [index, { fromDay, untilDay, rule }] of periods.entries()) {
    if (untilDay !== null && untilDay < fromDay) {
      const detail = `until: ${untilDay} is before from, which is ${fromDay}. It must be ${fromDay} or later, or absent.`
      mistakes.push({ index, member: 'until', detail })
    }
    if (rule.kind === 'steps') mistakes.push(...stepMistakes(rule.steps, index))
  }
  if (mistakes.length > 0) return mistakes
  const inOrder = [...periods.entries()].sort(([, one], [, other]) => (one.fromDay < other.fromDay ? -1 : 1))
  for (const [position, [index, { fromDay }]] of inOrder.entries()) {
    const before = inOrder[position - 1]?.[1]
    if (before === undefined) continue
    const { untilDay } = before
    if (untilDay === null || untilDay >= fromDay) {
      const end = untilDay ?? 'without an end'
      const detail = `from: The period from ${fromDay} overlaps the period from ${before.fromDay} to ${end}. The earlier period must end before ${fromDay}.`
      mistakes.push({ index, member: 'from', detail })
    } else if (dayAfter(untilDay) !== fromDay) {
      const lastDay = new Date(Date.parse(fromDay) - dayMilliseconds).toISOString().slice(0, 10)
      const detail = `from: No period covers ${dayAfter(untilDay)} to ${lastDay}. It must be ${dayAfter(untilDay)}, or the period before must end on ${lastDay}.`
      mistakes.push({ index, member: 'from', detail })
    }
  }
  return mistakes
}

function stepMistakes(steps: readonly FuelStep[], index: number): FuelMistake[] {
  return steps.flatMap(({ fromMills, perMileMills }, at): FuelMistake[] => {
    const before = steps[at - 1]
    if (before === undefined) return []
    const start = `steps: The step from ${formatMills(fromMills)}`
    if (fromMills <= before.fromMills) {
      const detail = `${start} follows the step from ${formatMills(before.fromMills)}. Prices of steps must increase.`
      return [{ index, member: 'steps', detail }]
    }
    if (perMileMills < before.perMileMills) {
      const detail = `${start} has a lower surcharge than the step before it. A surcharge must not fall when diesel rises.`
      return [{ index, member: 'steps', detail }]
    }
    return []
  })
}

/** Dollars with three decimals, as diesel is priced. @example formatMills(3879) // '$3.879' */
export function formatMills(mills: number): string {
  return `${formatDollars(Math.floor(mills / 1000) * 100)}.${String(mills % 1000).padStart(3, '0')}`
}

/**
 * The published price that applies on a day: the newest one of that day or before, if it is not older than
 * `DIESEL_PRICE_DAYS_MAX`. Null if there is none.
 *
 * @example dieselPriceOn([{ week: '2026-03-02', mills: 3879 }], '2026-03-05') // { week: '2026-03-02', mills: 3879 }
 */
export function dieselPriceOn(prices: readonly DieselPrice[], day: string): DieselPrice | null {
  let newest: DieselPrice | null = null
  for (const price of prices) {
    if (price.week <= day && (newest === null || price.week > newest.week)) newest = price
  }
  if (newest === null) return null
  const days = (Date.parse(day) - Date.parse(newest.week)) / dayMilliseconds
  return days > DIESEL_PRICE_DAYS_MAX ? null : newest
}

/** The period of a schedule that covers a day; null if none does. */
export function fuelPeriodOn(periods: readonly FuelPeriod[], day: string): FuelPeriod | null {
  return (
    periods.find(({ fromDay, untilDay }) => fromDay <= day && (untilDay === null || day <= untilDay)) ?? null
  )
}

/**
 * The fuel surcharge in mills per mile, not rounded; never negative.
 *
 * @example surchargePerMile({ kind: 'miles_per_gallon', baseMills: 1200, milesPerGallon: 6 }, 3600) // 400
 * @example surchargePerMile({ kind: 'steps', steps: [{ fromMills: 3000, perMileMills: 300 }] }, 2999) // 0
 */
export function surchargePerMile(rule: FuelRule, dieselMills: number): number {
  switch (rule.kind) {
    case 'miles_per_gallon':
      return Math.max(0, (dieselMills - rule.baseMills) / rule.milesPerGallon)
    case 'steps':
      return rule.steps.findLast(({ fromMills }) => fromMills <= dieselMills)?.perMileMills ?? 0
  }
}

/**
 * The fuel surcharge of a load in whole cents. Only the result is rounded: a rounded surcharge per mile would be wrong by dollars
 * on a long haul.
 *
 * @example fuelSurchargeCents({ kind: 'miles_per_gallon', baseMills: 1200, milesPerGallon: 6 }, 3600, 780) // 31200
 */
export function fuelSurchargeCents(rule: FuelRule, dieselMills: number, miles: number): number {
  return fuelOfMiles(surchargePerMile(rule, dieselMills), miles)
}

/**
 * A surcharge per mile for the miles of a load, in whole cents.
 *
 * @example fuelOfMiles(400, 780) // 31200
 */
export function fuelOfMiles(millsPerMile: number, miles: number): number {
  return Math.floor((millsPerMile * miles) / 10 + 0.5)
}

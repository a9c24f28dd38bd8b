import { americanAmount } from '#engine/written-amount.ts'
import { zonedFormat } from './time-zone.ts'

/**
 * Number, date and name formats of American freight. An unknown value is a dash, never a zero. A negative number has a
 * minus sign (U+2212), which no screen reader takes for a hyphen and no line break separates from the number.
 */

const none = '–'
const minus = '−'
const locale = 'en-US'

const wholeDollars = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
})
/** The signs of currencies that stand beside each other. */
const wholeIn = {
  CAD: new Intl.NumberFormat(locale, { style: 'currency', currency: 'CAD', maximumFractionDigits: 0 }),
  USD: new Intl.NumberFormat('en-CA', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 }),
}
const centsToo = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' })
const oneDecimal = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })

type Known = number | null | undefined

/** The formatted size of a number, with a minus sign if it is negative. An amount that rounds to zero has no sign. */
function withMinus(value: number, format: Intl.NumberFormat): string {
  const size = format.format(Math.abs(value))
  return value < 0 && /[1-9]/.test(size) ? `${minus}${size}` : size
}

/** An amount, with cents only if there are any. @example dollars(2150) // '$2,150' @example dollars(-161) // '−$161' */
export function dollars(amount: Known): string {
  if (amount === null || amount === undefined) return none
  return withMinus(amount, Number.isInteger(amount) ? wholeDollars : centsToo)
}

/**
 * An amount rounded to whole dollars. The sign of a currency takes less room than the name that `dollarsIn` writes.
 *
 * @example roundDollars(2149.6) // '$2,150'
 * @example roundDollars(2149.6, 'CAD') // 'CA$2,150'
 */
export function roundDollars(amount: Known, currency: keyof typeof wholeIn | null = null): string {
  if (amount === null || amount === undefined) return none
  return withMinus(amount, currency === null ? wholeDollars : wholeIn[currency])
}

/**
 * An amount in the currency that a quote states. US dollars, and amounts that state none, have no name.
 *
 * @example dollarsIn(2600, 'CAD') // '$2,600 CAD'
 */
export function dollarsIn(amount: Known, currency: string | null | undefined): string {
  return `${dollars(amount)}${isUsual(currency) || amount === null || amount === undefined ? '' : ` ${currency}`}`
}

const isUsual = (currency: string | null | undefined) => (currency ?? 'USD') === 'USD'

/** A difference with its sign. @example signedDollars(-60, 'CAD') // '−$60 CAD' */
export function signedDollars(amount: Known, currency: string | null = null): string {
  if (amount === null || amount === undefined) return none
  return `${amount > 0 ? '+' : ''}${dollarsIn(amount, currency)}`
}

/** Rate per loaded mile. @example ratePerMile(2.754, 'CAD') // '$2.75 CAD/mi' */
export function ratePerMile(amount: Known, currency: string | null = null): string {
  if (amount === null || amount === undefined) return none
  return `${withMinus(amount, centsToo)}${isUsual(currency) ? '' : ` ${currency}`}/mi`
}

/** A percentage with one decimal. @example percent(14.76) // '14.8%' */
export function percent(share: Known): string {
  return share === null || share === undefined ? none : `${withMinus(share, oneDecimal)}%`
}

export function signedPercent(share: Known): string {
  if (share === null || share === undefined) return none
  return `${share > 0 ? '+' : ''}${percent(share)}`
}

/** A probability from 0 to 1 in whole percent. A lane's history does not support more digits. */
export function probability(value: Known): string {
  if (value === null || value === undefined) return none
  if (value > 0 && value < 0.01) return '<1%'
  if (value < 1 && value > 0.99) return '>99%'
  return `${whole.format(value * 100)}%`
}

export function count(value: Known): string {
  return value === null || value === undefined ? none : whole.format(value)
}

/** A count with its noun. @example counted(1, 'quote') // '1 quote' */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${whole.format(value)} ${value === 1 ? one : many}`
}

const dayFormat = zonedFormat(locale, { year: 'numeric', month: 'short', day: 'numeric' })
const momentFormat = zonedFormat(locale, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
})
const secondFormat = zonedFormat(locale, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
})
const momentInZoneFormat = zonedFormat(locale, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
})
const calendarDayFormat = new Intl.DateTimeFormat(locale, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
})
const monthFormat = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', timeZone: 'UTC' })

type KnownTime = string | number | null | undefined

/** @example day('2026-03-05T18:20:00Z') // 'Mar 5, 2026' */
export function day(at: KnownTime): string {
  return at === null || at === undefined ? none : dayFormat().format(new Date(at))
}

/** A calendar date, independent of the time zone. @example calendarDay('2026-03-05') // 'Mar 5, 2026' */
export function calendarDay(date: string | null | undefined): string {
  return date === null || date === undefined ? none : calendarDayFormat.format(new Date(date))
}

/** A date and time in the shown time zone. @example moment('2026-03-05T18:20:00Z') // 'Mar 5, 2026, 12:20 PM' */
export function moment(at: KnownTime): string {
  return at === null || at === undefined ? none : momentFormat().format(new Date(at))
}

export function exactMoment(at: KnownTime): string {
  return at === null || at === undefined ? none : secondFormat().format(new Date(at))
}

/**
 * A date and time to the second, with the name of the shown time zone.
 *
 * @example zonedMoment('2026-03-05T18:20:07Z') // 'Mar 5, 2026, 12:20:07 PM CST'
 */
export function zonedMoment(at: KnownTime): string {
  return at === null || at === undefined ? none : momentInZoneFormat().format(new Date(at))
}

/** @example month('2026-03') // 'Mar 2026' */
export function month(yearAndMonth: string): string {
  return monthFormat.format(new Date(`${yearAndMonth}-15T00:00:00Z`))
}

const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** The time since a moment, in the largest fitting unit. After 31 days, the date. @example since('...') // '3 hours ago' */
export function since(at: KnownTime, now = Date.now()): string {
  if (at === null || at === undefined) return 'never'
  const elapsed = new Date(at).getTime() - now
  if (Math.abs(elapsed) > 31 * 86_400_000) return day(at)
  for (const [unit, length] of steps) {
    if (Math.abs(elapsed) >= length) return ago.format(Math.trunc(elapsed / length), unit)
  }
  return 'just now'
}

/** @example laneName('Dallas, TX', 'Atlanta, GA') // 'Dallas, TX → Atlanta, GA' */
export function laneName(origin: string, destination: string): string {
  return `${origin} → ${destination}`
}

const equipmentNames: Readonly<Record<string, string>> = { V: 'Van', R: 'Reefer', F: 'Flatbed' }

/** @example equipmentName('V') // 'Van (V)' */
export function equipmentName(code: string): string {
  const name = equipmentNames[code.toUpperCase()]
  return name === undefined ? code : `${name} (${code.toUpperCase()})`
}

/**
 * Parses a dollar amount as users type it, also as 2.150,50 or 2 150,50. Returns null for any other text.
 *
 * @example readDollars('$2,150.50') // 2150.5
 */
export function readDollars(text: string): number | null {
  const plain = americanAmount(text.trim().replace(/^\$\s*/, ''))
  if (!/^(\d{1,8}|\d{1,3}(,\d{3}){1,2})(\.\d{1,2})?$/.test(plain)) return null
  const amount = Number(plain.replaceAll(',', ''))
  return amount > 0 ? amount : null
}

import { marketCurrencies } from '#contract/market-reference.ts'
import type { MarketScope } from '#engine/market-rate.ts'
import { readState } from '#engine/place.ts'
import { STATES_OF_REGION } from '#engine/regions.ts'
import { isPostalArea } from '#geography/markets.ts'
import {
  type Cell,
  monthOf,
  readMoment,
  readMoney,
  type StatedAmount,
  statedAmount,
  statedAmountIn,
} from '../csv/index.ts'

/**
 * Reads dollars per mile as ten-thousandths of a dollar, because averages have more than two decimals. A comma is a decimal
 * sign only in the form 2,45.
 *
 * @example readPerMile('$2.245') // { value: 22450 }
 */
export function readPerMile(text: string): Cell<number> {
  const [, amount] = /^\$?\s*(?=[\d.])(\d{0,4}(?:\.\d{0,8})?|\d,\d\d)\s*(?:\/ ?mi(?:le)?)?$/i.exec(text) ?? []
  const value = Math.round(Number((amount ?? '').replace(',', '.')) * 10_000)
  return value > 0 ? { value } : { wrong: 'dollars per mile such as 2.45' }
}

export type MarketCurrency = (typeof marketCurrencies)[number]

/** As `statedAmount`, for market rates. @example marketAmount('MX$1850').currency // 'MXN' */
export function marketAmount(cell: string): StatedAmount<MarketCurrency> {
  return statedAmountIn(cell, marketCurrencies)
}

/** Whether a cell has no amount: exports write nothing, a dash, N/A, or zero for a lane without a rate. */
export function isNoAmount(text: string | null): boolean {
  if (text === null) return true
  const amount = statedAmount(text).text.trim()
  return amount === '' || /^\$?\s*0*(\.0*)?$/.test(amount)
}

/** The two amounts of a range such as "$1,790 - $2,140"; null if the text is not a range. */
export function rangeOf(text: string): { readonly low: string; readonly high: string } | null {
  const [low, high, more] = text.trim().split(/\s*(?:-|–|—|\bto\b)\s*/i)
  const isAmount = (part: string | undefined) =>
    part !== undefined && /^\$?\s*[\d,.]+$/.test(statedAmount(part).text)
  return low !== undefined && high !== undefined && more === undefined && isAmount(low) && isAmount(high)
    ? { low, high }
    : null
}

/** Reads an amount per load. A range is refused: its middle is not the rate of the source. */
export function readRate(text: string): Cell<number> {
  return rangeOf(text) === null
    ? readMoney(text)
    : { wrong: 'one amount; a range belongs in a column Range beside it, or in the columns Low and High' }
}

const monthOnly = /^([a-z]{3,9})\.?(?:-| |, ?)(\d{4}|\d{2})$/i

/**
 * Reads when a rate was published: a day in any form of `readMoment`. A range of days, or a month such as "Nov 2026", means its
 * last day, or today if it is not over.
 *
 * @example readPublished('11/16/2026 - 11/22/2026', now) // { value: Date.UTC(2026, 10, 22) }
 */
export function readPublished(text: string, now: number): Cell<number> {
  const plain = text.replace(/^\s*week\s*(ending|of|beginning)?\s*:?\s*/i, '')
  const to = /\s(?:-|–|—|to|through|thru)\s/i.exec(plain)
  const range = to === null ? null : [plain.slice(0, to.index), plain.slice(to.index + to[0].length).trim()]
  const [, last = plain] = range ?? []
  const whole = readMoment(last)
  const today = Math.floor(now / 86_400_000) * 86_400_000
  if ('value' in whole) {
    const began = range === null ? null : readMoment((range[0] ?? '').trim())
    const isCurrent = began !== null && 'value' in began && began.value <= now && whole.value > today
    return isCurrent ? { value: today } : whole
  }
  const year = (digits: string | undefined) => Number(digits) + (digits?.length === 2 ? 2000 : 0)
  const [, only, onlyYear] = monthOnly.exec(last) ?? []
  const named = only === undefined ? null : monthOf(only)
  const numbered = /^(\d{4})-(\d{2})$/.exec(last) ?? /^(\d{1,2})\/(\d{4})$/.exec(last)
  const [first = '', second = ''] = numbered?.slice(1) ?? []
  const [ofYear, ofMonth] =
    named !== null
      ? [year(onlyYear), named - 1]
      : first.length === 4
        ? [Number(first), Number(second) - 1]
        : [Number(second), Number(first) - 1]
  if ((named === null && numbered === null) || ofMonth < 0 || ofMonth > 11) return whole
  const end = Date.UTC(ofYear, ofMonth + 1, 0)
  return { value: Date.UTC(ofYear, ofMonth, 1) <= now && end > today ? today : end }
}

/** A 3-digit ZIP area as exports write it; null for other text. Spreadsheets drop a leading zero. @example zipAreaOf('21') // '021' */
export function zipAreaOf(text: string): string | null {
  const [, digits] = /^(?:zip ?3? ?)?(\d{2,3})(?:xx)?$/i.exec(text.trim()) ?? []
  const code = digits === undefined ? text.trim().toUpperCase() : digits.padStart(3, '0')
  return code.length === 3 && isPostalArea(code) ? code : null
}

/** Names of states that mean the city if they stand alone. */
const cityAndState = /^(new york|washington)$/i

/** The scope of a pair of areas, by the form of their texts; null if the two ends have different forms. */
export function scopeOfAreas(origin: string, destination: string): MarketScope | null {
  const both = (is: (text: string) => boolean) => is(origin) && is(destination)
  // New Market is the name of a city, not of a market.
  if (both((text) => /\bmkt\b|(?<!\bnew) market\b/i.test(text))) return 'market'
  if (origin.includes(',')) return null
  if (both((text) => zipAreaOf(text) !== null)) return 'zip3'
  if (both((text) => readState(text) !== null && !cityAndState.test(text.trim()))) return 'state_pair'
  return both((text) => Object.hasOwn(STATES_OF_REGION, text.trim().toUpperCase())) ? 'region' : null
}

import { marketCurrencies } from '#contract/market-reference.ts'
import type { MarketScope } from '#engine/market-rate.ts'
import { readState } from '#engine/place.ts'
import { STATES_OF_REGION } from '#engine/regions.ts'
import { isPostalArea } from '#geography/markets.ts'
import {
  type Cell,
  type DateReader,
  monthOf,
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
  const [low, high, more] = text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/ ?(?:-|–|—|\bto\b) ?/i)
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

/** The dates of a cell that says when a rate was published: one, or the first and the last of a range. */
export function publishedDates(text: string): readonly string[] {
  const plain = text.replace(/^\s*week\s*(ending|of|beginning)?\s*:?\s*/i, '')
  const to = /\s(?:-|–|—|to|through|thru)\s/i.exec(plain)
  return to === null
    ? [plain]
    : [plain.slice(0, to.index).trim(), plain.slice(to.index + to[0].length).trim()]
}

/**
 * Reads when a rate was published, in epoch milliseconds: a day in any form that `dates` reads. A range of days, or a month such as
 * "Nov 2026", means its last day, or today if it is not over.
 *
 * @example readPublished('11/16/2026 - 11/22/2026', now, utcDates) // { value: Date.UTC(2026, 10, 22) }
 */
export function readPublished(text: string, now: number, dates: DateReader): Cell<number> {
  const { clock } = dates
  const timeOf = (date: string): Cell<number> => {
    const cell = dates.time(date)
    return 'value' in cell ? { value: cell.value.at } : cell
  }
  const [first = '', last = first] = publishedDates(text)
  const isRange = publishedDates(text).length > 1
  const whole = timeOf(last)
  const today = clock.momentOf(Math.floor(clock.wallTime(now) / 86_400_000) * 86_400_000)
  if ('value' in whole) {
    const began = isRange ? timeOf(first) : null
    const isCurrent = began !== null && 'value' in began && began.value <= now && whole.value > today
    return isCurrent ? { value: today } : whole
  }
  const month = readMonth(last)
  if (month === null) return whole
  const end = clock.momentOf(Date.UTC(month.year, month.month + 1, 0))
  return { value: clock.momentOf(Date.UTC(month.year, month.month, 1)) <= now && end > today ? today : end }
}

/** A month such as "Nov 2026", 2026-11 or 11/2026, from 0; null for another text. */
function readMonth(text: string): { readonly year: number; readonly month: number } | null {
  const year = (digits: string | undefined) => Number(digits) + (digits?.length === 2 ? 2000 : 0)
  const [, name, ofName] = monthOnly.exec(text) ?? []
  const named = name === undefined ? null : monthOf(name)
  if (named !== null) return { year: year(ofName), month: named - 1 }
  const [, before, after] = /^(\d{4})-(\d{2})$/.exec(text) ?? []
  const [, month = after, yearAfter = before] = /^(\d{1,2})\/(\d{4})$/.exec(text) ?? []
  if (month === undefined || Number(month) < 1 || Number(month) > 12) return null
  return { year: Number(yearAfter), month: Number(month) - 1 }
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

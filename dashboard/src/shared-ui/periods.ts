import { calendarAt, startOfDay } from './time-zone.ts'

/** The periods of lists and totals, with their start and end in the time zone of the brokerage. */

export const periodNames = {
  'this-month': 'This month',
  'last-month': 'Last month',
  'this-quarter': 'This quarter',
  'last-90-days': 'Last 90 days',
  'last-12-months': 'Last 12 months',
  'this-year': 'This year',
  all: 'All time',
  custom: 'Custom dates',
} as const

export type PeriodName = keyof typeof periodNames

/** A period in a URL: a name, or a month such as 2026-03. `from` and `to` are the days of `custom`, or a part of the month. */
export interface PeriodParams {
  readonly period?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

interface MonthParams {
  readonly period: string
  readonly from: string | undefined
  readonly to: string | undefined
}

export interface Period {
  /** A period's name, or a month. */
  readonly choice: string
  /** The period within a sentence: "in the last 90 days". */
  readonly inWords: string
  /** The first moment of the period, ISO 8601; undefined if open. */
  readonly from: string | undefined
  /** The first moment after the period, ISO 8601; undefined if open. */
  readonly to: string | undefined
}

const dayForm = /^(\d{4})-(\d{2})-(\d{2})$/
const monthForm = /^\d{4}-(0[1-9]|1[0-2])$/

const inWords: Readonly<Record<Exclude<PeriodName, 'custom'>, string>> = {
  'this-month': 'this month',
  'last-month': 'last month',
  'this-quarter': 'this quarter',
  'last-90-days': 'in the last 90 days',
  'last-12-months': 'in the last 12 months',
  'this-year': 'this year',
  all: 'so far',
}

/** True for a month in the API's format. @example isMonth('2026-03') // true */
export function isMonth(choice: string): boolean {
  return monthForm.test(choice)
}

/**
 * The period in an address. Days and months begin at midnight in the time zone of the brokerage. Invalid parameters are
 * ignored.
 *
 * @example periodOf({ period: 'last-month' }, 'all', new Date(2026, 2, 15)) // from midnight of Feb 1 to midnight of Mar 1
 * @example periodOf({ period: '2026-03' }, 'all', now).from // '2026-03-01T06:00:00.000Z' in Chicago
 * @example periodOf({ period: '2026-03', from: '2026-03-20' }, 'all', now) // March from its 20th day on
 */
export function periodOf(params: PeriodParams, fallback: PeriodName, now: Date): Period {
  const choice = params.period ?? fallback
  if (isMonth(choice)) return wholeMonth(choice, params)
  const name: PeriodName = Object.hasOwn(periodNames, choice) ? (choice as PeriodName) : fallback
  if (name === 'custom') return customPeriod(params)
  const [from, to] = edges(name, now)
  return { choice: name, inWords: inWords[name], from: from?.toISOString(), to: to?.toISOString() }
}

function edges(
  name: Exclude<PeriodName, 'custom'>,
  now: Date,
): readonly [from: Date | undefined, to: Date | undefined] {
  const [year, month, day] = calendarAt(now)
  switch (name) {
    case 'this-month':
      return [startOfDay(year, month, 1), startOfDay(year, month + 1, 1)]
    case 'last-month':
      return [startOfDay(year, month - 1, 1), startOfDay(year, month, 1)]
    case 'this-quarter': {
      const first = month - (month % 3)
      return [startOfDay(year, first, 1), startOfDay(year, first + 3, 1)]
    }
    case 'last-90-days':
      return [startOfDay(year, month, day - 89), startOfDay(year, month, day + 1)]
    case 'last-12-months':
      return [startOfDay(year, month - 11, 1), startOfDay(year, month + 1, 1)]
    case 'this-year':
      return [startOfDay(year, 0, 1), startOfDay(year + 1, 0, 1)]
    case 'all':
      return [undefined, undefined]
  }
}

/**
 * The period before a period, as long as the passed part of the given period; null if that has no beginning or no end.
 *
 * @example periodBefore({ from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' }, new Date('2026-02-11'))
 *   // 10 days: { from: '2026-01-22T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' }
 */
export function periodBefore(
  { from, to }: Pick<Period, 'from' | 'to'>,
  now: Date,
): { from: string; to: string } | null {
  if (from === undefined || to === undefined) return null
  const passedMs = Math.min(Date.parse(to), now.getTime()) - Date.parse(from)
  return passedMs <= 0 ? null : { from: new Date(Date.parse(from) - passedMs).toISOString(), to: from }
}

function customPeriod(params: PeriodParams): Period {
  const from = midnightOf(params.from, 0)
  const to = midnightOf(params.to, 1)
  return {
    choice: 'custom',
    inWords: 'on these dates',
    from: from?.toISOString(),
    to: to?.toISOString(),
  }
}

/** Midnight, some days after a date; undefined when the text is not a valid date. */
function midnightOf(text: string | undefined, daysLater: number): Date | undefined {
  const [, year = '', month = '', day = ''] = dayForm.exec(text ?? '') ?? []
  const [y, m, d] = [Number(year), Number(month), Number(day)]
  const date = new Date(Date.UTC(y, m - 1, d))
  const isReal = y >= 1970 && y <= 2200 && date.getUTCMonth() === m - 1 && date.getUTCDate() === d
  return isReal ? startOfDay(y, m - 1, d + daysLater) : undefined
}

function wholeMonth(choice: string, params: PeriodParams): Period & { from: string; to: string } {
  const [year = 0, number = 0] = choice.split('-').map(Number)
  const first = startOfDay(year, number - 1, 1)
  const next = startOfDay(year, number, 1)
  const [from, to] = [midnightOf(params.from, 0) ?? first, midnightOf(params.to, 1) ?? next]
  return {
    choice,
    inWords: 'in this month',
    from: (from > first ? from : first).toISOString(),
    to: (to < next ? to : next).toISOString(),
  }
}

/**
 * The part of a month that is in a period, as address parameters. `from` and `to` are set where the period cuts it.
 *
 * @example monthWithin('2026-03', { from: '2026-03-20T05:00:00.000Z', to: undefined })
 *   // in Chicago { period: '2026-03', from: '2026-03-20', to: undefined }
 */
export function monthWithin(choice: string, { from, to }: Pick<Period, 'from' | 'to'>): MonthParams {
  const month = wholeMonth(choice, {})
  return {
    period: choice,
    from: from !== undefined && from > month.from ? dayOf(from, 0) : undefined,
    to: to !== undefined && to < month.to ? dayOf(to, -1) : undefined,
  }
}

/**
 * The first and last day of a period that begins and ends at midnight.
 *
 * @example daysOf(periodOf({ period: 'last-month' }, 'all', new Date(2026, 2, 15))) // { from: '2026-02-01', to: '2026-02-28' }
 */
export function daysOf({ from, to }: Pick<Period, 'from' | 'to'>): Pick<Period, 'from' | 'to'> {
  return {
    from: from === undefined ? undefined : dayOf(from, 0),
    to: to === undefined ? undefined : dayOf(to, -1),
  }
}

/** The date at a moment, or some days later, as YYYY-MM-DD. */
function dayOf(moment: string, daysLater: number): string {
  const [year, month, day] = calendarAt(new Date(moment))
  return new Date(Date.UTC(year, month, day + daysLater)).toISOString().slice(0, 10)
}

/** True when the last day is before the first day. */
export function isBackwards({ from, to }: Period): boolean {
  return from !== undefined && to !== undefined && from >= to
}

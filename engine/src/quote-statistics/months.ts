/** A month of a time zone: its name, and when it begins and ends, in epoch milliseconds. */
export interface LocalMonth {
  readonly number: number
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly from: number
  readonly to: number
}

/** The name of a month in answers and files. @example monthName({ year: 2026, month: 3 }) // '2026-03' */
export function monthName({ year, month }: Pick<LocalMonth, 'year' | 'month'>): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`
}

/** No month is longer, in any time zone. */
const MONTH_MS_MAX = 32 * 86_400_000

/** Finds the month of a time in a time zone. Quotes mostly come in the order of time, so the last found month is tried first. */
export class LocalMonths {
  readonly months: LocalMonth[] = []
  readonly #form: Intl.DateTimeFormat
  #last: LocalMonth | null = null

  /** @param timeZone an IANA name */
  constructor(timeZone: string) {
    this.#form = new Intl.DateTimeFormat('en-US', {
      timeZone,
      year: 'numeric',
      month: 'numeric',
      calendar: 'iso8601',
    })
  }

  /** @example new LocalMonths('America/Chicago').of(Date.UTC(2026, 2, 1)).month // 2 */
  of(at: number): LocalMonth {
    const last = this.#last
    if (last !== null && at >= last.from && at < last.to) return last
    const found = this.months.find(({ from, to }) => at >= from && at < to) ?? this.#add(at)
    this.#last = found
    return found
  }

  #add(at: number): LocalMonth {
    const { year, month } = this.#nameOf(at)
    const isSame = (other: number) => {
      const name = this.#nameOf(other)
      return name.year === year && name.month === month
    }
    const made = {
      number: this.months.length,
      year,
      month,
      from: firstIn({ no: at - MONTH_MS_MAX, yes: at }, isSame),
      to: firstIn({ no: at, yes: at + MONTH_MS_MAX }, (other) => !isSame(other)),
    }
    this.months.push(made)
    return made
  }

  #nameOf(at: number): { year: number; month: number } {
    const parts = this.#form.formatToParts(at)
    const of = (type: 'year' | 'month') => Number(parts.find((part) => part.type === type)?.value)
    return { year: of('year'), month: of('month') }
  }
}

/** The first whole number after `no` for which `isYes` is true. */
function firstIn({ no, yes }: { no: number; yes: number }, isYes: (at: number) => boolean): number {
  let [low, high] = [no, yes]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (isYes(middle)) high = middle
    else low = middle
  }
  return high
}

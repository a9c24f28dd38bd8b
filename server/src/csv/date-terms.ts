import type { DateOrder } from '#contract/date-orders.ts'
import { zoneMinutes } from '#contract/fields.ts'

/** What the name of a column states about its dates. */
interface DateTerms {
  /** The name without these words. */
  readonly name: string
  /** The order of day and month; null if the name states none, or the year first. */
  readonly order: DateOrder | null
  /** The zone of times without their own one; null if the name states none. */
  readonly zone: string | null
}

/** A form such as DD/MM/YYYY, alone or with a form of a time. */
const form =
  /[([]?(?<![a-z])(?:(d{1,2})[-/. ]?m{1,4}[-/. ]?y{2,4}|(m{1,4})[-/. ]?d{1,2}[-/. ]?y{2,4}|y{4}[-/. ]?m{1,2}[-/. ]?d{1,2})(?![a-z])(?:[t ,]*hh?:mm(?::ss)?(?: ?(?:am\/pm|tt|a))?)?[)\]]?/i
/** A zone at the end, or in brackets. In small letters, `est` is an estimate. */
const zone = /[([]?(?<!\p{L})([Uu][Tt][Cc]|[Gg][Mm][Tt]|(?:AK|[NAECMP])[SD]T|HST)(?:[)\]]|\s*$)/u
/** Longer names are sentences. */
const nameLengthMax = 100

/**
 * Reads what the name of a column states about its dates. All readers of files and pasted rows use it.
 *
 * @example dateTerms('Quote Date (DD/MM/YYYY)') // { name: 'Quote Date', order: 'day_first', zone: null }
 * @example dateTerms('Created At UTC') // { name: 'Created At', order: null, zone: 'UTC' }
 */
export function dateTerms(header: string): DateTerms {
  if (header.length > nameLengthMax) return { name: header, order: null, zone: null }
  const found = form.exec(header)
  const [, dayFirst, monthFirst] = found ?? []
  const plain = found === null ? header : header.replace(found[0], ' ')
  const named = zone.exec(plain)
  return {
    name: (named === null ? plain : plain.replace(named[0], ' ')).trim(),
    order: dayFirst !== undefined ? 'day_first' : monthFirst !== undefined ? 'month_first' : null,
    zone: named?.[1]?.toUpperCase() ?? null,
  }
}

/** The offset from UTC, in minutes, that the name of a column states; null if it states none. */
export function minutesOfHeader(header: string): number | null {
  const { zone } = dateTerms(header)
  return zone === null ? null : (zoneMinutes.get(zone) ?? null)
}

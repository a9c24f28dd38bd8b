import type { RateBasis } from '#engine/rate-basis.ts'
import { foldedHeader, type ImportFieldName, nameLengthMax } from './import-fields.ts'

/** Ambiguous names that are read as this field when no other column has it. The person who imports the file can change it. */
export const guessedHeaders: ReadonlyMap<string, ImportFieldName> = new Map(
  Object.entries<ImportFieldName>({
    Pickup: 'origin',
    Delivery: 'destination',
    Type: 'equipment',
    Price: 'quoted_rate',
  }).map(([name, field]) => [foldedHeader(name), field]),
)

/**
 * The field that an unknown column may have, by a word in its name: a status, or a cancellation. It is never matched, because
 * its values decide which quotes count as lost.
 *
 * @example statusLike('load_was_cancelled') // 'cancelled'
 */
export function statusLike(header: string): 'outcome' | 'cancelled' | null {
  const words = header
    .slice(0, nameLengthMax)
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
  if (/\b(at|on|date|time|reason|by|fee|cost|charge)\b/.test(words)) return null
  if (/\b(is|was)?\s?(cancell?ed|cancellation|voided|void)\b/.test(words)) return 'cancelled'
  return /\b(status|outcome|result|stage|disposition|state of quote)\b/.test(words) ? 'outcome' : null
}

/**
 * The basis of a column's amounts, by its name; null if the name states none. Names with billed or invoiced mean all-in.
 *
 * @example basisOfHeader('Customer Linehaul') // 'linehaul'
 * @example basisOfHeader('Total Revenue') // 'all_in'
 */
export function basisOfHeader(header: string): RateBasis | null {
  const name = foldedHeader(header)
  if (/linehaul|baserate/.test(name)) return 'linehaul'
  return /allin|^total|total$|invoice|billedamount/.test(name) ? 'all_in' : null
}

/**
 * The unit of the amounts of a column, if its name says that it is not dollars per load.
 *
 * @example otherUnitOf('Rate per mile') // 'per mile'
 */
export function otherUnitOf(header: string): 'per mile' | 'in cents' | null {
  const name = header.slice(0, nameLengthMax).toLowerCase()
  if (/\bper[ _-]?(loaded )?mi(les?)?\b|\/ ?mi(les?)?\b|\bc?rpm\b/.test(name)) return 'per mile'
  return /\bcents\b|[_ ]cents$/.test(name) ? 'in cents' : null
}

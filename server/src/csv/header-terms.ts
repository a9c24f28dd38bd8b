import type { RateBasis } from '#engine/rate-basis.ts'
import { isStored, splitCurrency } from './currency-words.ts'
import { foldedHeader, nameLengthMax } from './import-fields.ts'

/** What the name of a column states about its amounts. */
interface HeaderTerms {
  /** The name without its currency. */
  readonly name: string
  /** The unit, if it is not dollars per load; worded to follow "amounts". */
  readonly unit: string | null
  /** The currencies as ISO 4217 codes. More than one is a contradiction. */
  readonly currencies: readonly string[]
  /** The basis; null if the name states none. */
  readonly basis: RateBasis | null
}

/**
 * Reads what the name of a column states about its amounts. All readers of files and pasted rows use it.
 *
 * @example headerTerms('Customer Linehaul (CAD)')
 *   // { name: 'Customer Linehaul', unit: null, currencies: ['CAD'], basis: 'linehaul' }
 * @example headerTerms('Rate ($/cwt)').unit // 'per hundredweight'
 */
export function headerTerms(header: string): HeaderTerms {
  const words = header
    .slice(0, nameLengthMax)
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
  const { rest, currencies } = splitCurrency(words, 'header')
  const name = currencies.length === 0 ? header : rest
  return { name, unit: unitOf(words.toLowerCase()), currencies, basis: basisOf(name) }
}

/**
 * Why the amounts of a column are not US or Canadian dollars per load, by its name, worded to follow the column; null if they are.
 *
 * @example headerFault('Rate ($/cwt)') // 'has amounts per hundredweight, and amounts are read in dollars per load'
 */
export function headerFault(header: string): string | null {
  const { unit, currencies } = headerTerms(header)
  if (unit !== null) return `has amounts ${unit}, and amounts are read in dollars per load`
  const named = currencies.join(' and ')
  if (currencies.length > 1) return `has amounts in ${named}, and the amounts of a column are in one currency`
  return currencies.every(isStored) ? null : `has amounts in ${named}, and ${named} is not stored`
}

const units: readonly (readonly [RegExp, string])[] = [
  [/%|‰|\bper ?cent(age)?s?\b|\bpct\b/, 'in percent'],
  [/¢|\bcents?\b|\bcts\b/, 'in cents'],
  [/\bthousands?\b|\$ ?k\b|\$ ?000\b/, 'in thousands'],
  [/(?:\bper|\/) ?(?:loaded |all )?mi(?:les?)?\b|\bc?rpm\b/, 'per mile'],
  [/(?:\bper|\/) ?(?:loaded )?(?:kms?|kilomet(?:er|re)s?)\b/, 'per kilometer'],
  [
    /(?:\bper|\/) ?(?:100 ?(?:lbs?|pounds?)|hundred ?weights?)\b|\b(?:cwt|hundredweights?)\b/,
    'per hundredweight',
  ],
  [/(?:\bper|\/) ?(?:(?:short|long|metric|net|gross) )?(?:tons?|tonnes?|mt)\b/, 'per ton'],
  [/(?:\bper|\/) ?(?:lbs?|pounds?)\b/, 'per pound'],
  [/(?:\bper|\/) ?(?:kgs?|kilos?|kilograms?)\b/, 'per kilogram'],
  [
    /(?:\bper|\/) ?(?:hours?|hr|days?|pallets?|skids?|pieces?|cases?|units?|stops?|gal(?:lons?)?|lit(?:er|re)s?|f(?:oo|ee)?t)\b/,
    'per another unit than a load',
  ],
]

function unitOf(words: string): string | null {
  return units.find(([form]) => form.test(words))?.[1] ?? null
}

/** Names with billed or invoiced mean all-in. */
function basisOf(name: string): RateBasis | null {
  const folded = foldedHeader(name)
  if (/linehaul|baserate/.test(folded)) return 'linehaul'
  return /allin|^total|total$|invoice|billedamount/.test(folded) ? 'all_in' : null
}

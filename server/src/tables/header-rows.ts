import { splitCurrency } from '../csv/index.ts'
import { isValue } from './value-cells.ts'

type KnownNames = (cells: readonly string[]) => number

const isText = (cells: readonly string[]) =>
  cells.some((cell) => cell.trim() !== '') && !cells.some((cell) => isValue(cell))

/** Names that need both rows of a header, such as "Origin City". */
const joinedMin = 2

/**
 * The names of a header in two rows: groups such as `Origin,,Destination,` over `City,State,City,State`. Null if the rows are not
 * such a header, because together they have no more known names than one of them alone.
 *
 * @example joinedHeader(['Origin', '', 'Rate'], ['City', 'State', ''], knownNames) // ['Origin City', 'Origin State', 'Rate']
 */
export function joinedHeader(
  upper: readonly string[],
  lower: readonly string[],
  knownNames: KnownNames,
): readonly string[] | null {
  if (!isText(upper) || !isText(lower)) return null
  const isKnown = (name: string) => knownNames([name]) > 0
  let group = ''
  let joined = 0
  const names = Array.from({ length: Math.max(upper.length, lower.length) }, (_, at) => {
    const own = upper[at]?.trim() ?? ''
    const below = lower[at]?.trim() ?? ''
    if (own !== '') group = own
    if (below === '' || below === own) return own
    const both = `${group} ${below}`.trim()
    if (group !== '' && isKnown(both)) {
      joined++
      return both
    }
    if (own === '' || isKnown(below)) return below
    return isKnown(own) ? own : both
  })
  const most = Math.max(knownNames(upper), knownNames(lower))
  return joined >= joinedMin && knownNames(names) > most ? names : null
}

/**
 * Whether a row below a header looks like a second row of it that `joinedHeader` could not read: it is text, repeats a name under
 * different groups, and fills several columns without a name.
 */
export function hasSecondRow(header: readonly string[], below: readonly string[]): boolean {
  if (!isText(header) || !isText(below)) return false
  const names = below.map((cell) => cell.trim().toLowerCase()).filter((cell) => cell !== '')
  const unnamed = below.filter((cell, at) => cell.trim() !== '' && (header[at] ?? '').trim() === '')
  const groups = header.filter((cell) => cell.trim() !== '').length
  return groups >= 2 && unnamed.length >= 2 && names.length - new Set(names).size >= 2
}

/** Units that say no more than the name of a column, because they are what Lanewise assumes. */
const assumedUnits = /^\$?$|^mi(les?)?$|^lbs?$|^pounds$|^y{4}-m{2}-d{2}$/i
const otherUnits =
  /^(cents?|¢)$|^km$|^kilomet(er|re)s$|^k(g|ilos?)$|^(short |metric )?tons?$|^t$|^%$|^percent$|^cwt$|^\$? ?(\/|per) ?(mi(le)?|km|load|cwt)$|^(days?|hours?|hrs?|minutes?|min)$|^(ft|feet|in|inches)$|^[md]{1,2}[-/.][md]{1,2}[-/.]y{2,4}$/i

/** Whether a cell is a unit. `assumed`: it says no more than the name of a column. Null for another text. */
function kindOfUnit(cell: string): 'assumed' | 'other' | null {
  const { rest, currencies } = splitCurrency(cell, 'header')
  const isForeign = currencies.some((currency) => currency !== 'USD')
  if (!isForeign && assumedUnits.test(rest)) return 'assumed'
  return (isForeign && /^\$?$/.test(rest)) || otherUnits.test(rest) ? 'other' : null
}

/**
 * The names of a header with the units of a row directly below it, such as `(CAD)`. Null if the row has anything else.
 *
 * @example withUnits(['Miles', 'Rate'], ['(mi)', '(CAD)']) // ['Miles', 'Rate (CAD)']
 */
export function withUnits(header: readonly string[], below: readonly string[]): readonly string[] | null {
  const units = below.map(withoutBrackets)
  if (units.every((unit) => unit === '')) return null
  const kinds = units.map(kindOfUnit)
  if (kinds.includes(null)) return null
  return header.map((name, at) => (kinds[at] === 'other' ? `${name.trim()} (${units[at]})` : name))
}

function withoutBrackets(cell: string): string {
  const text = cell.trim()
  return /^[([]/.test(text) && /[)\]]$/.test(text) ? text.slice(1, -1).trim() : text
}

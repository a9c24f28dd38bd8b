import type { Steps } from '#engine/steps.ts'
import { amountFields, fieldOfShortName, type guessedHeaders, lookedUpName } from './guessed-columns.ts'
import { headerTerms } from './header-terms.ts'
import {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  type ImportFieldName,
  isPartOfPlace,
} from './import-fields.ts'

/** A field that a column could be read as. Of several columns for a field, the one with the lowest rank is read. */
export interface Candidate<Field extends string> {
  readonly field: Field
  /** The position of the column, from 0. */
  readonly at: number
  readonly rank: number
}

/** Ranks from here on are guesses: names that mean other fields in other files. */
const GUESS = 16
export const isGuess = ({ rank }: { readonly rank: number }) => rank >= GUESS

/**
 * Gives each field one column, and each column one field, the best candidates first. All readers of files and of pasted rows choose
 * their columns by it: what differs is their tables of fields.
 *
 * @param ties whether no column is read if several are equally good, or the first of them
 * @param given the fields that have their columns already
 * @param sameMeaning other fields with the same meaning: if one of them has a column, no column is guessed for the field
 * @returns the column of each field, and the columns of fields for which several are equally good
 * @example
 *   const [ar, own] = [{ field: 'customer_rate', at: 0, rank: 4 }, { field: 'customer_rate', at: 3, rank: 0 }]
 *   matchFields([ar, own], 'ask').of.get('customer_rate') // own
 */
export function matchFields<One extends Candidate<string>>(
  candidates: readonly One[],
  ties: 'ask' | 'first',
  given: Iterable<One['field']> = [],
  sameMeaning: (field: One['field']) => readonly One['field'][] = () => [],
) {
  const of = new Map<One['field'], One>()
  const doubtful = new Map<One['field'], readonly number[]>()
  const settled = new Set<One['field']>(given)
  const used = new Set<number>()
  const key = ({ field, rank }: One) => `${field} ${rank}`
  const ranked = candidates.toSorted((one, other) => one.rank - other.rank || one.at - other.at)
  const equals = Map.groupBy(ranked, key)
  for (const one of ranked) {
    const { field, at }: Candidate<One['field']> = one
    if (settled.has(field) || used.has(at)) continue
    if (isGuess(one) && sameMeaning(field).some((other) => settled.has(other))) continue
    settled.add(field)
    const rivals = (equals.get(key(one)) ?? []).map((rival) => rival.at).filter((rival) => !used.has(rival))
    if (ties === 'first' || rivals.length === 1) {
      of.set(field, one)
      used.add(at)
    } else if (!isGuess(one)) doubtful.set(field, rivals)
  }
  return { of, doubtful }
}

/** A longer cell is a sentence, not the name of a column. */
const nameLengthMax = 100

/** Whether the letters of a cell are one of some names. @example isNamed(exchangeNames.usdPerCad)('USD_per_CAD') // true */
export const isNamed = (names: readonly string[]) => (cell: string) =>
  cell.length <= nameLengthMax && names.includes(cell.toLowerCase().replaceAll(/[^a-z]/g, ''))

/** The fields that cells can be, by a table of the names of each field in small letters. */
export function namedCandidates<Field extends string>(
  cells: readonly string[],
  names: Readonly<Record<Field, readonly string[]>>,
): Candidate<Field>[] {
  return (Object.keys(names) as Field[]).flatMap((field) =>
    cells.flatMap((cell, at) => (isNamed(names[field])(cell) ? { field, at, rank: 0 } : [])),
  )
}

/** The names of a header, each folded once, because a header may have a thousand names or 512 KiB. */
export interface HeaderNames {
  readonly headers: readonly string[]
  /** The folded names, and those by which fields are looked up: names of amounts without their currency. */
  readonly plain: readonly string[]
  readonly folded: readonly string[]
}

const NAMES_PER_STEP = 20

export function* headerNames(header: readonly string[]): Steps<HeaderNames> {
  const headers = header.map((name) => name.trim())
  const [plain, folded]: [string[], string[]] = [[], []]
  for (const [at, name] of headers.entries()) {
    plain.push(foldedHeader(name))
    folded.push(lookedUpName(name))
    if (at % NAMES_PER_STEP === 0) yield
  }
  return { headers, plain, folded }
}

/** A table with columns of quotes: a file of past quotes, or pasted rows. */
export interface QuoteTable<Field extends string> {
  /** The table's field for a field of quotes; null if it has none. */
  readonly fieldOf: (field: ImportFieldName) => Field | null
  /** The fields that ambiguous names are read as, unless a column with a clear name has the field. */
  readonly guesses: typeof guessedHeaders
  /** Whether the cells of a column fit a field, if they are known. */
  readonly fits?: (at: number, field: Field) => Steps<boolean>
}

/**
 * The fields that the columns of a table can be read as, by their names. For one field, amounts in US dollars per load come before
 * others, its own name before an alias, and a column whose cells fit before another one. If an ambiguous name means fields of different
 * kinds, the cells decide; they cannot decide between two amounts. State and Zip are of the place directly before them, if each place
 * has one or their cells fit.
 */
export function* quoteCandidates<Field extends string>(
  { headers, folded }: HeaderNames,
  { fieldOf, guesses, fits = fitsNothing }: QuoteTable<Field>,
): Steps<Candidate<Field>[]> {
  const found: Candidate<Field>[] = []
  const parts: (Candidate<Field> & { readonly other: Field | null })[] = []
  let end: End | undefined
  for (const [at, name] of folded.entries()) {
    if (at % NAMES_PER_STEP === 0) yield
    const may = ambiguousHeaders.get(name) ?? []
    const part = may.filter(isPartOfPlace).find((one) => end !== undefined && one.startsWith(end))
    const [field, other] = [part, may.find((one) => one !== part)].map((one) => one && fieldOf(one))
    if (part !== undefined && field) parts.push({ field, at, rank: GUESS, other: other ?? null })
    const known = fieldOfHeader.get(name)
    const meant = known ?? guesses.get(name) ?? fieldOfShortName(headers[at] ?? '')
    if (part === undefined) end = ends.find((one) => meant?.startsWith(one))
    const wanted = meant === undefined ? null : fieldOf(meant)
    if (meant === undefined || wanted === null) continue
    const terms = amountFields.has(meant) && isOnOtherTerms(headers[at] ?? '') ? 8 : 0
    if (known !== undefined && may.length === 0) {
      const own = name === foldedHeader(wanted) ? 0 : 4
      found.push({ field: wanted, at, rank: terms + own + ((yield* fits(at, wanted)) ? 0 : 1) })
      continue
    }
    const kinds = new Set([...may.filter((one) => !amountFields.has(one)), meant].map(fieldOf))
    for (const [nth, kind] of [...kinds].entries()) {
      if (kind === null) continue
      if (yield* fits(at, kind)) found.push({ field: kind, at, rank: GUESS + terms + nth })
      else if (kind === wanted) found.push({ field: kind, at, rank: 2 * GUESS + terms })
    }
  }
  const named = new Set([...found, ...parts].map(({ field }) => field))
  for (const { other, ...part } of parts) {
    if ((other !== null && named.has(other)) || (yield* fits(part.at, part.field))) found.push(part)
  }
  return found
}

const ends = ['origin', 'destination'] as const
type End = (typeof ends)[number]

// biome-ignore lint/correctness/useYield: the cells of a file are not known yet.
function* fitsNothing(): Steps<boolean> {
  return false
}

function isOnOtherTerms(header: string): boolean {
  const { unit, currencies } = headerTerms(header)
  return unit !== null || currencies.some((currency) => currency !== 'USD')
}

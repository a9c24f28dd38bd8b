import type { Steps } from '#engine/steps.ts'

/**
 * The key of a customer's name. Names with the same key are of the same customer: they are equal without regard to case and
 * white space. Any other difference makes another customer, until a person merges the two. The database computes the same
 * key (function `customer_key`).
 *
 * @example customerKey(' Harvest  Table FOODS') // 'harvest table foods'
 */
export function customerKey(name: string): string {
  return lowerCase(name).replace(whiteSpace, ' ').replace(/^ | $/g, '')
}

/**
 * A text in lower case, one character at a time, as the database's function `lower` does it. `toLowerCase` of a whole text depends
 * on the letters around a Σ.
 *
 * @example lowerCase('BLUEBONNET Carriers') // 'bluebonnet carriers'
 */
export function lowerCase(text: string): string {
  return /^[\0-\x7f]*$/.test(text)
    ? text.toLowerCase()
    : Array.from(text, (letter) => (letter === 'İ' ? 'i' : letter.toLowerCase())).join('')
}

const whiteSpace = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+/g

/** Words at the end of a company's name that say its legal form. */
const legalForms = new Set(
  'inc incorporated llc llp lp ltd ltda limited corp corporation co company plc gmbh ulc sa sas srl'.split(
    ' ',
  ),
)
const accents = /\p{M}+/gu

/**
 * The bare form of a name: without accents, punctuation, legal forms at its end and `the` at its beginning, with `and` for `&`. Two names
 * with the same bare form probably mean the same customer.
 *
 * @example bareName('The Harvest-Table Foods, Inc.') // 'harvest table foods'
 */
export function bareName(name: string): string {
  const words = customerKey(name)
    .normalize('NFKD')
    .replace(accents, '')
    .replace(/&/g, ' and ')
    .replace(/['’.]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
  while (words.length > 1 && legalForms.has(words.at(-1) ?? '')) words.pop()
  if (words.length > 1 && words[0] === 'the') words.shift()
  return words.join(' ')
}

/** Longer names are not compared for typos: the memory for their shortened texts grows with the square of a name's length. */
const TYPO_LENGTH_MAX = 60

/** Shorter bare forms are compared exactly: short names that differ by a letter are often two companies. */
const TYPO_LENGTH_MIN = 8

/** At most this many names that share a text after one letter is left out are compared, to bound the time. */
const SHARED_MAX = 20

/** Why two names probably mean the same customer. */
export type VariantReason = 'punctuation' | 'spaces' | 'typo'

/** Two customers whose names probably mean the same one, as positions in the list of names. */
export interface NameVariant {
  readonly one: number
  readonly other: number
  readonly because: VariantReason
}

/**
 * Pairs of names that probably mean the same customer: names with the same bare form (`punctuation`), names whose bare forms
 * differ only in spaces (`spaces`), and long names whose bare forms differ by one letter or by two swapped letters (`typo`).
 * The time grows with the number of names, not with its square; 5,000 long names take about half a second, in steps.
 *
 * @param names the names of different customers, the one to keep first
 * @example finished(nameVariants(['Acme Foods', 'ACME Foods, Inc.'])) // [{ one: 0, other: 1, because: 'punctuation' }]
 */
export function* nameVariants(names: readonly string[]): Steps<NameVariant[]> {
  const variants: NameVariant[] = []
  const seen = new Set<number>()
  const pair = (one: number, other: number, because: VariantReason) => {
    const key = Math.min(one, other) * names.length + Math.max(one, other)
    if (one === other || seen.has(key)) return
    seen.add(key)
    variants.push({ one: Math.min(one, other), other: Math.max(one, other), because })
  }
  const solids: string[] = []
  const byBare = new Map<string, number>()
  const bySpaces = new Map<string, number>()
  const byDeletion = new Map<string, number[]>()
  for (const [index, name] of names.entries()) {
    yield
    const bare = bareName(name)
    const solid = bare.replaceAll(' ', '')
    solids.push(solid)
    if (bare === '') continue
    const same = byBare.get(bare)
    const sameSolid = bySpaces.get(solid)
    if (same !== undefined) pair(same, index, 'punctuation')
    else if (sameSolid !== undefined) pair(sameSolid, index, 'spaces')
    if (same === undefined) byBare.set(bare, index)
    if (sameSolid === undefined) bySpaces.set(solid, index)
    // Only the first name of each `solid` text is compared for typos, because the others are already paired with it. Names with a digit are
    // not compared: "Plant 1" and "Plant 2" are two places.
    const hasTypoLength = solid.length >= TYPO_LENGTH_MIN && solid.length <= TYPO_LENGTH_MAX
    if (sameSolid !== undefined || !hasTypoLength || /\d/.test(solid)) continue
    for (const shorter of deletions(solid)) {
      const others = byDeletion.get(shorter) ?? []
      if (others.length < SHARED_MAX) {
        for (const other of others) if (isTypo(solid, solids[other] ?? '')) pair(other, index, 'typo')
        others.push(index)
      }
      byDeletion.set(shorter, others)
    }
  }
  return variants
}

/** A text and all texts that lack one of its characters. Two texts that differ by one edit or swap have one of these texts in common. */
function deletions(text: string): Set<string> {
  const found = new Set([text])
  for (let at = 0; at < text.length; at++) found.add(text.slice(0, at) + text.slice(at + 1))
  return found
}

/** Whether texts differ by one inserted, missing or replaced letter, or by two swapped ones. */
function isTypo(one: string, other: string): boolean {
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  let end = 0
  const most = Math.min(one.length, other.length) - start
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end++
  const [left, right] = [one.slice(start, one.length - end), other.slice(start, other.length - end)]
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}

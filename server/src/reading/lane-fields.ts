import type { Found, LaneField, MailPart, Question, Words } from './found-words.ts'

/** Something that may be the value of a field. */
export interface Candidate<T> {
  readonly at: number
  readonly text: string
  readonly value: T | null
  readonly ask: { readonly detail: string; readonly options: readonly string[] } | null
}

export interface Decided<T> {
  readonly found: Found<T> | null
  readonly question: Omit<Question, 'lane'> | null
}

export function wordsOf(part: MailPart, { at, text }: { readonly at: number; readonly text: string }): Words {
  return { part, at, text }
}

/** The most values that a question offers. */
const optionsMax = 20

/**
 * The value that all candidates agree on. Different values, or one that is a question, are a question: none of them is chosen.
 */
export function decide<T>(
  field: LaneField,
  part: MailPart,
  candidates: readonly Candidate<T>[],
  shown: (value: T) => string,
): Decided<T> {
  const [first] = candidates
  if (first === undefined) return { found: null, question: null }
  const values = [...new Set(candidates.flatMap(({ value }) => (value === null ? [] : [shown(value)])))]
  const open = candidates.find(({ ask }) => ask !== null)
  if (values.length === 1 && open === undefined && first.value !== null) {
    return { found: { value: first.value, words: wordsOf(part, first) }, question: null }
  }
  const options = [...new Set([...values, ...candidates.flatMap(({ ask }) => ask?.options ?? [])])].slice(
    0,
    optionsMax,
  )
  const detail =
    values.length > 1
      ? `The mail names several: ${options.slice(0, values.length).join(', ')}`
      : (open?.ask?.detail ?? 'The value is not certain')
  return { found: null, question: { field, detail, words: wordsOf(part, open ?? first), options } }
}

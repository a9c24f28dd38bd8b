import type { Answer } from '../api/index.ts'

type Reading = NonNullable<Answer<'get-received-mail'>['reading']>
type Words = NonNullable<Reading['deadline']>['words']

/** A piece of a text, and whether something was read from it. */
export interface TextPiece {
  readonly at: number
  readonly text: string
  readonly isRead: boolean
}

/** All words of a reading that are in one part. */
function wordsIn({ lanes, deadline }: Reading, part: Words['part'], table: number | null): Words[] {
  const found = [
    deadline,
    ...lanes.flatMap((lane) => [
      lane.origin,
      lane.destination,
      ...lane.stops,
      lane.pickup,
      lane.delivery,
      lane.equipment,
      lane.mode,
      lane.weight,
      lane.temperature,
      lane.commodity,
      lane.hazmat,
      lane.target,
    ]),
  ]
  return found.flatMap((one) =>
    one !== null && one.words.part === part && one.words.table === table ? [one.words] : [],
  )
}

/**
 * A text in pieces: the words that values were read from, and what is between them. Joined, they are the text.
 *
 * @param part subject or text, or the number of a table
 */
export function markedPieces(text: string, reading: Reading | null, part: 'text' | number): TextPiece[] {
  const words =
    reading === null
      ? []
      : typeof part === 'number'
        ? wordsIn(reading, 'table', part)
        : wordsIn(reading, part, null)
  const pieces: TextPiece[] = []
  let end = 0
  const add = (to: number, isRead: boolean) => {
    if (to > end) pieces.push({ at: end, text: text.slice(end, to), isRead })
    end = Math.max(end, to)
  }
  for (const one of words.toSorted((first, second) => first.at - second.at)) {
    add(one.at, false)
    add(one.at + one.text.length, true)
  }
  add(text.length, false)
  return pieces
}

import type { Steps } from '#engine/steps.ts'

/** A run of lines of a text. */
interface Block {
  readonly at: number
  readonly text: string
}

const blockLength = 2_000

/** The lines of a text in blocks of about 2,000 characters. A longer line is cut, at a space if there is one. */
function* blocksOf(text: string): Generator<Block> {
  let at = 0
  while (at < text.length) {
    const most = at + blockLength
    const line = text.lastIndexOf('\n', most - 1) + 1
    const space = text.lastIndexOf(' ', most - 1) + 1
    const end = most >= text.length ? text.length : line > at ? line : space > at ? space : most
    yield { at, text: text.slice(at, end) }
    at = end
  }
}

/**
 * What a reader of lines finds in a text, in order, a block per step: a reader that takes long for a long text never delays others.
 *
 * @example finished(foundInBlocks('Dallas, TX\nReno, NV', placesIn)).map(({ at }) => at) // [0, 11]
 */
export function* foundInBlocks<T extends { readonly at: number; readonly end: number }>(
  text: string,
  read: (text: string) => readonly T[],
): Steps<T[]> {
  const found: T[] = []
  for (const block of blocksOf(text)) {
    for (const one of read(block.text)) found.push({ ...one, at: block.at + one.at, end: block.at + one.end })
    yield
  }
  return found
}

import { invalid, type Problem } from '#contract/errors.ts'

/** Where a page ended, as next_cursor carries it: opaque to callers, and read back only by the endpoint that wrote it. */
export function cursorText(position: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** The position in a cursor, or null when it is none of ours. Its members are still to be looked at. */
export function cursorPosition(text: string): readonly unknown[] | null {
  try {
    const position: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return Array.isArray(position) ? position : null
  } catch {
    return null
  }
}

/** The refusal of a cursor that nobody handed out, or that belongs to another order of the list. */
export function wrongCursor(): Problem {
  return invalid([
    {
      parameter: 'cursor',
      code: 'invalid',
      detail: 'cursor must be the next_cursor of the page before, asked for in the same order.',
    },
  ])
}

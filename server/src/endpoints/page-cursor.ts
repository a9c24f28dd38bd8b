import { invalid, type Problem } from '#contract/errors.ts'

/** The position after a page, as `next_cursor`. Its content is opaque to callers. */
export function cursorText(position: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** The position in a cursor; null when the text is not a cursor. The caller validates its members. */
export function cursorPosition(text: string): readonly unknown[] | null {
  try {
    const position: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return Array.isArray(position) ? position : null
  } catch {
    return null
  }
}

/** The error of a cursor that is invalid or belongs to another order of the list. */
export function wrongCursor(): Problem {
  return invalid([
    {
      parameter: 'cursor',
      code: 'invalid',
      detail: 'cursor must be the next_cursor of the previous page, requested in the same order.',
    },
  ])
}

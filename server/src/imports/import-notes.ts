import type { Static } from 'typebox'
import type { ImportNote as Note } from '#contract/imports.ts'
import type { TableFile } from '../tables/index.ts'

export type ImportNote = Static<typeof Note>

/** How a file's bytes were read: its encoding if it is not UTF-8, and the lines above its header. */
export function fileNotes({ encoding, aboveHeader }: TableFile): ImportNote[] {
  const note = (code: ImportNote['code'], detail: string) => ({ code, column: null, detail, choices: [] })
  const count = aboveHeader.length
  const lines = count === 1 ? '1 line above the header was' : `${count} lines above the header were`
  return [
    ...(encoding === 'windows-1252' ? [note('encoding', 'The text is in the encoding Windows-1252.')] : []),
    ...(count > 0 ? [note('lines_left_out', `${lines} left out.`)] : []),
  ]
}

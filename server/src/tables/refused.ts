/** A problem of a whole file. `row` is the line in the file, from 1; null when the problem has no single line. */
export interface FileProblem {
  readonly code: 'file' | 'encoding' | 'header' | 'map'
  readonly row: number | null
  readonly column: string | null
  readonly detail: string
}

/** The file cannot be imported. Nothing was saved. */
export class ImportFileError extends Error {
  readonly problems: readonly FileProblem[]
  constructor(problems: readonly FileProblem[]) {
    super(problems.map(({ detail }) => detail).join('\n'))
    this.name = 'ImportFileError'
    this.problems = problems
  }
}

/** The refusal of a file for one problem, or for several of the same kind. */
export function refused(
  code: FileProblem['code'],
  details: string | readonly string[],
  row: number | null = null,
): ImportFileError {
  return new ImportFileError([details].flat().map((detail) => ({ code, row, column: null, detail })))
}

/** A mutant that changes nothing anybody could observe, so no test can notice it. */
export interface Equivalent {
  readonly file: string
  /** The code on the line of the mutant, without spaces around it. */
  readonly line: string
  readonly replacement: string
  readonly reason: string
}

export const equivalents: readonly Equivalent[] = []

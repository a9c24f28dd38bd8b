/** The machine as a command accesses it. Tests replace it; only lanewise-main.ts uses the real machine. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The working directory, for relative file names. */
  readonly folder: string
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Prints a line of the result to the standard output. */
  readonly print: (text: string) => void
  /** Writes a part of the result to the standard output, unchanged. */
  readonly write: (text: string) => void
  /** Prints a line to the standard error: progress, warnings and errors. */
  readonly remark: (text: string) => void
  /** Reads the complete standard input. */
  readonly input: () => Promise<Buffer>
  /** The terminal for progress bars; null if there is none. */
  readonly terminal: NodeJS.WriteStream | null
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

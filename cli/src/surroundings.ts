/** What a command sees of the machine. Only the main file knows the real ones. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** Where the person is: names of files are read from there. */
  readonly folder: string
  /** Epoch milliseconds. */
  readonly now: () => number
  /** A line of the answer, for a file or another program. */
  readonly print: (text: string) => void
  /** A part of an answer, byte for byte: nothing is added. */
  readonly write: (text: string) => void
  /** Everything else: progress, warnings, what went wrong. */
  readonly remark: (text: string) => void
  /** All of the standard input. */
  readonly input: () => Promise<Buffer>
  /** Asks the person; null where nobody is there to ask. */
  readonly ask: ((question: string, hidden: boolean) => Promise<string>) | null
  /** The terminal that a progress bar is drawn on; null where there is none. */
  readonly terminal: NodeJS.WriteStream | null
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

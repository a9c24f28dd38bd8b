import { AsyncLocalStorage } from 'node:async_hooks'

/** The turn in which a file is read. */
export interface ReadingTurn {
  /** Ends the reading: the caller has hung up. */
  readonly signal: AbortSignal
  /** Whether the turn is short. A file that needs more time or memory has another turn. */
  readonly isShort: boolean
  /** Called with the processor time that another process has used for the file, in milliseconds. */
  readonly used: (processorMs: number) => void
}

/** A file was not read to its end in its turn, because the turn ended. */
export class TurnEnded extends Error {
  /** Whether the file needs more time or memory than a short turn has. */
  readonly isSpent: boolean

  constructor(isSpent: boolean) {
    super('The turn of the file has ended.')
    this.isSpent = isSpent
  }
}

const current = new AsyncLocalStorage<ReadingTurn>()

/** Reads a file in its turn: a workbook in it is read no longer. @throws TurnEnded */
export function inReadingTurn<T>(turn: ReadingTurn, read: () => Promise<T>): Promise<T> {
  return current.run(turn, read)
}

/** The turn in which the current file is read; null for a command, which reads one file only. */
export const readingTurn = (): ReadingTurn | null => current.getStore() ?? null

import {
  fileReadingMsMax,
  fileReadingMsPerSecond,
  fileRestartsMax,
  filesReadAtOnceMax,
  filesWaitingMax,
  firstWorkbookTurnMs,
  smallFileBytesMax,
  workbookProcessorSecondsMax,
} from '#contract/limits.ts'
import type { TenantId } from '../database/session/index.ts'
import { inReadingTurn, QueueFull, type ReadingTurn, TurnEnded } from '../runtime/index.ts'

/** A file to read. */
export interface FileToRead {
  /** Text is small or large by what it becomes when it is unpacked. */
  readonly kind: 'small' | 'large' | 'workbook'
  /** The size as sent. */
  readonly bytes: number
}

/** The turns in which the files of all brokerages are read. */
export interface FileTurns {
  /**
   * Reads a file when it is its turn.
   *
   * @param signal ends the wait or the reading, because nobody waits for the answer
   * @throws QueueFull if too many files wait already
   * @throws TurnEnded if `signal` has ended it
   */
  read<T>(brokerage: TenantId, file: FileToRead, signal: AbortSignal, read: () => Promise<T>): Promise<T>
}

interface Share {
  /** The reading time that is left, in milliseconds; below 0 if the last file took more. */
  leftMs: number
  /** When `leftMs` was current. */
  countedAt: number
}

interface Job extends FileToRead {
  readonly brokerage: TenantId
  /** Its place in the order of arrival. */
  readonly number: number
  /** A workbook that has used up its first turn, or is large. */
  isLong: boolean
  /** How often it was interrupted, and began again. */
  restarts: number
  start: () => void
}

interface Running {
  readonly job: Job
  readonly interruption: AbortController
  readonly beganAt: number
  /** The processor time of other processes. */
  usedMs: number
}

/**
 * Files are read in turns, by these rules:
 *
 * - Small texts, large texts and workbooks have places of their own (`filesReadAtOnceMax`), so a text never waits for a workbook, and
 *   a small text never for a large one.
 * - The next file is the one of the brokerage that has used the least of its share of reading time. Among equals, the smallest is next.
 * - A brokerage that has used up its share waits, also if no one else does, because reading takes processor time from requests.
 * - A small workbook ends its first turn soon. If it needs longer, it waits for a long turn. Small workbooks of others that come during
 *   a long turn, or during the turn of a brokerage that has used more, do not wait for its end: the workbook begins again after them.
 */
export function fileTurns(monotonic: () => number = () => performance.now()): FileTurns {
  return new Turns(monotonic)
}

class Turns implements FileTurns {
  readonly #monotonic: () => number
  readonly #shares = new Map<TenantId, Share>()
  readonly #waiting: Job[] = []
  readonly #running = new Set<Running>()
  #arrived = 0
  #waking: NodeJS.Timeout | undefined

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  async read<T>(
    brokerage: TenantId,
    { kind, bytes }: FileToRead,
    signal: AbortSignal,
    read: () => Promise<T>,
  ): Promise<T> {
    if (this.#waiting.length >= filesWaitingMax) throw new QueueFull()
    const job: Job = {
      brokerage,
      kind,
      bytes,
      number: this.#arrived++,
      isLong: bytes > smallFileBytesMax,
      restarts: 0,
      start: () => {},
    }
    for (;;) {
      const running = await this.#startInTurn(job, signal)
      try {
        return await inReadingTurn(turnOf(running, signal), read)
      } catch (error) {
        if (!(error instanceof TurnEnded) || signal.aborted) throw error
        if (error.isSpent) job.isLong = true
        else job.restarts++
      } finally {
        this.#end(running)
      }
    }
  }

  #startInTurn(job: Job, signal: AbortSignal): Promise<Running> {
    const { promise, resolve, reject } = Promise.withResolvers<Running>()
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(job), 1)
      reject(new TurnEnded(false))
    }
    job.start = () => {
      signal.removeEventListener('abort', leave)
      const running = {
        job,
        interruption: new AbortController(),
        beganAt: this.#monotonic(),
        usedMs: 0,
      }
      this.#running.add(running)
      resolve(running)
    }
    this.#waiting.push(job)
    if (signal.aborted) {
      leave()
      return promise
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#interruptFor(job)
    this.#startNext()
    return promise
  }

  /**
   * For a small workbook, interrupts the workbook of another brokerage that is long, or whose brokerage has used a turn more. It begins
   * again later, and each only so often.
   */
  #interruptFor(job: Job): void {
    const left = ({ brokerage }: Job) => this.#shareOf(brokerage).leftMs
    if (job.kind !== 'workbook' || job.isLong || left(job) <= 0) return
    for (const { job: other, interruption } of this.#running) {
      const mayWait = other.isLong || left(job) - left(other) >= firstWorkbookTurnMs
      if (other.kind !== 'workbook' || other.brokerage === job.brokerage || !mayWait) continue
      if (other.restarts < fileRestartsMax) interruption.abort()
    }
  }

  #end(running: Running): void {
    this.#running.delete(running)
    const { job, beganAt, usedMs } = running
    const readMs = job.kind === 'workbook' ? usedMs : this.#monotonic() - beganAt
    const share = this.#shareOf(job.brokerage)
    // Without this bound, a brokerage would wait for minutes after one long file.
    share.leftMs = Math.max(-fileReadingMsMax, share.leftMs - readMs)
    this.#shares.set(job.brokerage, share)
    this.#startNext()
  }

  #startNext(): void {
    for (const kind of ['small', 'large', 'workbook'] as const) {
      for (;;) {
        const isFull =
          [...this.#running].filter(({ job }) => job.kind === kind).length >= filesReadAtOnceMax[kind]
        const next = isFull ? undefined : this.#nextOf(kind)
        if (next === undefined) break
        this.#waiting.splice(this.#waiting.indexOf(next), 1)
        next.start()
      }
    }
    this.#wake()
  }

  #nextOf(kind: FileToRead['kind']): Job | undefined {
    const left = ({ brokerage }: Job) => this.#shareOf(brokerage).leftMs
    return this.#waiting
      .filter((job) => job.kind === kind && left(job) > 0)
      .sort((one, other) => left(other) - left(one) || one.bytes - other.bytes || one.number - other.number)
      .at(0)
  }

  /** Looks again when the first brokerage that waits has reading time again. */
  #wake(): void {
    clearTimeout(this.#waking)
    const spent = this.#waiting
      .map(({ brokerage }) => this.#shareOf(brokerage).leftMs)
      .filter((ms) => ms <= 0)
    if (spent.length === 0) return
    const waitMs = ((1 - Math.max(...spent)) / fileReadingMsPerSecond) * 1_000
    this.#waking = setTimeout(() => this.#startNext(), Math.ceil(waitMs)).unref()
  }

  #shareOf(brokerage: TenantId): Share {
    const now = this.#monotonic()
    const share = this.#shares.get(brokerage) ?? { leftMs: fileReadingMsMax, countedAt: now }
    const gained = (Math.max(0, now - share.countedAt) / 1_000) * fileReadingMsPerSecond
    share.leftMs = Math.min(fileReadingMsMax, share.leftMs + gained)
    share.countedAt = now
    // A brokerage whose share is whole again is forgotten.
    if (share.leftMs === fileReadingMsMax) this.#shares.delete(brokerage)
    return share
  }
}

function turnOf(running: Running, signal: AbortSignal): ReadingTurn {
  const { job, interruption } = running
  return {
    signal: AbortSignal.any([signal, interruption.signal]),
    processorMsMax: job.isLong ? workbookProcessorSecondsMax * 1_000 : firstWorkbookTurnMs,
    used: (ms) => {
      running.usedMs += ms
    },
  }
}

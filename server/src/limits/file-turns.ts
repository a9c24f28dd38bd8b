import {
  fileReadingMsMax,
  fileReadingMsPerSecond,
  filesReadAtOnceMax,
  filesWaitingMax,
  smallFileBytesMax,
} from '#contract/limits.ts'
import type { Database, TenantId } from '../database/session/index.ts'
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
  read<T>(tenant: TenantId, file: FileToRead, signal: AbortSignal, read: () => Promise<T>): Promise<T>
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
  place: Place
  start: () => void
}

type Place = keyof typeof filesReadAtOnceMax
const places = Object.keys(filesReadAtOnceMax) as Place[]

interface Running {
  readonly job: Job
  readonly beganAt: number
  /** The processor time of other processes. */
  usedMs: number
}

/**
 * Files are read in turns, by these rules:
 *
 * - Small and large texts, and small and other workbooks, have places of their own (`filesReadAtOnceMax`), so a text never waits for
 *   a workbook, and a small file never for a large one.
 * - The next file is the one of the brokerage that has used the least of its share of reading time. Among equals, the smallest is next.
 * - A brokerage that has used up its share waits, also if no one else does, because reading takes processor time from requests.
 * - The turn of a small workbook is short. If it needs more time or memory, it begins again in the place of large ones.
 */
export function fileTurns(
  shares: Pick<Database['shares'], 'of'>,
  monotonic: () => number = () => performance.now(),
): FileTurns {
  return new Turns(shares, monotonic)
}

class Turns implements FileTurns {
  readonly #tenants: Pick<Database['shares'], 'of'>
  readonly #monotonic: () => number
  readonly #shares = new Map<TenantId, Share>()
  readonly #waiting: Job[] = []
  readonly #running = new Set<Running>()
  #arrived = 0
  #waking: NodeJS.Timeout | undefined

  constructor(tenants: Pick<Database['shares'], 'of'>, monotonic: () => number) {
    this.#tenants = tenants
    this.#monotonic = monotonic
  }

  async read<T>(
    tenant: TenantId,
    { kind, bytes }: FileToRead,
    signal: AbortSignal,
    read: () => Promise<T>,
  ): Promise<T> {
    if (this.#waiting.length >= filesWaitingMax) throw new QueueFull()
    const isSmallWorkbook = kind === 'workbook' && bytes <= smallFileBytesMax
    const job: Job = {
      brokerage: this.#tenants.of(tenant),
      kind,
      bytes,
      number: this.#arrived++,
      place: isSmallWorkbook ? 'smallWorkbook' : kind,
      start: () => {},
    }
    for (;;) {
      const running = await this.#startInTurn(job, signal)
      try {
        return await inReadingTurn(turnOf(running, signal), read)
      } catch (error) {
        if (!(error instanceof TurnEnded && error.isSpent)) throw error
        job.place = 'workbook'
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
      const running = { job, beganAt: this.#monotonic(), usedMs: 0 }
      this.#running.add(running)
      resolve(running)
    }
    this.#waiting.push(job)
    if (signal.aborted) {
      leave()
      return promise
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#startNext()
    return promise
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
    for (const place of places) {
      for (;;) {
        const isFull =
          [...this.#running].filter(({ job }) => job.place === place).length >= filesReadAtOnceMax[place]
        const next = isFull ? undefined : this.#nextOf(place)
        if (next === undefined) break
        this.#waiting.splice(this.#waiting.indexOf(next), 1)
        next.start()
      }
    }
    this.#wake()
  }

  #nextOf(place: Place): Job | undefined {
    const left = ({ brokerage }: Job) => this.#shareOf(brokerage).leftMs
    return this.#waiting
      .filter((job) => job.place === place && left(job) > 0)
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
  return {
    signal,
    isShort: running.job.place === 'smallWorkbook',
    used: (ms) => {
      running.usedMs += ms
    },
  }
}

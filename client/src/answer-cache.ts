import { aborted, type Received } from './call.ts'

interface CachedAnswer {
  readonly answer: Received
  readonly until: number
}

/** The number of requests that a call has sent. */
export interface Progress {
  sends: number
}

interface PendingRequest {
  readonly answer: Promise<Received>
  readonly progress: Progress
  readonly controller: AbortController
  waiting: number
}

type Ask = (signal: AbortSignal, progress: Progress) => Promise<Received>

/**
 * The response cache of a client, with the requests in progress. An LRU cache with at most `entriesMax` entries,
 * which expire after the time that the interface allows. Entries are texts, so that each caller parses its own
 * copy.
 */
export class AnswerCache {
  readonly #entriesMax: number
  readonly #cached = new Map<string, CachedAnswer>()
  readonly #pending = new Map<string, PendingRequest>()

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  /** The cached response for a key; undefined if there is none or it has expired. */
  get(key: string): Received | undefined {
    const kept = this.#cached.get(key)
    if (kept === undefined) return undefined
    this.#cached.delete(key)
    if (kept.until <= performance.now()) return undefined
    this.#cached.set(key, kept)
    return kept.answer
  }

  /**
   * Shares one request between equal concurrent calls. The request is aborted when no call waits for it any more. Its
   * response is cached for `keepMs`, unless the cache was cleared meanwhile, because the response may then be
   * outdated.
   */
  async share(key: string, keepMs: number, signal: AbortSignal | undefined, ask: Ask): Promise<Received> {
    if (signal?.aborted === true) throw aborted(signal)
    const found = this.#pending.get(key)
    const asked = found ?? this.#begin(key, keepMs, ask)
    asked.waiting++
    try {
      return await untilAborted(asked, signal)
    } finally {
      asked.waiting--
      if (asked.waiting === 0) {
        if (this.#pending.get(key) === asked) this.#pending.delete(key)
        asked.controller.abort()
      }
    }
  }

  #begin(key: string, keepMs: number, ask: Ask): PendingRequest {
    const controller = new AbortController()
    const progress = { sends: 0 }
    const asked: PendingRequest = {
      controller,
      progress,
      waiting: 0,
      answer: ask(controller.signal, progress).then((answer) => {
        if (this.#pending.get(key) === asked) this.#keep(key, answer, keepMs)
        return answer
      }),
    }
    this.#pending.set(key, asked)
    return asked
  }

  #keep(key: string, answer: Received, keepMs: number): void {
    if (keepMs === 0 || this.#entriesMax === 0) return
    this.#cached.delete(key)
    this.#cached.set(key, { answer, until: performance.now() + keepMs })
    const oldest = this.#cached.keys().next()
    if (this.#cached.size > this.#entriesMax && oldest.done !== true) this.#cached.delete(oldest.value)
  }

  /** Clears the cache. Requests in progress still resolve for their callers, but are no longer shared or cached. */
  forget(): void {
    this.#cached.clear()
    this.#pending.clear()
  }
}

function untilAborted(
  { answer, progress }: PendingRequest,
  signal: AbortSignal | undefined,
): Promise<Received> {
  if (signal === undefined) return answer
  return new Promise((resolve, reject) => {
    const stop = () => {
      const failure = aborted(signal)
      failure.attempts = progress.sends
      reject(failure)
    }
    signal.addEventListener('abort', stop, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

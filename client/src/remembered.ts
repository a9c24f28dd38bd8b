import { aborted, type Received } from './call.ts'

interface Kept {
  readonly answer: Received
  readonly until: number
}

/** How often a call has sent its request. */
export interface Progress {
  sends: number
}

interface UnderWay {
  readonly answer: Promise<Received>
  readonly progress: Progress
  readonly giveUp: AbortController
  waiting: number
}

type Ask = (signal: AbortSignal, progress: Progress) => Promise<Received>

/**
 * What the reads of one client were answered, for as long as the interface allows, and what is being asked right now.
 * At most `entriesMax` are kept; the one that was longest not asked for goes first. They are kept as text: each caller
 * reads a copy of its own, which it may change.
 */
export class RememberedAnswers {
  readonly #entriesMax: number
  readonly #kept = new Map<string, Kept>()
  readonly #underWay = new Map<string, UnderWay>()

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  /** The answer kept under a key; undefined when there is none or it is too old. */
  get(key: string): Received | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    this.#kept.delete(key)
    if (kept.until <= performance.now()) return undefined
    this.#kept.set(key, kept)
    return kept.answer
  }

  /**
   * One request for equal calls that are under way at once. It is given up when none of them waits any longer. What it
   * brings is kept for `keepMs`, unless everything was forgotten meanwhile: then it may be older than what changed.
   */
  async share(key: string, keepMs: number, signal: AbortSignal | undefined, ask: Ask): Promise<Received> {
    if (signal?.aborted === true) throw aborted(signal)
    const found = this.#underWay.get(key)
    const asked = found ?? this.#begin(key, keepMs, ask)
    asked.waiting++
    try {
      return await untilAborted(asked, signal)
    } finally {
      asked.waiting--
      if (asked.waiting === 0) {
        if (this.#underWay.get(key) === asked) this.#underWay.delete(key)
        asked.giveUp.abort()
      }
    }
  }

  #begin(key: string, keepMs: number, ask: Ask): UnderWay {
    const giveUp = new AbortController()
    const progress = { sends: 0 }
    const asked: UnderWay = {
      giveUp,
      progress,
      waiting: 0,
      answer: ask(giveUp.signal, progress).then((answer) => {
        if (this.#underWay.get(key) === asked) this.#keep(key, answer, keepMs)
        return answer
      }),
    }
    this.#underWay.set(key, asked)
    return asked
  }

  #keep(key: string, answer: Received, keepMs: number): void {
    if (keepMs === 0 || this.#entriesMax === 0) return
    this.#kept.delete(key)
    this.#kept.set(key, { answer, until: performance.now() + keepMs })
    const oldest = this.#kept.keys().next()
    if (this.#kept.size > this.#entriesMax && oldest.done !== true) this.#kept.delete(oldest.value)
  }

  /** Forgets all answers; those on their way still reach who waits for them, and are not kept or shared any more. */
  forget(): void {
    this.#kept.clear()
    this.#underWay.clear()
  }
}

function untilAborted({ answer, progress }: UnderWay, signal: AbortSignal | undefined): Promise<Received> {
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

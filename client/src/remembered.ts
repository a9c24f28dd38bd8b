import { aborted } from './call.ts'

interface Kept {
  readonly text: string
  readonly until: number
}

interface UnderWay {
  readonly text: Promise<string>
  readonly giveUp: AbortController
  waiting: number
}

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

  /** The text kept under a key; undefined when there is none or it is too old. */
  get(key: string): string | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    this.#kept.delete(key)
    if (kept.until <= performance.now()) return undefined
    this.#kept.set(key, kept)
    return kept.text
  }

  /**
   * One request for equal calls that are under way at once. It is given up when none of them waits any longer. What it
   * brings is kept for `keepMs`, unless everything was forgotten meanwhile: then it may be older than what changed.
   */
  async share(
    key: string,
    keepMs: number,
    signal: AbortSignal | undefined,
    ask: (signal: AbortSignal) => Promise<string>,
  ): Promise<string> {
    if (signal?.aborted === true) throw aborted(signal)
    const found = this.#underWay.get(key)
    const asked = found ?? this.#begin(key, keepMs, ask)
    asked.waiting++
    try {
      return await untilAborted(asked.text, signal)
    } finally {
      asked.waiting--
      if (asked.waiting === 0) {
        if (this.#underWay.get(key) === asked) this.#underWay.delete(key)
        asked.giveUp.abort()
      }
    }
  }

  #begin(key: string, keepMs: number, ask: (signal: AbortSignal) => Promise<string>): UnderWay {
    const giveUp = new AbortController()
    const asked: UnderWay = {
      giveUp,
      waiting: 0,
      text: ask(giveUp.signal).then((text) => {
        if (this.#underWay.get(key) === asked) this.#keep(key, text, keepMs)
        return text
      }),
    }
    this.#underWay.set(key, asked)
    return asked
  }

  #keep(key: string, text: string, keepMs: number): void {
    if (keepMs === 0 || this.#entriesMax === 0) return
    this.#kept.delete(key)
    this.#kept.set(key, { text, until: performance.now() + keepMs })
    const oldest = this.#kept.keys().next()
    if (this.#kept.size > this.#entriesMax && oldest.done !== true) this.#kept.delete(oldest.value)
  }

  /** Forgets all answers; those on their way still reach who waits for them, and are not kept or shared any more. */
  forget(): void {
    this.#kept.clear()
    this.#underWay.clear()
  }
}

function untilAborted(text: Promise<string>, signal: AbortSignal | undefined): Promise<string> {
  if (signal === undefined) return text
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted(signal))
    signal.addEventListener('abort', stop, { once: true })
    text.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

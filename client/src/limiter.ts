import { aborted, timerMsMax } from './call.ts'
import { NoAnswer } from './failures.ts'

/**
 * While no answer has arrived, the service may count a request this long after it was sent: a slow handshake comes first.
 * Longer would let a service that hangs hold up the whole client.
 */
const transitMsMax = 3_000

interface Waiting {
  readonly isRepeat: boolean
  readonly send: () => void
}

/** A request that counts against the limit until this time. */
interface Counted {
  until: number
}

/**
 * Sends at most `max` requests in any window, as the service counts them: by when they reach it. The client cannot see
 * that moment, but it lies before the answer. So a request counts until one window after its answer, and the service
 * never counts more than `max` requests of this client in a window. Requests wait in the order in which they came.
 */
export class RequestLimiter {
  readonly #max: number
  readonly #windowMs: number
  readonly #counted = new Set<Counted>()
  readonly #waiting: Waiting[] = []
  #pausedUntil = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(max: number, windowMs: number) {
    this.#max = max
    this.#windowMs = windowMs
  }

  /**
   * Resolves when a request may be sent, with the function to call when its answer has arrived.
   *
   * @param endAt when the call's time ends, by `performance.now()`
   * @param isRepeat the request was sent before: it goes ahead of requests that were not
   * @throws NoAnswer when the caller aborts, or when the request cannot be sent before the time ends
   */
  async take(endAt: number, isRepeat: boolean, signal: AbortSignal | undefined): Promise<() => void> {
    if (signal?.aborted === true) throw aborted(signal)
    const request =
      this.#waiting.length === 0 && this.#hasRoom()
        ? this.#count()
        : await this.#turn(endAt, isRepeat, signal)
    return () => {
      request.until = Math.min(request.until, performance.now() + this.#windowMs)
      this.#schedule()
    }
  }

  /** Sends nothing for a while: the service refused a request, for it also counts those of other processes. */
  pause(forMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + forMs)
    this.#schedule()
  }

  #hasRoom(): boolean {
    const now = performance.now()
    for (const request of this.#counted) if (request.until <= now) this.#counted.delete(request)
    return this.#counted.size < this.#max && this.#pausedUntil <= now
  }

  #count(): Counted {
    const request = { until: performance.now() + transitMsMax + this.#windowMs }
    this.#counted.add(request)
    return request
  }

  #turn(endAt: number, isRepeat: boolean, signal: AbortSignal | undefined): Promise<Counted> {
    const ahead = isRepeat ? this.#waiting.filter((one) => one.isRepeat).length : this.#waiting.length
    if (this.#earliestTurn(ahead) > endAt) return Promise.reject(this.#late())
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', stop)
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      }
      const fail = (failure: NoAnswer) => {
        leave()
        this.#schedule()
        reject(failure)
      }
      const stop = () => {
        if (signal !== undefined) fail(aborted(signal))
      }
      const waiting: Waiting = {
        isRepeat,
        send: () => {
          leave()
          resolve(this.#count())
        },
      }
      const timer = setTimeout(() => fail(this.#late()), Math.min(endAt - performance.now(), timerMsMax))
      signal?.addEventListener('abort', stop, { once: true })
      this.#waiting.splice(ahead, 0, waiting)
      this.#schedule()
    })
  }

  /** A time before which a request with this many ahead of it cannot be sent. */
  #earliestTurn(ahead: number): number {
    const now = performance.now()
    const free = Array.from({ length: this.#max - this.#counted.size }, () => now)
    const counted = Array.from(this.#counted, ({ until }) => Math.min(until, now + this.#windowMs))
    const turns = [...free, ...counted].map((at) => Math.max(at, this.#pausedUntil)).sort((a, b) => a - b)
    return (turns[ahead % this.#max] ?? now) + Math.floor(ahead / this.#max) * this.#windowMs
  }

  #late(): NoAnswer {
    return new NoAnswer(
      'timeout',
      `The request was not sent: the time for the call ends before its turn (${this.#max} requests in ${this.#windowMs} ms).`,
    )
  }

  /** Sends what may be sent now, and looks again when the next request may be. */
  #schedule(): void {
    clearTimeout(this.#timer)
    while (this.#hasRoom()) {
      const [next] = this.#waiting
      if (next === undefined) return
      next.send()
    }
    if (this.#waiting.length === 0) return
    const roomAt =
      this.#counted.size < this.#max ? 0 : Math.min(...Array.from(this.#counted, ({ until }) => until))
    const forMs = Math.max(roomAt, this.#pausedUntil) - performance.now()
    this.#timer = setTimeout(() => this.#schedule(), Math.min(Math.max(1, Math.ceil(forMs)), timerMsMax))
  }
}

import { aborted, timerMsMax } from './call.ts'
import { NoAnswer } from './failures.ts'

/**
 * Without a response, a request is assumed to reach the service within this time, which includes a slow handshake.
 * With a longer time, a service that hangs would block the whole client.
 */
const transitMsMax = 3_000

interface Waiting {
  readonly isRepeat: boolean
  readonly send: () => void
}

/** A request that counts against the limit until the time `until`. */
interface Counted {
  until: number
}

/**
 * Limits requests to `max` in any window, as counted by the service at their arrival. The client does not know the
 * arrival time, but it is before the response. A request therefore counts until one window after its response, so the
 * service never counts more than `max` requests of this client in a window. Requests wait in a FIFO queue.
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
   * Resolves when a request may be sent, with a function to call when its response has arrived.
   *
   * @param endAt the deadline of the call, by `performance.now()`
   * @param isRepeat whether the request was sent before. Repeats go ahead of first attempts
   * @throws NoAnswer if the caller aborts, or if the request cannot be sent before the deadline
   */
  async take(endAt: number, isRepeat: boolean, signal: AbortSignal | undefined): Promise<() => void> {
    if (signal?.aborted === true) throw aborted(signal)
    const request =
      this.#waiting.length === 0 && this.#hasCapacity()
        ? this.#count()
        : await this.#enqueue(endAt, isRepeat, signal)
    return () => {
      request.until = Math.min(request.until, performance.now() + this.#windowMs)
      this.#schedule()
    }
  }

  /**
   * Stops sending for a while, after the service refused a request. The service also counts requests of other
   * processes.
   */
  pause(forMs: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + forMs)
    this.#schedule()
  }

  #hasCapacity(): boolean {
    const now = performance.now()
    for (const request of this.#counted) if (request.until <= now) this.#counted.delete(request)
    return this.#counted.size < this.#max && this.#pausedUntil <= now
  }

  #count(): Counted {
    const request = { until: performance.now() + transitMsMax + this.#windowMs }
    this.#counted.add(request)
    return request
  }

  #enqueue(endAt: number, isRepeat: boolean, signal: AbortSignal | undefined): Promise<Counted> {
    const ahead = isRepeat ? this.#waiting.filter((one) => one.isRepeat).length : this.#waiting.length
    if (this.#earliestStart(ahead) > endAt) return Promise.reject(this.#late())
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

  /** A lower bound of the time at which a request with this many requests ahead of it can be sent. */
  #earliestStart(ahead: number): number {
    const now = performance.now()
    const free = Array.from({ length: this.#max - this.#counted.size }, () => now)
    const counted = Array.from(this.#counted, ({ until }) => Math.min(until, now + this.#windowMs))
    const starts = [...free, ...counted].map((at) => Math.max(at, this.#pausedUntil)).sort((a, b) => a - b)
    return (starts[ahead % this.#max] ?? now) + Math.floor(ahead / this.#max) * this.#windowMs
  }

  #late(): NoAnswer {
    return new NoAnswer(
      'timeout',
      `The request was not sent: the call times out before the rate limit allows it (${this.#max} requests in ${this.#windowMs} ms).`,
    )
  }

  /** Sends the requests that may be sent now, and sets a timer for the next one. */
  #schedule(): void {
    clearTimeout(this.#timer)
    while (this.#hasCapacity()) {
      const [next] = this.#waiting
      if (next === undefined) return
      next.send()
    }
    if (this.#waiting.length === 0) return
    const capacityAt =
      this.#counted.size < this.#max ? 0 : Math.min(...Array.from(this.#counted, ({ until }) => until))
    const forMs = Math.max(capacityAt, this.#pausedUntil) - performance.now()
    this.#timer = setTimeout(() => this.#schedule(), Math.min(Math.max(1, Math.ceil(forMs)), timerMsMax))
  }
}

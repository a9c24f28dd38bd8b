import { beforeEach, describe, expect, test, vi } from 'vitest'
import { slidingWindow } from '#server/security/index.ts'
import type { NoAnswer } from './failures.ts'
import { RequestLimiter } from './limiter.ts'

/** Tests the limiter against the service's own window, with a simulated clock. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return () => vi.useRealTimers()
})

/**
 * Runs the timers of the next ten seconds, which is enough for every test here. `runAllTimers` might never end,
 * because test files share a process and another file may have left a polling timer.
 */
const runTimers = () => vi.advanceTimersByTimeAsync(10_000)

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
/**
 * Network delays of requests and responses, in milliseconds. Requests may arrive closer together than they were sent.
 */
const travelTimes = [3, 40, 1, 25, 0.2, 18, 7]

interface Sender {
  take(endAt: number, isRepeat: boolean, signal: AbortSignal | undefined): Promise<() => void>
}

/** Sends concurrent requests through a limiter. Returns their arrival times and how many the service would refuse. */
async function sendAll(limiter: Sender, count: number) {
  const service = slidingWindow(10, 1_000)
  const arrivals: number[] = []
  let refused = 0
  const sending = Array.from({ length: count }, async (_, at) => {
    const answered = await limiter.take(Number.POSITIVE_INFINITY, false, undefined)
    await wait(travelTimes[at % travelTimes.length] ?? 0)
    if (!service.admit('brokerage', performance.now()).admitted) refused++
    arrivals.push(performance.now())
    await wait(travelTimes[(at + 3) % travelTimes.length] ?? 0)
    answered()
  })
  await runTimers()
  await Promise.all(sending)
  return { arrivals, refused, lastMs: Math.max(...arrivals) }
}

describe('the limiter', () => {
  test('sends 60 requests in about five seconds without a refusal', async () => {
    const { refused, lastMs } = await sendAll(new RequestLimiter(10, 1_000), 60)
    expect(refused).toBe(0)
    expect(lastMs).toBeGreaterThan(5_000)
    expect(lastMs).toBeLessThan(5_600)
  })

  test('is necessary: a window over send times would cause refusals', async () => {
    const window = slidingWindow(10, 1_000)
    const bySending: Sender = {
      async take() {
        for (;;) {
          const { admitted, retryAfterMs } = window.admit('sender', performance.now())
          if (admitted) return () => {}
          await wait(retryAfterMs)
        }
      },
    }
    expect((await sendAll(bySending, 60)).refused).toBeGreaterThan(0)
  })

  test('sends requests in order, repeats first', async () => {
    const limiter = new RequestLimiter(1, 1_000)
    const sent: string[] = []
    const send = async (name: string, isRepeat = false) => {
      const answered = await limiter.take(Number.POSITIVE_INFINITY, isRepeat, undefined)
      sent.push(name)
      answered()
    }
    const all = [send('a'), send('b'), send('c'), send('again 1', true), send('again 2', true)]
    await runTimers()
    await Promise.all(all)
    expect(sent).toEqual(['a', 'again 1', 'again 2', 'b', 'c'])
  })

  test('does not wait indefinitely for a missing response', async () => {
    const limiter = new RequestLimiter(1, 1_000)
    await limiter.take(Number.POSITIVE_INFINITY, false, undefined)
    const sentAt: number[] = []
    const next = limiter.take(Number.POSITIVE_INFINITY, false, undefined).then(() => {
      sentAt.push(performance.now())
    })
    const began = performance.now()
    await vi.advanceTimersByTimeAsync(5_000)
    await next
    expect(sentAt).toEqual([began + 4_000])
  })

  test('rejects a request immediately if it cannot be sent before its deadline, else at the deadline', async () => {
    const limiter = new RequestLimiter(2, 1_000)
    const endAt = performance.now() + 1_500
    await limiter.take(endAt, false, undefined)
    await limiter.take(endAt, false, undefined)
    const ends: [string, number][] = []
    const take = (name: string) =>
      limiter.take(endAt, false, undefined).catch((failure: NoAnswer) => {
        ends.push([`${name} ${failure.code}`, performance.now() - (endAt - 1_500)])
      })
    // Both slots may become free after one second. The third request in the queue must wait for two seconds.
    const waiting = [take('first'), take('second'), take('third')]
    await vi.advanceTimersByTimeAsync(0)
    expect(ends).toEqual([['third timeout', 0]])
    await runTimers()
    await Promise.all(waiting)
    // No response arrived, so the slots were held longer.
    expect(ends.slice(1)).toEqual([
      ['first timeout', 1_500],
      ['second timeout', 1_500],
    ])
  })

  test('pauses all requests after a refusal, and removes aborted requests from the queue', async () => {
    const limiter = new RequestLimiter(10, 1_000)
    limiter.pause(3_000)
    const sentAt: number[] = []
    const began = performance.now()
    const giveUp = new AbortController()
    const aborted = limiter.take(Number.POSITIVE_INFINITY, false, giveUp.signal)
    const sent = limiter.take(Number.POSITIVE_INFINITY, false, undefined).then(() => {
      sentAt.push(performance.now() - began)
    })
    giveUp.abort(new Error('closed'))
    await expect(aborted).rejects.toMatchObject({ code: 'aborted', attempts: 0, cause: new Error('closed') })
    await runTimers()
    await sent
    expect(sentAt).toEqual([3_000])
  })
})

import { setTimeout as delay } from 'node:timers/promises'

/** One request and what came of it. Times are milliseconds of one monotonic clock. */
export interface Asked {
  readonly began: number
  readonly ended: number
  readonly status: number
}

/** Asks over and over, through each of some ways at once, for a while. */
export async function askedFor(
  ways: readonly (() => Promise<number>)[],
  { ms, pauseMs = 10 }: { ms: number; pauseMs?: number },
): Promise<Asked[]> {
  const log: Asked[] = []
  const start = performance.now()
  await Promise.all(
    ways.map(async (ask) => {
      while (performance.now() - start < ms) {
        const began = performance.now()
        const status = await ask()
        log.push({ began, ended: performance.now(), status })
        await delay(pauseMs)
      }
    }),
  )
  return log
}

/** The limit may be judged by the clock of another process: over a second two clocks drift apart by less. */
const clocksApartMs = 3

/** The most requests that were let in, beyond doubt, within less than one second: both sent and answered in it. */
export function mostWithinASecond(log: readonly Asked[]): number {
  const admitted = log.filter(({ status }) => status === 200)
  return Math.max(
    0,
    ...admitted.map(
      ({ began }) =>
        admitted.filter((one) => one.began >= began && one.ended < began + 1_000 - clocksApartMs).length,
    ),
  )
}

/** Refusals before which, beyond doubt, fewer than ten were let in within the second. */
export function refusedTooEarly(log: readonly Asked[]): Asked[] {
  const admitted = log.filter(({ status }) => status === 200)
  return log.filter(
    ({ status, began, ended }) =>
      status === 429 &&
      admitted.filter((one) => one.ended > began - 1_000 - clocksApartMs && one.began < ended).length < 10,
  )
}

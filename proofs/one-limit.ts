import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Integration } from '#testing/make.ts'
import type { RunningService } from '#testing/running-service.ts'

/** One request and what came of it. Times are milliseconds of one monotonic clock, and of the wall clock. */
export interface Asked {
  readonly began: number
  readonly ended: number
  readonly beganAt: number
  readonly endedAt: number
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
        const [began, beganAt] = [performance.now(), Date.now()]
        const status = await ask()
        log.push({ began, beganAt, ended: performance.now(), endedAt: Date.now(), status })
        await delay(pauseMs)
      }
    }),
  )
  return log
}

/** The limit may be judged by the clock of another process: over a second two clocks drift apart by less. */
const clocksApartMs = 3

/**
 * The most requests that were let in, beyond doubt, within less than one second: both sent and answered in it. Instances
 * that share a limit judge by the wall clock of the database, which may be set meanwhile: it must be so by both clocks.
 */
export function mostWithinASecond(log: readonly Asked[]): number {
  const mostMs = 1_000 - clocksApartMs
  const admitted = log.filter(({ status }) => status === 200)
  return Math.max(
    0,
    ...admitted.map(
      ({ began, beganAt }) =>
        admitted.filter(
          (one) => one.began >= began && one.ended < began + mostMs && one.endedAt < beganAt + mostMs,
        ).length,
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

const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
const agent = new Agent({ keepAlive: true })

/** Reads of a brokerage through one instance, each over a connection that is kept; gives their status. */
export const asking =
  ({ url }: RunningService, { token }: Integration) =>
  () =>
    new Promise<number>((resolve, reject) => {
      request(`${url}${readPath}`, { agent, headers: { Authorization: `Bearer ${token}` } }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      })
        .on('error', reject)
        .end()
    })

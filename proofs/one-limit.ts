import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Integration } from '#testing/make.ts'
import type { RunningService } from '#testing/running-service.ts'

/** One request. `began` and `ended` are monotonic milliseconds; `beganAt` and `endedAt` are wall-clock milliseconds. */
export interface Asked {
  readonly began: number
  readonly ended: number
  readonly beganAt: number
  readonly endedAt: number
  readonly status: number
}

/** Sends requests through all senders for `ms` milliseconds, and returns the log. */
export async function sendFor(
  senders: readonly (() => Promise<number>)[],
  { ms, pauseMs = 10 }: { ms: number; pauseMs?: number },
): Promise<Asked[]> {
  const log: Asked[] = []
  const start = performance.now()
  await Promise.all(
    senders.map(async (ask) => {
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

/** Two clocks drift apart by less than this within a second. The limit may use the clock of another process. */
const clockDriftMs = 3

/**
 * Returns the largest group of requests that were sent and answered within one second, so certainly admitted in it. Instances that
 * share a limit use the wall clock of the database, which can be adjusted, so it must be a second by both clocks.
 */
export function busiestSecond(log: readonly Asked[]): Asked[] {
  const mostMs = 1_000 - clockDriftMs
  const admitted = log.filter(({ status }) => status === 200)
  return admitted
    .map(({ began, beganAt }) =>
      admitted.filter(
        (one) => one.began >= began && one.ended < began + mostMs && one.endedAt < beganAt + mostMs,
      ),
    )
    .reduce((most, group) => (group.length > most.length ? group : most), [])
}

export const mostWithinASecond = (log: readonly Asked[]): number => busiestSecond(log).length

/** Returns the refusals that were certainly wrong: in the second before, fewer than ten requests were admitted. */
export function refusedTooEarly(log: readonly Asked[]): Asked[] {
  const admitted = log.filter(({ status }) => status === 200)
  return log.filter(
    ({ status, began, ended }) =>
      status === 429 &&
      admitted.filter((one) => one.ended > began - 1_000 - clockDriftMs && one.began < ended).length < 10,
  )
}

const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
const agent = new Agent({ keepAlive: true })

/** Returns a sender that reads through one instance over a kept-alive connection, and returns the status. */
export const readerOf =
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

import { createServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/**
 * Measures a service from inside, without a change of its code: `node --import turn-watch.ts`. It reports how much processor time the
 * longest turn of the event loop took, and the largest memory of the process, at a Unix socket (`TURN_WATCH`).
 *
 * A turn is all the work between two visits of the event loop to its timers; other callers wait while it runs. Its processor time is
 * that of the service's main thread, so that other processes on the machine do not change the result.
 */

/** The measurements since the last request at the socket. */
export interface Watched {
  /** Processor time of the longest turn, in milliseconds. */
  readonly turnMs: number
  /** The largest resident memory of the process, in megabytes. */
  readonly mostMb: number
  /** The resident memory now, in megabytes. */
  readonly nowMb: number
}

/** Returns the Node option that makes a service watch itself. It listens at the path of the variable `TURN_WATCH`. */
export const watchingTurns = (): string => `--import=${import.meta.url}`

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const megabytes = () => process.memoryUsage.rss() / 1e6

function watch(path: string): void {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  let before = threadMs()
  let turnMs = 0
  let mostMb = megabytes()
  const look = () => {
    const now = threadMs()
    turnMs = Math.max(turnMs, now - before)
    before = now
  }
  // The shortest interval: a longer one would add up several turns.
  setInterval(look, 1).unref()
  setInterval(() => {
    mostMb = Math.max(mostMb, megabytes())
  }, 5).unref()
  createServer((request, answer) => {
    look()
    if (request.url === '/collect') collectGarbage()
    const nowMb = megabytes()
    const watched: Watched = { turnMs, mostMb: Math.max(mostMb, nowMb), nowMb }
    answer.end(JSON.stringify(watched))
    mostMb = nowMb
    turnMs = 0
    before = threadMs()
  })
    .listen(path)
    .unref()
}

const socket = process.env.TURN_WATCH
if (socket !== undefined && isMainThread) watch(socket)

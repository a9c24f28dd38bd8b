import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

/** How often a process that ended by itself is started again within `restartsMs`. A process that ends more often has a lasting cause. */
export const restartsMax = 3
const restartsMs = 10 * 60_000
/** How often the service looks whether a process that cannot run now can run again. */
const waitMs = 1_000

/** A process that runs until `stop`. */
interface KeptProcess {
  /** Null while it is started again. */
  readonly pid: () => number | null
  /** Returns once no process is being started any more, and none will be. */
  readonly release: () => Promise<void>
}

/**
 * Starts a process, and starts it again when it ends by itself.
 *
 * @param restarts how often within ten minutes it is started again
 * @param cannotRun whether it cannot run now, such as on a full disk: then it is started again once it can, which is not counted
 * @param onEnd called with each unexpected end: how it ended, and whether the process is started again
 * @param onFailure called if the process could not be started again
 */
export async function keptRunning(
  start: () => Promise<ChildProcess>,
  {
    restarts: most = restartsMax,
    cannotRun = () => false,
    onEnd,
    onFailure,
  }: {
    readonly restarts?: number | undefined
    readonly cannotRun?: () => boolean
    readonly onEnd: (how: string, isStartedAgain: boolean) => void
    readonly onFailure: (error: unknown) => void
  },
): Promise<KeptProcess> {
  let pid: number | null = null
  let isReleased = false
  let restarting: Promise<void> = Promise.resolve()
  let restarts: number[] = []
  const run = async () => {
    const child = await start()
    pid = child.pid ?? null
    const ended = (how: string) => {
      pid = null
      if (isReleased) return
      const now = performance.now()
      restarts = restarts.filter((at) => now - at < restartsMs)
      const isCounted = !cannotRun()
      const isStartedAgain = !isCounted || restarts.length < most
      onEnd(how, isStartedAgain)
      if (!isStartedAgain) return
      if (isCounted) restarts.push(now)
      restarting = startAgain()
    }
    // It may have ended in the moment in which it became ready.
    const { exitCode, signalCode } = child
    if (exitCode !== null || signalCode !== null) ended(String(signalCode ?? exitCode))
    else child.once('exit', (code, signal) => ended(String(signal ?? code)))
  }
  const startAgain = async (): Promise<void> => {
    while (cannotRun() && !isReleased) await delay(waitMs)
    if (isReleased) return
    try {
      await run()
    } catch (error) {
      if (isReleased) return
      if (cannotRun()) return startAgain()
      onFailure(error)
    }
  }
  await run()
  return {
    pid: () => pid,
    release: async () => {
      isReleased = true
      await restarting
    },
  }
}

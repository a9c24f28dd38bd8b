import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type pg from 'pg'
import type { Config } from '../config.ts'
import type { CallLog, LastMinuteCounts, Log } from '../endpoints/call.ts'
import type { SecretKeys } from '../security/sealed-secret.ts'
import type { OtherThreads, ThreadMetrics } from '../watching/metrics.ts'
import { type Desk, deskAnswers } from './desk.ts'
import { type Other, talk } from './talk.ts'

/** What a further thread is given to start with. */
export interface ThreadData {
  readonly number: number
  readonly config: Omit<Config, 'secretKeys'>
  readonly secretKeys: readonly Uint8Array[]
  readonly connection: pg.ClientConfig
  readonly connectionsMax: number
  readonly instance: string | null
  readonly memory: SharedArrayBuffer
  readonly port: number
}

/** The further threads of a service. */
export interface MoreThreads {
  /** What they have counted of a tenant's last minute. */
  readonly counted: CallLog['lastMinute']
  /** The numbers of each, for who watches the service. */
  metrics(): Promise<OtherThreads>
  /** Each answers what it has begun, and ends. */
  stop(): Promise<void>
}

/** How long to wait before a thread that died is replaced: longer each time it dies again soon. */
const replaceAfterMs = [200, 1_000, 5_000, 30_000] as const
/** A thread that has answered for so long did not die of its start. */
const settledMs = 60_000

/** A thread that does not say how it is within this is busy. */
const metricsWaitMs = 1_000

interface Thread {
  /** Another number for each that takes the place of one that died. */
  readonly birth: number
  readonly other: Other
  readonly ended: Promise<void>
}

/**
 * Starts the further threads of a service, and puts another one in the place of one that dies: the others go on
 * meanwhile, and the system hands new connections to them.
 *
 * @throws when one of them does not come to answer at the start
 */
export async function startMoreThreads(
  data: Omit<ThreadData, 'number' | 'secretKeys' | 'config'> & { config: Config; secretKeys: SecretKeys },
  {
    desk,
    log,
    file = new URL('./thread-main.ts', import.meta.url),
  }: { desk: Desk; log: Log /** Another program in its place, for tests. */; file?: URL },
): Promise<MoreThreads> {
  const threads = new Map<number, Thread>()
  let stopping = false
  let births = 0

  /** Resolves when it answers requests. */
  async function start(number: number, deaths: number): Promise<void> {
    const { secretKeys: _, ...config } = data.config
    const workerData: ThreadData = { ...data, config, number }
    // The keys are handed over: of the environment a thread needs only what the packages for traces read there.
    const env = config.traces ?? {}
    const worker = new Worker(file, { workerData, env })
    const began = performance.now()
    const { promise: ready, resolve: isReady, reject: isNot } = Promise.withResolvers<void>()
    const { handlers, gone } = deskAnswers(desk)
    const other = talk(worker, { ...handlers, ready: () => isReady() })
    worker.on('error', (error) => {
      isNot(error)
      log.error({ err: error, thread: number }, 'a thread failed')
    })
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', (code) => {
        isNot(new Error(`Thread ${number} ended before it answered (${code}).`))
        threads.delete(number)
        other.ended()
        gone()
        resolve()
      })
    })
    threads.set(number, { birth: ++births, other, ended })
    await ready
    void ended.then(() => replace(number, performance.now() - began > settledMs ? 0 : deaths))
  }

  async function replace(number: number, deaths: number): Promise<void> {
    const waitMs = replaceAfterMs[Math.min(deaths, replaceAfterMs.length - 1)] ?? 0
    if (stopping) return
    log.error({ thread: number, again_after_ms: waitMs }, 'a thread ended: another one takes its place')
    await delay(waitMs, undefined, { ref: false })
    if (stopping) return
    await start(number, deaths + 1).catch(() => replace(number, deaths + 1))
  }

  async function stop(): Promise<void> {
    stopping = true
    const ending = [...threads.values()]
    for (const { other } of ending) other.tell('stop')
    await Promise.all(ending.map(({ ended }) => ended))
  }

  const numbers = Array.from({ length: data.config.threads - 1 }, (_, index) => index + 2)
  const started = await Promise.allSettled(numbers.map((number) => start(number, 0)))
  const failed = started.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    await stop()
    throw failed.reason
  }
  return {
    async counted(tenant, now) {
      const counts = await Promise.all(
        [...threads.values()].map(({ other }) =>
          // One that has just ended has taken its counts with it.
          other.ask<LastMinuteCounts>('counted', tenant, now).catch(() => ({ requests: 0, refused: 0 })),
        ),
      )
      const sum = (of: (one: LastMinuteCounts) => number) => counts.reduce((total, one) => total + of(one), 0)
      return { requests: sum((one) => one.requests), refused: sum((one) => one.refused) }
    },
    async metrics() {
      const asked = [...threads.values()].map(async ({ birth, other }) => {
        const late = delay(metricsWaitMs, null, { ref: false })
        const numbers = other.ask<ThreadMetrics>('metrics').catch(() => null)
        return [birth, await Promise.race([numbers, late])] as const
      })
      return new Map(await Promise.all(asked))
    },
    stop,
  }
}

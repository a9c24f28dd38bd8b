import { setTimeout as delay } from 'node:timers/promises'
import type { RunningService } from '#testing/running-service.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, seeded, shareOf } from './proof.ts'
import { type ServiceProcesses, serviceProcesses } from './service-process.ts'
import {
  acknowledgedCount,
  lossesIn,
  makeWriters,
  type WritersLog,
  write,
  writersLog,
} from './signed-writers.ts'
import { type StreamingPair, streamingPair } from './streaming-pair.ts'

/** Half of a brokerage's limit: none of its requests is one too many. */
const everyMs = 200
const recoveryMsMax = 1_000
const allowedStatuses = new Set([200, 503])

/**
 * Two instances work on a primary with a standby, while brokerages send signed updates to both. In each round, the standby is promoted
 * and the primary is lost, in either order, and then replaced by a new standby.
 */
async function failOver(
  rounds: number,
  { seed, onProgress, signal }: ProofOptions,
  fault?: 'not synchronous',
): Promise<Finding> {
  const random = seeded(seed)
  const pair = await streamingPair()
  let services: ServiceProcesses | undefined
  const faults: string[] = []
  let over = false
  let load: Promise<unknown> = Promise.resolve()
  let done = 0
  let slowestMs = 0
  const logs = [writersLog(), writersLog()]
  try {
    services = serviceProcesses(pair)
    const nodes: RunningService[] = []
    for (const _ of logs) nodes.push(await services.start())
    const [first] = nodes
    if (first === undefined) throw new Error('No node.')
    await pair.waitForStandby()
    const writers = await Promise.all(nodes.map(() => makeWriters(first.url, 3)))
    load = Promise.all(
      nodes.map(({ url }, at) =>
        write(
          writers[at] ?? [],
          logs[at] ?? writersLog(),
          () => url,
          () => over,
          everyMs,
        ),
      ),
    )
    const isAlive = () => nodes.every(({ child }) => child.exitCode === null && child.signalCode === null)
    for (; done < rounds && isAlive() && !signal.aborted; done++) {
      await switchOver(pair, random, fault)
      const readyAt = performance.now()
      await delay(recoveryMsMax + 2_000)
      for (const log of logs) {
        const { faults: found, backMs } = recoveryIn(log, readyAt)
        slowestMs = Math.max(slowestMs, backMs)
        faults.push(...found)
      }
      await pair.rebuild()
      if (fault === undefined) await pair.waitForStandby()
      onProgress(
        `${done + 1} of ${rounds} failovers, ${logs.reduce((sum, log) => sum + acknowledgedCount(log), 0)} acknowledged`,
      )
    }
    over = true
    await load
    if (!isAlive()) faults.push('an instance exited')
    for (const log of logs) faults.push(...(await lossesIn(pair, log)))
    const answers = logs.flatMap((log) => log.answers)
    const odd = answers.filter(({ status }) => !allowedStatuses.has(status))
    if (odd.length > 0) {
      faults.push(`${odd.length} responses were ${[...new Set(odd.map(({ status }) => status))]}`)
    }
    const acknowledged = logs.reduce((sum, log) => sum + acknowledgedCount(log), 0)
    if (acknowledged < done * 50) faults.push('too few updates were acknowledged: the proof is empty')
    return {
      figure: `${done} failovers, ${acknowledged} acknowledged updates, ${answers.length - acknowledged} responses 503; the last one that failed began ${Math.round(slowestMs)} ms after the new primary was ready`,
      faults: firstFaults(faults),
    }
  } finally {
    over = true
    await services?.remove()
    await load
    await pair.remove()
  }
}

/** Promotes the standby and loses the primary, in either order. */
async function switchOver(
  pair: StreamingPair,
  random: () => number,
  fault: 'not synchronous' | undefined,
): Promise<void> {
  await delay(1_500)
  if (fault !== undefined) {
    await pair.cutOff()
    await delay(1_000)
  }
  if (random() < 0.5) {
    await pair.promoteStandby()
    await delay(Math.round(random() * 2_000))
    await pair.losePrimary()
  } else {
    await pair.losePrimary()
    // Also longer than a registration of the instances holds.
    await delay(Math.round(random() * 14_000))
    await pair.promoteStandby()
  }
}

/** How long after the new primary was ready the last failed request began, and what is wrong with that. */
function recoveryIn({ answers }: WritersLog, readyAt: number): { faults: string[]; backMs: number } {
  const failed = answers.filter(({ ended, status }) => ended > readyAt && status !== 200)
  const backMs = Math.max(0, ...failed.map(({ began }) => began - readyAt))
  const faults: string[] = []
  if (backMs > recoveryMsMax) {
    faults.push(`a request failed that began ${Math.round(backMs)} ms after the new primary was ready`)
  }
  if (!answers.some(({ began, status }) => began > readyAt && status === 200)) {
    faults.push('no request succeeded with the new primary')
  }
  return { faults, backMs }
}

export const failover: Proof = {
  name: 'failover',
  claim:
    'A standby takes over under load: nothing acknowledged is lost, requests work within a second, and nobody gets a 429',
  fault: 'the primary acknowledges without its standby',
  run: (options) => failOver(shareOf(8, options.share), options),
  control: (options) => failOver(1, options, 'not synchronous'),
}

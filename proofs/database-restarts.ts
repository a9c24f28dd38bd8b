import { setTimeout as delay } from 'node:timers/promises'
import { makeKnownBrokerage, type Read, readInsight, readInsights } from './insight-readers.ts'
import { ownPostgres } from './own-postgres.ts'
import type { FaultName } from './planted-fault.ts'
import {
  between,
  type Finding,
  firstFaults,
  type Proof,
  type ProofOptions,
  seeded,
  shareOf,
} from './proof.ts'
import { serviceProcesses } from './service-process.ts'
import { acknowledgedCount, lossesIn, makeWriters, write, writersLog } from './signed-writers.ts'

const allowedStatuses = new Set([200, 404, 429, 503])
const answerMsMax = 3_000
const recoveryMsMax = 5_000

/** Restarts PostgreSQL repeatedly while clients read and write, and checks every response. */
async function restartUnderLoad(
  restarts: number,
  { seed, onProgress, signal }: ProofOptions,
  fault?: FaultName,
): Promise<Finding> {
  const random = seeded(seed)
  const postgres = await ownPostgres()
  const services = serviceProcesses(postgres)
  const log = writersLog()
  const reads: Read[] = []
  const faults: string[] = []
  let over = false
  let load: Promise<unknown> = Promise.resolve()
  let done = 0
  let slowestRecoveryMs = 0
  try {
    const service = await services.start(fault === undefined ? {} : { fault })
    const url = () => service.url
    const writers = await makeWriters(service.url, 4)
    const reader = await makeKnownBrokerage(service.url)
    load = Promise.all([write(writers, log, url, () => over), readInsights(url, reader, reads, () => over)])
    const isAlive = () => service.child.exitCode === null && service.child.signalCode === null
    while (done < restarts && isAlive() && !signal.aborted) {
      await delay(between(random, 1_000, 2_000))
      await postgres.stop(random() < 0.5 ? 'fast' : 'immediate')
      await delay(between(random, 0, 800))
      await postgres.start()
      const back = performance.now()
      // Wait for the first successful read after the restart.
      while (isAlive() && performance.now() - back < recoveryMsMax + 2_000) {
        const began = performance.now()
        const read = await readInsight(service.url, reader, 0)
        if (read.status === 200) break
        await delay(Math.max(0, 150 - (performance.now() - began)))
      }
      const recoveryMs = performance.now() - back
      slowestRecoveryMs = Math.max(slowestRecoveryMs, recoveryMs)
      if (recoveryMs > recoveryMsMax)
        faults.push(`no successful read ${Math.round(recoveryMs)} ms after the restart`)
      done++
      onProgress(
        `${done} of ${restarts} restarts, ${reads.length} reads, ${acknowledgedCount(log)} acknowledged`,
      )
    }
    await delay(300)
    over = true
    await load
    if (!isAlive()) faults.push('the service exited')
    const answers = [...log.answers, ...reads]
    const odd = answers.filter(({ status }) => !allowedStatuses.has(status))
    if (odd.length > 0)
      faults.push(`${odd.length} responses were ${[...new Set(odd.map(({ status }) => status))]}`)
    const wrong = reads.filter(({ found }) => found === false)
    if (wrong.length > 0) faults.push(`${wrong.length} reads returned "not found"`)
    const slowest = Math.max(...answers.map(({ began, ended }) => ended - began))
    if (slowest > answerMsMax) faults.push(`a response took ${Math.round(slowest)} ms`)
    faults.push(...(await lossesIn(postgres, log)))
    if (answers.filter(({ status }) => status === 200).length < done * 5)
      faults.push('too few requests were sent: the proof is empty')
    const outages = answers.filter(({ status }) => status === 503).length
    return {
      figure: `${done} restarts; ${answers.length} responses, ${outages} of them 503, the slowest in ${Math.round(slowest)} ms; recovered within ${Math.round(slowestRecoveryMs)} ms`,
      faults: firstFaults(faults),
    }
  } finally {
    over = true
    await services.remove()
    await load
    await postgres.remove()
  }
}

export const databaseRestarts: Proof = {
  name: 'database-restarts',
  claim:
    'During a restart of PostgreSQL, requests get 503 and no wrong data; the service keeps running and recovers in 5 s',
  fault: 'the pool does not handle lost connections',
  run: (options) => restartUnderLoad(shareOf(30, options.share), options),
  control: (options) => restartUnderLoad(3, options, 'pool without a listener'),
}

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

/** Restarts PostgreSQL under readers and writers, again and again, and looks at every single answer. */
async function restartUnderLoad(
  restarts: number,
  { seed, slackMs, onProgress, signal }: ProofOptions,
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
      // The first whole round of answers about data after it is back.
      while (isAlive() && performance.now() - back < recoveryMsMax + slackMs + 2_000) {
        const began = performance.now()
        const read = await readInsight(service.url, reader, 0)
        if (read.status === 200) break
        await delay(Math.max(0, 150 - (performance.now() - began)))
      }
      const recoveryMs = performance.now() - back
      slowestRecoveryMs = Math.max(slowestRecoveryMs, recoveryMs)
      if (recoveryMs > recoveryMsMax + slackMs)
        faults.push(`${Math.round(recoveryMs)} ms after the database no answer yet`)
      done++
      onProgress(
        `${done} of ${restarts} restarts, ${reads.length} reads, ${acknowledgedCount(log)} acknowledged`,
      )
    }
    await delay(300)
    over = true
    await load
    if (!isAlive()) faults.push('the service ended')
    const answers = [...log.answers, ...reads]
    const odd = answers.filter(({ status }) => !allowedStatuses.has(status))
    if (odd.length > 0)
      faults.push(`${odd.length} answers were ${[...new Set(odd.map(({ status }) => status))]}`)
    const wrong = reads.filter(({ found }) => found === false)
    if (wrong.length > 0) faults.push(`${wrong.length} reads said that nothing is known`)
    const slowest = Math.max(...answers.map(({ began, ended }) => ended - began))
    if (slowest > answerMsMax + slackMs) faults.push(`an answer took ${Math.round(slowest)} ms`)
    faults.push(...(await lossesIn(postgres, log)))
    if (answers.filter(({ status }) => status === 200).length < done * 5)
      faults.push('hardly anything was asked')
    const outages = answers.filter(({ status }) => status === 503).length
    return {
      figure: `${done} restarts; ${answers.length} answers, ${outages} of them 503, the slowest in ${Math.round(slowest)} ms; back within ${Math.round(slowestRecoveryMs)} ms`,
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
  name: 'r2',
  claim: 'A restart of PostgreSQL is 503 for a moment: no wrong answer, no exit, back within 5 s',
  fault: 'a pool that does not listen for lost connections',
  run: (options) => restartUnderLoad(shareOf(30, options.share), options),
  control: (options) => restartUnderLoad(3, options, 'pool without a listener'),
}

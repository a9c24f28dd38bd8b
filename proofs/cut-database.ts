import { setTimeout as delay } from 'node:timers/promises'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { signedHeaders } from '#testing/make.ts'
import { makeKnownBrokerage, readInsight } from './insight-readers.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'
import { type ProofDatabase, proofDatabase, throughProxy } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import {
  acknowledgedCount,
  lossesIn,
  makeWriters,
  type Writer,
  type WritersLog,
  write,
  writersLog,
} from './signed-writers.ts'
import { type FaultProxy, faultProxy, type NetworkFault } from './tcp-faults.ts'

const answerMsMax = 3_000
const recoveryMsMax = 2_000

const networkFaults: readonly NetworkFault[] = [
  { kind: 'timeout' },
  { kind: 'latency', ms: 400 },
  { kind: 'down' },
  { kind: 'reset_peer' },
  { kind: 'latency', ms: 50 },
  { kind: 'bandwidth', bytesPerSecond: 2_000 },
  { kind: 'slicer', bytes: 5, ms: 1 },
  { kind: 'limit_data', bytes: 1_500 },
  { kind: 'slow_close', ms: 1_000 },
  { kind: 'latency', ms: 1_500 },
]

/** The paths that the proof reads: readiness, and all reads of the dashboard without a path parameter. */
const dashboardPaths: readonly string[] = [
  '/readyz',
  ...(allEndpoints as readonly Endpoint[])
    .filter(({ method, path, who }) => method === 'GET' && !path.includes('{') && who.kind === 'dashboard')
    .map(({ path }) => path),
]
/** Statuses of updates without a network fault. */
const updateStatuses = new Set([200, 409, 429])

/** A response, timed by the client's clock. */
interface Seen {
  readonly what: string
  readonly status: number
  /** Whether it is the response of a service without a fault. The rate limit (429) is no failure. */
  readonly isUsual: boolean
  readonly began: number
  /** Milliseconds until the response began. The body of a file may take longer. */
  readonly ms: number
}

/** A reader of the dashboard, with the status of each path without a fault: one that lacks a parameter gets 422, for example. */
interface DashboardReader {
  readonly url: string
  readonly token: string
  readonly usual: Map<string, number>
}

/** Whether an insight read has the status that it has without a fault, or met the rate limit. */
const isUsualRead = (status: number) => status === 200 || status === 429

async function askAll({ url, token, usual }: DashboardReader, seen: Seen[], what: string): Promise<void> {
  await Promise.all(
    dashboardPaths.map(async (path) => {
      const began = performance.now()
      const answer = await fetch(`${url}${path}`, {
        headers: { Authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(10_000),
      }).catch(() => null)
      const status = answer?.status ?? 0
      seen.push({
        what: `${path} under ${what}`,
        status,
        isUsual: status === 429 || status === usual.get(path),
        began,
        ms: performance.now() - began,
      })
      // A caller notices a truncated file, because the connection closes before the end of the body.
      await answer?.arrayBuffer().catch(() => {})
    }),
  )
}

/** Makes each network fault between service and database for some seconds, and checks every response. */
async function applyNetworkFaults({ cluster, share, onProgress, signal }: ProofOptions): Promise<Finding> {
  const secondsEach = 8 * share
  const faultsTried = networkFaults.slice(0, shareOf(networkFaults.length, Math.min(1, share * 20), 4))
  const database = await proofDatabase(cluster)
  const proxy = await faultProxy(database.target)
  const services = serviceProcesses(database)
  const log = writersLog()
  const seen: Seen[] = []
  const faults: string[] = []
  let over = false
  let writing: Promise<void> = Promise.resolve()
  let slowestRecoveryMs = 0
  try {
    const service = await services.start({ databaseUrl: throughProxy(database.url('service'), proxy.port) })
    const writers = await makeWriters(service.url, 3)
    const reader = await makeKnownBrokerage(service.url)
    const dashboard = { url: service.url, token: reader.tenant.owner, usual: new Map<string, number>() }
    for (const path of dashboardPaths) {
      const { status } = await fetch(`${service.url}${path}`, {
        headers: { Authorization: `Bearer ${dashboard.token}` },
      })
      if (status === 429 || status >= 500) throw new Error(`${path} returned ${status} without a fault.`)
      dashboard.usual.set(path, status)
      await delay(110)
    }
    await delay(1_100)
    writing = write(
      writers,
      log,
      () => service.url,
      () => over,
    )
    for (const fault of faultsTried) {
      if (signal.aborted) break
      const what = `${fault.kind}${'ms' in fault ? ` ${fault.ms} ms` : ''}`
      proxy.set(fault)
      const until = performance.now() + secondsEach * 1000
      do {
        await Promise.all([
          askAll(dashboard, seen, what),
          ...[0, 1, 2, 3, 4, 5].map(async (nth) => {
            const read = await readInsight(service.url, reader, nth)
            seen.push({
              what: `insight under ${what}`,
              ...read,
              isUsual: isUsualRead(read.status),
              ms: read.ended - read.began,
            })
            if (read.found === false) faults.push(`under ${what} a read returned "not found"`)
          }),
        ])
        await delay(200)
      } while (performance.now() < until)
      proxy.set(null)
      const healed = performance.now()
      const recoveryMs = await recoveryTime(dashboard, reader.token, log, healed)
      slowestRecoveryMs = Math.max(slowestRecoveryMs, recoveryMs)
      if (recoveryMs > recoveryMsMax) faults.push(`not recovered ${Math.round(recoveryMs)} ms after ${what}`)
      onProgress(`${what}: ${seen.length} responses, recovered after ${Math.round(recoveryMs)} ms`)
    }
    over = true
    await writing
    if (service.child.exitCode !== null) faults.push('the service exited')
    seen.push(
      ...log.answers.map((answer) => ({
        what: 'a write',
        ...answer,
        isUsual: updateStatuses.has(answer.status),
        ms: answer.ended - answer.began,
      })),
    )
    for (const { what, status } of seen.filter((one) => !one.isUsual && one.status !== 503)) {
      faults.push(`${what} returned ${status}`)
    }
    const slowest = seen.reduce((one, other) => (other.ms > one.ms ? other : one))
    if (slowest.ms > answerMsMax) faults.push(`${slowest.what} took ${Math.round(slowest.ms)} ms`)
    faults.push(...(await lossesIn(database, log)))
    const outages = seen.filter(({ status }) => status === 503).length
    if (outages < faultsTried.length) faults.push('too few requests met a fault: the proof is empty')
    return {
      figure: `${faultsTried.length} network faults; ${seen.length} responses, ${outages} of them 503, the slowest (${slowest.what}) in ${Math.round(slowest.ms)} ms; recovered within ${Math.round(slowestRecoveryMs)} ms; ${acknowledgedCount(log)} updates acknowledged`,
      faults: firstFaults([...new Set(faults)]),
    }
  } finally {
    over = true
    proxy.set(null)
    await services.remove()
    await writing
    await proxy.close()
    await database.drop()
  }
}

/**
 * Sends requests until all of them succeed. Returns how long after the end of the fault the last failed request began, in
 * milliseconds. Infinity if the service does not recover in time.
 */
async function recoveryTime(
  dashboard: DashboardReader,
  token: string,
  log: WritersLog,
  healed: number,
): Promise<number> {
  const again: Seen[] = []
  const before = log.answers.length
  while (performance.now() - healed < recoveryMsMax + 8_000) {
    const round: Seen[] = []
    const [read] = await Promise.all([
      readInsight(dashboard.url, { token }, 0),
      askAll(dashboard, round, 'no fault'),
      delay(100),
    ])
    round.push({ what: 'insight', ...read, isUsual: isUsualRead(read.status), ms: 0 })
    again.push(...round)
    const updates = log.answers.slice(before).filter(({ began }) => began > healed)
    const isWritten = updates.some(({ status }) => status === 200)
    if (!isWritten || round.some(({ isUsual }) => !isUsual)) continue
    const failed = [
      ...again.filter(({ isUsual }) => !isUsual),
      ...updates.filter(({ status }) => !updateStatuses.has(status)),
    ]
    return Math.max(0, ...failed.map(({ began }) => began - healed).filter((ms) => ms > 0))
  }
  return Number.POSITIVE_INFINITY
}

/** Drops the response to the COMMIT of an update, and sends the same request again. */
async function loseCommits(
  count: number,
  { cluster, onProgress, signal }: ProofOptions,
  fault?: 'every request is new',
): Promise<Finding> {
  const database = await proofDatabase(cluster)
  const proxy = await faultProxy(database.target)
  const services = serviceProcesses(database)
  const faults: string[] = []
  let done = 0
  try {
    const service = await services.start({
      databaseUrl: throughProxy(database.url('service'), proxy.port),
      ...(fault === undefined ? {} : { fault }),
    })
    const [writer] = await makeWriters(service.url, 1)
    if (writer === undefined) throw new Error('makeWriters() returned no writer.')
    await delay(1_100)
    for (; done < count && !signal.aborted; done++) {
      faults.push(...(await loseOneCommit(service.url, writer, 1_000 + done, proxy, database)))
      // This pace stays within the rate limit of ten per second.
      await delay(250)
      onProgress(`${done + 1} of ${count} responses to COMMIT dropped`)
    }
    return { figure: `${done} responses to COMMIT dropped`, faults: firstFaults(faults) }
  } finally {
    await services.remove()
    await proxy.close()
    await database.drop()
  }
}

async function loseOneCommit(
  url: string,
  { integration, laneRef }: Writer,
  value: number,
  proxy: FaultProxy,
  database: ProofDatabase,
): Promise<string[]> {
  const bytes = JSON.stringify({ lane_ref: laneRef, customer_rate: value, truck_cost: value - 100 })
  const headers = signedHeaders(integration, bytes, Math.floor(Date.now() / 1000))
  const send = () =>
    fetch(`${url}/api/integrations/tms/shipment-update`, { method: 'POST', headers, body: bytes })
  const effects = async () =>
    (
      await database.ask<{ updates: number; changes: number }>(
        `select (select count(*)::int from shipment_updates where carried ->> 'customer_rate' = $1) as updates,
                (select count(*)::int from quote_changes where after ->> 'customer_rate_cents' = $2) as changes`,
        [String(value), String(value * 100)],
      )
    )[0]
  // The update is one statement with an implicit COMMIT, so its lost response is that of the COMMIT.
  const lost = proxy.resetAfter('select book_shipment(')
  const first = await send()
  const problem = (await first.json()) as { detail?: string }
  if (first.status !== 503 || !/outcome unknown/.test(problem.detail ?? '')) {
    return [`the request with the lost COMMIT returned ${first.status}: ${problem.detail}`]
  }
  await lost
  const again = await send()
  const replayed = again.headers.get('Idempotent-Replayed')
  await again.arrayBuffer()
  const held = await effects()
  return [
    ...(again.status === 200 && replayed === 'true'
      ? []
      : [`the retry returned ${again.status}, ${replayed === null ? 'not as a replay' : 'as a replay'}`]),
    ...(held?.updates === 1 && held.changes === 1 ? [] : [`the rows written are ${JSON.stringify(held)}`]),
  ]
}

export const cutDatabase: Proof = {
  name: 'database-outages',
  claim:
    'While the database is slow or unreachable, requests get 503 within 3 s and no wrong data; an update whose COMMIT response is lost takes effect once',
  fault: 'every request counts as new',
  async run(options) {
    const cut = await applyNetworkFaults(options)
    const lost = await loseCommits(shareOf(100, options.share, 3), options)
    return { figure: `${cut.figure}; ${lost.figure}`, faults: [...cut.faults, ...lost.faults] }
  },
  control: (options) => loseCommits(2, options, 'every request is new'),
}

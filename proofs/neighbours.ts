import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { headersArrivalSecondsMax } from '#contract/limits.ts'
import { makeIntegration } from '#testing/make.ts'
import type { RunningService } from '#testing/running-service.ts'
import { insights, makeKnownBrokerage, type Read, readInsight, readInsights } from './insight-readers.ts'
import type { FaultName } from './planted-fault.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'
import { proofDatabase } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

/** Below this nobody notices a difference, and a busy machine makes more of one than any neighbour. */
const unnoticedMs = 250
const healthyMsMax = 1_000
const aloneSecondsMin = 4
const warmReads = 40
const warmReadsMin = 12

function p99Ms(reads: readonly Read[]): number {
  const times = reads.map(({ began, ended }) => ended - began).sort((a, b) => a - b)
  return times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? 0
}

interface Neighbour {
  /** Begins, and goes on until `isOver`; what it found out is told at the end. A busy machine is given `slackMs`. */
  disturb(
    service: RunningService,
    isOver: () => boolean,
    slackMs: number,
  ): Promise<{ readonly figure: string; readonly faults: string[] }>
}

/** Reads as one brokerage, eight a second: first alone, then beside the neighbour, and compares. */
async function readBeside(
  neighbour: Neighbour,
  fullSeconds: number,
  secondsMin: number,
  { share, slackMs, cluster, onProgress, signal }: ProofOptions,
  fault?: FaultName,
): Promise<Finding> {
  const database = await proofDatabase(cluster)
  const services = serviceProcesses(database)
  let over = false
  let disturbed: ReturnType<Neighbour['disturb']> | null = null
  try {
    const service = await services.start(fault === undefined ? {} : { fault })
    const reader = await makeKnownBrokerage(service.url)
    const readFor = async (alone: string, seconds: number) => {
      const reads: Read[] = []
      const end = performance.now() + seconds * 1_000
      await readInsights(
        () => service.url,
        reader,
        reads,
        () => performance.now() > end || signal.aborted,
      )
      onProgress(`${reads.length} reads ${alone}, p99 ${Math.round(p99Ms(reads))} ms`)
      return reads
    }
    // The first answers of a process are slower than all others.
    await delay(1_100)
    for (let nth = 0; nth < shareOf(warmReads, share, warmReadsMin); nth++) {
      await readInsight(service.url, reader.token, nth)
      await delay(110)
    }
    const quiet = await readFor('alone', shareOf(fullSeconds, share, aloneSecondsMin))
    disturbed = neighbour.disturb(service, () => over, slackMs)
    const beside = await readFor('beside the neighbour', shareOf(fullSeconds, share, secondsMin))
    over = true
    const { figure, faults } = await disturbed
    const wrong = beside.filter(({ found }) => found !== true)
    if (wrong.length > 0)
      faults.push(`${wrong.length} of ${beside.length} reads beside it were answered ${wrong[0]?.status}`)
    const [quietMs, besideMs] = [p99Ms(quiet), p99Ms(beside)]
    if (besideMs > Math.max(2 * quietMs, unnoticedMs) + slackMs)
      faults.push(`p99 was ${Math.round(quietMs)} ms alone and ${Math.round(besideMs)} ms beside it`)
    const slowest = Math.max(...beside.map(({ began, ended }) => ended - began))
    if (slowest > healthyMsMax + slackMs) faults.push(`a read beside it took ${Math.round(slowest)} ms`)
    if (service.child.exitCode !== null) faults.push('the service ended')
    return {
      figure: `${quiet.length} reads alone, p99 ${quietMs.toFixed(1)} ms; ${beside.length} beside it, p99 ${besideMs.toFixed(1)} ms, slowest ${slowest.toFixed(0)} ms; ${figure}`,
      faults: firstFaults(faults),
    }
  } finally {
    over = true
    await disturbed?.catch(() => {})
    await services.remove()
    await database.drop()
  }
}

const floodPerSecond = 500

/** The status of one answer, over connections that are kept, with as little work of our own as can be. */
function askStatus(url: string, agent: Agent, token: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${token}` }
    const asked = request(`${url}${insights[0]}`, { agent, headers }, (answer) => {
      answer.resume()
      answer.once('end', () => resolve(answer.statusCode ?? 0))
    })
    asked.once('error', () => resolve(0))
    asked.end()
  })
}

/** Another brokerage that asks five hundred times a second, whatever it is answered. */
const flood: Neighbour = {
  async disturb({ url }, isOver) {
    const { token } = await makeIntegration(asApp(url))
    const agent = new Agent({ keepAlive: true, maxSockets: 20 })
    const asked: Promise<number>[] = []
    const began = performance.now()
    while (!isOver()) {
      const due = ((performance.now() - began) / 1_000) * floodPerSecond
      // A sender that is behind sends what it can at once, but not a wall of it.
      for (let sent = 0; asked.length < due && sent < 20; sent++) asked.push(askStatus(url, agent, token))
      await delay(10)
    }
    const statuses = await Promise.all(asked)
    agent.destroy()
    const seconds = (performance.now() - began) / 1_000
    const share = (status: number) => statuses.filter((one) => one === status).length
    const faults: string[] = []
    if (share(200) > 10 * (Math.ceil(seconds) + 1)) faults.push(`${share(200)} of the flood were let in`)
    const odd = statuses.find((status) => status !== 200 && status !== 429)
    if (odd !== undefined) faults.push(`one of the flood was answered ${odd}`)
    return {
      figure: `a flood of ${Math.round(statuses.length / seconds)} a second, ${((100 * share(429)) / statuses.length).toFixed(1)} % refused`,
      faults,
    }
  },
}

/** Ways to hold a connection and give nothing for it. What is said goes on byte by byte, where there is more of it. */
const slowOpenings = [
  ['silent', ''],
  ['slow headers', 'GET /api/me HTTP/1.1\r\nHost: x\r\nX-Slow: '],
  [
    'slow body',
    'POST /api/auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{',
  ],
  ['slow reading', 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3)],
] as const
const slowSockets = 500

/** Five hundred connections of four slow kinds; whoever is slow to say something must be shown out. */
const slowCallers: Neighbour = {
  async disturb({ url }, isOver, slackMs) {
    const { hostname, port } = new URL(url)
    const sockets = Array.from({ length: slowSockets }, (_, nth) => {
      const [kind, opening] = slowOpenings[nth % slowOpenings.length] ?? slowOpenings[0]
      const socket: Socket = connect(Number(port), hostname)
      const slow = { kind, socket, opened: performance.now(), closedAt: null as number | null, said: '' }
      socket.on('error', () => {})
      socket.on('close', () => {
        slow.closedAt = performance.now()
      })
      if (kind === 'slow reading') socket.pause()
      else socket.on('data', (chunk: Buffer) => (slow.said += chunk.toString('latin1').slice(0, 20)))
      if (opening !== '') socket.write(opening)
      return slow
    })
    while (!isOver()) {
      await delay(1_000)
      for (const { kind, socket } of sockets) {
        if (kind === 'slow reading') socket.read(4)
        else if (kind !== 'silent' && socket.writable) socket.write('a')
      }
    }
    const faults: string[] = []
    const shownOutMs = (headersArrivalSecondsMax + 2) * 1_000 + slackMs
    const counted = ['silent', 'slow headers'].map((kind) => {
      const late = sockets.filter(
        (slow) =>
          slow.kind === kind && (slow.closedAt ?? Number.POSITIVE_INFINITY) - slow.opened > shownOutMs,
      )
      if (late.length > 0)
        faults.push(`${late.length} connections with ${kind} were still open after ${shownOutMs / 1_000} s`)
      return late.length
    })
    const unsaid = sockets.filter(({ kind, said }) => kind === 'slow headers' && !said.includes(' 408 '))
    if (unsaid.length > 0) faults.push(`${unsaid.length} slow callers were not told 408`)
    for (const { socket } of sockets) socket.destroy()
    return {
      figure: `${slowSockets} slow connections, ${counted.reduce((sum, count) => sum + count, 0)} of those without a whole header open after ${shownOutMs / 1_000} s`,
      faults,
    }
  },
}

export const noisyNeighbour: Proof = {
  name: 't36',
  claim: 'A brokerage that asks five hundred times a second is refused, and nobody else notices',
  fault: 'no limit for a brokerage',
  run: (options) => readBeside(flood, 60, 4, options),
  control: (options) => readBeside(flood, 4, 4, { ...options, share: 0 }, 'no limit for a brokerage'),
}

export const slowConnections: Proof = {
  name: 't29',
  claim: 'Five hundred connections that say or read next to nothing are shown out, and nobody else notices',
  fault: 'a server that waits for headers for ever',
  run: (options) => readBeside(slowCallers, 60, untilShownOutSeconds(options), options),
  control: (options) =>
    readBeside(
      slowCallers,
      1,
      untilShownOutSeconds(options),
      { ...options, share: 0 },
      'headers may take for ever',
    ),
}

/** Long enough for the slow ones to be shown out. */
function untilShownOutSeconds({ slackMs }: ProofOptions): number {
  return headersArrivalSecondsMax + 5 + slackMs / 1_000
}

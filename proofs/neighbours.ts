import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { batchLanesMax, headersArrivalSecondsMax } from '#contract/limits.ts'
import { readConfig } from '#server/configuration/index.ts'
import { call, makeIntegration, makeTenant } from '#testing/make.ts'
import { quotesFile } from '#testing/quotes-file.ts'
import type { RunningService } from '#testing/running-service.ts'
import {
  insights,
  makeKnownBrokerage,
  type Read,
  type ReadNth,
  readInsight,
  readInsights,
  readLanes,
} from './insight-readers.ts'
import type { FaultName } from './planted-fault.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'
import { proofDatabase } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

/** Latencies below this pass without a comparison, because a busy machine causes larger differences than another tenant. */
const unnoticedMs = 250
const healthyMsMax = 1_000
const aloneSecondsMin = 4
const warmReads = 40
const warmReadsMin = 12

function p99Ms(reads: readonly Read[]): number {
  const times = reads.map(({ began, ended }) => ended - began).sort((a, b) => a - b)
  return times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? 0
}

/** A tenant or client that puts load on the service. */
interface Neighbour {
  prepare?(service: RunningService, share: number): Promise<void>
  /** The read whose latency is measured. By default the two insights, which are served from memory. */
  readonly read?: ReadNth
  /** Puts load on the service until `isOver`, and returns its findings. */
  disturb(
    service: RunningService,
    isOver: () => boolean,
  ): Promise<{ readonly figure: string; readonly faults: string[] }>
}

/** The limit for an embedded database, because here, too, PostgreSQL shares the cores with the service. */
const env = { TRANSACTIONS_PER_BROKERAGE: String(readConfig({}).transactionsPerBrokerage) }

/** Reads as one brokerage, eight times per second, first alone and then beside the neighbor, and compares the latencies. */
async function readBeside(
  neighbour: Neighbour,
  fullSeconds: number,
  secondsMin: number,
  { share, cluster, onProgress, signal }: ProofOptions,
  fault?: FaultName,
): Promise<Finding> {
  const database = await proofDatabase(cluster)
  const services = serviceProcesses(database)
  let over = false
  let disturbed: ReturnType<Neighbour['disturb']> | null = null
  try {
    const service = await services.start({ env, ...(fault === undefined ? {} : { fault }) })
    const reader = await makeKnownBrokerage(service.url)
    const read: ReadNth = neighbour.read ?? readInsight
    await neighbour.prepare?.(service, share)
    const readFor = async (alone: string, seconds: number) => {
      const reads: Read[] = []
      const end = performance.now() + seconds * 1_000
      await readInsights(
        () => service.url,
        reader,
        reads,
        () => performance.now() > end || signal.aborted,
        read,
      )
      onProgress(`${reads.length} reads ${alone}, p99 ${Math.round(p99Ms(reads))} ms`)
      return reads
    }
    // Warm up: the first responses of a process are the slowest.
    await delay(1_100)
    for (let nth = 0; nth < shareOf(warmReads, share, warmReadsMin); nth++) {
      await read(service.url, reader, nth)
      await delay(110)
    }
    const quiet = await readFor('alone', shareOf(fullSeconds, share, aloneSecondsMin))
    disturbed = neighbour.disturb(service, () => over)
    const beside = await readFor('beside the neighbor', shareOf(fullSeconds, share, secondsMin))
    over = true
    const { figure, faults } = await disturbed
    const wrong = beside.filter(({ found }) => found !== true)
    if (wrong.length > 0)
      faults.push(`${wrong.length} of ${beside.length} reads beside it returned ${wrong[0]?.status}`)
    const [quietMs, besideMs] = [p99Ms(quiet), p99Ms(beside)]
    if (besideMs > Math.max(2 * quietMs, unnoticedMs))
      faults.push(`p99 was ${Math.round(quietMs)} ms alone and ${Math.round(besideMs)} ms beside it`)
    const slowest = Math.max(...beside.map(({ began, ended }) => ended - began))
    if (slowest > healthyMsMax) faults.push(`a read beside it took ${Math.round(slowest)} ms`)
    if (service.child.exitCode !== null) faults.push('the service exited')
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

/**
 * Sends one request over a kept-alive connection, with little client overhead. Returns its status, or 0 if there is no
 * response. The body is JSON.
 */
function askStatus(address: string, agent: Agent, token: string, body?: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    }
    const method = body === undefined ? 'GET' : 'POST'
    const asked = request(address, { agent, headers, method }, (answer) => {
      answer.resume()
      answer.once('close', () => resolve(answer.complete ? (answer.statusCode ?? 0) : 0))
    })
    asked.once('error', () => resolve(0))
    asked.end(body)
  })
}

/** A brokerage that sends 500 requests per second, whatever the responses are. */
const flood: Neighbour = {
  async disturb({ url }, isOver) {
    const { token } = await makeIntegration(asApp(url))
    const agent = new Agent({ keepAlive: true, maxSockets: 20 })
    const asked: Promise<number>[] = []
    const began = performance.now()
    while (!isOver()) {
      const due = ((performance.now() - began) / 1_000) * floodPerSecond
      // If the sender falls behind, it catches up with at most 20 requests at once.
      for (let sent = 0; asked.length < due && sent < 20; sent++)
        asked.push(askStatus(`${url}${insights[0]}`, agent, token))
      await delay(10)
    }
    const statuses = await Promise.all(asked)
    agent.destroy()
    const seconds = (performance.now() - began) / 1_000
    const share = (status: number) => statuses.filter((one) => one === status).length
    const faults: string[] = []
    if (share(200) > 10 * (Math.ceil(seconds) + 1))
      faults.push(`${share(200)} requests of the flood were admitted`)
    const odd = statuses.find((status) => status !== 200 && status !== 429)
    if (odd !== undefined) faults.push(`a request of the flood returned ${odd}`)
    return {
      figure: `a flood of ${Math.round(statuses.length / seconds)} per second, ${((100 * share(429)) / statuses.length).toFixed(1)} % refused`,
      faults,
    }
  },
}

const largeQuotes = 1_000_000
const largeQuotesMin = 20_000
/** More requests than the queue of one brokerage has places, so that some are refused. */
const peopleAtOnce = 150
const batchesAtOnce = 10
const lane = 'origin=Dallas,TX&destination=Atlanta,GA&equipment=V'
/** Reads of dashboard pages that cover all or many quotes of the brokerage. */
const pageReads = [
  '/api/performance?by=lane',
  '/api/performance/margin-gaps?by=customer',
  '/api/lanes?limit=200',
  `/api/advice/markup?${lane}&proposed_rate=2000&include=evidence`,
]

/** A brokerage with up to a million quotes whose users and integration send slow requests continuously. */
function largeBrokerage(): Neighbour {
  let people = ''
  let machines = ''
  return {
    read: readLanes,
    async prepare({ url }, share) {
      const { tenant, token } = await makeIntegration(asApp(url))
      people = tenant.owner
      machines = token
      const quotes = shareOf(largeQuotes, share, largeQuotesMin)
      const answer = await fetch(`${url}/api/imports`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${people}`, 'Content-Type': 'text/csv' },
        body: quotesFile({ seed: 1, quotes, until: Date.now(), hours: 10_000 / quotes }),
      })
      const { import_id } = (await answer.json()) as { import_id: number }
      for (let status = 'running'; status !== 'done'; await delay(100)) {
        status = (await call(asApp(url), 'GET', `/api/imports/${import_id}`, { token: people })).body.status
        if (status !== 'running' && status !== 'done') throw new Error(`The import is ${status}.`)
      }
    },
    async disturb({ url }, isOver) {
      const agent = new Agent({ keepAlive: true, maxSockets: peopleAtOnce + batchesAtOnce })
      const statuses: number[] = []
      const again = async (ask: () => Promise<number>) => {
        while (!isOver()) {
          const status = await ask()
          statuses.push(status)
          // A refusal comes at once. Without a pause, refused requests would flood the service, which `flood` already tests.
          if (status !== 200) await delay(100)
        }
      }
      const quotes = Array.from({ length: batchLanesMax }, (_, at) => ({
        origin: 'Dallas, TX',
        destination: at % 2 === 0 ? 'Atlanta, GA' : 'Houston, TX',
        proposed_rate: 1_000 + at,
      }))
      const batch = JSON.stringify({ lanes: quotes, answers: ['markup', 'lane'] })
      const asking = [
        ...Array.from({ length: peopleAtOnce }, (_, at) =>
          again(() => askStatus(`${url}${pageReads[at % pageReads.length]}`, agent, people)),
        ),
        ...Array.from({ length: batchesAtOnce }, () =>
          again(() => askStatus(`${url}/api/integrations/insights/batch`, agent, machines, batch)),
        ),
      ]
      while (!isOver()) await delay(50)
      agent.destroy()
      await Promise.all(asking)
      const share = (status: number) => statuses.filter((one) => one === status).length
      const faults: string[] = []
      if (share(200) === 0) faults.push('no request of the large brokerage succeeded')
      const odd = statuses.find((status) => ![0, 200, 429, 503].includes(status))
      if (odd !== undefined) faults.push(`a request of the large brokerage returned ${odd}`)
      return {
        figure: `a large brokerage with ${share(200)} successful requests, ${share(429)} refused by the rate limit and ${share(503)} by its own load`,
        faults,
      }
    },
  }
}

const uploadsAtOnce = 16
/** The most megabytes by which the process may grow while 16 compressed files are read, checked and imported. */
const grownMegabytesMax = 150

/** Makes a file of about 100 kB that decompresses to 94 MiB: a few thousand quotes with long notes. */
function compressedFile(): Buffer {
  const note = 'n'.repeat(32_000)
  const row = `"Dallas, TX","Atlanta, GA",V,2000,2026-03-01,${note}\n`
  return gzipSync(
    `origin,destination,equipment,quoted_rate,quoted_at,note\n${row.repeat(Math.floor((94 * 1024 * 1024) / row.length))}`,
  )
}

/** Eight brokerages that each upload two compressed files, all at the same time. */
function uploadCompressedFiles(): Neighbour {
  let tokens: string[] = []
  let file: Uint8Array<ArrayBuffer> = new Uint8Array()
  return {
    async prepare({ url }) {
      file = new Uint8Array(compressedFile())
      for (let made = 0; made < uploadsAtOnce / 2; made++) {
        tokens = [...tokens, (await makeTenant(asApp(url))).owner]
      }
    },
    async disturb({ url, child }, isOver) {
      const residentMegabytes = () =>
        Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1_000
      const before = residentMegabytes()
      const faults: string[] = []
      let most = before
      let isDone = false
      const watching = (async () => {
        for (; !isDone; await delay(20)) most = Math.max(most, residentMegabytes())
      })()
      const imports = await Promise.all(
        [...tokens, ...tokens].map(async (token) => {
          const answer = await fetch(`${url}/api/imports`, {
            method: 'POST',
            headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/gzip' },
            body: file,
          })
          const { import_id, detail } = (await answer.json()) as { import_id?: number; detail?: string }
          return { token, status: answer.status, import_id, detail }
        }),
      )
      const taken = imports.filter(({ status }) => status === 202)
      const refused = imports.filter(({ status }) => status === 409)
      if (taken.length !== tokens.length || refused.length !== tokens.length) {
        faults.push(
          `the uploads returned ${imports.map(({ status, detail = '' }) => `${status} ${detail}`).join(', ')}`,
        )
      }
      // Two files are imported at a time. The others wait in compressed form.
      const ended = async ({ token, import_id }: (typeof taken)[number]) => {
        let status = 'running'
        for (; status === 'running'; await delay(100)) {
          status = (await call(asApp(url), 'GET', `/api/imports/${import_id}`, { token })).body.status
        }
        return status
      }
      const [first] = taken
      const status = first === undefined ? 'not at all' : await ended(first)
      if (status !== 'done') faults.push(`the first import ended ${status}`)
      while (!isOver()) await delay(50)
      isDone = true
      await watching
      const grown = Math.round(most - before)
      if (grown > grownMegabytesMax)
        faults.push(`the process grew by ${grown} MB, from ${Math.round(before)} MB`)
      return {
        figure: `${imports.length} files of ${Math.round(file.length / 1_000)} kB that decompress to 94 MiB: ${taken.length} accepted, ${refused.length} refused, the process grew by ${grown} MB`,
        faults,
      }
    },
  }
}

/** Ways to hold a connection without a complete request. Headers and bodies continue byte by byte. */
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

/** 500 slow connections of four kinds. The service must close those that do not complete their headers. */
const slowCallers: Neighbour = {
  async disturb({ url }, isOver) {
    const { hostname, port } = new URL(url)
    const sockets = Array.from({ length: slowSockets }, (_, nth) => {
      const [kind, opening] = slowOpenings[nth % slowOpenings.length] ?? slowOpenings[0]
      const socket: Socket = connect(Number(port), hostname)
      const slow = { kind, socket, opened: performance.now(), closedAt: null as number | null, received: '' }
      socket.on('error', () => {})
      socket.on('close', () => {
        slow.closedAt = performance.now()
      })
      if (kind === 'slow reading') socket.pause()
      else socket.on('data', (chunk: Buffer) => (slow.received += chunk.toString('latin1').slice(0, 20)))
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
    const closedAfterMs = (headersArrivalSecondsMax + 2) * 1_000
    const counted = ['silent', 'slow headers'].map((kind) => {
      const late = sockets.filter(
        (slow) =>
          slow.kind === kind && (slow.closedAt ?? Number.POSITIVE_INFINITY) - slow.opened > closedAfterMs,
      )
      if (late.length > 0)
        faults.push(
          `${late.length} connections with ${kind} were still open after ${closedAfterMs / 1_000} s`,
        )
      return late.length
    })
    const without408 = sockets.filter(
      ({ kind, received }) => kind === 'slow headers' && !received.includes(' 408 '),
    )
    if (without408.length > 0) faults.push(`${without408.length} slow callers did not get 408`)
    for (const { socket } of sockets) socket.destroy()
    return {
      figure: `${slowSockets} slow connections, ${counted.reduce((sum, count) => sum + count, 0)} of those without complete headers open after ${closedAfterMs / 1_000} s`,
      faults,
    }
  },
}

export const noisyNeighbour: Proof = {
  name: 'noisy-neighbor',
  claim: 'A brokerage that sends 500 requests per second is refused, and other brokerages see no difference',
  fault: 'no rate limit per brokerage',
  run: (options) => readBeside(flood, 60, 4, options),
  control: (options) => readBeside(flood, 4, 4, { ...options, share: 0 }, 'no rate limit per brokerage'),
}

export const largeNeighbour: Proof = {
  name: 'large-neighbor',
  claim:
    'A large brokerage with many slow requests delays only itself, and other brokerages see no difference',
  fault: 'one queue for all brokerages',
  run: (options) => readBeside(largeBrokerage(), 60, 4, options),
  control: (options) =>
    readBeside(largeBrokerage(), 4, 4, { ...options, share: 0 }, 'one queue for all brokerages'),
}

export const compressedUploads: Proof = {
  name: 'compressed-uploads',
  claim:
    'Sixteen concurrent uploads that decompress to 94 MiB each take under 150 MB of memory, and other brokerages are served',
  fault: 'files are decompressed as a whole',
  run: (options) => readBeside(uploadCompressedFiles(), 60, 4, options),
  control: (options) =>
    readBeside(uploadCompressedFiles(), 4, 4, { ...options, share: 0 }, 'files are decompressed as a whole'),
}

export const slowConnections: Proof = {
  name: 'slow-connections',
  claim:
    'Of 500 connections that send or read almost nothing, those without headers are closed, and other callers see no difference',
  fault: 'no timeout for headers',
  run: (options) => readBeside(slowCallers, 60, untilClosedSeconds, options),
  control: (options) =>
    readBeside(slowCallers, 1, untilClosedSeconds, { ...options, share: 0 }, 'no timeout for headers'),
}

/** Long enough for the service to close the slow connections. */
const untilClosedSeconds = headersArrivalSecondsMax + 5

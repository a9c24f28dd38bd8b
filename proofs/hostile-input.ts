import { createHmac } from 'node:crypto'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { seededRandom } from '#server/sample/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { call, type Integration, makeIntegration, makeLane, pushUpdate } from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { type HostileAnswer, type OpenApiDocument, operationsOf, oracleOf } from './hostile-oracle.ts'
import { type HostileRequest, hostileRequest, mayChange } from './hostile-requests.ts'
import { faultsOfExchange, rawExchange } from './hostile-sockets.ts'
import { firstFaults, type Proof, shareOf } from './proof.ts'
import type { CallerName } from './route-expectations.ts'
import { credentialOf, difference, endlessThread } from './route-walk.ts'
import { type SeededTenants, seededTenants, signingSecretOf } from './seeded-tenants.ts'
import { settled } from './settled.ts'

/**
 * Hostile input at length: requests made at random from the OpenAPI document, from valid to absurd, with every kind of
 * credential and with none, handed over directly and through sockets. What must hold: no 5xx, no error in the log,
 * every status and body as documented, nothing changed by what was refused or only read, nothing of another brokerage
 * changed by anything, and a client beside it that notices nothing.
 *
 * Requests come in batches. Four of five are quiet: whatever in them could change something has a flaw for which it must
 * be refused, so the rows must be the same before and after. In the fifth everything may succeed.
 */
export interface HostileInput {
  readonly requests: number
  /** All that is random follows from it, whatever the number of requests. */
  readonly seed: number
  readonly onProgress?: (done: number) => void
  readonly signal?: AbortSignal
  /** Only the request of this number, as it was, to look at. */
  readonly only?: number | undefined
  /** Ends when this many faults were found; 20 when absent. */
  readonly faultsMax?: number
  /** Others work on the machine: what is answered 503 is asked for again, and is a fault when it stays so. */
  readonly isBusy?: boolean
}

export interface HostileFindings {
  readonly sent: number
  readonly sentOverSockets: number
  readonly statuses: Readonly<Record<string, number>>
  /** Operations that answered with success at least once: the requests do meet the code behind the door. */
  readonly succeeded: ReadonlySet<string>
  readonly healthyCalls: number
  readonly healthySlowestMs: number
  /** What should not have been, each with the request and the command that sends it again. */
  readonly faults: readonly string[]
}

const batchSize = 250
const atOnce = 12
/** Sign-in slows down whoever fails: time goes on, so that passwords are looked at again and again. */
const stepMs = 16 * 60_000
const batchesPerStep = 20
/** What a refused call is noted in, and the counters that number the notes. */
const logs = ['integration_calls', 'audit_log', 'tenant_counters']

/** Changes a service before it listens, to plant a fault; the app is there when a request is. */
export type Plant = (server: FastifyInstance, app: () => TestApp) => void

/** Sends hostile requests to a service on a database of its own, which goes with it. */
export async function hostileInput(
  cluster: DatabaseCluster,
  input: HostileInput,
  plant?: Plant,
): Promise<HostileFindings> {
  const database = await cloneDatabase(cluster)
  try {
    const app: TestApp = await appOn(database, {
      backtestThread: endlessThread,
      ...(plant === undefined ? {} : { plant: (server) => plant(server, () => app) }),
    })
    try {
      const tenants = await seededTenants(app)
      try {
        return await sendAll(app, tenants, input)
      } finally {
        await tenants.close()
      }
    } finally {
      await app.close()
    }
  } finally {
    await database.drop()
  }
}

async function sendAll(
  app: TestApp,
  tenants: SeededTenants,
  { requests, seed, onProgress, signal, only, faultsMax = 20, isBusy = false }: HostileInput,
): Promise<HostileFindings> {
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument
  const operations = operationsOf(document)
  const faultsOf = oracleOf(document)
  const faults: string[] = []
  const known = new Set<string>()
  const statuses: Record<string, number> = {}
  const succeeded = new Set<string>()
  let sent = 0
  let sentOverSockets = 0

  const unhandled = (error: unknown) => faults.push(`the process would have ended: ${String(error)}`)
  process.on('uncaughtException', unhandled)
  process.on('unhandledRejection', unhandled)
  const tries = isBusy ? 4 : 1
  const healthy = await healthyClient(app, tries)
  await tenants.seed('A')
  await tenants.seed('B')
  const sumOfB = await tenants.checksum('B')
  const sender = senderTo(app, tenants)
  const owner = sender.credential('owner-A').Authorization ?? ''

  const isQuiet = (index: number) => Math.floor(index / batchSize) % 5 !== 4
  const made = (index: number) => hostileRequest(operations, seed, index, isQuiet(index))

  function judged(request: HostileRequest, answer: HostileAnswer): string[] {
    const found = faultsOf(request, answer)
    const isChange = mayChange(request) && answer.status < 300
    if (isChange && isQuiet(request.index)) found.push(`accepted what must be refused (${answer.status})`)
    return found
  }

  async function sendOne(index: number): Promise<void> {
    sent += 1
    // One in fifty is no request at all, but bytes.
    if (index % 50 === 49) {
      sentOverSockets += 1
      const exchange = rawExchange(seededRandom(Math.imul(seed, 31) + index), owner)
      for (const fault of await faultsOfExchange(app.url, exchange)) {
        faults.push(`request ${index} (${exchange.what}) ${fault}\n  ${JSON.stringify(exchange.parts)}`)
      }
      return
    }
    const request = made(index)
    if (request.overSocket) sentOverSockets += 1
    const answer = await whenThereIsTime(tries, () => sender.send(request))
    if (answer === null) return
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    if (answer.status < 300) succeeded.add(request.operation)
    const found = judged(request, answer)
    const kind = `${request.operation}: ${found.join('; ')}`
    // Of the same fault one request is enough.
    if (found.length > 0 && !known.has(kind)) {
      known.add(kind)
      const smallest = await shrunk(request, async (smaller) => {
        const again = await sender.send(smaller)
        return again !== null && judged(smaller, again).length > 0
      })
      faults.push(
        `request ${index} (${request.operation}) ${found.join('; ')}\n  ${sender.asCommand(smallest)}\n  answered: ${answer.text.slice(0, 300)}`,
      )
    }
  }

  async function sendBatch(first: number, last: number): Promise<void> {
    const quiet = isQuiet(first)
    const before = quiet ? await tenants.checksum('A', logs) : ''
    let next = first
    const lane = async () => {
      while (next < last && faults.length < faultsMax) await sendOne(next++)
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    await settled(app, tenants)
    const where = `the batch of requests ${first} to ${last - 1}`
    const after = quiet ? await tenants.checksum('A', logs) : ''
    if (after !== before) {
      faults.push(`${where} changed ${difference(before, after)}, though nothing in it was to succeed`)
      await tenants.seed('A')
    }
    if ((await tenants.checksum('B')) !== sumOfB) {
      faults.push(`${where} changed another brokerage`)
      await tenants.seed('B')
    }
    if (!quiet) await tenants.seed('A')
    const lines = app.logLines.splice(0)
    const broken = lines.find((line) => line.indexOf('\n') !== line.length - 1)
    if (broken !== undefined) faults.push(`${where} broke a line of the log: ${broken.slice(0, 1000)}`)
    const errors = lines.filter(
      (line) => line.includes('"level":"error"') && !(isBusy && line.includes('"code":"unavailable"')),
    )
    if (errors.length > 0) {
      const first = errors[0]?.trim().slice(0, 1000)
      faults.push(`${where} left ${errors.length} errors in the log, the first of them ${first}`)
    }
  }

  try {
    if (only !== undefined) await sendBatch(only, only + 1)
    for (let first = 0; only === undefined && first < requests; first += batchSize) {
      if (signal?.aborted === true || faults.length >= faultsMax) break
      await sendBatch(first, Math.min(first + batchSize, requests))
      if ((first / batchSize) % batchesPerStep === batchesPerStep - 1) app.now += stepMs
      onProgress?.(sent)
    }
  } finally {
    process.off('uncaughtException', unhandled)
    process.off('unhandledRejection', unhandled)
    await healthy.stop()
  }
  const beside = await healthy.stop()
  return {
    sent,
    sentOverSockets,
    statuses,
    succeeded,
    healthyCalls: beside.calls,
    healthySlowestMs: beside.slowestMs,
    faults: [...faults, ...beside.faults],
  }
}

/** Sends requests as they are, with the credentials of who calls. */
function senderTo(app: TestApp, tenants: SeededTenants) {
  const credentials = new Map<CallerName, Record<string, string>>()

  function credential(caller: CallerName): Record<string, string> {
    const known = credentials.get(caller) ?? credentialOf(app, caller, tenants, { path: '' })
    credentials.set(caller, known)
    return known
  }

  function headersOf({ caller, signature, headers, body }: HostileRequest): (readonly [string, string])[] {
    const seconds = Math.floor(app.now / 1000) - (signature === 'stale' ? 301 : 0)
    const secret = signature === 'wrong' ? 'lwsec_of_nobody' : signingSecretOf('A')
    const signed =
      signature === 'none'
        ? {}
        : {
            'X-Service-Timestamp': String(seconds),
            'X-Service-Signature': `sha256=${createHmac('sha256', secret)
              .update(`${seconds}.`)
              .update(body ?? '')
              .digest('hex')}`,
          }
    const own = Object.entries({ ...credential(caller), ...signed })
    const isGiven = ([name]: readonly [string, string]) =>
      headers.some(([given]) => given.toLowerCase() === name.toLowerCase())
    return [...own.filter((header) => !isGiven(header)), ...headers]
  }

  function bytesOf(request: HostileRequest): Buffer {
    const { method, target, body } = request
    const headers = headersOf(request)
    const host = headers.some(([name]) => name === 'Host') ? [] : [['Host', 'x'] as const]
    const length = body === null ? [] : [['Content-Length', String(body.length)] as const]
    const start = head(`${method} ${target} HTTP/1.1`, [
      ...host,
      ...headers,
      ...length,
      ['Connection', 'close'],
    ])
    return Buffer.concat([Buffer.from(start), body ?? Buffer.alloc(0)])
  }

  return {
    credential,

    /** Null when nothing came back: the connection was closed, as it may be for what is no HTTP. */
    async send(request: HostileRequest): Promise<HostileAnswer | null> {
      if (request.overSocket) {
        const [answer] = await sendRaw(app, bytesOf(request), 2_000)
        if (answer === undefined) return null
        return { ...answer, text: Buffer.from(answer.text, 'latin1').toString() }
      }
      const { statusCode, headers, payload } = await app.inject({
        method: request.method as NonNullable<InjectOptions['method']>,
        url: request.target,
        headers: Object.fromEntries(headersOf(request)),
        ...(request.body === null ? {} : { payload: request.body }),
      })
      return { status: statusCode, headers, text: payload }
    },

    /** A line for a shell that sends the same bytes to a service (whose credentials are then other ones). */
    asCommand(request: HostileRequest): string {
      const escaped = [...bytesOf(request)]
        .map((byte) =>
          byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c && byte !== 0x25
            ? String.fromCharCode(byte)
            : `\\${byte.toString(8).padStart(3, '0')}`,
        )
        .join('')
      const { hostname, port } = new URL(app.url)
      return `printf '${escaped.slice(0, 4000)}' | nc ${hostname} ${port}`
    },
  }
}

/** The smallest request, reached by leaving out headers, parts of the query and parts of the body, that still fails. */
async function shrunk(
  request: HostileRequest,
  stillFails: (smaller: HostileRequest) => Promise<boolean>,
): Promise<HostileRequest> {
  let smallest = request
  if (!(await stillFails(smallest))) return request
  const attempt = async (smaller: HostileRequest) => {
    if (await stillFails(smaller)) smallest = smaller
  }
  for (const header of request.headers) {
    await attempt({ ...smallest, headers: smallest.headers.filter((one) => one !== header) })
  }
  for (const pair of (request.target.split('?')[1] ?? '').split('&')) {
    await attempt({ ...smallest, target: smallest.target.replace(pair, '').replace(/[?&]$/, '') })
  }
  if (smallest.body !== null) await attempt({ ...smallest, body: null })
  for (let size = (smallest.body?.length ?? 0) >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < (smallest.body?.length ?? 0) && at < 64 * size; at += size) {
      const body = smallest.body ?? Buffer.alloc(0)
      await attempt({ ...smallest, body: Buffer.concat([body.subarray(0, at), body.subarray(at + size)]) })
    }
  }
  return smallest
}

/** Asks again, half a second later, while the service has no time and there are tries left. */
async function whenThereIsTime<Answer extends { readonly status: number } | null>(
  tries: number,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await ask()
  if (answer?.status !== 503 || tries <= 1) return answer
  await new Promise((resume) => setTimeout(resume, 500))
  return whenThereIsTime(tries - 1, ask)
}

/** Somebody at work beside it all, over a socket, who expects every call to succeed. */
async function healthyClient(app: TestApp, tries: number) {
  const integration: Integration = await makeIntegration(app)
  const lane = await makeLane(app, integration.tenant, { outcome: 'won' })
  const faults: string[] = []
  let calls = 0
  let slowestMs = 0
  let going = true
  const asks: readonly (() => Promise<{ status: number; body: { found?: boolean; updated?: boolean } }>)[] = [
    () =>
      call(
        app,
        'GET',
        '/api/integrations/insights/markup?origin=Dallas,TX&destination=Atlanta,GA&proposed_rate=2000',
        {
          token: integration.token,
        },
      ),
    () => pushUpdate(app, integration, { lane_ref: lane.lane_ref, customer_rate: 1000 + (calls % 100_000) }),
  ]
  const work = (async () => {
    while (going) {
      for (const ask of asks) {
        const began = performance.now()
        const clock = app.now
        const { status, body } = await whenThereIsTime(tries, ask).catch((error: unknown) => ({
          status: 0,
          body: { error },
        }))
        slowestMs = Math.max(slowestMs, Math.round(performance.now() - began))
        calls += 1
        // What was signed before this proof moved the clock on is not expected to be taken after it.
        const isRight = app.now !== clock || (status === 200 && (!('found' in body) || body.found === true))
        if (!isRight && faults.length < 5)
          faults.push(`the client beside it got ${status}: ${JSON.stringify(body)}`)
      }
      await new Promise((resume) => setTimeout(resume, 50))
    }
  })()
  return {
    async stop() {
      going = false
      await work
      return { calls, slowestMs, faults }
    },
  }
}

/** A member that no document knows of, in the answer to who one is. */
export const undocumentedMember: Plant = (server) => {
  server.addHook('onSend', async ({ routeOptions }, _reply, payload) =>
    routeOptions.url === '/api/me' && typeof payload === 'string' && payload.startsWith('{"user"')
      ? payload.replace('{', '{"password_hash":"x",')
      : payload,
  )
}

export const hostileRequests: Proof = {
  name: 'hostile-input',
  claim:
    'Hostile requests find no 5xx, nothing undocumented, no change by what was refused, no neighbour who notices',
  fault: 'an answer with a member that is not documented',
  async run({ seed, share, requests = shareOf(60_000, share, 2_000), request, cluster, onProgress, signal }) {
    const began = performance.now()
    const { faults, sent, sentOverSockets, succeeded, statuses, healthyCalls, healthySlowestMs } =
      await hostileInput(cluster, {
        requests,
        seed,
        only: request,
        signal,
        onProgress: (done) => {
          const perSecond = Math.round(done / ((performance.now() - began) / 1000))
          const megabytes = Math.round(process.memoryUsage().rss / 1024 ** 2)
          onProgress(`${done} of ${requests} requests, ${perSecond} a second, ${megabytes} MB`)
        },
      })
    return {
      figure: `${sent} requests, ${sentOverSockets} over sockets, ${succeeded.size} operations met with success; ${healthyCalls} calls beside them, the slowest in ${healthySlowestMs} ms; ${JSON.stringify(statuses)}`,
      faults: firstFaults(faults),
    }
  },
  async control({ seed, cluster, signal }) {
    const { faults, sent } = await hostileInput(
      cluster,
      { requests: 4_000, seed, signal, faultsMax: 1 },
      undocumentedMember,
    )
    return { figure: `${sent} requests`, faults: firstFaults(faults) }
  },
}

import { createHmac } from 'node:crypto'
import type { FastifyInstance, InjectOptions } from 'fastify'
import pg from 'pg'
import { signsOf } from '#contract/endpoint.ts'
import { textBeforeBody } from '#contract/signature.ts'
import { seededRandom } from '#server/sample/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { type MutatedRequest, mayChange, mutatedRequest } from './fuzz-mutations.ts'
import { type FuzzAnswer, type OpenApiDocument, oracleOf } from './fuzz-oracle.ts'
import type { FuzzRequest } from './fuzz-requests.ts'
import { faultsOfExchange, rawExchange } from './fuzz-sockets.ts'
import { firstFaults, type Proof, shareOf } from './proof.ts'
import type { CallerName } from './route-expectations.ts'
import { credentialOf, difference, endlessThread, endpoints } from './route-walk.ts'
import { canaryOf, type SeededTenants, seededTenants, signingSecretOf } from './seeded-tenants.ts'
import { settled } from './settled.ts'

/**
 * The fuzzer. It derives requests from the contract, sends them to a service in this process or over sockets, and one oracle judges
 * every answer (`fuzz-oracle.ts`). `fuzzer.test.ts` sends every value in every field; the proof here sends random requests, from
 * valid to absurd, with every kind of credential and with none; `fuzz-costs.ts` sends the longest requests.
 *
 * The proof sends its requests in batches. In four of five batches, every request that could change data has a flaw for which it
 * must be refused, so the rows must be the same before and after. In the fifth batch requests may succeed. Nothing may change
 * another brokerage, leave an error in the log, or affect a client that works at the same time.
 */
interface FuzzRun {
  readonly requests: number
  /** Determines each request, whatever the number of requests is. */
  readonly seed: number
  readonly onProgress?: (done: number) => void
  readonly signal?: AbortSignal
  /** Sends only the request with this number, to reproduce a fault. */
  readonly only?: number | undefined
  readonly faultsMax?: number
}

interface FuzzFindings {
  readonly sent: number
  readonly sentOverSockets: number
  readonly statuses: Readonly<Record<string, number>>
  /** Operations that succeeded at least once: their requests got past authentication and validation. */
  readonly succeeded: ReadonlySet<string>
  readonly healthyCalls: number
  readonly healthySlowestMs: number
  /** The faults, each with the request and a shell command that sends it again. */
  readonly faults: readonly string[]
}

const batchSize = 250
const concurrency = 12
/** The clock moves on by this much, because after failed sign-ins the service checks no passwords for a while. */
const stepMs = 16 * 60_000
const batchesPerStep = 20
/** Tables that record refused calls, and the counters of their rows. */
export const logTables = ['integration_calls', 'audit_log', 'tenant_counters']

/** Plants a fault in a service before it listens. `app()` is available once requests arrive. */
type Plant = (server: FastifyInstance, app: () => TestApp) => void

/** Starts a service on its own database, and sends random requests to it. */
async function fuzz(cluster: DatabaseCluster, input: FuzzRun, plant?: Plant): Promise<FuzzFindings> {
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
  { requests, seed, onProgress, signal, only, faultsMax = 20 }: FuzzRun,
): Promise<FuzzFindings> {
  const faultsOf = await judgeOf(app)
  const faults: string[] = []
  const known = new Set<string>()
  const statuses: Record<string, number> = {}
  const succeeded = new Set<string>()
  let sent = 0
  let sentOverSockets = 0

  const unhandled = (error: unknown) =>
    faults.push(`an unhandled error would end the process: ${String(error)}`)
  process.on('uncaughtException', unhandled)
  process.on('unhandledRejection', unhandled)
  const healthy = await healthyClient(app)
  await tenants.seed('A')
  await tenants.seed('B')
  const sumOfB = await tenants.checksum('B')
  const sender = senderTo(app, tenants)
  const owner = sender.credential('owner-A').Authorization ?? ''

  const mustRefuseChanges = (index: number) => Math.floor(index / batchSize) % 5 !== 4
  const made = (index: number) => mutatedRequest(seed, index, mustRefuseChanges(index))

  function judged(request: MutatedRequest, answer: FuzzAnswer): string[] {
    const found = faultsOf(request, answer)
    const isChange = mayChange(request) && answer.status < 300
    if (isChange && mustRefuseChanges(request.index))
      found.push(`was accepted but had to be refused (${answer.status})`)
    return found
  }

  async function sendOne(index: number): Promise<void> {
    sent += 1
    // Every fiftieth request is a raw exchange of bytes.
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
    const answer = await sender.send(request)
    if (answer === null) return
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    if (answer.status < 300) succeeded.add(request.operation)
    const found = judged(request, answer)
    const kind = `${request.operation}: ${found.join('; ')}`
    // Report each kind of fault once.
    if (found.length > 0 && !known.has(kind)) {
      known.add(kind)
      const smallest = await minimized(request, async (smaller) => {
        const again = await sender.send(smaller)
        return again !== null && judged(smaller, again).length > 0
      })
      faults.push(
        `request ${index} (${request.operation}) ${found.join('; ')}\n  ${sender.asCommand(smallest)}\n  response: ${answer.text.slice(0, 300)}`,
      )
    }
  }

  async function sendBatch(first: number, last: number): Promise<void> {
    const isUnchanging = mustRefuseChanges(first)
    const before = isUnchanging ? await tenants.checksum('A', logTables) : ''
    let next = first
    const sendNext = async () => {
      while (next < last && faults.length < faultsMax) await sendOne(next++)
    }
    await Promise.all(Array.from({ length: concurrency }, sendNext))
    await settled(app, tenants)
    const where = `the batch of requests ${first} to ${last - 1}`
    const after = isUnchanging ? await tenants.checksum('A', logTables) : ''
    if (after !== before) {
      faults.push(
        `${where} changed ${difference(before, after)}, although all its requests had to be refused`,
      )
      await tenants.seed('A')
    }
    if ((await tenants.checksum('B')) !== sumOfB) {
      faults.push(`${where} changed another brokerage`)
      await tenants.seed('B')
    }
    if (!isUnchanging) await tenants.seed('A')
    const lines = app.logLines.splice(0)
    const broken = lines.find((line) => line.indexOf('\n') !== line.length - 1)
    if (broken !== undefined) faults.push(`${where} broke a line of the log: ${broken.slice(0, 1000)}`)
    const errors = lines.filter((line) => line.includes('"level":"error"'))
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

/** The oracle for requests of brokerage A. */
export async function judgeOf({ url }: TestApp): Promise<ReturnType<typeof oracleOf>> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument
  return oracleOf(document, canaryOf('B').toLowerCase())
}

/** Sends requests with the credentials of their callers. */
export function senderTo(app: TestApp, tenants: SeededTenants) {
  const credentials = new Map<CallerName, Record<string, string>>()

  function credential(caller: CallerName): Record<string, string> {
    const known = credentials.get(caller) ?? credentialOf(app, caller, tenants, { path: '' })
    credentials.set(caller, known)
    return known
  }

  function headersOf(request: FuzzRequest, body: string | Buffer): (readonly [string, string])[] {
    const { caller, signature, operation, method, headers } = request
    // `inject` writes apostrophes of a query so, as browsers do.
    const target = request.target.replace(/\?.*/s, (query) =>
      request.overSocket === true ? query : query.replaceAll("'", '%27'),
    )
    const seconds = Math.floor(app.now / 1000) - (signature === 'stale' ? 301 : 0)
    const secret = signature === 'wrong' ? 'lwsec_of_nobody' : signingSecretOf('A')
    const endpoint = endpoints.get(operation)
    const isAddressSigned = endpoint !== undefined && ![null, 'body'].includes(signsOf(endpoint))
    const start = textBeforeBody(String(seconds), isAddressSigned ? { method, path: target } : null)
    const signed =
      signature === 'none'
        ? {}
        : {
            'X-Service-Timestamp': String(seconds),
            'X-Service-Signature': `sha256=${createHmac('sha256', secret).update(start).update(body).digest('hex')}`,
          }
    const own = Object.entries({ ...credential(caller), ...signed })
    const isGiven = ([name]: readonly [string, string]) =>
      headers.some(([given]) => given.toLowerCase() === name.toLowerCase())
    return [...own.filter((header) => !isGiven(header)), ...headers]
  }

  function bytesOf(request: FuzzRequest): Buffer {
    const { method, target } = request
    const body = request.body === undefined ? null : Buffer.from(request.body())
    const headers = headersOf(request, body ?? '')
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
    headersOf,

    /** Returns null if the connection was closed without a response, which is allowed for invalid HTTP. */
    async send(request: FuzzRequest): Promise<FuzzAnswer | null> {
      if (request.overSocket === true) {
        const [answer] = await sendRaw(app, bytesOf(request), { silenceMs: 2_000 })
        if (answer === undefined) return null
        return { ...answer, text: Buffer.from(answer.text, 'latin1').toString() }
      }
      const body = request.body?.()
      const { statusCode, headers, payload } = await app.inject({
        method: request.method as NonNullable<InjectOptions['method']>,
        url: request.target,
        headers: Object.fromEntries(headersOf(request, body ?? '')),
        ...(body === undefined ? {} : { payload: body }),
      })
      return { status: statusCode, headers, text: payload }
    },

    /** Returns a shell command that sends the same bytes. The credentials are valid only for this run. */
    asCommand(request: MutatedRequest): string {
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

/** Removes headers, query parameters and parts of the body as long as the request still fails. */
async function minimized(
  request: MutatedRequest,
  stillFails: (smaller: MutatedRequest) => Promise<boolean>,
): Promise<MutatedRequest> {
  let smallest = request
  if (!(await stillFails(smallest))) return request
  const attempt = async (change: Partial<MutatedRequest>) => {
    const smaller = { ...smallest, ...change }
    if (await stillFails(smaller)) smallest = smaller
  }
  for (const header of request.headers) {
    await attempt({ headers: smallest.headers.filter((one) => one !== header) })
  }
  for (const pair of (request.target.split('?')[1] ?? '').split('&')) {
    await attempt({ target: smallest.target.replace(pair, '').replace(/[?&]$/, '') })
  }
  const bytes = () => Buffer.from(smallest.body?.() ?? '')
  if (smallest.body !== undefined) await attempt({ body: () => '' })
  for (let size = bytes().length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < bytes().length && at < 64 * size; at += size) {
      const body = bytes()
      const shorter = Buffer.concat([body.subarray(0, at), body.subarray(at + size)])
      await attempt({ body: () => shorter })
    }
  }
  return smallest
}

/** A well-behaved client that works at the same time, over a socket, and expects every call to succeed. */
async function healthyClient(app: TestApp) {
  const integration: Integration = await makeIntegration(app)
  const quote = await makeQuote(app, integration.tenant, { outcome: 'won' })
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
    () => pushUpdate(app, integration, { lane_ref: quote.lane_ref, customer_rate: 1000 + (calls % 100_000) }),
  ]
  const work = (async () => {
    while (going) {
      for (const ask of asks) {
        const began = performance.now()
        const clock = app.now
        const { status, body } = await ask().catch((error: unknown) => ({
          status: 0,
          body: { error },
        }))
        slowestMs = Math.max(slowestMs, Math.round(performance.now() - began))
        calls += 1
        // A request signed before the proof moved the clock may be refused.
        const isRight = app.now !== clock || (status === 200 && (!('found' in body) || body.found === true))
        if (!isRight && faults.length < 5)
          faults.push(`the well-behaved client got ${status}: ${JSON.stringify(body)}`)
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

/** The planted faults, each with the sentence by which it must be found. */
const plantedFaults: readonly { readonly what: string; readonly plant: Plant; readonly found: RegExp }[] = [
  {
    what: 'an undocumented member in a response',
    found: /the body of me is not as documented/,
    plant: (server) => {
      server.addHook('onSend', async ({ routeOptions }, _reply, payload) =>
        routeOptions.url === '/api/me' && typeof payload === 'string' && payload.startsWith('{"user"')
          ? payload.replace('{', '{"password_hash":"x",')
          : payload,
      )
    },
  },
  {
    what: 'code that throws for a NUL byte',
    found: /returned 500[\s\S]*printf '.*\\000/,
    plant: (server) => {
      server.addHook('preHandler', async ({ body }) => {
        if (Buffer.isBuffer(body) && body.includes(0)) throw new Error('NUL')
      })
    },
  },
  {
    what: 'a refusal that names another field',
    found: /names \/x\S*, which is not declared/,
    plant: (server) => {
      server.addHook('onSend', async (_request, { statusCode }, payload) =>
        statusCode === 422 && typeof payload === 'string'
          ? payload.replaceAll('"pointer":"/', '"pointer":"/x')
          : payload,
      )
    },
  },
  {
    what: 'a refused request that changes data',
    found: /changed .*tenants.*, although all its requests had to be refused/,
    plant: (server, app) => {
      server.addHook('onResponse', async (_request, { statusCode }) => {
        if (statusCode !== 422) return
        const owner = new pg.Client(app().testDatabase.owner)
        await owner.connect()
        await owner.query("set app.tenant_id = '700000001'; update tenants set name = name || '!'")
        await owner.end()
      })
    },
  },
]

export const hostileRequests: Proof = {
  name: 'hostile-input',
  claim:
    'Hostile requests cause no 5xx, no undocumented response, no change by a refused request, and no effect on another client',
  fault: plantedFaults.map(({ what }) => what).join('; '),
  async run({ seed, share, requests = shareOf(60_000, share, 2_000), request, cluster, onProgress, signal }) {
    const began = performance.now()
    const { faults, sent, sentOverSockets, succeeded, statuses, healthyCalls, healthySlowestMs } = await fuzz(
      cluster,
      {
        requests,
        seed,
        only: request,
        signal,
        onProgress: (done) => {
          const perSecond = Math.round(done / ((performance.now() - began) / 1000))
          const megabytes = Math.round(process.memoryUsage().rss / 1024 ** 2)
          onProgress(`${done} of ${requests} requests, ${perSecond} per second, ${megabytes} MB`)
        },
      },
    )
    return {
      figure: `${sent} requests, ${sentOverSockets} over sockets, ${succeeded.size} operations succeeded; ${healthyCalls} calls of the well-behaved client, the slowest in ${healthySlowestMs} ms; ${JSON.stringify(statuses)}`,
      faults: firstFaults(faults),
    }
  },
  async control({ seed, cluster, signal, onProgress }) {
    const found: string[] = []
    const missed: string[] = []
    for (const { what, plant, found: sentence } of plantedFaults) {
      if (signal.aborted) break
      onProgress(`with the fault: ${what}`)
      const { faults } = await fuzz(cluster, { requests: 4_000, seed, signal, faultsMax: 1 }, plant)
      const fault = faults.find((line) => sentence.test(line))
      if (fault === undefined) missed.push(what)
      else found.push(fault)
    }
    // The control must find every fault.
    return { figure: `missed: ${missed.join(', ') || 'none'}`, faults: missed.length > 0 ? [] : found }
  },
}

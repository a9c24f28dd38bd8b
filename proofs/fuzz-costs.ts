import { setTimeout as delay } from 'node:timers/promises'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { type Endpoint, signsOf } from '#contract/endpoint.ts'
import { tokenScopeNames } from '#contract/token-scopes.ts'
import { type SeededRandom, seededRandom } from '#server/sample/index.ts'
import { call, type Integration, makeIntegration, makeQuote, password, signedHeaders } from '#testing/make.ts'
import { quotesFile } from '#testing/quotes-file.ts'
import { longFiles } from './fuzz-files.ts'
import { type OpenApiDocument, oracleOf } from './fuzz-oracle.ts'
import { type FuzzKind, type FuzzRequest, longRequests, validRequest } from './fuzz-requests.ts'
import { type HealthWatch, watchHealth } from './health-watch.ts'
import type { FaultName } from './planted-fault.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'
import { proofDatabase } from './proof-database.ts'
import { type Operation, requestOf, type WalkRequest } from './route-requests.ts'
import { idsOf, type TenantIds } from './seeded-ids.ts'
import { serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'
import { type Answered, answerTextMax, WatchedService } from './watched-service.ts'

/**
 * Sends the fuzzer's longest requests to a service that measures itself (`turn-watch.ts`). The oracle of the fuzzer judges each
 * answer, and this file its cost in time and memory.
 */

/** The longest allowed turn of the event loop, in processor time. */
const turnMsMax = 50
/** The longest turn while other tests run. They share the core's caches, so the same work takes up to twice as long. */
const turnMsMaxBesideTests = 250
const waitMsMax = 100
const grownMbMax = 100
const answerBytesMax = (sent: number) => 10 * sent + 1_000_000
/** Brokerages take turns in the integration interface, where each may send ten requests per second. */
const brokerages = 8

export interface Cost {
  readonly endpoint: string
  readonly what: string
  /** 0 without an answer. */
  readonly status: number
  /** Why there was no answer. */
  readonly failure: string
  readonly turnMs: number
  readonly sentBytes: number
  readonly answeredBytes: number
  /** The faults that the oracle finds in the answer. */
  readonly faults: readonly string[]
  /** How long `GET /healthz` of another caller waited; 0 without one. */
  readonly waitedMs: number
}

/** The brokerages that send requests. The first also has many quotes and the longest customer names. */
interface Callers {
  readonly ids: TenantIds
  readonly integrations: readonly Integration[]
  /** The session token for requests that end sessions. */
  guest: string
  readonly guestEmail: string
}

/** The largest number of customers that the service compares with each other. */
const customersMade = 5_000

/** Returns a file of customers with the longest names, all different, and of quotes on lanes with a history. */
function historyFile(quotes: number): string {
  const { uniform } = seededRandom(30)
  const [head = '', ...rows] = quotesFile({ seed: 30, quotes, until: Date.now(), hours: 2 })
    .trimEnd()
    .split('\n')
  const letter = () => String.fromCharCode(97 + Math.floor(uniform() * 26))
  const named = rows.map((row, at) => {
    const name = at < customersMade ? Array.from({ length: 199 }, letter).join('') : `Customer ${at % 50}`
    return `${row},${name}`
  })
  return `${head},customer_name\n${named.join('\n')}\n`
}

async function makeCallers(watched: WatchedService, quotes: number): Promise<Callers> {
  const { url } = watched.service
  const app = asApp(url)
  const integrations: Integration[] = []
  for (let made = 0; made < brokerages; made++) {
    const integration = await makeIntegration(app, tokenScopeNames.join(' '))
    integrations.push(integration)
  }
  const [{ tenant }] = integrations as [Integration]
  const quote = await makeQuote(app, tenant, { outcome: 'won' })
  const sent = await fetch(`${url}/api/imports?file_name=history.csv`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: historyFile(quotes),
  })
  const { import_id } = (await sent.json()) as { import_id: number }
  await watched.importEnds(tenant.owner, import_id)
  const guest = await makeIntegration(app)
  const request = Number(String(quote.lane_ref).split('-')[0])
  return {
    ids: { ...idsOf('A'), tenant: tenant.id, laneRef: quote.lane_ref, request, ownerEmail: tenant.email },
    integrations,
    guest: guest.tenant.owner,
    guestEmail: guest.tenant.email,
  }
}

/** Endpoints that end the caller's session. */
const endsSession: ReadonlySet<string> = new Set(['sign-out', 'change-password', 'session-token'])
/** Endpoints with a limit per brokerage and minute, so the brokerages take turns. */
const limitedPerMinute: ReadonlySet<string> = new Set(['check-signature'])

export interface HeavyOptions {
  /** The endpoints to call, by name. Without it, all. */
  readonly only?: readonly string[]
  /** The share of the endpoints to call, chosen by the seed. Without it, all. */
  readonly endpointShare?: number
  /** The kinds of requests to send. Without it, all. */
  readonly kinds?: readonly FuzzKind[]
  readonly fault?: FaultName
  /** The largest body to send. Without it, that of the contract. */
  readonly bytesMax?: number
  /** Quotes in the history of the brokerage. */
  readonly quotes: number
  readonly share: number
  /** Whether another caller asks for `/healthz` meanwhile. */
  readonly asksHealth: boolean
  /** The longest turn, in milliseconds of processor time. */
  readonly turnMsMax?: number
  readonly stopsAtFault?: boolean
  readonly onCost?: (cost: Cost) => void
}

/** Sends the heavy requests one by one, and returns what they cost. */
export async function sendHeavyRequests(
  { seed, cluster, signal, onProgress }: Pick<ProofOptions, 'seed' | 'cluster' | 'signal' | 'onProgress'>,
  options: HeavyOptions,
): Promise<Finding> {
  const database = await proofDatabase(cluster)
  const services = serviceProcesses(database)
  const watched = new WatchedService(services, options.fault)
  const faults: string[] = []
  const random = seededRandom(seed)
  let health: HealthWatch | null = null
  let sent = 0
  let most: Cost | null = null
  let largestAnswer = 0
  let longestWait = 0
  let mostGrown = { mb: 0, endpoint: '' }
  try {
    await watched.start()
    const callers = await makeCallers(watched, options.quotes)
    const { bytesMax } = options
    const known = (allEndpoints as readonly Endpoint[]).map((endpoint) =>
      bytesMax === undefined ? endpoint : { ...endpoint, bodyBytesMax: bytesMax },
    )
    const endpoints = known.filter(
      ({ name }) =>
        (options.only === undefined || options.only.includes(name)) &&
        (options.endpointShare === undefined || random.uniform() < options.endpointShare),
    )
    const document = await fetch(`${watched.service.url}/openapi.json`)
    const judge = oracleOf((await document.json()) as OpenApiDocument)
    // The first requests of a process compile code and fill caches.
    for (const endpoint of endpoints) {
      const valid = validRequest(endpoint, requestOf[endpoint.name as Operation](callers.ids))
      await sendOne(watched, callers, endpoint, valid, 0)
    }
    if (options.asksHealth) health = watchHealth(watched.service)
    for (const endpoint of endpoints) {
      const baseMb = (await watched.look(true))?.nowMb ?? 0
      let mostMb = baseMb
      let fileMb = 0
      let turnMs = 0
      let largest = ''
      const valid = requestOf[endpoint.name as Operation](callers.ids)
      for (const heavy of chosen(endpoint, valid, options, random)) {
        if (signal.aborted) break
        const cost = await costOf(watched, callers, endpoint, heavy, sent++, { health, judge })
        options.onCost?.(cost)
        // Not counted: the file of an import as it was sent. It has its own reserved memory, which is not freed at once.
        if (endpoint.bodyKind === 'csv') fileMb = Math.max(fileMb, cost.sentBytes / 1e6)
        if (cost.mostMb - fileMb > mostMb) largest = cost.what
        mostMb = Math.max(mostMb, cost.mostMb - fileMb)
        turnMs = Math.max(turnMs, cost.turnMs)
        if (most === null || cost.turnMs > most.turnMs) most = cost
        largestAnswer = Math.max(largestAnswer, cost.answeredBytes)
        longestWait = Math.max(longestWait, cost.waitedMs)
        faults.push(...faultsOf(endpoint, cost, options.turnMsMax ?? turnMsMax))
        if (cost.status === 0) {
          await watched.restart()
          health?.close()
          health = options.asksHealth ? watchHealth(watched.service) : null
          break
        }
        if (faults.length > 0 && options.stopsAtFault === true) break
      }
      const grown = mostMb - baseMb
      if (grown > mostGrown.mb) mostGrown = { mb: grown, endpoint: endpoint.name }
      if (grown > grownMbMax)
        faults.push(`${endpoint.name}, ${largest}: the process grew by ${Math.round(grown)} MB`)
      onProgress(
        `${endpoint.name}: longest turn ${Math.round(turnMs)} ms, grew by ${Math.round(grown)} MB (${sent} requests so far)`,
      )
      if (faults.length > 0 && options.stopsAtFault === true) break
    }
    if (watched.service.child.exitCode !== null)
      faults.push(`the service exited: ${watched.service.printed()}`)
  } finally {
    health?.close()
    watched.close()
    await services.remove()
    await database.drop()
  }
  const figures = [
    `${sent} requests`,
    `longest turn ${Math.round(most?.turnMs ?? 0)} ms of processor time (${most?.endpoint}, ${most?.what})`,
    ...(options.asksHealth ? [`/healthz waited at most ${Math.round(longestWait)} ms`] : []),
    `most memory ${Math.round(mostGrown.mb)} MB (${mostGrown.endpoint})`,
    `largest answer ${Math.round(largestAnswer / 1_000)} kB`,
  ]
  return { figure: figures.join('; '), faults: firstFaults(faults, 30) }
}

/** The number of requests per kind and endpoint in the shortest run. */
const leastOf = (kind: FuzzKind) => (kind.endsWith('file') ? 3 : 1)

/** Returns a random share of an endpoint's long requests, at least `leastOf` of each kind. */
function chosen(
  endpoint: Endpoint,
  valid: WalkRequest,
  { share, kinds }: HeavyOptions,
  random: SeededRandom,
): FuzzRequest[] {
  const all = [...longRequests(endpoint, valid), ...longFiles(endpoint, valid)].filter(
    ({ kind }) => kinds === undefined || kinds.includes(kind),
  )
  return [...Map.groupBy(all, ({ kind }) => kind)].flatMap(([kind, requests]) =>
    requests
      .map((heavy) => ({ heavy, order: random.uniform() }))
      .sort((one, other) => one.order - other.order)
      .slice(0, Math.max(leastOf(kind), Math.round(requests.length * share)))
      .map(({ heavy }) => heavy),
  )
}

/**
 * Returns the cost of a request. A request that took too long is sent up to twice more, and the shortest time counts: a request that
 * stops the service does so each time, a garbage collection or another process does not.
 */
async function costOf(...sent: Parameters<typeof costOnce>): Promise<Cost & { readonly mostMb: number }> {
  let cost = await costOnce(...sent)
  for (let more = 0; more < 2 && cost.status !== 0 && isSlow(cost); more++) {
    const again = await costOnce(...sent)
    cost = {
      ...cost,
      status: again.status === 0 ? 0 : cost.status,
      turnMs: Math.min(cost.turnMs, again.turnMs),
      waitedMs: Math.min(cost.waitedMs, again.waitedMs),
      mostMb: Math.max(cost.mostMb, again.mostMb),
    }
  }
  return cost
}

const isSlow = ({ turnMs, waitedMs }: Cost) => turnMs > turnMsMax || waitedMs > waitMsMax

async function costOnce(
  watched: WatchedService,
  callers: Callers,
  endpoint: Endpoint,
  heavy: FuzzRequest,
  nth: number,
  { health, judge }: { readonly health: HealthWatch | null; readonly judge: ReturnType<typeof oracleOf> },
): Promise<Cost & { readonly mostMb: number }> {
  // The memory of a large file is freed some time after its import, which is no growth by the next one.
  await watched.look(heavy.kind === 'largest file')
  await health?.longestMs()
  const { status, bytes, sentBytes, headers, text } = await sendOne(watched, callers, endpoint, heavy, nth)
  const waitedMs = (await health?.longestMs()) ?? 0
  const seen = status === 0 ? null : await watched.look()
  return {
    endpoint: endpoint.name,
    what: heavy.what,
    status: seen === null ? 0 : status,
    failure: status === 0 ? text : 'the service measures nothing any more',
    turnMs: seen?.turnMs ?? 0,
    mostMb: seen?.mostMb ?? 0,
    sentBytes,
    answeredBytes: bytes,
    // The oracle needs the whole answer. A busy service may answer 503.
    faults: [0, 503].includes(status) || bytes > answerTextMax ? [] : judge(heavy, { status, headers, text }),
    waitedMs,
  }
}

/** Sends one request as the caller that may send it. Waits for the rate limit, and for the work that continues after the answer. */
async function sendOne(
  watched: WatchedService,
  callers: Callers,
  endpoint: Endpoint,
  { target, body: made, headers: given }: FuzzRequest,
  nth: number,
): Promise<Answered & { readonly sentBytes: number }> {
  const { name, method, who } = endpoint
  const turn = callers.integrations[nth % brokerages] as Integration
  const [large] = callers.integrations as [Integration]
  const caller = who.kind === 'service' || limitedPerMinute.has(name) ? turn : large
  const body = made?.()
  const signs = signsOf(endpoint)
  for (let tries = 0; ; tries++) {
    const token =
      who.kind === 'service' ? caller.token : endsSession.has(name) ? callers.guest : caller.tenant.owner
    const signed =
      signs === null
        ? {}
        : signedHeaders(
            caller,
            body ?? '',
            Math.floor(Date.now() / 1_000),
            signs === 'body' ? null : { method, path: target },
          )
    const answer = await watched.send(
      method,
      target,
      {
        ...signed,
        ...(who.kind === 'anyone' ? {} : { Authorization: `Bearer ${token}` }),
        ...Object.fromEntries(given),
      },
      body,
    )
    if (answer.status === 429 && who.kind === 'service' && tries < 5) {
      await delay(300)
      continue
    }
    if (answer.status === 401 && endsSession.has(name) && tries < 2) {
      const signedIn = await call(asApp(watched.service.url), 'POST', '/api/auth/sign-in', {
        body: { email: callers.guestEmail, password },
      })
      if (signedIn.status === 200) callers.guest = signedIn.body.token
    }
    if (answer.status === 202 && name.endsWith('create-import')) {
      // Not parsed as JSON: the answer repeats the names of columns, and may be cut off.
      const importId = Number(/"import_id":(\d+)/.exec(answer.text)?.[1])
      if (!(await watched.importEnds(caller.tenant.owner, importId)))
        return { status: 0, headers: {}, bytes: 0, text: '', sentBytes: 0 }
    }
    return { ...answer, sentBytes: target.length + (body === undefined ? 0 : Buffer.byteLength(body)) }
  }
}

function faultsOf(
  { name, answerKind }: Endpoint,
  { what, status, failure, turnMs, waitedMs, sentBytes, answeredBytes, faults }: Cost,
  longestTurnMs: number,
): string[] {
  const told = `${name}, ${what}:`
  if (status === 0) return [`${told} no answer: ${failure}`]
  return [
    ...(turnMs > longestTurnMs ? [`${told} one turn took ${Math.round(turnMs)} ms of processor time`] : []),
    ...(waitedMs > waitMsMax ? [`${told} /healthz waited ${Math.round(waitedMs)} ms`] : []),
    ...faults.map((fault) => `${told} ${fault}`),
    ...(answerKind !== 'csv' && answeredBytes > answerBytesMax(sentBytes)
      ? [`${told} ${sentBytes} bytes were answered with ${answeredBytes}`]
      : []),
  ]
}

/** Faults that the security review found, by which one request stopped the service, and the endpoints that have them. */
const plantedFaults: readonly {
  readonly fault: FaultName
  readonly only: readonly string[]
  readonly kinds: readonly FuzzKind[]
  readonly quotes?: number
  /** The largest body, if the fault permits larger ones than the contract. */
  readonly bytesMax?: number
}[] = [
  { fault: 'charges are read with one pattern', only: ['create-import'], kinds: ['file'] },
  { fault: 'places are looked up for each pasted row', only: ['read-pasted-quotes'], kinds: ['file'] },
  {
    fault: 'customers of any name are compared in one turn',
    only: ['list-customer-variants'],
    kinds: ['valid'],
    quotes: customersMade + 200,
  },
  { fault: 'each problem lists all columns', only: ['match-import-columns'], kinds: ['members'] },
  { fault: 'lists of any length are copied', only: ['add-market-rates'], kinds: ['list'] },
  {
    fault: 'costs of any length are searched for zeros',
    only: ['read-pasted-quotes'],
    kinds: ['file', 'text'],
  },
  {
    fault: 'signatures of any length are explained in one turn',
    only: ['check-signature'],
    kinds: ['text'],
    bytesMax: 6_000_000,
  },
  { fault: 'headers are guessed in one turn', only: ['load-market-file'], kinds: ['file'] },
]

/** Quotes in the brokerage's history, in the longest and the shortest run. */
const quotesMax = 30_000
const quotesMin = 1_000
/** The share of all heavy requests, some 110,000, that the longest run sends. */
const shareMax = 0.05

export const heavyRequestsProof: Proof = {
  name: 'heavy-requests',
  claim:
    'No request, however large or strange, takes 50 ms of the service in one turn, lets another caller wait 100 ms, grows the process by 100 MB, or is answered with ten times its size and a megabyte more',
  fault: `${plantedFaults.length} ways by which one request stopped the service, each by itself`,
  run: (options) =>
    sendHeavyRequests(options, {
      quotes: shareOf(quotesMax, options.share, quotesMin),
      share: shareMax * options.share,
      // A short run calls a part of the endpoints.
      ...(options.share > 0.1 ? {} : { endpointShare: 0.4, turnMsMax: turnMsMaxBesideTests }),
      // A short run relies on what the service itself measures.
      asksHealth: options.share > 0.1,
    }),
  async control(options) {
    const found: string[] = []
    const missed: string[] = []
    for (const { fault, only, kinds, quotes = 200, bytesMax } of plantedFaults) {
      if (options.signal.aborted) break
      options.onProgress(`with the fault: ${fault}`)
      const { faults } = await sendHeavyRequests(options, {
        only,
        kinds,
        fault,
        ...(bytesMax === undefined ? {} : { bytesMax }),
        quotes,
        share: 1,
        asksHealth: false,
        stopsAtFault: true,
      })
      if (faults.length > 0) found.push(`${fault}: ${faults[0]}`)
      else missed.push(fault)
    }
    // The control must find every fault.
    return { figure: `missed: ${missed.join(', ') || 'none'}`, faults: missed.length > 0 ? [] : found }
  },
}

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Endpoint, underTenantLimit } from '#contract/endpoint.ts'
import { Problem } from '#contract/errors.ts'
import { tenantRequestsPerWindowMax, uriBytesMax } from '#contract/limits.ts'
import type { Callers } from '../access/index.ts'
import {
  DatabaseUnavailable,
  RequestDeadline,
  type TenantId,
  withDeadline,
} from '../database/session/index.ts'
import type { Parts, ServedEndpoint } from '../endpoints/index.ts'
import { callerAddress, callerNetwork, type TokenClaims } from '../security/index.ts'
import { expiryHeaders, limitHeaders } from './admission.ts'
import { queryReader, type ReadQuery, rightPartsMax } from './query-parameters.ts'
import { answerHeaders } from './serve-endpoint.ts'

/**
 * Takes a read that may be answered before the framework sees it: everything that the answer needs is remembered (whose
 * token it is, the lane, and that neither has changed). It gives exactly the answer that the ordinary way would give, or
 * leaves the request to that way as it came: whatever is refused, unusual or not remembered. False where it is no such read.
 */
export type AnswerFromMemory = (
  request: IncomingMessage,
  response: ServerResponse,
  ordinary: Ordinary,
) => boolean

/** The way that it takes otherwise. */
export interface Ordinary {
  /** Told of a request whose answer comes later. */
  begun(): void
  /** Answers it from the beginning. */
  answer(): void
}

/** A read that waits for the others that have arrived in the same moment. */
interface Waiting {
  readonly read: Read
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly ordinary: Ordinary
  readonly began: number
}

/** An answer that is whole, but for what the limit says. */
interface Answer extends Waiting {
  readonly text: string
  readonly now: number
  readonly network: string
  readonly tenant: TenantId
  readonly claims: TokenClaims
  readonly span: ReturnType<Parts['traces']['begin']>
}

/** Those that have been prepared are sent then: nobody waits for more than so many others. */
const togetherMax = 64

interface Door {
  readonly isProxy: (address: string) => boolean
  /** The service is about to stop: the ordinary way sends everybody away in peace. */
  readonly isLeaving: () => boolean
  readonly standardHeaders: Readonly<Record<string, string>>
}

interface Read {
  readonly endpoint: Endpoint
  readonly fromMemory: NonNullable<ServedEndpoint['fromMemory']>
  readonly readQuery: ReadQuery
  /** Told of each answer, in seconds. */
  readonly count: (seconds: number) => void
  /** The headers that are the same for every answer, by how many calls the limit has left. */
  readonly heads: readonly string[][]
}

const failed = 'an answer from memory failed'

/** A header by which an answer could become another, or by which two parties could read a request differently. */
const unusualHeaders = ['content-length', 'transfer-encoding', 'expect', 'prefer', 'upgrade'] as const

export function answerFromMemory(
  served: readonly ServedEndpoint[],
  parts: Parts,
  callers: Callers,
  door: Door,
): AnswerFromMemory {
  const reads = new Map<string, Read>()
  for (const { endpoint, fromMemory } of served) {
    if (fromMemory === undefined || endpoint.query === undefined) continue
    const fits =
      endpoint.method === 'GET' &&
      endpoint.who.kind === 'service' &&
      !endpoint.who.signed &&
      underTenantLimit(endpoint)
    if (!fits) throw new Error(`${endpoint.name} cannot be answered from memory.`)
    const headers = (remaining: number) => ({
      ...door.standardHeaders,
      ...limitHeaders({ remaining, retryAfterMs: 0 }),
      ...answerHeaders(endpoint),
    })
    reads.set(endpoint.path, {
      endpoint,
      fromMemory,
      readQuery: queryReader(endpoint.query, rightPartsMax),
      count: parts.metrics.fromMemory(endpoint),
      heads: Array.from({ length: tenantRequestsPerWindowMax }, (_, remaining) =>
        Object.entries(headers(remaining)).flat(),
      ),
    })
  }

  /** The answer where it can be given from memory; null where it is for the ordinary way. */
  function prepared(waiting: Waiting): Answer | null {
    const { read, request } = waiting
    if (!isUsual(request) || door.isLeaving()) return null
    const span = parts.traces.begin(request.headers)
    const now = parts.clock()
    const network = callerNetwork(callerAddress(request, door.isProxy))
    const known = callers.serviceFromMemory(request.headers.authorization, now, network)
    if (known === null) return null
    const ignored: string[] = []
    const { caller, claims } = known
    const query = read.readQuery(request.url ?? '', ignored)
    if (ignored.length > 0) return null
    const body = read.fromMemory({ caller, query, now } as never, parts)
    if (body === null) return null
    return { ...waiting, text: JSON.stringify(body), now, network, tenant: caller.tenant, claims, span }
  }

  /** Last, for it takes a place: who is admitted is answered. False where it is for the ordinary way. */
  function admit(answer: Answer): boolean {
    const { tenant, ordinary, response } = answer
    const admission = parts.tenantLimit.admitNow(tenant)
    if (admission !== null) {
      if (admission.admitted) send(answer, admission.remaining)
      return admission.admitted
    }
    ordinary.begun()
    withDeadline(new RequestDeadline(), () => parts.tenantLimit.admit(tenant))
      .then(({ admitted, remaining }) => (admitted ? send(answer, remaining) : ordinary.answer()))
      .catch((error: unknown) => {
        if (!(error instanceof DatabaseUnavailable)) parts.log.error({ err: error }, failed)
        if (!response.headersSent) ordinary.answer()
      })
    return true
  }

  function send(
    { read, request, response, began, text, now, network, tenant, claims, span }: Answer,
    remaining: number,
  ): void {
    const { endpoint, heads, count } = read
    const requestId = randomUUID()
    const head = heads[remaining] ?? []
    const length = String(Buffer.byteLength(text))
    const expiry = Object.entries(expiryHeaders(claims, now)).flat()
    response.writeHead(
      endpoint.status,
      head.concat('Request-Id', requestId, 'Content-Length', length, expiry),
    )
    response.end(text)
    const { name, status, path: route } = endpoint
    const tookMs = performance.now() - began
    const ms = Math.round(tookMs * 10) / 10
    count(tookMs / 1000)
    parts.calls.note(
      {
        tenant,
        jti: claims.jti,
        endpoint,
        method: 'GET',
        url: request.url ?? '',
        requestId,
        network,
        at: now,
      },
      { status, ms, answered: true },
    )
    const line = { request_id: requestId, tenant_id: tenant, method: 'GET', route, status, ms, network }
    parts.log.info(span === null ? line : { ...line, trace_id: span.traceId }, 'request')
    span?.end({
      endpoint: name,
      method: 'GET',
      route,
      status,
      requestId,
      tenant,
      problem: null,
      fromMemory: true,
    })
  }

  /**
   * What is wrong with a request the ordinary way says. Nobody stands behind this one: a mistake of ours, thrown on, would
   * end the process.
   */
  function tried<Of, Result>(of: Of, work: (of: Of) => Result): Result | null {
    try {
      return work(of)
    } catch (error) {
      if (!(error instanceof Problem)) parts.log.error({ err: error }, failed)
      return null
    }
  }

  let arrived: Waiting[] = []

  function answerTogether(): void {
    const all = arrived
    arrived = []
    for (let from = 0; from < all.length; from += togetherMax) {
      const some = all.slice(from, from + togetherMax)
      const answers = some.map((waiting) => tried(waiting, prepared))
      const left = some.filter((_, at) => {
        const answer = answers[at] ?? null
        return answer === null || tried(answer, admit) !== true
      })
      for (const { ordinary, response } of left) {
        if (response.headersSent) continue
        ordinary.begun()
        ordinary.answer()
      }
    }
  }

  return (request, response, ordinary) => {
    const { url = '', method } = request
    const queryAt = url.indexOf('?')
    const read = queryAt === -1 || method !== 'GET' ? undefined : reads.get(url.slice(0, queryAt))
    if (read === undefined) return false
    if (arrived.length === 0) setImmediate(answerTogether)
    arrived.push({ read, request, response, ordinary, began: performance.now() })
    return true
  }
}

function isUsual(request: IncomingMessage): boolean {
  const { headers, rawHeaders } = request
  if (request.httpVersion !== '1.1' || headers.host === undefined || headers.authorization === undefined)
    return false
  for (const name of unusualHeaders) if (headers[name] !== undefined) return false
  // Fewer names than lines: one of them was sent twice.
  if (Object.keys(headers).length * 2 !== rawHeaders.length) return false
  // Who does not read his answers is for the ordinary way, which lets go of him after a while.
  const { socket } = request
  return (
    Buffer.byteLength(request.url ?? '') <= uriBytesMax && !socket.destroyed && socket.writableLength === 0
  )
}

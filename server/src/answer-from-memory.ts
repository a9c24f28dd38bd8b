import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Endpoint, underTenantLimit } from '#contract/endpoint.ts'
import { Problem } from '#contract/errors.ts'
import { tenantRequestsPerWindowMax, uriBytesMax } from '#contract/limits.ts'
import type { Callers } from './callers.ts'
import { DatabaseUnavailable } from './database/open-database.ts'
import { Patience, withPatience } from './database/patience.ts'
import type { Parts, ServedEndpoint } from './endpoints/call.ts'
import { queryReader, type ReadQuery, rightPartsMax } from './query-parameters.ts'
import { callerNetwork } from './security/caller-network.ts'
import { callerAddress } from './security/trusted-proxies.ts'
import { answerHeaders, limitHeaders } from './serve-endpoint.ts'

/**
 * Answers a read before the framework sees it, where everything that the answer needs is remembered: whose token it is,
 * the lane, and that neither has changed. It gives exactly the answer that the ordinary way would give, or it does
 * nothing at all and says so: whatever is refused, unusual or not remembered is for the ordinary way.
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

  function answerTo(request: IncomingMessage, response: ServerResponse, ordinary: Ordinary): boolean {
    const url = request.url ?? ''
    const queryAt = url.indexOf('?')
    const read = queryAt === -1 ? undefined : reads.get(url.slice(0, queryAt))
    if (read === undefined || request.method !== 'GET' || !isUsual(request) || door.isLeaving()) return false
    const began = performance.now()
    const span = parts.traces.begin(request.headers)
    const now = parts.clock()
    const network = callerNetwork(callerAddress(request, door.isProxy))
    const known = callers.serviceFromMemory(request.headers.authorization, now, network)
    if (known === null) return false
    const ignored: string[] = []
    const { caller, jti } = known
    const { tenant } = caller
    const { endpoint, heads, count } = read
    const query = read.readQuery(url, ignored)
    if (ignored.length > 0) return false
    const body = read.fromMemory({ caller, query, now } as never, parts)
    if (body === null) return false
    // Last, for it takes a place: from here on the request is answered.
    const admission = parts.tenantLimit.admitNow(tenant)
    if (admission === null) {
      ordinary.begun()
      withPatience(new Patience(), () => parts.tenantLimit.admit(tenant))
        .then(({ admitted, remaining }) => (admitted ? send(remaining) : ordinary.answer()))
        .catch((error: unknown) => {
          if (!(error instanceof DatabaseUnavailable)) parts.log.error({ err: error }, failed)
          if (!response.headersSent) ordinary.answer()
        })
      return true
    }
    if (!admission.admitted) return false
    send(admission.remaining)
    return true

    function send(remaining: number): void {
      const requestId = randomUUID()
      const text = JSON.stringify(body)
      const head = heads[remaining] ?? []
      const length = String(Buffer.byteLength(text))
      response.writeHead(endpoint.status, head.concat('Request-Id', requestId, 'Content-Length', length))
      response.end(text)
      const { name, status, path: route } = endpoint
      const tookMs = performance.now() - began
      const ms = Math.round(tookMs * 10) / 10
      count(tookMs / 1000)
      parts.calls.note(
        { tenant, jti, endpoint, method: 'GET', url, requestId, network, at: now },
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
  }

  return (request, response, ordinary) => {
    try {
      return answerTo(request, response, ordinary)
    } catch (error) {
      // What is wrong with a request the ordinary way says. Nobody stands behind this one: a mistake of ours, thrown on,
      // would end the process.
      if (!(error instanceof Problem)) parts.log.error({ err: error }, failed)
      return response.headersSent
    }
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

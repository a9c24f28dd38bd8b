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
import { answerHeaders, expiryHeaders, limitHeaders } from './answer-headers.ts'
import { hasScope } from './caller-rights.ts'
import { keptPartsMax, queryReader, type ReadQuery } from './query-parameters.ts'

/**
 * Takes a read that may be answered from memory, before the framework sees it. A read is answered from memory when the
 * token and the quotes of the brokerage are cached and current; the answer is then the same as the regular handler's.
 * Every other read (rejected, unusual or not cached) goes to the regular handler unchanged.
 *
 * @returns false when the request is no such read
 */
export type AnswerFromMemory = (
  request: IncomingMessage,
  response: ServerResponse,
  regular: RegularHandler,
) => boolean

/** The regular handler, for one request. */
export interface RegularHandler {
  /** Reports that the request is in flight: its answer does not come at once. */
  begun(): void
  answer(): void
}

/** A read that waits until all reads that arrived at the same moment are collected. */
interface Waiting {
  readonly read: Read
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly regular: RegularHandler
  readonly began: number
}

/** A complete answer, except for the rate-limit headers. */
interface Answer extends Waiting {
  readonly text: string
  readonly now: number
  readonly network: string
  readonly tenant: TenantId
  readonly claims: TokenClaims
  readonly span: ReturnType<Parts['traces']['begin']>
}

/** Answers are prepared in batches of this many, and sent after each batch: a read waits for at most 63 others. */
const batchMax = 64

interface Surroundings {
  readonly isProxy: (address: string) => boolean
  /** True while the service stops: the regular handler then closes connections after their answers. */
  readonly isLeaving: () => boolean
  readonly standardHeaders: Readonly<Record<string, string>>
}

/** An endpoint that can be answered from memory. */
interface Read {
  readonly endpoint: Endpoint
  readonly fromMemory: NonNullable<ServedEndpoint['fromMemory']>
  readonly readQuery: ReadQuery
  /** Counts an answer, with its duration in seconds. */
  readonly count: (seconds: number) => void
  /** The constant response headers, indexed by the number of requests that the limit has left. */
  readonly heads: readonly string[][]
}

const failed = 'an answer from memory failed'

/** Headers that change the answer, or that two parties could read differently. */
const unusualHeaders = ['content-length', 'transfer-encoding', 'expect', 'prefer', 'upgrade'] as const

export function answerFromMemory(
  served: readonly ServedEndpoint[],
  parts: Parts,
  callers: Callers,
  surroundings: Surroundings,
): AnswerFromMemory {
  const reads = readsByPath(served, parts, surroundings.standardHeaders)
  const answers = new MemoryAnswers(parts, callers, surroundings)
  return (request, response, regular) => {
    const { url = '', method } = request
    const queryAt = url.indexOf('?')
    const read = queryAt === -1 || method !== 'GET' ? undefined : reads.get(url.slice(0, queryAt))
    if (read === undefined) return false
    answers.add({ read, request, response, regular, began: performance.now() })
    return true
  }
}

function readsByPath(
  served: readonly ServedEndpoint[],
  parts: Parts,
  standardHeaders: Readonly<Record<string, string>>,
): ReadonlyMap<string, Read> {
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
      ...standardHeaders,
      ...limitHeaders({ remaining, retryAfterMs: 0 }),
      ...answerHeaders(endpoint),
    })
    reads.set(endpoint.path, {
      endpoint,
      fromMemory,
      readQuery: queryReader(endpoint.query, keptPartsMax),
      count: parts.metrics.fromMemory(endpoint),
      heads: Array.from({ length: tenantRequestsPerWindowMax }, (_, remaining) =>
        Object.entries(headers(remaining)).flat(),
      ),
    })
  }
  return reads
}

/** Answers the reads that arrive in one turn of the event loop together: first all are prepared, then all are sent. */
class MemoryAnswers {
  readonly #parts: Parts
  readonly #callers: Callers
  readonly #surroundings: Surroundings
  #waiting: Waiting[] = []

  constructor(parts: Parts, callers: Callers, surroundings: Surroundings) {
    this.#parts = parts
    this.#callers = callers
    this.#surroundings = surroundings
  }

  add(waiting: Waiting): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#answerAll())
    this.#waiting.push(waiting)
  }

  #answerAll(): void {
    const all = this.#waiting
    this.#waiting = []
    for (let from = 0; from < all.length; from += batchMax) {
      const batch = all.slice(from, from + batchMax)
      const answers = batch.map((waiting) => this.#attempt(() => this.#prepare(waiting)))
      const left = batch.filter((_, at) => {
        const answer = answers[at] ?? null
        return answer === null || this.#attempt(() => this.#admit(answer)) !== true
      })
      for (const { regular, response } of left) {
        if (response.headersSent) continue
        regular.begun()
        regular.answer()
      }
    }
  }

  /**
   * Runs a step; null when it fails. A Problem is left to the regular handler, which answers it. There is no error handler
   * above this one: an uncaught error would end the process.
   */
  #attempt<Result>(step: () => Result): Result | null {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof Problem)) this.#parts.log.error({ err: error }, failed)
      return null
    }
  }

  /** The answer; null when the read is for the regular handler. */
  #prepare(waiting: Waiting): Answer | null {
    const { read, request } = waiting
    const { isProxy, isLeaving } = this.#surroundings
    if (!isUsual(request) || isLeaving()) return null
    const span = this.#parts.traces.begin(request.headers)
    const now = this.#parts.clock()
    const network = callerNetwork(callerAddress(request, isProxy))
    const known = this.#callers.serviceFromMemory(request.headers.authorization, now, network)
    if (known === null) return null
    const ignored: string[] = []
    const { caller, claims } = known
    if (!hasScope(read.endpoint, caller)) return null
    const query = read.readQuery(request.url ?? '', ignored)
    if (ignored.length > 0) return null
    const body = read.fromMemory({ caller, query, now } as never, this.#parts)
    if (body === null) return null
    return { ...waiting, text: JSON.stringify(body), now, network, tenant: caller.tenant, claims, span }
  }

  /**
   * Counts the read against the limit of its tenant, and sends the answer. This is the last step, because an admitted read
   * must be answered. False when the read is for the regular handler.
   */
  #admit(answer: Answer): boolean {
    const { tenant, regular, response } = answer
    const { tenantLimit, log } = this.#parts
    const admission = tenantLimit.admitNow(tenant)
    if (admission !== null) {
      if (admission.admitted) this.#send(answer, admission.remaining)
      return admission.admitted
    }
    regular.begun()
    withDeadline(new RequestDeadline(), () => tenantLimit.admit(tenant))
      .then(({ admitted, remaining }) => (admitted ? this.#send(answer, remaining) : regular.answer()))
      .catch((error: unknown) => {
        if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, failed)
        if (!response.headersSent) regular.answer()
      })
    return true
  }

  #send(answer: Answer, remaining: number): void {
    const { read, response, text, now, claims } = answer
    const requestId = randomUUID()
    const head = read.heads[remaining] ?? []
    const length = String(Buffer.byteLength(text))
    const expiry = Object.entries(expiryHeaders(claims, now)).flat()
    response.writeHead(
      read.endpoint.status,
      head.concat('Request-Id', requestId, 'Content-Length', length, expiry),
    )
    response.end(text)
    this.#record(answer, requestId)
  }

  /** Records the answer in the metrics, the call log, the service log and the trace. */
  #record({ read, request, began, now, network, tenant, claims, span }: Answer, requestId: string): void {
    const { calls, log } = this.#parts
    const { endpoint } = read
    const { name, status, path: route } = endpoint
    const tookMs = performance.now() - began
    const ms = Math.round(tookMs * 10) / 10
    const method = 'GET'
    read.count(tookMs / 1000)
    const url = request.url ?? ''
    calls.note(
      { tenant, jti: claims.jti, endpoint, method, url, requestId, network, at: now },
      { status, ms, answered: true },
    )
    const line = { request_id: requestId, tenant_id: tenant, method, route, status, ms, network }
    log.info(span === null ? line : { ...line, trace_id: span.traceId }, 'request')
    span?.end({ endpoint: name, method, route, status, requestId, tenant, problem: null, fromMemory: true })
  }
}

/** True for a plain HTTP/1.1 request with one of each header, from a caller that reads its answers. */
function isUsual(request: IncomingMessage): boolean {
  const { headers, rawHeaders } = request
  if (request.httpVersion !== '1.1' || headers.host === undefined || headers.authorization === undefined)
    return false
  for (const name of unusualHeaders) if (headers[name] !== undefined) return false
  // Fewer names than header lines: a header was sent twice.
  if (Object.keys(headers).length * 2 !== rawHeaders.length) return false
  // Slow readers fall back to the regular handler, which has a time-out for them.
  const { socket } = request
  return (
    Buffer.byteLength(request.url ?? '') <= uriBytesMax && !socket.destroyed && socket.writableLength === 0
  )
}

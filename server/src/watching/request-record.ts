import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Problem, ProblemCode } from '#contract/errors.ts'
import type { OpenCall, TokenOwner } from '../audit/index.ts'
import { databaseFailure } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { callerNetwork } from '../security/index.ts'
import { cutToBytes } from './service-log.ts'
import type { Metrics, RequestSpan, Traces } from './watching.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before the first hook; undefined for input that the framework refuses before it makes a request. */
    record: RequestRecord | null | undefined
  }
  interface FastifyContextConfig {
    /** The name of the endpoint in the contract, if the route serves one. */
    endpoint?: string
    /** True if the endpoint changes nothing. */
    isRead?: boolean
    /** True when the body is a file, which may take longer to arrive. */
    isUpload?: boolean
  }
}

/** The known facts about a request so far, for its log line, metrics and span. */
export interface RequestRecord {
  readonly span: RequestSpan | null
  /** The caller's network: an IPv4 address or an IPv6 /64. */
  readonly network: string
  /** The owner of the token, after its signature was verified. */
  signer: TokenOwner | null
  /** The entry of the call log, for a call to the integration API with a verified token. */
  call: OpenCall | null
  problem: ProblemCode | null
}

/** The status of a request whose caller disconnected before the answer. It comes from nginx; HTTP has none. */
const goneStatus = 499

/** The detail of a readiness check lists all missing migrations. */
const detailBytesMax = 180

/** Records every request that reaches the framework: one log line per request, metrics and a span. */
export function recordRequests(
  app: FastifyInstance,
  { log, metrics, traces }: { log: Log; metrics: Metrics; traces: Traces },
): void {
  app.decorateRequest('record', null)
  app.addHook('onRequest', (request, _reply, done) => {
    request.record = {
      span: traces.begin(request.headers),
      network: callerNetwork(request.ip),
      signer: null,
      call: null,
      problem: null,
    }
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { method, id: requestId } = request
    const { span = null, signer = null, problem = null, network } = request.record ?? {}
    const tenant = signer?.tenant ?? null
    const route = request.routeOptions.url ?? null
    const endpoint = endpointOf(request)
    const status = reply.raw.headersSent ? reply.statusCode : goneStatus
    const tookMs = reply.elapsedTime
    metrics.answered({ endpoint, method, status, seconds: tookMs / 1000 })
    span?.end({ endpoint, method, route, status, requestId, tenant, problem })
    const ms = Math.round(tookMs * 10) / 10
    const line = { request_id: requestId, tenant_id: tenant, method, route, status, ms, network }
    log.info(span === null ? line : { ...line, trace_id: span.traceId }, 'request')
    done()
  })
}

/** Records why a request was refused, with a log line. */
export function recordProblem(
  request: FastifyRequest,
  why: Problem,
  { log, metrics }: { log: Log; metrics: Metrics },
): void {
  if (request.record) request.record.problem = why.code
  metrics.refused(why.code)
  const about = { request_id: request.id, tenant_id: request.record?.signer?.tenant ?? null, code: why.code }
  const failure = databaseFailure(why.cause)
  // A warning only, because the database works and other brokerages are served.
  if (failure === 'brokerage-busy' || failure === 'brokerage-moving') log.warn(about, failure)
  else if (failure === 'process-unavailable') log.warn({ ...about, err: why.cause }, failure)
  // A readiness check that fails has no cause: its detail is the reason.
  else if (why.code === 'unavailable' && why.cause === undefined)
    log.error({ ...about, detail: cutToBytes(why.message, detailBytesMax) }, why.code)
  else if (why.status >= 500) log.error({ ...about, err: why.cause }, why.code)
  else log.info(about, 'refused')
}

/** The endpoint label of a request. The set of labels is fixed, so unknown paths add none. */
export function endpointOf({ routeOptions }: FastifyRequest): string {
  const { config, url } = routeOptions
  if (config?.endpoint !== undefined) return config.endpoint
  if (url === undefined) return 'none'
  const [first = ''] = url.split('/').slice(1)
  switch (first) {
    case 'healthz':
    case 'readyz':
    case 'problems':
    case 'docs':
      return first
    case 'openapi.json':
      return 'openapi'
    default:
      return 'page'
  }
}

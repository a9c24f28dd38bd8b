import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Problem, ProblemCode } from '#contract/errors.ts'
import type { TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { callerNetwork } from '../security/index.ts'
import type { Metrics, RequestSpan, Traces } from './watching.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before the first hook; undefined for what the framework refuses before it makes a whole request. */
    record: RequestRecord | null | undefined
  }
  interface FastifyContextConfig {
    /** The name of the endpoint in the contract, where a route serves one. */
    endpoint?: string
    /** A body that may take as long as a file does. */
    isUpload?: boolean
  }
}

/** What is known of a request so far, for the line in the log, the counts and the span that it ends with. */
export interface RequestRecord {
  readonly span: RequestSpan | null
  /** Whose token it came with, once its signature has held. */
  tenant: TenantId | null
  problem: ProblemCode | null
}

/** A caller who went away before the answer: nginx's word for it, for HTTP has none. */
const goneStatus = 499

/** Records every request that reaches the framework, from its first hook to its answer: one line in the log each. */
export function recordRequests(
  app: FastifyInstance,
  { log, metrics, traces }: { log: Log; metrics: Metrics; traces: Traces },
): void {
  app.decorateRequest('record', null)
  app.addHook('onRequest', async (request) => {
    request.record = { span: traces.begin(request.headers), tenant: null, problem: null }
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, id: requestId } = request
    const { span = null, tenant = null, problem = null } = request.record ?? {}
    const route = request.routeOptions.url ?? null
    const endpoint = endpointOf(request)
    const status = reply.raw.headersSent ? reply.statusCode : goneStatus
    metrics.answered({ endpoint, method, status, seconds: reply.elapsedTime / 1000 })
    span?.end({ endpoint, method, route, status, requestId, tenant, problem, fromMemory: false })
    log.info(
      {
        request_id: requestId,
        tenant_id: tenant,
        method,
        route,
        status,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        network: callerNetwork(request.ip),
        ...(span === null ? {} : { trace_id: span.traceId }),
      },
      'request',
    )
  })
}

/** Notes why a request is refused, wherever that was found out, with a line in the log that says so. */
export function recordProblem(
  request: FastifyRequest,
  why: Problem,
  { log, metrics }: { log: Log; metrics: Metrics },
): void {
  if (request.record) request.record.problem = why.code
  metrics.refused(why.code)
  const about = { request_id: request.id, tenant_id: request.record?.tenant ?? null, code: why.code }
  if (why.status >= 500) log.error({ ...about, err: why.cause }, why.code)
  else log.info(about, 'refused')
}

/** A name of the contract, or of what is served beside it: as many as there are, whatever is asked for. */
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

import { AsyncLocalStorage } from 'node:async_hooks'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { samplers } from '../configuration/index.ts'
import { type Log, version } from '../runtime/index.ts'
import type { RequestSpan, Traces } from './watching.ts'

export interface ServiceTraces extends Traces {
  /** Sends the remaining spans, within a time limit. */
  stop(): Promise<void>
}

/** A request in progress or ended. Timers that it started have this context. */
interface Begun {
  readonly context: Context
  ended: boolean
}

/** The maximum time that an unreachable collector may delay a stop. */
const stopMsMax = 2_000
/** The interval between log lines about a failing collector, which fails with every batch. */
const saidEveryMs = 60_000

/**
 * Traces, configured by the environment variables of OpenTelemetry and sent by OTLP over HTTP. Loaded only when traces
 * are configured. A span has selected attributes only: never a query string, a header, a body or an SQL statement.
 */
export function serviceTraces(
  variables: Readonly<Record<string, string>>,
  { log, monotonic }: { log: Log; monotonic: () => number },
): ServiceTraces {
  let saidAt = Number.NEGATIVE_INFINITY
  setGlobalErrorHandler((error) => {
    if (monotonic() - saidAt < saidEveryMs) return
    saidAt = monotonic()
    const reason =
      error instanceof Error ? error.message : String((error as { message?: unknown }).message ?? '')
    log.warn({ reason: reason.slice(0, 200) }, 'traces could not be sent')
  })
  const number = (name: string) => {
    const value = Number(variables[name] ?? Number.NaN)
    return Number.isInteger(value) && value > 0 ? value : undefined
  }
  const options = {
    maxQueueSize: number('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    scheduledDelayMillis: number('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: number('OTEL_BSP_EXPORT_TIMEOUT'),
  }
  const provider = new TracerProvider({
    sampler: samplerOf(variables),
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': 'lanewise',
          'service.version': version,
          'service.instance.id': `${hostname()}-${process.pid}`,
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...given(options) })],
  })
  const tracer = provider.getTracer('lanewise', version)
  const current = new AsyncLocalStorage<Begun>()
  const begun = new WeakMap<RequestSpan, Begun>()

  return {
    begin(headers) {
      const { traceparent } = headers
      // The tracestate of the caller is dropped, because it is arbitrary text that would be forwarded to other
      // services.
      const caller = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null
      const parent =
        caller === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true })
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, parent)
      const state: Begun = { context: trace.setSpan(ROOT_CONTEXT, span), ended: false }
      const mine: RequestSpan = {
        traceId: span.spanContext().traceId,
        end(answer) {
          state.ended = true
          endRequest(span, answer)
        },
      }
      begun.set(mine, state)
      return mine
    },
    within(span, work) {
      const request = span === null ? undefined : begun.get(span)
      return request === undefined ? work() : current.run(request, work)
    },
    transaction(kind) {
      const request = current.getStore()
      // Background work after the answer, such as polling for changes, belongs to no trace.
      if (request === undefined || request.ended) return () => {}
      const span = tracer.startSpan(`database ${kind}`, { kind: SpanKind.CLIENT }, request.context)
      span.setAttributes({ 'db.system.name': 'postgresql', 'lanewise.transaction': kind })
      return (failure) => {
        if (failure !== null) {
          span.setAttribute('error.type', failure)
          span.setStatus({ code: SpanStatusCode.ERROR })
        }
        span.end()
      }
    },
    async stop() {
      await Promise.race([provider.shutdown().catch(() => {}), delay(stopMsMax, undefined, { ref: false })])
    },
  }
}

function endRequest(span: Span, answer: Parameters<RequestSpan['end']>[0]): void {
  const { endpoint, method, route, status, requestId, tenant, problem } = answer
  span.updateName(endpoint)
  span.setAttributes({
    'http.request.method': method,
    'http.response.status_code': status,
    'lanewise.endpoint': endpoint,
    'lanewise.request_id': requestId,
    ...(route === null ? {} : { 'http.route': route }),
    ...(tenant === null ? {} : { 'lanewise.tenant_id': tenant }),
    ...(problem === null ? {} : { 'lanewise.problem': problem }),
  })
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

function samplerOf(variables: Readonly<Record<string, string>>): Sampler {
  const share = new TraceIdRatioBasedSampler(Number(variables.OTEL_TRACES_SAMPLER_ARG ?? 1))
  const name = (variables.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on') as (typeof samplers)[number]
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return share
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: share })
  }
}

/** Drops undefined options, so that the library's defaults apply. */
function given<T extends Record<string, number | undefined>>(options: T): Record<string, number> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  )
}

import type { ProblemCode } from '#contract/errors.ts'
import type { TenantId, TransactionWatch } from '../database/session/index.ts'
import type { TenantLimit } from '../limits/index.ts'
import type { RateLimit } from '../security/index.ts'

/** Metrics of the service. No label contains a tenant, a person or an address. */
export interface Metrics {
  /** Counts an answered request. `seconds` is null when its start is unknown. */
  answered(request: { endpoint: string; method: string; status: number; seconds: number | null }): void
  refused(code: ProblemCode): void
  /** Wraps a limit, to count what it admits and refuses. */
  counting(name: 'signature-check' | 'event-test', limit: RateLimit): RateLimit
  countingTenants(limit: TenantLimit): TenantLimit
  readonly transaction: TransactionWatch
}

/** The result of a request, for its span. */
export interface AnsweredRequest {
  readonly endpoint: string
  readonly method: string
  readonly route: string | null
  readonly status: number
  readonly requestId: string
  readonly tenant: TenantId | null
  readonly problem: ProblemCode | null
}

/** The span of a request in progress. */
export interface RequestSpan {
  readonly traceId: string
  end(answer: AnsweredRequest): void
}

/** Sends spans to a collector. A span has selected attributes only, like the log. */
export interface Traces {
  /** Begins the span of a request, in the trace that its headers name; null when traces are off. */
  begin(headers: Readonly<Record<string, string | string[] | undefined>>): RequestSpan | null
  /** Runs work as part of a request: its transactions become spans of the request's trace. */
  within<T>(span: RequestSpan | null, work: () => T): T
  readonly transaction: TransactionWatch
}

import type { Endpoint } from '#contract/endpoint.ts'
import type { ProblemCode } from '#contract/errors.ts'
import type { TenantId, TransactionWatch } from '../database/session/index.ts'
import type { TenantLimit } from '../limits/index.ts'
import type { RateLimit } from '../security/index.ts'

/** Counts what the service does, for those who watch it. No count names a tenant, a person or an address. */
export interface Metrics {
  /** A request that was answered, but those from memory; without seconds where nobody knows when it began. */
  answered(request: { endpoint: string; method: string; status: number; seconds: number | null }): void
  /** What to tell of each answer that an endpoint gives from memory. Made once, for it is told in a hurry. */
  fromMemory(endpoint: Endpoint): (seconds: number) => void
  refused(code: ProblemCode): void
  /** The same limit, counting what it admits and refuses. */
  counting(name: 'signature-check', limit: RateLimit): RateLimit
  countingTenants(limit: TenantLimit): TenantLimit
  readonly transaction: TransactionWatch
}

/** What became of a request, for its span. */
export interface AnsweredRequest {
  readonly endpoint: string
  readonly method: string
  readonly route: string | null
  readonly status: number
  readonly requestId: string
  readonly tenant: TenantId | null
  readonly problem: ProblemCode | null
  readonly fromMemory: boolean
}

/** The span of a request that is under way. */
export interface RequestSpan {
  readonly traceId: string
  end(answer: AnsweredRequest): void
}

/** Tells a collector of traces what takes how long. Chosen fields only, as in the log. */
export interface Traces {
  /** Begins the span of a request, in the trace that its headers name; null where nobody asked for traces. */
  begin(headers: Readonly<Record<string, string | string[] | undefined>>): RequestSpan | null
  /** Runs work as a part of a request: what it asks of the database is in the request's trace. */
  within<T>(span: RequestSpan | null, work: () => T): T
  readonly transaction: TransactionWatch
}

import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf, Role } from '#contract/endpoint.ts'
import type { Problem, ProblemCode } from '#contract/errors.ts'
import type { BacktestResult, TooFewQuotes } from '#engine/backtest/backtest.ts'
import type { Books } from '../book/books.ts'
import type { BrokerageBook } from '../book/brokerage-book.ts'
import type { Config } from '../configuration/config.ts'
import type { Database, TenantId } from '../database/session/open-database.ts'
import type { Replica, StaleReads } from '../database/session/replica.ts'
import type { TransactionWatch } from '../database/session/transaction-watch.ts'
import type { RateLimit } from '../security/rate-limit.ts'
import type { SecretKeys } from '../security/sealed-secret.ts'
import type { SignInAttempts } from '../security/sign-in-back-off.ts'
import type { SignUps } from '../security/sign-up-limit.ts'
import type { Tokens } from '../security/token.ts'
import type { TenantLimit } from '../limits/tenant-limit.ts'
import type { TenantMemory } from '../cache/tenant-memory.ts'

/** What the program is made of. Handed to every endpoint, so that nothing is reached for. */
export interface Parts {
  readonly config: Config
  readonly database: Database
  /** For long reads that may be some seconds old; the database itself where there is no replica. */
  readonly staleReads: StaleReads
  /** Null where there is none. */
  readonly replica: Replica | null
  readonly tokens: Tokens
  readonly secretKeys: SecretKeys
  /** The names of the migrations that this version was written for. */
  readonly migrations: readonly string[]
  readonly signInAttempts: SignInAttempts
  readonly signUps: SignUps
  readonly imports: ImportRunner
  readonly backtests: BacktestRunner
  readonly books: Books<BrokerageBook>
  readonly memory: TenantMemory
  /** The interface's limit, over all integration endpoints and instances. */
  readonly tenantLimit: TenantLimit
  readonly signatureCheckLimit: RateLimit
  readonly calls: CallLog
  readonly refusals: Refusals
  /** Epoch milliseconds. */
  readonly clock: () => number
  /** Milliseconds that never jump. */
  readonly monotonic: () => number
  readonly log: Log
  readonly metrics: Metrics
  readonly traces: Traces
}

/** A structured log: chosen fields only, never a whole request. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

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

/** Runs imports and undos after their request was answered, and lets them finish or stop when the service drains. */
export interface ImportRunner {
  /**
   * Sets memory apart for a file of a brokerage before it is read, and answers the number of the place to give back;
   * `busy` while another file of the same brokerage is being read, `full` while the files held leave too little memory.
   */
  reserve(tenant: TenantId, bytes: number): number | 'busy' | 'full'
  /** Gives a place back; once more does no harm. */
  release(place: number): void
  /** Imports a file, held as it was sent, in pieces. */
  start(
    tenant: TenantId,
    importId: number,
    file: readonly Uint8Array[],
    options: { map: string | undefined; dryRun: boolean },
  ): void
  /** Goes on with the undo of an import that is `undoing`. */
  startUndo(tenant: TenantId, importId: number): void
  drain(): Promise<void>
}

/** A tenant's backtest: on its way, or found. `current` is false when quotes have changed since `asOf`. */
export type BacktestState =
  | { readonly status: 'running'; readonly progress: number }
  | {
      readonly status: 'done'
      readonly asOf: number
      readonly current: boolean
      readonly result: BacktestResult | TooFewQuotes
    }

/** Walks a tenant's own quotes behind the requests that ask for it, and ends what is on its way when the service drains. */
export interface BacktestRunner {
  /** What there is; starts the walk where there is nothing. Throws what a walk failed of. */
  look(tenant: TenantId, now: number): Promise<BacktestState>
  drain(): Promise<void>
}

/** A request whose token this service signed, whatever becomes of it. */
export interface BegunCall {
  readonly tenant: TenantId
  readonly jti: string
  readonly endpoint: Endpoint
  readonly method: string
  readonly url: string
  readonly requestId: string
  readonly network: string
  readonly at: number
}

/** Calls to the integration interface in the last 60 seconds. */
export interface LastMinuteCounts {
  readonly requests: number
  readonly refused: number
}

/** Keeps the last calls to the integration interface, behind the requests. A request is any object that stands for it. */
export interface CallLog {
  begin(request: object, call: BegunCall): void
  /** Says what a begun call asks for, as a query, where that stands in its body. */
  asks(request: object, query: string): void
  /** Notes why a begun call is refused, also inside an answer of status 200; nothing for any other call. */
  refuse(request: object, why: Problem): void
  /** `answered` is false when the caller had gone before. */
  end(request: object, answer: { status: number; ms: number; answered: boolean }): void
  /** Notes a call that was answered at once, and not refused. */
  note(call: BegunCall, answer: { status: number; ms: number; answered: boolean }): void
  lastMinute(tenant: TenantId, now: number): Promise<LastMinuteCounts>
  /** Writes down what was noted so far. */
  flush(): Promise<void>
  drain(): Promise<void>
}

/** Where a request came from, and when. */
export interface CameFrom {
  readonly network: string
  readonly requestId: string
}

/** Notes refusals in the audit logs of the brokerages they concern, behind the requests. */
export interface Refusals {
  /** Notes whose token a request came with, once its signature has held. */
  signedBy(request: object, signer: { tenant: TenantId; userId: number; jti: string }): void
  /** Counts a refusal that the audit log has a kind for; nothing for a request of which nobody knows whose it is. */
  refuse(request: object, why: Problem, from: CameFrom): void
  /** A sign-in of somebody who is known, with a password that does not fit. */
  signInFailed(tenant: TenantId, userId: number, doing: CameFrom & { readonly now: number }): void
  /** An attempt on an account, known or not, that was not looked at because too many before it failed. */
  backedOff(account: string, doing: CameFrom & { readonly now: number }): void
  /** Resolves when all that is due has been written. */
  settle(): Promise<void>
  drain(): Promise<void>
}

export interface PersonCaller {
  readonly kind: 'dashboard'
  readonly tenant: TenantId
  readonly userId: number
  readonly role: Role
  readonly sessionId: string
  readonly sessionExpiresAt: Date
  /** When the token they called with ends: with the session, or before it. Epoch seconds. */
  readonly tokenExpiresAtSeconds: number
}

export interface ServiceCaller {
  readonly kind: 'service'
  readonly tenant: TenantId
  readonly userId: number
  readonly tokenId: number
}

export interface AnonymousCaller {
  readonly kind: 'anyone'
}

type CallerOf<E extends Endpoint> = E['who'] extends { kind: 'dashboard' }
  ? PersonCaller
  : E['who'] extends { kind: 'service' }
    ? ServiceCaller
    : AnonymousCaller

/** The signature of a signed write, verified: its second, and the digest that knows the same request again. */
export interface Signed {
  readonly timestampSeconds: number
  readonly requestDigest: Buffer
}

export interface Call<E extends Endpoint> {
  readonly caller: CallerOf<E>
  readonly params: ParamsOf<E>
  readonly query: QueryOf<E>
  /** A file comes as it was sent, in pieces. */
  readonly body: E['bodyKind'] extends 'csv' ? readonly Buffer[] : BodyOf<E>
  readonly signed: E['who'] extends { signed: true } ? Signed : undefined
  /** When the request arrived, epoch milliseconds. */
  readonly now: number
  /** The caller's network: an IPv4 address or an IPv6 /64. */
  readonly network: string
  readonly requestId: string
}

/** Whose records a read is of, and when it was asked for. */
export interface AskedBy {
  readonly caller: Pick<PersonCaller | ServiceCaller, 'tenant'>
  readonly now: number
}

/** What a read needs to know of a call, whoever may call it: one code for machines and for people. */
export type ReadCall<E extends Endpoint> = Pick<Call<E>, 'query'> & AskedBy

/** An answer with headers or a cookie beside its body. */
export class Reply<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>
  constructor(body: Body, headers: Readonly<Record<string, string>>) {
    this.body = body
    this.headers = headers
  }
}

/** A CSV file as an answer: its name, and its text piece by piece, made while it is being sent. */
export interface CsvFile {
  readonly fileName: string
  readonly text: AsyncGenerator<string, void>
}

type AnsweredBy<E extends Endpoint> = E['answerKind'] extends 'csv'
  ? CsvFile
  : AnswerOf<E> | Reply<AnswerOf<E>>

/** An endpoint's code: parse, fetch, decide, store, answer. */
export type Handler<E extends Endpoint> = (call: Call<E>, parts: Parts) => Promise<AnsweredBy<E>>

/** The answer of a read where all that it needs is remembered, at once; null where the database must be asked. */
export type FromMemory<E extends Endpoint> = (call: ReadCall<E>, parts: Parts) => AnswerOf<E> | null

/** A request whose caller is known and whose body has not been read. */
export interface Arriving<E extends Endpoint> {
  readonly caller: CallerOf<E>
  /** How long the body says that it is; where it does not say, how long it may be. */
  readonly bytes: number
  readonly now: number
}

/**
 * What is settled before the body of a request is read; it throws what the request is refused with. Its answer ends what
 * was begun for the request, and is called when the request has ended, however that is; once more does no harm.
 */
export type BeforeBody<E extends Endpoint> = (arriving: Arriving<E>, parts: Parts) => Promise<() => void>

export interface ServedEndpoint {
  readonly endpoint: Endpoint
  readonly beforeBody?: (arriving: never, parts: Parts) => Promise<() => void>
  readonly handler: (call: never, parts: Parts) => Promise<unknown>
  readonly fromMemory?: (call: never, parts: Parts) => unknown
}

/** Ties an endpoint's contract to its code. */
export function serve<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E>,
  { fromMemory, beforeBody }: { fromMemory?: FromMemory<E>; beforeBody?: BeforeBody<E> } = {},
): ServedEndpoint {
  return {
    endpoint,
    handler: handler as ServedEndpoint['handler'],
    ...(fromMemory === undefined
      ? {}
      : { fromMemory: fromMemory as NonNullable<ServedEndpoint['fromMemory']> }),
    ...(beforeBody === undefined
      ? {}
      : { beforeBody: beforeBody as NonNullable<ServedEndpoint['beforeBody']> }),
  }
}

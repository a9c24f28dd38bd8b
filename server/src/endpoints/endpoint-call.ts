import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from '#contract/endpoint.ts'
import type { AnonymousCaller, PersonCaller, ServiceCaller } from '../access/index.ts'
import type { Parts } from './parts.ts'

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

import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from '#contract/endpoint.ts'
import type { AnonymousCaller, PersonCaller, ServiceCaller } from '../access/index.ts'
import type { Parts } from './parts.ts'

type CallerOf<E extends Endpoint> = E['who'] extends { kind: 'dashboard' }
  ? PersonCaller
  : E['who'] extends { kind: 'service' }
    ? ServiceCaller
    : AnonymousCaller

/** A verified signature: its time, and a digest that identifies a repeated request. */
export interface Signed {
  readonly timestampSeconds: number
  readonly requestDigest: Buffer
}

export interface Call<E extends Endpoint> {
  readonly caller: CallerOf<E>
  readonly params: ParamsOf<E>
  readonly query: QueryOf<E>
  /** The parsed JSON; a CSV endpoint gets the received bytes, in pieces. */
  readonly body: E['bodyKind'] extends 'csv' ? readonly Buffer[] : BodyOf<E>
  readonly signed: E['who'] extends { signed: true } ? Signed : undefined
  /** Aborted when the caller of an upload hangs up. */
  readonly gone: E['bodyKind'] extends 'csv' ? AbortSignal : undefined
  /** When the request arrived, epoch milliseconds. */
  readonly now: number
  /** The caller's network: an IPv4 address or an IPv6 /64. */
  readonly network: string
  readonly requestId: string
}

/** The brokerage whose data a read returns, and the time of the read. */
export interface AskedBy {
  readonly caller: Pick<PersonCaller | ServiceCaller, 'tenant'>
  readonly now: number
}

/** The part of a call that a read needs. Reads serve both people and machines with the same code. */
export type ReadCall<E extends Endpoint> = Pick<Call<E>, 'query'> & AskedBy

/** An answer with additional headers, such as a cookie, and a remark for the log of calls. */
export class Reply<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>
  readonly remark: string | null
  constructor(body: Body, headers: Readonly<Record<string, string>>, remark: string | null = null) {
    this.body = body
    this.headers = headers
    this.remark = remark
  }
}

/** A CSV file as an answer: its name, and its text in pieces that are made while the file is sent. */
export interface CsvFile {
  readonly fileName: string
  readonly text: AsyncGenerator<string, void>
}

type AnsweredBy<E extends Endpoint> = E['answerKind'] extends 'csv'
  ? CsvFile
  : AnswerOf<E> | Reply<AnswerOf<E>>

/** An endpoint's code: parse, fetch, decide, save, answer. */
export type Handler<E extends Endpoint> = (call: Call<E>, parts: Parts) => Promise<AnsweredBy<E>>

/** An admitted request whose body has not been read yet. */
export interface Arriving<E extends Endpoint> {
  readonly caller: CallerOf<E>
  /** The declared length of the body; 0 when none is declared. */
  readonly bytes: number
  readonly now: number
}

/**
 * Runs before the body of a request is read. Throws to reject the request, or returns a function that releases what it reserved. The
 * service calls that function after the handler, even if the caller hung up, or when the request ends without a handler. It may call
 * it twice.
 */
export type BeforeBody<E extends Endpoint> = (arriving: Arriving<E>, parts: Parts) => Promise<Release>

/** Releases what was reserved. `take` reserves memory for further bytes of the body, and throws if there is too little. */
export type Release = (() => void) & { readonly take?: (bytes: number) => void }

export interface ServedEndpoint {
  readonly endpoint: Endpoint
  readonly beforeBody?: (arriving: never, parts: Parts) => Promise<Release>
  readonly handler: (call: never, parts: Parts) => Promise<unknown>
}

/** Ties an endpoint's contract to its code. */
export function serve<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E>,
  { beforeBody }: { beforeBody?: BeforeBody<E> } = {},
): ServedEndpoint {
  return {
    endpoint,
    handler: handler as ServedEndpoint['handler'],
    ...(beforeBody === undefined
      ? {}
      : { beforeBody: beforeBody as NonNullable<ServedEndpoint['beforeBody']> }),
  }
}

import type { allEndpoints } from '#contract/all-endpoints.ts'
import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from '#contract/endpoint.ts'

type BodySent<E extends Endpoint> = E['bodyKind'] extends 'csv' ? Blob : BodyOf<E>
type Operation = (typeof allEndpoints)[number]

/**
 * What each operation takes and answers, by its name, from the contract. The published package says the same in plain
 * types, written from the contract's schemas: see client/wire-types.ts.
 */
export type Operations = {
  readonly [E in Operation as E['name']]: {
    readonly params: ParamsOf<E>
    readonly query: QueryOf<E>
    readonly body: BodySent<E>
    readonly answer: AnswerOf<E>
  }
}

import type { allEndpoints } from '#contract/all-endpoints.ts'
import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from '#contract/endpoint.ts'

/** What may be sent for a value of the contract: an absent member may also be null or undefined, which the service takes for absent. */
type Sendable<T> = T extends readonly (infer Item)[]
  ? readonly Sendable<Item>[]
  : T extends object
    ? {
        readonly [K in keyof T]: Record<never, never> extends Pick<T, K>
          ? Sendable<T[K]> | null | undefined
          : Sendable<T[K]>
      }
    : T

type BodySent<E extends Endpoint> = E['bodyKind'] extends 'csv' ? Blob : Sendable<BodyOf<E>>
type Operation = (typeof allEndpoints)[number]

/**
 * What each operation takes and answers, by its name, from the contract. The published package says the same in plain
 * types, written from the contract's schemas: see client/wire-types.ts.
 */
export type Operations = {
  readonly [E in Operation as E['name']]: {
    readonly params: ParamsOf<E>
    readonly query: Sendable<QueryOf<E>>
    readonly body: BodySent<E>
    readonly answer: AnswerOf<E>
  }
}

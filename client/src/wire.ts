import type { allEndpoints } from '#contract/all-endpoints.ts'
import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from '#contract/endpoint.ts'
import type { EventBody } from '#contract/events.ts'

/** A value in a request: optional members may also be null or undefined, which the service treats as absent. */
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
 * The request and response types of each operation, by name, derived from the contract. The published package has the
 * same types in plain form, generated from the contract's schemas: see client/wire-types.ts.
 */
export type Operations = {
  readonly [E in Operation as E['name']]: {
    readonly params: ParamsOf<E>
    readonly query: Sendable<QueryOf<E>>
    readonly body: BodySent<E>
    readonly answer: AnswerOf<E>
  }
}

/** The body of each webhook that Lanewise sends, by its type. */
export type Webhooks = { readonly [Body in EventBody as Body['type']]: Body }

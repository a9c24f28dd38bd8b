import type { Static, TObject, TSchema } from 'typebox'
import type { ProblemCode } from './errors.ts'

export const roles = ['viewer', 'member', 'admin', 'owner'] as const
/** What a person may do in a brokerage, weakest first: each role may do all that the ones before it may. */
export type Role = (typeof roles)[number]

/** True when `role` may do what `needed` may. @example roleAtLeast('admin', 'member') // true */
export function roleAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/**
 * Who may call an endpoint.
 * - `anyone`: no credential is read.
 * - `dashboard`: the token (or cookie) of a signed-in person with at least this role.
 * - `service`: a service token; with `signed`, also the HMAC over the exact body bytes and the write scope.
 */
export type Who =
  | { readonly kind: 'anyone' }
  | { readonly kind: 'dashboard'; readonly role: Role }
  | { readonly kind: 'service'; readonly signed: boolean }

/** One operation of the API. Routes, validation, the OpenAPI document and the types all derive from it. */
export interface Endpoint<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  /** The operation's id, which is also the file name of its contract and of its code. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** The path, with `{parameters}` as OpenAPI writes them. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag:
    | 'Integration'
    | 'Credentials'
    | 'Events'
    | 'Sign-in'
    | 'People'
    | 'Quotes'
    | 'Performance'
    | 'Imports'
  readonly who: Who
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** `json` (the default) or a CSV file taken as it is. */
  readonly bodyKind?: 'json' | 'csv'
  readonly bodyBytesMax?: number
  readonly bodyKeysMax?: number
  /** A POST whose question does not fit into an address: it changes nothing. */
  readonly isRead?: boolean
  /** The list in the body whose items the endpoint checks one by one: what is wrong with one is said in its result. */
  readonly itemsOf?: string
  readonly status: 200 | 201 | 202
  readonly answer: Answer
  /** `json` (the default) or a CSV file, sent as it is made. */
  readonly answerKind?: 'json' | 'csv'
  /** For how long the caller may keep the answer; absent: not at all. */
  readonly cacheSeconds?: number
  /** The answer begins or ends the session of the browser, with a cookie. */
  readonly setsSession?: boolean
  /** Problems of its own, beside those that follow from `who`, `query` and `body`. */
  readonly problems?: readonly ProblemCode[]
  readonly examples?: {
    readonly query?: Readonly<Record<string, unknown>>
    readonly body?: unknown
    readonly answer?: unknown
  }
}

type FromObject<T> = [T] extends [TObject] ? Static<T> : Record<never, never>
type FromSchema<T> = [T] extends [TSchema] ? Static<T> : never

export type ParamsOf<E extends Endpoint> = FromObject<Exclude<E['params'], undefined>>
export type QueryOf<E extends Endpoint> = FromObject<Exclude<E['query'], undefined>>
export type BodyOf<E extends Endpoint> = FromSchema<Exclude<E['body'], undefined>>
export type AnswerOf<E extends Endpoint> = Static<E['answer']>

/** Declares an endpoint, keeping the exact types of its schemas. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration
}

/** Where agents call, in the messages of the Model Context Protocol. It is no operation of the API. */
export const agentPath = '/mcp'

/** True for what is under the interface's rate limit of ten requests a second for each tenant. */
export function underTenantLimit({ path }: Pick<Endpoint, 'path'>): boolean {
  return path.startsWith('/api/integrations/') || path === agentPath
}

import type { Static, TObject, TSchema } from 'typebox'
import type { ProblemCode } from './errors.ts'
import { bodyBytesMax } from './limits.ts'
import type { Role } from './roles.ts'
import type { Signs } from './signature.ts'
import type { TokenScope } from './token-scopes.ts'

export { type Role, roleAtLeast, roles } from './roles.ts'

/**
 * The callers that an endpoint accepts.
 * - `anyone`: no credential is read.
 * - `dashboard`: requires the token (or cookie) of a signed-in person with at least this role.
 * - `service`: requires a service token with the scope; with `signed`, also a signature, which covers what `signs` names.
 *   A signed endpoint signs its address, too: only shipment-update does not, because the interface fixes its signed text.
 */
export type Who =
  | { readonly kind: 'anyone' }
  | { readonly kind: 'dashboard'; readonly role: Role }
  | { readonly kind: 'service'; readonly signed: false; readonly scope: TokenScope }
  | {
      readonly kind: 'service'
      readonly signed: true
      readonly signs: Signs
      readonly scope: TokenScope
    }

/** One operation of the API. Routes, validation, the OpenAPI document and the types all derive from it. */
export interface Endpoint<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  /** The operation id. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** The path, with `{parameters}` in OpenAPI notation. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag:
    | 'Integration'
    | 'Credentials'
    | 'Test brokerage'
    | 'Events'
    | 'Sign-in'
    | 'People'
    | 'Quotes'
    | 'Performance'
    | 'Customers'
    | 'Market'
    | 'Rules'
    | 'Imports'
  readonly who: Who
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** `json` (the default) or `csv` for an unparsed CSV file. */
  readonly bodyKind?: 'json' | 'csv'
  readonly bodyBytesMax?: number
  /** True for a POST that changes nothing and uses POST only because its query does not fit into a URL. */
  readonly isRead?: boolean
  /** The list in the body whose items the endpoint validates one by one: each has a result of its own. */
  readonly itemsOf?: string
  readonly status: 200 | 201 | 202
  readonly answer: Answer
  /** `json` (the default) or `csv` for a streamed CSV file. */
  readonly answerKind?: 'json' | 'csv'
  /** Seconds for which the caller may cache the response. Absent: no caching. */
  readonly cacheSeconds?: number
  /** True if the response starts or ends the browser session with a cookie. */
  readonly setsSession?: boolean
  /** True if a success response may have the header `Lanewise-Update`, because the update was not applied. */
  readonly mayNotApply?: boolean
  /** Problems in addition to those that follow from `who`, `query` and `body`. */
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

/** Declares an endpoint and preserves the exact types of its schemas. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration
}

/** True for an endpoint that changes nothing. */
export function readsOnly({ method, isRead }: Pick<Endpoint, 'method' | 'isRead'>): boolean {
  return isRead ?? method === 'GET'
}

/** The signed part of an endpoint's request; null without a signature. */
export function signsOf({ who }: Pick<Endpoint, 'who'>): Signs | null {
  return who.kind === 'service' && who.signed ? who.signs : null
}

/** The maximum length of an endpoint's body, in bytes. */
export function bodyBytesMaxOf({
  body,
  bodyBytesMax: ownMax,
}: Pick<Endpoint, 'body' | 'bodyBytesMax'>): number {
  return body === undefined ? bodyBytesMax : (ownMax ?? bodyBytesMax)
}

/** The path of the Model Context Protocol server for AI agents. It is not an operation of the API. */
export const agentPath = '/mcp'

/** True for paths under the rate limit of ten requests per second and tenant. */
export function underTenantLimit({ path }: Pick<Endpoint, 'path'>): boolean {
  return path.startsWith('/api/integrations/') || path === agentPath
}

import { ClientError, type LanewiseFailure } from './failures.ts'
import { defaultPatience, type Patience } from './retry.ts'

/** The events that a hook receives. They never contain a token, a secret, a header or a body. */
export type LanewiseEvent = {
  /** The operation's name, such as `markup`. */
  readonly operation: string
  readonly method: string
  /** The path without its query. */
  readonly path: string
} & (
  | { readonly kind: 'sent'; readonly attempt: number }
  | {
      readonly kind: 'answered'
      readonly attempt: number
      readonly status: number
      readonly requestId: string | null
      /** True if the service had already received this request and returned the saved response. */
      readonly replayed: boolean
      /** Unknown names in the request, which the service ignored. */
      readonly ignored: readonly string[]
      readonly ms: number
    }
  | { readonly kind: 'remembered' }
  | {
      readonly kind: 'retrying'
      readonly attempt: number
      readonly waitMs: number
      readonly failure: LanewiseFailure
    }
  | { readonly kind: 'clock-corrected'; readonly offByMs: number }
  | { readonly kind: 'failed'; readonly failure: LanewiseFailure }
)

/** A string, or a function that returns one on demand, for a renewed token or a secret in a vault. */
export type Credential = string | (() => string | Promise<string>)

export interface LanewiseOptions {
  /** The URL of the service, such as `https://lanewise.example.com`. */
  readonly baseUrl: string
  /** A service token. Dashboard operations, such as `createServiceToken`, require the token of a dashboard sign-in. */
  readonly token?: Credential | undefined
  /** The complete signing secret, including its prefix. Only signed writes such as `shipmentUpdate` need it. */
  readonly secret?: Credential | undefined
  /** Retries and timeouts. Defaults: 4 retries, 15 s per attempt, 60 s per call. */
  readonly patience?: { readonly [Name in keyof Patience]?: Patience[Name] | undefined } | undefined
  /** Maximum number of cached responses; default 1,000. `false` disables the cache. */
  readonly cache?: { readonly entriesMax: number } | false | undefined
  /**
   * Whether a write by this client clears the cache (the default). A booking also changes the wider scopes that
   * the insight of other lanes may use. With `false`, cached responses are used until they expire.
   */
  readonly forgetAfterWrite?: boolean | undefined
  /**
   * Maximum requests per second; default 10, which is the limit of a brokerage. If several processes share a
   * brokerage, divide the limit between them. `false` disables the client-side limit, and the service may refuse
   * requests.
   */
  readonly rateLimit?: { readonly perSecond: number } | false | undefined
  /** `true` makes unknown or misspelled fields an error (`unknown-field`). Otherwise the service ignores them. */
  readonly strict?: boolean | undefined
  /** Receives all events, for logs or metrics. Errors that it throws are ignored. */
  readonly onEvent?: ((event: LanewiseEvent) => void) | undefined
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Timeout of the whole call. Overrides the client's timeout. */
  readonly timeoutMs?: number | undefined
  /** `false` always sends a request. Its response is still cached. */
  readonly cache?: boolean | undefined
  /** Whether the call is idempotent, so that it can be sent again after a lost connection. */
  readonly isRepeatable?: boolean | undefined
  /** Overrides the client's option. */
  readonly strict?: boolean | undefined
}

const wrong = (message: string) => new ClientError('invalid-configuration', message)

/** The URL of the service without a trailing slash. @throws ClientError */
export function baseOf(baseUrl: unknown): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw wrong(
      `baseUrl must be an address such as https://lanewise.example.com; it is "${String(baseUrl)}".`,
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw wrong('baseUrl must have no user, query or fragment.')
  }
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '')
}

/** Validates retries and timeouts, and adds the defaults for absent values. @throws ClientError */
export function patienceOf(
  given: LanewiseOptions['patience'],
  defaults: Patience = defaultPatience,
): Patience {
  const named = Object.entries(given ?? {}).filter(([, value]) => value !== undefined)
  for (const [name, value] of named) {
    if (typeof value !== 'number' || !(value >= 0))
      throw wrong(`${name} must be 0 or more; it is ${String(value)}.`)
  }
  return { ...defaults, ...Object.fromEntries(named) }
}

/**
 * @throws ClientError if the credential is unavailable or has an invalid form, such as a trailing line end from its
 * file
 */
export async function credentialOf(
  credential: Credential | undefined,
  name: 'token' | 'secret',
): Promise<string | undefined> {
  let value: unknown
  try {
    value = typeof credential === 'function' ? await credential() : credential
  } catch (error) {
    throw new ClientError('credential-unavailable', `The function that provides the ${name} failed.`, error)
  }
  if (value === undefined || (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value))) return value
  throw wrong(
    `The ${name} is empty, or contains a space, a line end or another character that is invalid in a ${name}.`,
  )
}

import { ClientError, type LanewiseFailure } from './failures.ts'
import { type Patience, usualPatience } from './retry.ts'

/** What a hook receives. Never a token, a secret, a header or a body. */
export type LanewiseEvent = {
  /** The operation's name, such as `markup`. */
  readonly operation: string
  readonly method: string
  /** The address without its query. */
  readonly path: string
} & (
  | { readonly kind: 'sent'; readonly attempt: number }
  | {
      readonly kind: 'answered'
      readonly attempt: number
      readonly status: number
      readonly requestId: string | null
      /** The service had received this very request before, and gave the stored answer again. */
      readonly replayed: boolean
      /** Names that were sent and that the service does not know. */
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

/** A string, or a function that returns one when it is needed: a token that is renewed, a secret from a vault. */
export type Credential = string | (() => string | Promise<string>)

export interface LanewiseOptions {
  /** Where the service is, such as `https://lanewise.example.com`. */
  readonly baseUrl: string
  /** A service token; for `createServiceToken` and everything else that people do, the token of a dashboard sign-in. */
  readonly token?: Credential | undefined
  /** The signing secret, whole, with its prefix. Only signed writes such as `shipmentUpdate` need it. */
  readonly secret?: Credential | undefined
  /** How patient calls are. Defaults: 4 retries, 15 s for an answer, 60 s in all. */
  readonly patience?: { readonly [Name in keyof Patience]?: Patience[Name] | undefined } | undefined
  /** How many answers of reads are cached; 1,000 by default, and none with `false`. */
  readonly cache?: { readonly entriesMax: number } | false | undefined
  /**
   * A write of this client makes it forget every cached answer, because the booking of one lane also changes the wider scopes
   * that other lanes are answered from; `false` keeps the answers until they expire.
   */
  readonly forgetAfterWrite?: boolean | undefined
  /**
   * How many requests this client sends in any second; 10 by default, which is the limit of a brokerage. Where several
   * processes share a brokerage, give each its part. `false` sends at once, and leaves it to the service to refuse.
   */
  readonly rateLimit?: { readonly perSecond: number } | false | undefined
  /** `true` makes an unknown or misspelled field an error (`unknown-field`); otherwise the service ignores it. */
  readonly strict?: boolean | undefined
  /** Receives everything that happens, for a log or a metric. What it throws is ignored. */
  readonly onEvent?: ((event: LanewiseEvent) => void) | undefined
  /** Another fetch than the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** How long the call may take in all, instead of the client's. */
  readonly timeoutMs?: number | undefined
  /** `false` asks the service in any case. The answer is cached all the same. */
  readonly cache?: boolean | undefined
  /** The same request twice has the effect of one, so it may be sent again after a lost connection. */
  readonly isRepeatable?: boolean | undefined
  /** Overrides the client's. */
  readonly strict?: boolean | undefined
}

const wrong = (message: string) => new ClientError('invalid-configuration', message)

/** The address of the service without a slash at its end. @throws ClientError */
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
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** The patience of a client or of one call: what is absent is as usual. @throws ClientError */
export function patienceOf(asked: LanewiseOptions['patience'], usual: Patience = usualPatience): Patience {
  const named = Object.entries(asked ?? {}).filter(([, value]) => value !== undefined)
  for (const [name, value] of named) {
    if (typeof value !== 'number' || !(value >= 0))
      throw wrong(`${name} must be 0 or more; it is ${String(value)}.`)
  }
  return { ...usual, ...Object.fromEntries(named) }
}

/** @throws ClientError when there is none to be had, or its form is impossible, such as with the line end of its file */
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
  throw wrong(`The ${name} is empty, or has a space, a line end or another character that no ${name} has.`)
}

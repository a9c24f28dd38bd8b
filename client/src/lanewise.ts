import { addressOf, goodText, receive } from './call.ts'
import { isLanewiseFailure, type LanewiseFailure, ServiceProblem } from './failures.ts'
import { type OperationFacts, operations } from './operations.ts'
import { RememberedAnswers } from './remembered.ts'
import { type Patience, usualPatience, withRetries } from './retry.ts'
import type { Answer, Body, OperationName, Query, Sent } from './sent.ts'
import { bodyBytes, signatureHeaders } from './sign.ts'

export const clientVersion = '0.1.0'

/** What a hook is told. Never a token, a secret, a header or a body. */
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

/** A text, or what gives one when it is needed: a token that is renewed, a secret from a vault. */
export type Credential = string | (() => string | Promise<string>)

export interface LanewiseOptions {
  /** Where the service is, such as `https://lanewise.example.com`. */
  readonly baseUrl: string
  /** A service token; for `createServiceToken` and everything else that people do, the token of a dashboard sign-in. */
  readonly token?: Credential
  /** The signing secret, whole, with its prefix. Only `shipmentUpdate` needs it. */
  readonly secret?: Credential
  /** How patient calls are; what is left out is as usual: 4 retries, 15 s an answer, 60 s in all. */
  readonly patience?: Partial<Patience>
  /** How many answers of reads are remembered; 1,000 when absent, and with `false` none is. */
  readonly cache?: { readonly entriesMax: number } | false
  /**
   * A write of this client makes it forget every remembered answer, for a lane's booking also moves the wider scopes that
   * other lanes are answered from; `false` keeps them until their time.
   */
  readonly forgetAfterWrite?: boolean
  /** Told of everything that happens, for a log or a metric. What it throws is ignored. */
  readonly onEvent?: (event: LanewiseEvent) => void
  /** Another fetch than the platform's. */
  readonly fetch?: typeof globalThis.fetch
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** How long the call may take in all, instead of the client's. */
  readonly timeoutMs?: number
  /** `false` asks the service in any case. The answer is remembered all the same. */
  readonly cache?: boolean
  /** The same request twice has the effect of one, so a cut connection may be answered by sending it again. */
  readonly isRepeatable?: boolean
}

/** A signature is used for all tries of an update until it is so old: a service that saw the first knows the others for the same. */
const signatureLifetimeMs = 240_000

/**
 * A client of one brokerage at one service. Make one and keep it: it remembers answers and the service's clock.
 *
 * @example
 * const lanewise = new Lanewise({ baseUrl: 'https://lanewise.example.com', token, secret })
 * const advice = await lanewise.markup({ origin: 'Dallas, TX', destination: 'Atlanta, GA', proposed_rate: 2150 })
 */
export class Lanewise {
  readonly #options: LanewiseOptions
  readonly #base: string
  readonly #patience: Patience
  readonly #remembered: RememberedAnswers
  /** How far the service's clock is ahead of this machine's, as far as it told. */
  #clockOffsetMs = 0

  constructor(options: LanewiseOptions) {
    this.#options = options
    this.#base = baseOf(options.baseUrl)
    this.#patience = { ...usualPatience, ...options.patience }
    this.#remembered = new RememberedAnswers(
      options.cache === false ? 0 : (options.cache?.entriesMax ?? 1_000),
    )
  }

  /** Win probability, suggested rate and rate band for a rate on a lane. Remembered for 5 minutes. */
  markup(query: Query<'markup'>, options?: CallOptions): Promise<Answer<'markup'>> {
    return this.call('markup', { query }, options)
  }

  /** What the brokerage's own quotes say about a lane. Remembered for 15 minutes. */
  laneInsight(query: Query<'lane-insight'>, options?: CallOptions): Promise<Answer<'lane-insight'>> {
    return this.call('lane-insight', { query }, options)
  }

  /**
   * Markup and insight for up to 1,000 lanes in one call, each with a result of its own, in order. It counts as one request of
   * the brokerage's limit for each hundred lanes, and is not remembered.
   */
  insightBatch(body: Body<'insight-batch'>, options?: CallOptions): Promise<Answer<'insight-batch'>> {
    return this.call('insight-batch', { body }, options)
  }

  /** Shipments, newest first or as asked, with the totals of the whole selection. */
  shipments(
    query: Query<'integration-shipments'> = {},
    options?: CallOptions,
  ): Promise<Answer<'integration-shipments'>> {
    return this.call('integration-shipments', { query }, options)
  }

  /**
   * Pushes booked revenue and cost for a lane. An object is serialised once, and those bytes are signed and sent; a text
   * or bytes of your own are sent as they are. Safe to repeat, and repeated for you while the trouble may pass.
   */
  shipmentUpdate(
    update: Body<'shipment-update'> | string | Uint8Array,
    options?: CallOptions,
  ): Promise<Answer<'shipment-update'>> {
    return this.call('shipment-update', { body: update as Body<'shipment-update'> }, options)
  }

  /** Makes a service token. Needs the token of an admin's or owner's sign-in; the plaintext is in this answer only. */
  createServiceToken(
    body: Body<'create-service-token'>,
    options?: CallOptions,
  ): Promise<Answer<'create-service-token'>> {
    return this.call('create-service-token', { body }, options)
  }

  listServiceTokens(options?: CallOptions): Promise<Answer<'list-service-tokens'>> {
    return this.call('list-service-tokens', {}, options)
  }

  revokeServiceToken(id: number, options?: CallOptions): Promise<Answer<'revoke-service-token'>> {
    return this.call('revoke-service-token', { params: { id } }, options)
  }

  /** Makes a signing secret. Needs the token of an admin's or owner's sign-in; the plaintext is in this answer only. */
  createSigningSecret(
    body: Body<'create-signing-secret'>,
    options?: CallOptions,
  ): Promise<Answer<'create-signing-secret'>> {
    return this.call('create-signing-secret', { body }, options)
  }

  listSigningSecrets(options?: CallOptions): Promise<Answer<'list-signing-secrets'>> {
    return this.call('list-signing-secrets', {}, options)
  }

  /** Makes the successor of a secret; the old one is accepted until the overlap ends. */
  rotateSigningSecret(
    id: number,
    body: Body<'rotate-signing-secret'> = {},
    options?: CallOptions,
  ): Promise<Answer<'rotate-signing-secret'>> {
    return this.call('rotate-signing-secret', { params: { id }, body }, options)
  }

  revokeSigningSecret(id: number, options?: CallOptions): Promise<Answer<'revoke-signing-secret'>> {
    return this.call('revoke-signing-secret', { params: { id } }, options)
  }

  /** Forgets every remembered answer, such as when the token becomes another brokerage's. */
  forget(): void {
    this.#remembered.forget()
  }

  /**
   * Calls any operation of the service by the name it has in the OpenAPI document, with its types.
   *
   * @throws LanewiseFailure: switch on its `code`
   * @example const { lanes } = await lanewise.call('list-lanes', { query: { outcome: 'pending' } })
   */
  async call<Name extends OperationName>(
    name: Name,
    sent: Sent<Name>,
    options: CallOptions = {},
  ): Promise<Answer<Name>> {
    const facts = operations[name]
    if (facts === undefined) throw new TypeError(`There is no operation ${name}.`)
    const { params, query, body } = sent as { params?: object; query?: object; body?: unknown }
    const call: Asked = {
      name,
      facts,
      address: addressOf(facts.path, params, query),
      bytes: body === undefined || body instanceof Blob ? body : bodyBytes(body),
      options,
    }
    try {
      const token = await credentialOf(this.#options.token, 'token')
      const text =
        facts.cacheSeconds > 0
          ? await this.#remember(call, token)
          : await this.#ask(call, token, options.signal)
      return (facts.answerKind === 'csv' ? text : JSON.parse(text)) as Answer<Name>
    } catch (failure) {
      if (isLanewiseFailure(failure)) this.#tell(call, { kind: 'failed', failure })
      throw failure
    } finally {
      // Also after a failure: a write without an answer may have been done.
      if (!facts.isRead && this.#options.forgetAfterWrite !== false) this.forget()
    }
  }

  #remember(call: Asked, token: string | undefined): Promise<string> {
    const { options, address, facts } = call
    // Another token may be another brokerage's: what one was answered is not for the other.
    const key = `${token}\n${address}`
    const found = options.cache === false ? undefined : this.#remembered.get(key)
    if (found !== undefined) {
      this.#tell(call, { kind: 'remembered' })
      return Promise.resolve(found)
    }
    if (this.#options.cache === false) return this.#ask(call, token, options.signal)
    return this.#remembered.share(key, facts.cacheSeconds * 1000, options.signal, (signal) =>
      this.#ask(call, token, signal),
    )
  }

  /** The text of the answer, after as many tries as patience has. */
  async #ask(call: Asked, token: string | undefined, signal: AbortSignal | undefined): Promise<string> {
    const { facts, options } = call
    const patience =
      options.timeoutMs === undefined ? this.#patience : { ...this.#patience, timeoutMs: options.timeoutMs }
    const signed = facts.isSigned ? await this.#signer(call) : null
    return withRetries(
      {
        patience,
        isRepeatable: options.isRepeatable ?? facts.isRepeatable,
        signal,
        onRetry: (failure, attempt, waitMs) =>
          this.#tell(call, { kind: 'retrying', attempt, waitMs, failure }),
      },
      async (attempt, timeoutMs) => {
        const send = async () => {
          const headers = { ...headersOf(call, token), ...(await signed?.headers()) }
          return this.#send(call, { headers, attempt, timeoutMs, signal })
        }
        try {
          return await send()
        } catch (failure) {
          if (signed === null || !this.#correctsClock(call, failure, signed)) throw failure
          return send()
        }
      },
    )
  }

  async #send(
    call: Asked,
    sent: {
      headers: Record<string, string>
      attempt: number
      timeoutMs: number
      signal?: AbortSignal | undefined
    },
  ): Promise<string> {
    const { facts, bytes } = call
    const { headers, attempt, timeoutMs, signal } = sent
    this.#tell(call, { kind: 'sent', attempt })
    const began = performance.now()
    const received = await receive({
      url: this.#base + call.address,
      init: {
        method: facts.method,
        headers,
        ...(bytes === undefined ? {} : { body: bytes }),
        // A token is for this service: no redirect carries it elsewhere, and no cookie travels beside it.
        redirect: 'manual',
        ...(isKeptByBrowser ? { credentials: 'omit', cache: 'no-store' } : {}),
      },
      timeoutMs,
      signal,
      fetch: this.#options.fetch,
    })
    this.#tell(call, {
      kind: 'answered',
      attempt,
      status: received.status,
      requestId: received.headers.get('Request-Id'),
      ms: Math.round((performance.now() - began) * 10) / 10,
    })
    return goodText(received, facts.answerKind)
  }

  /**
   * Gives the headers of a signed write. The signature stays the same for all tries, so that the service knows a repeat
   * for one; it is made anew where it has become old, or the clock was wrong.
   */
  async #signer({ bytes, name }: Asked): Promise<Signer> {
    const secret = await credentialOf(this.#options.secret, 'secret')
    if (secret === undefined || !ArrayBuffer.isView(bytes)) {
      throw new TypeError(`${name} is signed: give the client a secret, and the call a body.`)
    }
    let madeAt = 0
    let made: Record<string, string> | null = null
    let wasCorrected = false
    return {
      headers: async () => {
        if (made === null || Math.abs(Date.now() - madeAt) > signatureLifetimeMs) {
          madeAt = Date.now()
          made = await signatureHeaders(secret, Math.floor((madeAt + this.#clockOffsetMs) / 1000), bytes)
        }
        return made
      },
      correct: (serverTime) => {
        if (wasCorrected) return false
        wasCorrected = true
        made = null
        this.#clockOffsetMs = serverTime * 1000 - Date.now()
        return true
      },
    }
  }

  /** The service says what its clock reads when a signature's time is out of its window: believed once a call. */
  #correctsClock(call: Asked, failure: unknown, signed: Signer): boolean {
    if (!(failure instanceof ServiceProblem) || failure.code !== 'timestamp-out-of-window') return false
    const { server_time: serverTime } = failure.problem
    if (typeof serverTime !== 'number' || !signed.correct(serverTime)) return false
    this.#tell(call, { kind: 'clock-corrected', offByMs: this.#clockOffsetMs })
    return true
  }

  #tell({ name, facts, address }: Asked, event: EventOfItsOwn): void {
    try {
      this.#options.onEvent?.({
        operation: name,
        method: facts.method,
        path: address.replace(/\?.*$/, ''),
        ...event,
      } as LanewiseEvent)
    } catch {
      // A log that fails is no reason for a call to fail.
    }
  }
}

interface Asked {
  readonly name: string
  readonly facts: OperationFacts
  readonly address: string
  readonly bytes: Uint8Array<ArrayBuffer> | Blob | undefined
  readonly options: CallOptions
}

interface Signer {
  headers(): Promise<Record<string, string>>
  /** Signs by the service's clock from now on; false when that was done before. */
  correct(serverTimeSeconds: number): boolean
}

type WithoutCall<E> = E extends unknown ? Omit<E, 'operation' | 'method' | 'path'> : never
type EventOfItsOwn = WithoutCall<LanewiseEvent>

/** Browsers keep answers and send cookies by themselves; what this package remembers, it forgets when it must. */
const isKeptByBrowser = 'document' in globalThis

function headersOf({ bytes, facts }: Asked, token: string | undefined): Record<string, string> {
  return {
    Accept: facts.answerKind === 'csv' ? 'text/csv' : 'application/json',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(bytes === undefined
      ? {}
      : { 'Content-Type': bytes instanceof Blob ? 'text/csv' : 'application/json' }),
    ...(isKeptByBrowser ? {} : { 'User-Agent': `lanewise-client/${clientVersion}` }),
  }
}

/** @throws TypeError for what was never a credential, such as one with the line end of the file it was read from */
async function credentialOf(
  credential: Credential | undefined,
  name: 'token' | 'secret',
): Promise<string | undefined> {
  const value = typeof credential === 'function' ? await credential() : credential
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value
  throw new TypeError(`The ${name} is empty, or has a space, a line end or a sign in it that no ${name} has.`)
}

/** @throws TypeError for what is no address of a service */
function baseOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `baseUrl must be an address such as https://lanewise.example.com; it is "${baseUrl}".`,
    )
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must have no user, query or fragment.')
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

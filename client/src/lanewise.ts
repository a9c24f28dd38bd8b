import { tenantRequestsPerWindowMax, tenantWindowSeconds } from '#contract/limits.ts'
import { AnswerCache, type Progress } from './answer-cache.ts'
import { aborted, addressOf, goodText, type Received, receive } from './call.ts'
import { asFailure, ClientError, ServiceProblem } from './failures.ts'
import { RequestLimiter } from './limiter.ts'
import { type AnswerWithMeta, metaOf, type PendingAnswer, pendingAnswer } from './meta.ts'
import { type OperationFacts, operations } from './operations.ts'
import {
  baseOf,
  type CallOptions,
  credentialOf,
  type LanewiseEvent,
  type LanewiseOptions,
  patienceOf,
} from './options.ts'
import { type Patience, withRetries } from './retry.ts'
import type { Answer, Body, OperationName, Query, Sent } from './sent.ts'
import { bodyBytes, signatureHeaders } from './sign.ts'

/** The release of the service that this client belongs to. */
export const clientVersion = '1.0.0'

declare const builtFromCommit: string | undefined
/** The commit that this package was built from; `unknown` if it was not built. */
export const clientRevision = typeof builtFromCommit === 'string' ? builtFromCommit : 'unknown'

/** All attempts of an update use the same signature up to this age, so that the service recognizes them as repeats. */
const signatureLifetimeMs = 240_000

/**
 * A client for one brokerage at one service. Create one instance and reuse it: it caches responses, respects the rate
 * limit, and tracks the offset of the service's clock.
 *
 * @example
 * const lanewise = new Lanewise({ baseUrl: 'https://lanewise.example.com', token, secret })
 * const advice = await lanewise.markup({ origin: 'Dallas, TX', destination: 'Atlanta, GA', proposed_rate: 2150 })
 */
export class Lanewise {
  readonly #options: LanewiseOptions
  readonly #base: string
  readonly #patience: Patience
  readonly #cache: AnswerCache
  readonly #limiter: RequestLimiter | null
  /** How far the service's clock is ahead of this machine's clock, as last reported by the service. */
  #clockOffsetMs = 0

  constructor(options: LanewiseOptions) {
    this.#options = { ...options }
    this.#base = baseOf(options?.baseUrl)
    this.#patience = patienceOf(options.patience)
    this.#cache = new AnswerCache(options.cache === false ? 0 : (options.cache?.entriesMax ?? 1_000))
    this.#limiter = limiterOf(options.rateLimit)
  }

  /** Win probability, suggested rate and rate band for a rate on a lane. Cached for 5 minutes. */
  markup(query: Query<'markup'>, options?: CallOptions): PendingAnswer<Answer<'markup'>> {
    return this.call('markup', { query }, options)
  }

  /** History, scores, signals and a summary of a lane. Cached for 15 minutes. */
  laneInsight(query: Query<'lane-insight'>, options?: CallOptions): PendingAnswer<Answer<'lane-insight'>> {
    return this.call('lane-insight', { query }, options)
  }

  /**
   * Markup and insight for up to 1,000 lanes in one call, with one result per lane, in order. Every hundred lanes
   * count as one request against the brokerage's rate limit. Not cached.
   */
  insightBatch(body: Body<'insight-batch'>, options?: CallOptions): PendingAnswer<Answer<'insight-batch'>> {
    return this.call('insight-batch', { body }, options)
  }

  /** Shipments, by default newest first, with totals over all matching shipments. */
  shipments(
    query: Query<'search-shipments'> = {},
    options?: CallOptions,
  ): PendingAnswer<Answer<'search-shipments'>> {
    return this.call('search-shipments', { query }, options)
  }

  /**
   * Pushes booked revenue and cost for a quote. An object is serialized once, and these bytes are signed and sent. A
   * string or a byte array is sent unchanged. The call is idempotent and is retried after transient failures.
   */
  shipmentUpdate(
    update: Body<'shipment-update'> | string | Uint8Array,
    options?: CallOptions,
  ): PendingAnswer<Answer<'shipment-update'>> {
    return this.call('shipment-update', { body: update as Body<'shipment-update'> }, options)
  }

  /** Creates and updates up to 500 quotes by your own ids. Signed and idempotent. Every hundred count as one request. */
  pushQuotes(body: Body<'push-quotes'>, options?: CallOptions): PendingAnswer<Answer<'push-quotes'>> {
    return this.call('push-quotes', { body }, options)
  }

  /** The results that `pushQuotes` would have with these quotes now. Signed; saves nothing. */
  checkQuotes(body: Body<'check-quotes'>, options?: CallOptions): PendingAnswer<Answer<'check-quotes'>> {
    return this.call('check-quotes', { body }, options)
  }

  /** Reports up to 500 outcomes of quotes. Signed and idempotent. */
  pushOutcomes(body: Body<'push-outcomes'>, options?: CallOptions): PendingAnswer<Answer<'push-outcomes'>> {
    return this.call('push-outcomes', { body }, options)
  }

  /** Pushes up to 500 shipment updates under one signature. Idempotent. */
  pushShipmentUpdates(
    body: Body<'push-shipment-updates'>,
    options?: CallOptions,
  ): PendingAnswer<Answer<'push-shipment-updates'>> {
    return this.call('push-shipment-updates', { body }, options)
  }

  /** Saves up to 500 market rates of your own sources. Signed and idempotent. Every hundred count as one request. */
  pushMarketRates(
    body: Body<'push-market-rates'>,
    options?: CallOptions,
  ): PendingAnswer<Answer<'push-market-rates'>> {
    return this.call('push-market-rates', { body }, options)
  }

  /**
   * Saves the market rates of a file of up to 5,000 rates, in its own bytes: CSV, plain or gzip, or an Excel workbook. Signed and
   * idempotent. `dry_run: 'true'` only checks the file.
   *
   * @example await lanewise.pushMarketFile(new Blob([await readFile('lanes.xlsx')]), { source: 'DAT' })
   */
  pushMarketFile(
    file: Blob,
    query: Query<'push-market-file'> = {},
    options?: CallOptions,
  ): PendingAnswer<Answer<'push-market-file'>> {
    return this.call('push-market-file', { query, body: file }, options)
  }

  /** A page of quotes that changed after `cursor`, each with its newest state. Not cached. */
  readQuotes(query: Query<'read-quotes'> = {}, options?: CallOptions): PendingAnswer<Answer<'read-quotes'>> {
    return this.call('read-quotes', { query }, options)
  }

  /** Like `readQuotes`, for quotes that have a booking. */
  readShipments(
    query: Query<'read-shipments'> = {},
    options?: CallOptions,
  ): PendingAnswer<Answer<'read-shipments'>> {
    return this.call('read-shipments', { query }, options)
  }

  /**
   * Cancels the booking of a quote with a signed shipment update with `cancelled: true`. Idempotent. A newer
   * `shipmentUpdate` books the quote again.
   */
  cancelBooking(
    { laneRef, reason }: { readonly laneRef: string; readonly reason?: string },
    options?: CallOptions,
  ): Promise<Answer<'shipment-update'>> {
    return this.shipmentUpdate(
      { lane_ref: laneRef, cancelled: true, ...(reason === undefined ? {} : { cancel_reason: reason }) },
      options,
    )
  }

  /**
   * Creates a service token. Requires the dashboard token of an admin or owner. Only this response has the plaintext.
   */
  createServiceToken(
    body: Body<'create-service-token'>,
    options?: CallOptions,
  ): PendingAnswer<Answer<'create-service-token'>> {
    return this.call('create-service-token', { body }, options)
  }

  listServiceTokens(options?: CallOptions): PendingAnswer<Answer<'list-service-tokens'>> {
    return this.call('list-service-tokens', {}, options)
  }

  revokeServiceToken(id: number, options?: CallOptions): PendingAnswer<Answer<'revoke-service-token'>> {
    return this.call('revoke-service-token', { params: { id } }, options)
  }

  /**
   * Creates a signing secret. Requires the dashboard token of an admin or owner. Only this response has the
   * plaintext.
   */
  createSigningSecret(
    body: Body<'create-signing-secret'>,
    options?: CallOptions,
  ): PendingAnswer<Answer<'create-signing-secret'>> {
    return this.call('create-signing-secret', { body }, options)
  }

  listSigningSecrets(options?: CallOptions): PendingAnswer<Answer<'list-signing-secrets'>> {
    return this.call('list-signing-secrets', {}, options)
  }

  /** Creates a successor of a secret. The old secret is accepted until the overlap ends. */
  rotateSigningSecret(
    id: number,
    body: Body<'rotate-signing-secret'> = {},
    options?: CallOptions,
  ): PendingAnswer<Answer<'rotate-signing-secret'>> {
    return this.call('rotate-signing-secret', { params: { id }, body }, options)
  }

  revokeSigningSecret(id: number, options?: CallOptions): PendingAnswer<Answer<'revoke-signing-secret'>> {
    return this.call('revoke-signing-secret', { params: { id } }, options)
  }

  /** Clears the cache, for example when the token changes to another brokerage. */
  forget(): void {
    this.#cache.forget()
  }

  /**
   * Calls any operation of the service by its operation id in the OpenAPI document, with its types.
   *
   * @throws LanewiseFailure: switch on its `code`
   * @example const { lanes } = await lanewise.call('list-quotes', { query: { outcome: 'pending' } })
   */
  call<Name extends OperationName>(
    name: Name,
    sent: Sent<Name>,
    options?: CallOptions,
  ): PendingAnswer<Answer<Name>> {
    return pendingAnswer(this.#answer(name, sent, options ?? {}))
  }

  async #answer<Name extends OperationName>(
    name: Name,
    sent: Sent<Name>,
    options: CallOptions,
  ): Promise<AnswerWithMeta<Answer<Name>>> {
    let call: PreparedCall | undefined
    try {
      call = prepareCall(name, sent, options)
      const token = await credentialOf(this.#options.token, 'token')
      const { received, fromCache } = await this.#cachedOrSent(call, token)
      const data = call.facts.answerKind === 'csv' ? received.text : JSON.parse(received.text)
      return { data, meta: metaOf(received, fromCache) }
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (call !== undefined) this.#emit(call, { kind: 'failed', failure })
      throw failure
    } finally {
      // Also after a failure, because a write without a response may have succeeded.
      if (call?.facts.isRead === false && this.#options.forgetAfterWrite !== false) this.forget()
    }
  }

  async #cachedOrSent(
    call: PreparedCall,
    token: string | undefined,
  ): Promise<{ received: Received; fromCache: boolean }> {
    const { options, address, facts } = call
    if (facts.cacheSeconds === 0 || this.#options.cache === false) {
      return {
        received: await this.#sendWithRetries(call, token, options.signal, { sends: 0 }),
        fromCache: false,
      }
    }
    // The key includes the token, because another token may be of another brokerage, and strictness, because only a strict call may
    // fail.
    const key = `${token}\n${this.#isStrict(call)}\n${address}`
    const found = options.cache === false ? undefined : this.#cache.get(key)
    if (found !== undefined) {
      this.#emit(call, { kind: 'remembered' })
      return { received: found, fromCache: true }
    }
    const received = await this.#cache.share(
      key,
      facts.cacheSeconds * 1000,
      options.signal,
      (signal, progress) => this.#sendWithRetries(call, token, signal, progress),
    )
    return { received, fromCache: false }
  }

  #isStrict({ options }: PreparedCall): boolean {
    return options.strict ?? this.#options.strict ?? false
  }

  /** A successful response, after at most the configured number of attempts. */
  async #sendWithRetries(
    call: PreparedCall,
    token: string | undefined,
    signal: AbortSignal | undefined,
    progress: Progress,
  ): Promise<Received> {
    const { facts, options } = call
    const patience = patienceOf({ timeoutMs: options.timeoutMs }, this.#patience)
    const endAt = performance.now() + patience.timeoutMs
    try {
      const signed = facts.signs !== null ? await this.#signer(call) : null
      const send = () => this.#send(call, { token, signed, patience, endAt, signal, progress })
      return await withRetries(
        {
          patience,
          endAt,
          isRepeatable: options.isRepeatable ?? facts.isRepeatable,
          signal,
          onRetry: (failure, waitMs) =>
            this.#emit(call, { kind: 'retrying', attempt: progress.sends, waitMs, failure }),
        },
        () =>
          send().catch((failure: unknown) => {
            if (signed === null || !this.#correctClock(call, failure, signed)) throw failure
            return send()
          }),
      )
    } catch (thrown) {
      const failure = asFailure(thrown)
      failure.attempts = progress.sends
      throw failure
    }
  }

  /** Sends the request once, as soon as the rate limit allows it. */
  async #send(
    call: PreparedCall,
    { token, signed, patience, endAt, signal, progress }: Sending,
  ): Promise<Received> {
    const { facts, bytes } = call
    const limiter = facts.isLimited ? this.#limiter : null
    const answered = await limiter?.take(endAt, progress.sends > 0, signal)
    try {
      const headers = {
        ...headersOf(call, token),
        ...(this.#isStrict(call) ? { Prefer: 'handling=strict' } : {}),
        ...(await signed?.headers()),
      }
      if (signal?.aborted === true) throw aborted(signal)
      const attempt = ++progress.sends
      this.#emit(call, { kind: 'sent', attempt })
      const began = performance.now()
      const received = await receive({
        url: this.#base + call.address,
        init: {
          method: facts.method,
          headers,
          ...(bytes === undefined ? {} : { body: bytes }),
          // The token must not follow a redirect to another host, and cookies must not be sent with it.
          redirect: 'manual',
          ...(isBrowser ? { credentials: 'omit', cache: 'no-store' } : {}),
        },
        timeoutMs: Math.max(1, Math.ceil(Math.min(patience.attemptTimeoutMs, endAt - began))),
        signal,
        fetch: this.#options.fetch,
      })
      const { requestId, replayed, ignored } = metaOf(received, false)
      this.#emit(call, {
        kind: 'answered',
        attempt,
        status: received.status,
        requestId,
        replayed,
        ignored,
        ms: Math.round((performance.now() - began) * 10) / 10,
      })
      goodText(received, facts.answerKind)
      return received
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.code === 'quota-exceeded') limiter?.pause((failure.retryAfterSeconds ?? 0) * 1000)
      throw failure
    } finally {
      answered?.()
    }
  }

  /**
   * Creates the headers of a signed write. All attempts use the same signature, so that the service recognizes a
   * repeat. A new signature is created if the old one has expired or the clock was wrong.
   */
  async #signer({ bytes, name, facts, address }: PreparedCall): Promise<Signer> {
    const secret = await credentialOf(this.#options.secret, 'secret')
    if (secret === undefined) {
      throw new ClientError(
        'invalid-configuration',
        `${name} is a signed operation: configure the client with a secret.`,
      )
    }
    if (bytes === undefined) {
      throw new ClientError('invalid-argument', `${name} is a signed operation: pass a body.`)
    }
    const signedBytes = bytes instanceof Blob ? new Uint8Array(await bytes.arrayBuffer()) : bytes
    const signedAddress = facts.signs === 'body' ? null : { method: facts.method, path: address }
    let madeAt = 0
    let made: Record<string, string> | null = null
    let wasCorrected = false
    return {
      headers: async () => {
        if (made === null || Math.abs(Date.now() - madeAt) > signatureLifetimeMs) {
          madeAt = Date.now()
          const seconds = Math.floor((madeAt + this.#clockOffsetMs) / 1000)
          made = await signatureHeaders(secret, seconds, signedBytes, signedAddress)
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

  /** The service reports its time if a signature's time is out of the window. The client adopts it once per call. */
  #correctClock(call: PreparedCall, failure: unknown, signed: Signer): boolean {
    if (!(failure instanceof ServiceProblem) || failure.code !== 'timestamp-out-of-window') return false
    const { server_time: serverTime } = failure.problem
    if (typeof serverTime !== 'number' || !signed.correct(serverTime)) return false
    this.#emit(call, { kind: 'clock-corrected', offByMs: this.#clockOffsetMs })
    return true
  }

  #emit({ name, facts, address }: PreparedCall, event: EventDetails): void {
    try {
      this.#options.onEvent?.({
        operation: name,
        method: facts.method,
        path: address.split('?', 1)[0] ?? '',
        ...event,
      } as LanewiseEvent)
    } catch {
      // A failing log hook must not fail the call.
    }
  }
}

interface PreparedCall {
  readonly name: string
  readonly facts: OperationFacts
  readonly address: string
  readonly bytes: Uint8Array<ArrayBuffer> | Blob | undefined
  readonly options: CallOptions
}

interface Sending {
  readonly token: string | undefined
  readonly signed: Signer | null
  readonly patience: Patience
  readonly endAt: number
  readonly signal: AbortSignal | undefined
  readonly progress: Progress
}

interface Signer {
  headers(): Promise<Record<string, string>>
  /** Signs with the service's clock from now on. Returns false if the clock was already corrected in this call. */
  correct(serverTimeSeconds: number): boolean
}

type WithoutCall<E> = E extends unknown ? Omit<E, 'operation' | 'method' | 'path'> : never
type EventDetails = WithoutCall<LanewiseEvent>

/** In a browser, the HTTP cache and cookies must be switched off, because this package has its own cache. */
const isBrowser = 'document' in globalThis

function headersOf({ bytes, facts }: PreparedCall, token: string | undefined): Record<string, string> {
  return {
    Accept: facts.answerKind === 'csv' ? 'text/csv' : 'application/json',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(bytes === undefined
      ? {}
      : { 'Content-Type': facts.bodyKind === 'csv' ? 'text/csv' : 'application/json' }),
    ...(isBrowser ? {} : { 'User-Agent': `lanewise-client/${clientVersion} (${clientRevision})` }),
  }
}

/** @throws ClientError for an operation that does not exist, or a value that a request cannot contain */
function prepareCall(name: string, sent: unknown, options: CallOptions): PreparedCall {
  const facts = Object.hasOwn(operations, name) ? operations[name] : undefined
  if (facts === undefined) throw new ClientError('invalid-argument', `There is no operation ${String(name)}.`)
  const { params, query, body } = (sent ?? {}) as { params?: object; query?: object; body?: unknown }
  return {
    name,
    facts,
    address: addressOf(facts.path, params, query),
    bytes: body === undefined || body instanceof Blob ? body : bodyBytes(body),
    options,
  }
}

/** @throws ClientError */
function limiterOf(rateLimit: LanewiseOptions['rateLimit']): RequestLimiter | null {
  if (rateLimit === false) return null
  const perSecond = rateLimit?.perSecond ?? tenantRequestsPerWindowMax / tenantWindowSeconds
  if (Number.isInteger(perSecond) && perSecond > 0) return new RequestLimiter(perSecond, 1_000)
  throw new ClientError(
    'invalid-configuration',
    `perSecond must be a whole number from 1; it is ${perSecond}.`,
  )
}

import { tenantRequestsPerWindowMax, tenantWindowSeconds } from '#contract/limits.ts'
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
import { type Progress, RememberedAnswers } from './remembered.ts'
import { type Patience, withRetries } from './retry.ts'
import type { Answer, Body, OperationName, Query, Sent } from './sent.ts'
import { bodyBytes, signatureHeaders } from './sign.ts'

export const clientVersion = '0.1.0'

/** All tries of an update carry one signature until it is this old: a service that saw the first recognizes the others. */
const signatureLifetimeMs = 240_000

/**
 * A client of one brokerage at one service. Make one and keep it: it caches answers, keeps to the rate limit, and knows the service's clock.
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
  readonly #limiter: RequestLimiter | null
  /** How far the service's clock is ahead of this machine's, as far as it told. */
  #clockOffsetMs = 0

  constructor(options: LanewiseOptions) {
    this.#options = { ...options }
    this.#base = baseOf(options?.baseUrl)
    this.#patience = patienceOf(options.patience)
    this.#remembered = new RememberedAnswers(
      options.cache === false ? 0 : (options.cache?.entriesMax ?? 1_000),
    )
    this.#limiter = limiterOf(options.rateLimit)
  }

  /** Win probability, suggested rate and rate band for a rate on a lane. Cached for 5 minutes. */
  markup(query: Query<'markup'>, options?: CallOptions): PendingAnswer<Answer<'markup'>> {
    return this.call('markup', { query }, options)
  }

  /** What the brokerage's own quotes say about a lane. Cached for 15 minutes. */
  laneInsight(query: Query<'lane-insight'>, options?: CallOptions): PendingAnswer<Answer<'lane-insight'>> {
    return this.call('lane-insight', { query }, options)
  }

  /**
   * Markup and insight for up to 1,000 lanes in one call, each with a result of its own, in order. It counts as one request of
   * the brokerage's limit for each hundred lanes, and is not cached.
   */
  insightBatch(body: Body<'insight-batch'>, options?: CallOptions): PendingAnswer<Answer<'insight-batch'>> {
    return this.call('insight-batch', { body }, options)
  }

  /** Shipments, newest first or as asked, with the totals of the whole selection. */
  shipments(
    query: Query<'integration-shipments'> = {},
    options?: CallOptions,
  ): PendingAnswer<Answer<'integration-shipments'>> {
    return this.call('integration-shipments', { query }, options)
  }

  /**
   * Pushes booked revenue and cost for a lane. An object is serialized once, and those bytes are signed and sent; a string
   * or bytes of your own are sent as they are. It is safe to repeat, and repeated for you after failures that may pass.
   */
  shipmentUpdate(
    update: Body<'shipment-update'> | string | Uint8Array,
    options?: CallOptions,
  ): PendingAnswer<Answer<'shipment-update'>> {
    return this.call('shipment-update', { body: update as Body<'shipment-update'> }, options)
  }

  /**
   * Reports that the booking of a lane fell through: a signed shipment update with `cancelled: true`. Safe to repeat. A newer
   * `shipmentUpdate` of the lane books it again.
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

  /** Makes a service token. Needs the token of an admin's or owner's sign-in; the plaintext is in this answer only. */
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

  /** Makes a signing secret. Needs the token of an admin's or owner's sign-in; the plaintext is in this answer only. */
  createSigningSecret(
    body: Body<'create-signing-secret'>,
    options?: CallOptions,
  ): PendingAnswer<Answer<'create-signing-secret'>> {
    return this.call('create-signing-secret', { body }, options)
  }

  listSigningSecrets(options?: CallOptions): PendingAnswer<Answer<'list-signing-secrets'>> {
    return this.call('list-signing-secrets', {}, options)
  }

  /** Makes the successor of a secret; the old one is accepted until the overlap ends. */
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

  /** Forgets every cached answer, such as when the token becomes another brokerage's. */
  forget(): void {
    this.#remembered.forget()
  }

  /**
   * Calls any operation of the service by the name it has in the OpenAPI document, with its types.
   *
   * @throws LanewiseFailure: switch on its `code`
   * @example const { lanes } = await lanewise.call('list-lanes', { query: { outcome: 'pending' } })
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
    let call: Asked | undefined
    try {
      call = askedOf(name, sent, options)
      const token = await credentialOf(this.#options.token, 'token')
      const { received, fromCache } = await this.#received(call, token)
      const data = call.facts.answerKind === 'csv' ? received.text : JSON.parse(received.text)
      return { data, meta: metaOf(received, fromCache) }
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (call !== undefined) this.#tell(call, { kind: 'failed', failure })
      throw failure
    } finally {
      // Also after a failure: a write without an answer may have been done.
      if (call?.facts.isRead === false && this.#options.forgetAfterWrite !== false) this.forget()
    }
  }

  async #received(
    call: Asked,
    token: string | undefined,
  ): Promise<{ received: Received; fromCache: boolean }> {
    const { options, address, facts } = call
    if (facts.cacheSeconds === 0 || this.#options.cache === false) {
      return { received: await this.#ask(call, token, options.signal, { sends: 0 }), fromCache: false }
    }
    // Another token may be another brokerage's: an answer to one is not for the other. A strict call may be refused.
    const key = `${token}\n${this.#isStrict(call)}\n${address}`
    const found = options.cache === false ? undefined : this.#remembered.get(key)
    if (found !== undefined) {
      this.#tell(call, { kind: 'remembered' })
      return { received: found, fromCache: true }
    }
    const received = await this.#remembered.share(
      key,
      facts.cacheSeconds * 1000,
      options.signal,
      (signal, progress) => this.#ask(call, token, signal, progress),
    )
    return { received, fromCache: false }
  }

  #isStrict({ options }: Asked): boolean {
    return options.strict ?? this.#options.strict ?? false
  }

  /** A good answer, after as many tries as patience allows. */
  async #ask(
    call: Asked,
    token: string | undefined,
    signal: AbortSignal | undefined,
    progress: Progress,
  ): Promise<Received> {
    const { facts, options } = call
    const patience = patienceOf({ timeoutMs: options.timeoutMs }, this.#patience)
    const endAt = performance.now() + patience.timeoutMs
    try {
      const signed = facts.isSigned ? await this.#signer(call) : null
      const send = () => this.#send(call, { token, signed, patience, endAt, signal, progress })
      return await withRetries(
        {
          patience,
          endAt,
          isRepeatable: options.isRepeatable ?? facts.isRepeatable,
          signal,
          onRetry: (failure, waitMs) =>
            this.#tell(call, { kind: 'retrying', attempt: progress.sends, waitMs, failure }),
        },
        () =>
          send().catch((failure: unknown) => {
            if (signed === null || !this.#correctsClock(call, failure, signed)) throw failure
            return send()
          }),
      )
    } catch (thrown) {
      const failure = asFailure(thrown)
      failure.attempts = progress.sends
      throw failure
    }
  }

  /** Sends the request once, when the rate limit has room for it. */
  async #send(call: Asked, { token, signed, patience, endAt, signal, progress }: Sending): Promise<Received> {
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
        timeoutMs: Math.max(1, Math.ceil(Math.min(patience.attemptTimeoutMs, endAt - began))),
        signal,
        fetch: this.#options.fetch,
      })
      const { requestId, replayed, ignored } = metaOf(received, false)
      this.#tell(call, {
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
   * Makes the headers of a signed write. The signature stays the same for all tries, so that the service recognizes a
   * repeat; it is made anew when it has become old, or when the clock was wrong.
   */
  async #signer({ bytes, name }: Asked): Promise<Signer> {
    const secret = await credentialOf(this.#options.secret, 'secret')
    if (secret === undefined) {
      throw new ClientError('invalid-configuration', `${name} is signed: give the client a secret.`)
    }
    if (!ArrayBuffer.isView(bytes)) {
      throw new ClientError('invalid-argument', `${name} is signed: give the call a body.`)
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

  /** The service reports its time when a signature's time is out of its window: the client accepts it once per call. */
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

/** @throws ClientError for an operation that does not exist, or a value that no request can carry */
function askedOf(name: string, sent: unknown, options: CallOptions): Asked {
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

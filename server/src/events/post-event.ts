import { lookup, Resolver } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { finished } from 'node:stream/promises'
import { deliveryAnswerBytesMax, deliveryAnswerSavedMax, deliverySecondsMax } from '#contract/limits.ts'
import { type AllowedPrivate, mayReach, type OutboundTarget, outboundTarget } from '../security/index.ts'

/** The result of an attempt: an answer, or the reason why there is none, for people to read. */
export interface Posted {
  readonly status: number | null
  /** The first characters of the answer. */
  readonly text: string | null
  readonly failure: string | null
  readonly retryAfterSeconds: number | null
}

/** Resolves a host name to addresses. */
export type LookUp = (target: OutboundTarget) => Promise<readonly string[]>

/**
 * Resolves through the name servers instead of the operating system. The system's lookups share four threads with other
 * work of the process, and an unresponsive name server would block them. Names of private networks are resolved by the
 * system, which alone may know them.
 *
 * @param servers the name servers; null: those of the system
 */
export const lookUpThrough =
  (servers: readonly string[] | null): LookUp =>
  async ({ host, isAllowedByName }) => {
    if (isIP(host) !== 0) return [host]
    if (isAllowedByName) return (await lookup(host, { all: true })).map(({ address }) => address)
    const resolver = new Resolver({ timeout: 3_000, tries: 2 })
    if (servers !== null) resolver.setServers(servers)
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const failed = found.find((one) => one.status === 'rejected')
    if (addresses.length === 0 && failed !== undefined) throw failed.reason
    return addresses
  }

const nothing = { status: null, text: null, retryAfterSeconds: null } as const
const refusedToReach = (failure: string): Posted => ({ ...nothing, failure })

/**
 * Posts a body to a brokerage's URL. The host name is resolved once, all its addresses must be public, and the
 * connection uses only those addresses. Redirects are not followed. Never throws: failures are part of the result.
 */
export async function postEvent(
  url: string,
  sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  {
    allowed,
    lookUp = lookUpThrough(null),
    patienceMs = deliverySecondsMax * 1000,
    stop,
  }: {
    readonly allowed: AllowedPrivate
    readonly lookUp?: LookUp
    readonly patienceMs?: number
    readonly stop?: AbortSignal
  },
): Promise<Posted> {
  const target = outboundTarget(url, allowed)
  if (typeof target === 'string') return refusedToReach(`The address ${target}.`)
  const signal = AbortSignal.any([AbortSignal.timeout(patienceMs), ...(stop === undefined ? [] : [stop])])
  try {
    const addresses = await orAborted(lookUp(target), signal)
    if (addresses.length === 0) return refusedToReach('The host name has no address.')
    if (!addresses.every((address) => mayReach(target, address, allowed))) {
      return refusedToReach(
        'The host name resolves to an address that is not on the public internet, or its port is not 443.',
      )
    }
    return await exchange(target, addresses, sent, signal)
  } catch (error) {
    if (stop?.aborted === true) return refusedToReach('The service was stopped before an answer came.')
    return refusedToReach(
      signal.aborted ? `No answer within ${patienceMs / 1000} seconds.` : failureOf(error),
    )
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort))
}

/** The most answers with a status of 100 to 199. Each takes processor time, and a receiver could send them without end. */
const interimAnswersMax = 10

/** Sends one request on its own connection, to addresses that were checked. */
function exchange(
  { url, host }: OutboundTarget,
  addresses: readonly string[],
  sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
): Promise<Posted> {
  const { promise, resolve, reject } = Promise.withResolvers<Posted>()
  const checked = addresses.map((address) => ({ address, family: isIP(address) }))
  // Every lookup returns the checked addresses, so that the name is not resolved again.
  const pinned: LookupFunction = (_host, options, told) => {
    const [first] = checked
    if (options.all === true) told(null, checked)
    else told(null, first?.address ?? '', first?.family)
  }
  const isTls = url.protocol === 'https:'
  const request = (isTls ? requestHttps : requestHttp)({
    method: 'POST',
    hostname: host,
    port: url.port === '' ? (isTls ? 443 : 80) : url.port,
    path: `${url.pathname}${url.search}`,
    headers: { ...sent.headers, 'Content-Length': String(Buffer.byteLength(sent.body)) },
    ...(isTls && isIP(host) === 0 ? { servername: host } : {}),
    lookup: pinned,
    agent: false,
    signal,
  })
  request.on('error', reject)
  request.on('response', (response) => resolve(answerOf(response)))
  let interim = 0
  request.on('information', () => {
    if (++interim > interimAnswersMax) {
      request.destroy(Object.assign(new Error('many interim answers'), { code: 'INTERIM_ANSWERS' }))
    }
  })
  request.on('upgrade', ({ statusCode }, socket) => {
    socket.destroy()
    const failure = 'The receiver changed the protocol instead of answering.'
    resolve({ ...nothing, status: statusCode ?? null, failure })
  })
  // However the connection ended, the attempt ends. A result that came before counts.
  request.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  request.end(sent.body)
  return promise
}

/** Enough for the saved characters, of which each has at most four bytes. */
const savedBytesMax = deliveryAnswerSavedMax * 4
/** Chunks of one byte take a hundred times the processor time of the same bytes at once. */
const piecesMax = savedBytesMax

/** Reads the beginning of an answer. The status counts even when the rest of the answer does not arrive. */
async function answerOf(response: IncomingMessage): Promise<Posted> {
  const status = response.statusCode ?? 0
  const kept: Buffer[] = []
  let bytes = 0
  let pieces = 0
  // An iterator would join the pieces that have arrived, so that nobody could count them.
  response.on('data', (piece: Buffer) => {
    if (bytes < savedBytesMax) kept.push(piece)
    bytes += piece.length
    if (bytes >= deliveryAnswerBytesMax || ++pieces >= piecesMax) response.destroy()
  })
  // Also of an answer that was cut off.
  await finished(response).catch(() => {})
  response.destroy()
  const retryAfter = response.headers['retry-after'] ?? ''
  return {
    status,
    text: shownText(Buffer.concat(kept)),
    failure: status >= 300 && status < 400 ? 'Redirects are not followed.' : null,
    retryAfterSeconds: /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null,
  }
}

/** The first characters of an answer, without characters that the database cannot save or a terminal cannot show. */
function shownText(bytes: Buffer): string {
  const characters = [...bytes.toString('utf8').replaceAll(/[\p{Cc}\p{Cs}\p{Bidi_Control}]+/gu, ' ')]
  return characters.slice(0, deliveryAnswerSavedMax).join('')
}

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name has no address.',
  ENODATA: 'The host name has no address.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed without an answer.',
  EHOSTUNREACH: 'The address cannot be reached.',
  ENETUNREACH: 'The address cannot be reached.',
  ETIMEDOUT: 'The address cannot be reached.',
  INTERIM_ANSWERS: 'The receiver sent answers of the status 1xx only.',
  ETIMEOUT: 'The name servers did not answer.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate was not signed by a trusted authority.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate was not signed by a trusted authority.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The server did not send the intermediate certificates up to a trusted authority.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
}

function failureOf(error: unknown): string {
  const codes = [error, ...(error instanceof AggregateError ? error.errors : [])].map(
    (one) => (one as { code?: unknown } | null)?.code,
  )
  const code = codes.find((one) => typeof one === 'string')
  if (code === undefined) return 'The request failed.'
  return words[String(code)] ?? `The request failed (${String(code)}).`
}

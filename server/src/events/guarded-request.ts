import { lookup, Resolver } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type AllowedPrivate, mayReach, type OutboundTarget, outboundTarget } from '../security/index.ts'

/** Resolves a host name to addresses. */
export type LookUp = (target: OutboundTarget) => Promise<readonly string[]>

/**
 * Resolves through the name servers instead of the operating system. The system's lookups share four threads with other
 * work of the process, and an unresponsive name server would block them. Names of private networks are resolved by the
 * system, which alone may know them.
 */
export const systemLookUp: LookUp = async ({ host, isAllowedByName }) => {
  if (isIP(host) !== 0) return [host]
  if (isAllowedByName) return (await lookup(host, { all: true })).map(({ address }) => address)
  const resolver = new Resolver({ timeout: 3_000, tries: 2 })
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const failed = found.find((one) => one.status === 'rejected')
  if (addresses.length === 0 && failed !== undefined) throw failed.reason
  return addresses
}

/** A request to an address that a brokerage set. */
export interface Sent {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Sends a request to an address that a brokerage set. The host name is resolved once, all its addresses must be public, and the
 * connection uses only those addresses. Redirects are not followed.
 *
 * @returns the answer, or why the address may not be reached
 * @throws what the connection fails with, also when `signal` aborts
 */
export async function guardedRequest(
  url: string,
  sent: Sent,
  {
    allowed,
    lookUp = systemLookUp,
    signal,
  }: { readonly allowed: AllowedPrivate; readonly lookUp?: LookUp; readonly signal: AbortSignal },
): Promise<IncomingMessage | string> {
  const target = outboundTarget(url, allowed)
  if (typeof target === 'string') return `The address ${target}.`
  const addresses = await orAborted(lookUp(target), signal)
  if (addresses.length === 0) return 'The host name has no address.'
  if (!addresses.every((address) => mayReach(target, address, allowed))) {
    return 'The host name resolves to an address that is not on the public internet.'
  }
  return exchange(target, addresses, sent, signal)
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort))
}

/** Sends one request on its own connection, to addresses that were checked. */
function exchange(
  { url, host }: OutboundTarget,
  addresses: readonly string[],
  { method, headers, body }: Sent,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const checked = addresses.map((address) => ({ address, family: isIP(address) }))
  // Every lookup returns the checked addresses, so that the name is not resolved again.
  const pinned: LookupFunction = (_host, options, told) => {
    const [first] = checked
    if (options.all === true) told(null, checked)
    else told(null, first?.address ?? '', first?.family)
  }
  const isTls = url.protocol === 'https:'
  const request = (isTls ? requestHttps : requestHttp)({
    method,
    hostname: host,
    port: url.port === '' ? (isTls ? 443 : 80) : url.port,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    },
    ...(isTls && isIP(host) === 0 ? { servername: host } : {}),
    lookup: pinned,
    agent: false,
    signal,
  })
  request.on('error', reject)
  request.on('response', resolve)
  request.end(body)
  return promise
}

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name has no address.',
  ENODATA: 'The host name has no address.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed without an answer.',
  EHOSTUNREACH: 'The address cannot be reached.',
  ENETUNREACH: 'The address cannot be reached.',
  ETIMEDOUT: 'The address cannot be reached.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate was not signed by a trusted authority.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate was not signed by a trusted authority.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The server did not send the intermediate certificates up to a trusted authority.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
}

/** Why a request failed, for people to read. */
export function requestFailure(error: unknown): string {
  const codes = [error, ...(error instanceof AggregateError ? error.errors : [])].map(
    (one) => (one as { code?: unknown } | null)?.code,
  )
  const code = codes.find((one) => typeof one === 'string')
  if (code === undefined) return 'The request failed.'
  return words[String(code)] ?? `The request failed (${String(code)}).`
}

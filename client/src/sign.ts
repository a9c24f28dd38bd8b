import { signatureHeader, signaturePrefix, timestampHeader } from '#contract/signature.ts'
import { ClientError } from './failures.ts'

/**
 * The two headers of a signed write: HMAC-SHA256 of `<timestamp>.<body>` over exactly these bytes, with the whole secret
 * (its prefix included) as UTF-8 text for key.
 *
 * @example await signatureHeaders('lwsec_...', 1772373600, bytes) // { 'x-service-timestamp': '1772373600', 'x-service-signature': 'sha256=a2...' }
 */
export async function signatureHeaders(
  secret: string,
  timestampSeconds: number,
  body: Uint8Array,
): Promise<Record<string, string>> {
  if (secret === '') throw new ClientError('invalid-argument', 'The secret is empty.')
  if (!Number.isSafeInteger(timestampSeconds)) {
    throw new ClientError('invalid-argument', `The time must be in whole seconds; it is ${timestampSeconds}.`)
  }
  const timestamp = String(timestampSeconds)
  const start = new TextEncoder().encode(`${timestamp}.`)
  const signed = new Uint8Array(start.length + body.length)
  signed.set(start)
  signed.set(body, start.length)
  const digest = await hmacSha256(new TextEncoder().encode(secret), signed)
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { [timestampHeader]: timestamp, [signatureHeader]: `${signaturePrefix}${hex}` }
}

/** The digest of some bytes under a key, by the WebCrypto that every runtime has. */
export async function hmacSha256(
  keyBytes: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  // Browsers leave out `subtle` on a page that did not come over HTTPS or from this machine.
  if (globalThis.crypto?.subtle === undefined) {
    throw new ClientError('invalid-configuration', 'WebCrypto is missing: serve the page over HTTPS.')
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', keyBytes, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, message))
}

/**
 * A body as the bytes that are signed and sent: text and bytes as they are, anything else serialized here, once.
 *
 * @throws ClientError for a value that JSON cannot hold, such as NaN: it would become null, which the service takes for absent
 */
export function bodyBytes(body: unknown): Uint8Array<ArrayBuffer> {
  // By what it is, not by its class: a test's or a worker's realm has classes of its own.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()
  return new TextEncoder().encode(typeof body === 'string' ? body : jsonOf(body))
}

function jsonOf(body: unknown): string {
  const refused = (message: string, cause?: unknown) => new ClientError('invalid-argument', message, cause)
  let text: string | undefined
  try {
    text = JSON.stringify(body, (name, value: unknown) => {
      if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) {
        throw refused(
          `${name || 'The body'} is ${typeof value === 'bigint' ? 'a bigint' : value}, which JSON cannot hold.`,
        )
      }
      return value
    })
  } catch (error) {
    if (error instanceof ClientError) throw error
    throw refused('The body cannot be written as JSON: it refers to itself, or its toJSON failed.', error)
  }
  if (text === undefined)
    throw refused(`The body must be an object, a string or bytes; it is ${typeof body}.`)
  return text
}

import { signatureHeader, signaturePrefix, textBeforeBody, timestampHeader } from '#contract/signature.ts'
import { ClientError } from './failures.ts'

/**
 * The two headers of a signed write: HMAC-SHA256 over exactly these bytes. The key is the complete secret, including its
 * prefix, as UTF-8 text. The signed text is `<timestamp>.<body>` for shipment-update. For all other operations it includes
 * the address: `<timestamp>.<METHOD> <path>`, a line feed and the body.
 *
 * @param address the method, and the path without the base URL; null for shipment-update
 * @example await signatureHeaders('lwsec_...', 1772373600, bytes)
 * // { 'x-service-timestamp': '1772373600', 'x-service-signature': 'sha256=a2...' }
 */
export async function signatureHeaders(
  secret: string,
  timestampSeconds: number,
  body: Uint8Array,
  address: { readonly method: string; readonly path: string } | null = null,
): Promise<Record<string, string>> {
  if (secret === '') throw new ClientError('invalid-argument', 'The secret is empty.')
  if (!Number.isSafeInteger(timestampSeconds)) {
    throw new ClientError('invalid-argument', `The time must be in whole seconds; it is ${timestampSeconds}.`)
  }
  const timestamp = String(timestampSeconds)
  const start = new TextEncoder().encode(textBeforeBody(timestamp, address))
  const signed = new Uint8Array(start.length + body.length)
  signed.set(start)
  signed.set(body, start.length)
  const digest = await hmacSha256(new TextEncoder().encode(secret), signed)
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { [timestampHeader]: timestamp, [signatureHeader]: `${signaturePrefix}${hex}` }
}

/** HMAC-SHA256 of a message. */
export async function hmacSha256(
  keyBytes: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await hmacKey(keyBytes), message))
}

/** Whether a signature is the HMAC-SHA256 of a message. WebCrypto compares in constant time. */
export async function isHmacSha256(
  keyBytes: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  return crypto.subtle.verify('HMAC', await hmacKey(keyBytes), signature, message)
}

/** A key for WebCrypto, which is available in all supported runtimes. */
async function hmacKey(keyBytes: Uint8Array<ArrayBuffer>) {
  // Browsers provide `subtle` only on pages served over HTTPS or from localhost.
  if (globalThis.crypto?.subtle === undefined) {
    throw new ClientError('invalid-configuration', 'WebCrypto is missing: serve the page over HTTPS.')
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return crypto.subtle.importKey('raw', keyBytes, algorithm, false, ['sign', 'verify'])
}

/**
 * The bytes of a body that are signed and sent. Text and bytes are used unchanged; anything else is serialized once,
 * here.
 *
 * @throws ClientError for a value that JSON cannot represent, such as NaN, which would become null (absent for the service)
 */
export function bodyBytes(body: unknown): Uint8Array<ArrayBuffer> {
  // No `instanceof`, because a test's or a worker's realm has its own classes.
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
          `${name || 'The body'} is ${typeof value === 'bigint' ? 'a bigint' : value}, which JSON cannot represent.`,
        )
      }
      return value
    })
  } catch (error) {
    if (error instanceof ClientError) throw error
    throw refused(
      'The body cannot be serialized as JSON: it contains a circular reference, or its toJSON failed.',
      error,
    )
  }
  if (text === undefined)
    throw refused(`The body must be an object, a string or bytes; it is ${typeof body}.`)
  return text
}

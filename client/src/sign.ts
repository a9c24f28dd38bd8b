import { signatureHeader, signaturePrefix, timestampHeader } from '#contract/signature.ts'

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
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', keyBytes, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, message))
}

/**
 * A body as the bytes that are signed and sent: text and bytes as they are, anything else serialised here, once.
 *
 * @throws TypeError for a number that JSON cannot hold: it would become null, which the service takes for absent
 */
export function bodyBytes(body: unknown): Uint8Array<ArrayBuffer> {
  // By what it is, not by its class: a test's or a worker's realm has classes of its own.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()
  if (typeof body === 'string') return new TextEncoder().encode(body)
  return new TextEncoder().encode(
    JSON.stringify(body, (name, value: unknown) => {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        throw new TypeError(`${name} is ${value}, which JSON cannot hold.`)
      }
      return value
    }),
  )
}

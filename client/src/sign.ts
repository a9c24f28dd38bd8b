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
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, [
    'sign',
  ])
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { [timestampHeader]: timestamp, [signatureHeader]: `${signaturePrefix}${hex}` }
}

/**
 * A body as the bytes that are signed and sent: text and bytes as they are, anything else serialised here, once.
 *
 * @throws TypeError for a number that JSON cannot hold: it would become null, which the service takes for absent
 */
export function bodyBytes(body: unknown): Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body)
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

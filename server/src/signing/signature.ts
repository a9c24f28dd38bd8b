import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { problem } from '#contract/errors.ts'
import { signatureToleranceSeconds } from '#contract/limits.ts'
import {
  type SignedAddress,
  signatureForm,
  signaturePrefix,
  textBeforeBody,
  timestampForm,
} from '#contract/signature.ts'

export interface SignatureHeaders {
  readonly timestamp: string | undefined
  readonly signature: string | undefined
}

/** A signed request, as received. `address` is null if the endpoint signs the body only. A file may be in pieces. */
export interface SignedRequest {
  readonly timestamp: string
  readonly address: SignedAddress | null
  readonly bodyBytes: Buffer | readonly Buffer[]
}

/** The pieces of the signed text. */
function piecesOf({ timestamp, address, bodyBytes }: SignedRequest): (string | Buffer)[] {
  return [textBeforeBody(timestamp, address), ...(Buffer.isBuffer(bodyBytes) ? [bodyBytes] : bodyBytes)]
}

/** The HMAC-SHA256 of the signed text, over the exact bytes of the body. */
export function signatureOf(secret: string, request: SignedRequest): Buffer {
  const hmac = createHmac('sha256', secret)
  for (const piece of piecesOf(request)) hmac.update(piece)
  return hmac.digest()
}

/**
 * The signatures with each secret, and the SHA-256 of the signed text, which identifies a repeated request. Pauses after
 * each piece, so that a large file does not delay other requests.
 */
async function digestsOf(
  secrets: readonly string[],
  request: SignedRequest,
  pause: () => Promise<void>,
): Promise<{ signatures: Buffer[]; digest: Buffer }> {
  const hash = createHash('sha256')
  const hmacs = secrets.map((secret) => createHmac('sha256', secret))
  for (const [at, piece] of piecesOf(request).entries()) {
    if (at > 1) await pause()
    for (const one of [hash, ...hmacs]) one.update(piece)
  }
  return { signatures: hmacs.map((hmac) => hmac.digest()), digest: hash.digest() }
}

/** One sentence that tells a signer what to sign. */
export function howToSign(address: SignedAddress | null): string {
  return address === null
    ? 'Sign the text "<timestamp>.<body>" over exactly the bytes you send.'
    : `Sign the text "<timestamp>.${address.method} ${address.path}", a line feed and the body, over exactly the bytes you send.`
}

/** Rejects absent or malformed headers before anything is computed. */
export function readSignatureHeaders(headers: SignatureHeaders): { timestamp: string; digest: Buffer } {
  const { timestamp, signature } = headers
  if (timestamp === undefined || signature === undefined) {
    const missing = [
      ...(timestamp === undefined ? ['X-Service-Timestamp'] : []),
      ...(signature === undefined ? ['X-Service-Signature'] : []),
    ]
    const words = missing.length === 1 ? `header ${missing[0]} is` : `headers ${missing.join(' and ')} are`
    throw problem('signature-missing', `The ${words} missing; writes are signed.`, {
      headers: { 'WWW-Authenticate': 'HMAC-SHA256 realm="integrations"' },
    })
  }
  if (!timestampForm.test(timestamp)) {
    throw problem(
      'timestamp-malformed',
      'X-Service-Timestamp must be the Unix time in seconds as decimal digits, sent once, such as 1772373600.',
    )
  }
  if (!signatureForm.test(signature)) {
    throw problem(
      'signature-malformed',
      'X-Service-Signature must be "sha256=" and 64 lowercase hex digits, sent once.',
    )
  }
  return { timestamp, digest: Buffer.from(signature.slice(signaturePrefix.length), 'hex') }
}

function bytesIn({ bodyBytes }: SignedRequest): number {
  return Buffer.isBuffer(bodyBytes)
    ? bodyBytes.length
    : bodyBytes.reduce((sum, piece) => sum + piece.length, 0)
}

/** Used if a tenant has no live secret, so that the check takes the same time. No preimage of it is known. */
const noSecret = createHash('sha256').update('no secret').digest('hex')

/**
 * Compares a signature with every live secret of a tenant, in constant time, and returns the secret that matches. The time
 * window is checked after the signature, so that only a holder of the secret learns that a timestamp is stale.
 *
 * @returns the secret, and the SHA-256 of the signed text, which identifies a repeated request
 * @throws Problem signature-mismatch, timestamp-out-of-window
 */
export async function verifySignature<Secret extends { readonly plaintext: string }>(
  signed: SignedRequest & { readonly digest: Buffer },
  secrets: readonly Secret[],
  now: number,
  pause: () => Promise<void> = setImmediate,
): Promise<{ readonly secret: Secret; readonly requestDigest: Buffer }> {
  const keys = secrets.length === 0 ? [noSecret] : secrets.map(({ plaintext }) => plaintext)
  const { signatures, digest: requestDigest } = await digestsOf(keys, signed, pause)
  const fits = signatures.map((signature) => timingSafeEqual(signature, signed.digest))
  const secret = secrets[fits.indexOf(true)]
  if (secrets.length === 0) {
    throw problem(
      'signature-mismatch',
      'This brokerage has no live signing secret. An admin can create one with POST /api/integrations/secrets.',
    )
  }
  if (secret === undefined) {
    throw problem(
      'signature-mismatch',
      `The X-Service-Signature does not match the ${signed.address === null ? 'body' : 'address and body'} as received (${bytesIn(signed)} bytes). ${howToSign(signed.address)}`,
    )
  }
  const nowSeconds = Math.floor(now / 1000)
  const skewSeconds = Number(signed.timestamp) - nowSeconds
  if (Math.abs(skewSeconds) > signatureToleranceSeconds) {
    throw problem(
      'timestamp-out-of-window',
      `X-Service-Timestamp is ${Math.abs(skewSeconds)} seconds ${skewSeconds < 0 ? 'behind' : 'ahead of'} the server clock; at most ${signatureToleranceSeconds} are allowed.`,
      { members: { server_time: nowSeconds, max_skew_seconds: signatureToleranceSeconds } },
    )
  }
  return { secret, requestDigest }
}

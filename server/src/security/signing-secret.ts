import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n)
    text = (alphabet[Number(rest % 62n)] ?? '0') + text
  return text
}

/**
 * A new signing secret: `lwsec_`, 32 random bytes in base 62, and 6 characters of CRC-32, so that a leaked one can be
 * found by a scanner without asking us. The whole text, prefix included, is the HMAC key as UTF-8.
 */
export function newSigningSecret(): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)
  return `lwsec_${random}${base62(BigInt(crc32(random)), 6)}`
}

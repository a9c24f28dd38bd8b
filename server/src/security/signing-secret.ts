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
 * A new signing secret: `lwsec_`, 32 random bytes in base 62, and a CRC-32 of 6 characters, so that secret scanners can
 * recognize a leaked secret offline. The HMAC key is the whole text, including the prefix, in UTF-8.
 */
export function newSigningSecret(): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43)
  return `lwsec_${random}${base62(BigInt(crc32(random)), 6)}`
}

import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/** The master secret of an installation. A separate key is derived from it for each purpose. */
export type SecretKey = Buffer & { readonly __secret: unique symbol }

/**
 * The keys of an installation. The first encrypts and signs. During a key rotation, the older key follows it, and still
 * decrypts and verifies.
 */
export type SecretKeys = readonly [SecretKey, ...SecretKey[]]

/**
 * Parses LANEWISE_SECRET_KEY: at least 32 bytes, in base64 or hex. Null if it is too short or in neither format. Text of hex
 * digits only is always hex: as base64, a truncated hex key would count as more bytes than it has.
 */
export function secretKey(text: string): SecretKey | null {
  const bytes = /^[0-9a-fA-F]+$/.test(text)
    ? Buffer.from(text, 'hex')
    : /^[A-Za-z0-9+/_-]{43,}={0,2}$/.test(text)
      ? Buffer.from(text, 'base64')
      : null
  return bytes !== null && bytes.length >= 32 ? (bytes as SecretKey) : null
}

/**
 * A sentence if a key was typed or filled in, not drawn: it has fewer than 16 different bytes. 32 random bytes have so few
 * less than once in 10^16 keys. Null for other keys.
 */
export function weakness(key: SecretKey): string | null {
  const different = new Set(key).size
  if (different >= differentBytesMin) return null
  return `has ${different} different ${different === 1 ? 'byte' : 'bytes'}, and random keys have at least ${differentBytesMin}. Generate one with: openssl rand -base64 32. If it is in use, list it after the new one (docs/operating.md).`
}

const differentBytesMin = 16

/** Parses a list of keys, separated by commas or white space. Null if it is empty or one of them is not a key. */
export function secretKeys(text: string): SecretKeys | null {
  const keys = text.split(/[\s,]+/).filter((part) => part !== '')
  const read = keys.flatMap((part) => secretKey(part) ?? [])
  const [first, ...others] = read
  return first !== undefined && read.length === keys.length ? [first, ...others] : null
}

/** A public name of a key, for tokens and the database. It reveals nothing about the key. */
export function keyName(key: SecretKey): string {
  return derivedKey(key, 'name of the key').toString('hex').slice(0, 16)
}

/** Derived keys by master key. A cache, because each signed request decrypts a secret. */
const derived = new WeakMap<SecretKey, Map<string, Buffer>>()

/** Derives the key for one purpose. @example derivedKey(key, 'service tokens') */
export function derivedKey(key: SecretKey, purpose: string): Buffer {
  const known = derived.get(key) ?? new Map<string, Buffer>()
  derived.set(key, known)
  const made = known.get(purpose) ?? Buffer.from(hkdfSync('sha256', key, 'lanewise', purpose, 32))
  known.set(purpose, made)
  return made
}

const sealing = new WeakMap<SecretKey, KeyObject>()

/** A cached Node KeyObject: creating it from bytes takes five times as long as the decryption. */
function sealingKey(key: SecretKey): KeyObject {
  const made = sealing.get(key) ?? createSecretKey(derivedKey(key, 'sealed secrets'))
  sealing.set(key, made)
  return made
}

const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts a text with AES-256-GCM under a key that is never saved in the database. `place` identifies the tenant and row
 * and is authenticated: a sealed text in another row cannot be decrypted.
 */
export function seal(key: SecretKey, place: string, plaintext: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key), nonce).setAAD(Buffer.from(place))
  return Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a text that `seal` encrypted for the same place. Null if the key, the place, or any byte differs. */
export function unseal(key: SecretKey, place: string, sealed: Buffer): string | null {
  if (sealed.length < nonceBytes + tagBytes) return null
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key), sealed.subarray(0, nonceBytes))
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(sealed.length - tagBytes))
  try {
    const text = decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

/** Like `unseal`, with the first key that decrypts the text. */
export function unsealWithAny(keys: SecretKeys, place: string, sealed: Buffer): string | null {
  for (const key of keys) {
    const text = unseal(key, place, sealed)
    if (text !== null) return text
  }
  return null
}

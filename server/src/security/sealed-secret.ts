import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/** The one secret of an installation; everything else is derived from it, each purpose its own key. */
export type SecretKey = Buffer & { readonly __secret: unique symbol }

/**
 * The keys of an installation: the first seals and signs. While it takes over from an older one, that one stands behind
 * it and still opens and verifies.
 */
export type SecretKeys = readonly [SecretKey, ...SecretKey[]]

/**
 * Reads LANEWISE_SECRET_KEY: at least 32 bytes, as base64 or hex. Null when it is too short or neither. Hex digits only
 * are hex: read as base64, a hex key cut short would pass for a longer one.
 */
export function secretKey(text: string): SecretKey | null {
  const bytes = /^[0-9a-fA-F]+$/.test(text)
    ? Buffer.from(text, 'hex')
    : /^[A-Za-z0-9+/_-]{43,}={0,2}$/.test(text)
      ? Buffer.from(text, 'base64')
      : null
  return bytes !== null && bytes.length >= 32 ? (bytes as SecretKey) : null
}

/** Reads a list of keys, separated by commas or white space. Null when it is empty or one of them is no key. */
export function secretKeys(text: string): SecretKeys | null {
  const keys = text.split(/[\s,]+/).filter((part) => part !== '')
  const read = keys.flatMap((part) => secretKey(part) ?? [])
  const [first, ...others] = read
  return first !== undefined && read.length === keys.length ? [first, ...others] : null
}

/** What a key is called where it may be seen: in tokens, in the database. Nothing of the key can be told from it. */
export function keyName(key: SecretKey): string {
  return derivedKey(key, 'name of the key').toString('hex').slice(0, 16)
}

/** Kept beside the key they come from: each signed request opens a secret. */
const derived = new WeakMap<SecretKey, Map<string, Buffer>>()

/** A key for one purpose. @example derivedKey(key, 'service tokens') */
export function derivedKey(key: SecretKey, purpose: string): Buffer {
  const known = derived.get(key) ?? new Map<string, Buffer>()
  derived.set(key, known)
  const made = known.get(purpose) ?? Buffer.from(hkdfSync('sha256', key, 'lanewise', purpose, 32))
  known.set(purpose, made)
  return made
}

const sealing = new WeakMap<SecretKey, KeyObject>()

/** As a key of Node's: made of its bytes each time, it would take five times as long as the opening itself. */
function sealingKey(key: SecretKey): KeyObject {
  const made = sealing.get(key) ?? createSecretKey(derivedKey(key, 'sealed secrets'))
  sealing.set(key, made)
  return made
}

const nonceBytes = 12
const tagBytes = 16

/**
 * Seals a text with AES-256-GCM under a key that never enters the database. `place` names where it is kept (tenant and
 * row): a sealed text moved to another row does not open.
 */
export function seal(key: SecretKey, place: string, plaintext: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key), nonce).setAAD(Buffer.from(place))
  return Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Opens what `seal` sealed for the same place; null when the key, the place or a byte differs. */
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

/** As `unseal`, with the first of the keys that opens it. */
export function unsealWithAny(keys: SecretKeys, place: string, sealed: Buffer): string | null {
  for (const key of keys) {
    const text = unseal(key, place, sealed)
    if (text !== null) return text
  }
  return null
}

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { passkeyChallengeMinutes } from '#contract/limits.ts'
import { derivedKey, type SecretKey, type SecretKeys } from './sealed-secret.ts'

/** Where passkeys work: the origin of the pages, and its host, which a browser binds each passkey to. */
export interface PasskeySite {
  readonly origin: string
  readonly rpId: string
}

/** What a browser sends of a new passkey (WebAuthn, RegistrationResponseJSON). */
export interface NewCredential {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports?: readonly string[] | undefined
  }
}

/** What a browser sends of a passkey that was used (WebAuthn, AuthenticationResponseJSON). */
export interface UsedCredential {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string | undefined
  }
}

/** The algorithms that authenticators support: Ed25519, ECDSA with P-256, and RSA. */
export const passkeyAlgorithms = [-8, -7, -257] as const

/** Loaded when the first passkey is used: it takes 25 megabytes, and many installations have none. */
const library = () => import('@simplewebauthn/server')

/** Loads what verifies passkeys, before a transaction waits for it. */
export async function loadPasskeys(): Promise<void> {
  await library()
}

const libraryHelpers = () => import('@simplewebauthn/server/helpers')

/** The address of the pages as a place for passkeys; null if browsers make none there: an IP address, or http other than of this machine. */
export function passkeySite(origin: string): PasskeySite | null {
  const url = URL.parse(origin)
  if (url === null) return null
  const { hostname, protocol } = url
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  const isNamed = /[a-z]/i.test(hostname.split('.').at(-1) ?? '') && !hostname.startsWith('[')
  const isSecure = protocol === 'https:' || (protocol === 'http:' && isLocal)
  return isNamed && isSecure ? { origin: url.origin, rpId: hostname } : null
}

const nonceBytes = 24
const timeBytes = 6
const macBytes = 32

function macOf(key: SecretKey, purpose: string, begin: Buffer): Buffer {
  return createHmac('sha256', derivedKey(key, 'challenges of passkeys'))
    .update(begin)
    .update(purpose)
    .digest()
}

/**
 * Begins an attempt with a passkey. Nothing is stored: the attempt says itself when it ends, under a key that all instances have. The
 * challenge is its hash, so that a signature is useless to whoever does not have the attempt.
 *
 * @param purpose what the challenge is for, and for whom: another purpose does not accept it
 */
export function newPasskeyAttempt(
  key: SecretKey,
  purpose: string,
  now: number,
): { readonly attempt: string; readonly challenge: string } {
  const begin = Buffer.alloc(timeBytes + nonceBytes)
  begin.writeUIntBE(now + passkeyChallengeMinutes * 60_000, 0, timeBytes)
  randomBytes(nonceBytes).copy(begin, timeBytes)
  const attempt = Buffer.concat([begin, macOf(key, purpose, begin)]).toString('base64url')
  return { attempt, challenge: challengeOf(attempt).toString('base64url') }
}

function challengeOf(attempt: string): Buffer {
  return createHash('sha256').update(attempt).digest()
}

/** The challenge of an attempt and its end; null if it was begun for something else, or has ended. */
export function readPasskeyAttempt(
  keys: SecretKeys,
  purpose: string,
  attempt: string,
  now: number,
): { readonly challenge: Buffer; readonly expiresAt: Date } | null {
  const bytes = Buffer.from(attempt, 'base64url')
  if (bytes.length !== timeBytes + nonceBytes + macBytes || bytes.toString('base64url') !== attempt)
    return null
  const begin = bytes.subarray(0, timeBytes + nonceBytes)
  const mac = bytes.subarray(begin.length)
  if (!keys.some((key) => timingSafeEqual(macOf(key, purpose, begin), mac))) return null
  const expiresAt = begin.readUIntBE(0, timeBytes)
  return expiresAt <= now ? null : { challenge: challengeOf(attempt), expiresAt: new Date(expiresAt) }
}

/** The user handle that an authenticator keeps with a passkey: the brokerage and the person. */
export function userHandle(tenant: number, userId: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeInt32BE(tenant, 0)
  bytes.writeInt32BE(userId, 4)
  return bytes.toString('base64url')
}

/** The brokerage and the person of a user handle; null if it is none of ours. */
export function readUserHandle(handle: string): { readonly tenant: number; readonly userId: number } | null {
  const bytes = Buffer.from(handle, 'base64url')
  if (bytes.length !== 8 || bytes.toString('base64url') !== handle) return null
  const [tenant, userId] = [bytes.readInt32BE(0), bytes.readInt32BE(4)]
  return tenant > 0 && userId > 0 ? { tenant, userId } : null
}

export interface VerifiedPasskey {
  readonly credentialId: Buffer
  readonly publicKey: Buffer
  readonly signCount: number
  /** How a browser reaches the authenticator, separated by spaces. */
  readonly transports: string
  readonly synced: boolean
}

const knownTransports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']

/**
 * Verifies a new passkey: challenge, origin, host, user verification, algorithm. Who made the authenticator does not count, so a statement
 * with certificates is refused: its check would load lists of revoked certificates from addresses in it.
 *
 * @returns why it is refused, or the passkey
 */
export async function verifyNewPasskey(
  { id, response }: NewCredential,
  { challenge, site }: { readonly challenge: Buffer; readonly site: PasskeySite },
): Promise<VerifiedPasskey | { readonly refused: string }> {
  const { verifyRegistrationResponse } = await library()
  const { decodeAttestationObject, isoBase64URL } = await libraryHelpers()
  try {
    const statement = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject))
    const format = statement.get('fmt')
    if (format !== 'none' && (format !== 'packed' || statement.get('attStmt').get('x5c') !== undefined)) {
      return { refused: 'the authenticator sent a statement of its maker that was not asked for' }
    }
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON: response.clientDataJSON, attestationObject: response.attestationObject },
      },
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: site.origin,
      expectedRPID: site.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...passkeyAlgorithms],
    })
    if (!verified || registrationInfo.credential.id !== id) return { refused: 'its statement is not valid' }
    const { credential, credentialBackedUp } = registrationInfo
    return {
      credentialId: Buffer.from(credential.id, 'base64url'),
      publicKey: Buffer.from(credential.publicKey),
      signCount: credential.counter,
      transports: knownTransports.filter((name) => response.transports?.includes(name)).join(' '),
      synced: credentialBackedUp,
    }
  } catch (error) {
    return { refused: reasonOf(error) }
  }
}

/**
 * Verifies a use of a passkey: challenge, origin, host, user verification, signature, and that the count of signatures rose.
 *
 * @returns why it is refused, or the new count
 */
export async function verifyPasskey(
  { id, response }: UsedCredential,
  {
    challenge,
    site,
    passkey,
  }: {
    readonly challenge: Buffer
    readonly site: PasskeySite
    readonly passkey: { readonly public_key: Buffer; readonly sign_count: number; readonly rp_id: string }
  },
): Promise<{ readonly signCount: number; readonly synced: boolean } | { readonly refused: string }> {
  if (passkey.rp_id !== site.rpId) return { refused: `it was made for ${passkey.rp_id}` }
  const { verifyAuthenticationResponse } = await library()
  try {
    const { clientDataJSON, authenticatorData, signature } = response
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: site.origin,
      expectedRPID: passkey.rp_id,
      requireUserVerification: true,
      credential: {
        id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: Number(passkey.sign_count),
      },
    })
    if (!verified) return { refused: 'its signature is wrong' }
    const { newCounter, credentialBackedUp } = authenticationInfo
    return { signCount: newCounter, synced: credentialBackedUp }
  } catch (error) {
    return { refused: reasonOf(error) }
  }
}

/** The library tells reasons by messages only. The caller gets our words, because its messages repeat what was sent. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/challenge/i, 'it answers another challenge'],
  [/origin/i, 'it was used on another site'],
  [/RP ID/i, 'it belongs to another site'],
  [/not be verified/, 'the person was not verified by a fingerprint, a face or a PIN'],
  [/not present/, 'nobody was present'],
  [/counter/i, 'its count of signatures went back: it may be a copy'],
  [/response type/, 'it answers another kind of request'],
  [/public key alg/, 'its algorithm is not supported'],
]

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : ''
  return reasons.find(([pattern]) => pattern.test(text))?.[1] ?? 'what the browser sent cannot be read'
}

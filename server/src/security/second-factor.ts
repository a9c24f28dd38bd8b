import { createHash } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { recoveryCodesMax } from '#contract/limits.ts'
import { randomText } from './same-bytes.ts'

/** The form that all authenticator apps read (RFC 6238). */
const form = { algorithm: 'SHA1', digits: 6, period: 30 } as const
/** A code counts one period earlier and later, because the clock of a telephone may differ by half a minute. */
const periodsAround = 1

/** A new secret for an authenticator app, in base 32: 160 random bits. */
export function newFactorSecret(): string {
  return new Secret({ size: 20 }).base32
}

/** The address that an authenticator app reads from a QR code. */
export function factorAddress(
  secret: string,
  { brokerage, email }: { brokerage: string; email: string },
): string {
  const issuer = `Lanewise ${brokerage}`.replaceAll(':', ' ')
  return new TOTP({ ...form, issuer, label: email, secret: Secret.fromBase32(secret) }).toString()
}

/**
 * The period of 30 seconds that a code belongs to, counted from 1970; null if it is the code of no period around now.
 *
 * @param now epoch milliseconds
 */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null
  const totp = new TOTP({ ...form, secret: Secret.fromBase32(secret) })
  const delta = totp.validate({ token: code, timestamp: now, window: periodsAround })
  return delta === null ? null : totp.counter({ timestamp: now }) + delta
}

const letters = 'abcdefghijkmnpqrstuvwxyz23456789'

/** New recovery codes of 80 random bits, such as `k3wq-...`. Shown once. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesMax }, () => {
    const text = randomText(letters, 16)
    return text.replaceAll(/(.{4})(?=.)/g, '$1-')
  })
}

/** The stored hash of a recovery code. Spaces, dashes and case do not count. */
export function recoveryCodeHash(code: string): Buffer {
  return createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest()
}

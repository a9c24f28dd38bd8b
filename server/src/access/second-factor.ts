import { problem } from '#contract/errors.ts'
import { secondFactorMinutes } from '#contract/limits.ts'
import type { PersonCaller } from './callers.ts'

/** The associated data of the sealed secret of an authenticator app: for another person, it cannot be decrypted. */
export function secondFactorPlace(tenant: number, userId: number): string {
  return `second factor ${tenant}/${userId}`
}

/**
 * Refuses a caller who has a second factor and did not give it in this session within the last minutes. Whoever finds an open session
 * cannot create credentials, take data away, erase, or change the rules of sign-in.
 *
 * @throws Problem second-factor-again
 */
export function requireRecentFactor({ secondFactor }: PersonCaller, now: number): void {
  const { setAt, givenAt } = secondFactor
  if (setAt === null || (givenAt !== null && now - givenAt.getTime() < secondFactorMinutes * 60_000)) return
  throw problem(
    'second-factor-again',
    `This needs your second factor again: it was not given in this session within ${secondFactorMinutes} minutes.`,
  )
}

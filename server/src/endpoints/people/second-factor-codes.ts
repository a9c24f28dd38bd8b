import type { Static } from 'typebox'
import type { givenPasskey } from '#contract/passkeys.ts'
import { secondFactorPlace } from '../../access/index.ts'
import { passkeys, secondFactors } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type PasskeySite, recoveryCodeHash, stepOfCode, unsealWithAny } from '../../security/index.ts'
import type { Parts } from '../parts.ts'
import { takePasskey } from './passkey-check.ts'

/** The period of a code of a factor; null if the code is wrong, or one of its period or a later one was used. */
export function stepGiven(
  factor: secondFactors.SecondFactorRow,
  code: string,
  { secretKeys, log }: Pick<Parts, 'secretKeys' | 'log'>,
  now: number,
): number | null {
  const { tenant_id, user_id, sealed, last_step } = factor
  const secret = unsealWithAny(secretKeys, secondFactorPlace(tenant_id, user_id), sealed)
  if (secret === null) {
    log.error({ tenant_id, user_id }, 'a second factor cannot be decrypted')
    return null
  }
  const step = stepOfCode(secret, code.trim(), now)
  return step === null || step <= Number(last_step) ? null : step
}

/** Whether a person has an authenticator app or a passkey. Locks the app until the commit, so that a code is used once. */
export async function hasFactor(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<boolean> {
  const app = await secondFactors.lockSecondFactor(transaction, tenant, userId)
  if (app?.confirmed_at != null) return true
  return (await passkeys.listPasskeys(transaction, tenant, userId)).length > 0
}

/** What a person gives as their second factor. */
export interface GivenFactor {
  readonly code?: string | undefined
  readonly passkey?: Static<typeof givenPasskey> | undefined
  /** What a challenge of a passkey was made for. */
  readonly purpose: string
  /** Throws if passkeys work nowhere. */
  readonly site: () => PasskeySite
}

/**
 * Uses up a second factor of a person: a code of the app, a recovery code, or a passkey. Without one there is nothing to give.
 *
 * @returns how it was given, or why it is wrong
 */
export async function takeFactor(
  transaction: TenantTransaction,
  { tenant, userId }: { readonly tenant: TenantId; readonly userId: number },
  { code, passkey, purpose, site }: GivenFactor,
  parts: Pick<Parts, 'secretKeys' | 'log'>,
  now: number,
): Promise<{ readonly by: 'app' | 'recovery code' | 'passkey' } | { readonly wrong: string }> {
  if (passkey !== undefined) {
    const at = { purpose, site: site() }
    const taken = await takePasskey(transaction, { tenant, userId }, passkey, at, parts, now)
    return 'refused' in taken ? { wrong: passkeyRefused(taken.refused) } : { by: 'passkey' }
  }
  if (code === undefined || !(await hasFactor(transaction, tenant, userId))) return { wrong: codeWrong }
  const app = await secondFactors.lockSecondFactor(transaction, tenant, userId)
  const step = app?.confirmed_at == null ? null : stepGiven(app, code, parts, now)
  if (step !== null) {
    await secondFactors.useFactorStep(transaction, tenant, { userId, step })
    return { by: 'app' }
  }
  const hash = recoveryCodeHash(code)
  const isRecovery = await secondFactors.useRecoveryCode(transaction, tenant, userId, hash)
  return isRecovery ? { by: 'recovery code' } : { wrong: codeWrong }
}

export const codeWrong =
  'The code is wrong, or was used already. Wait for the next one, and check that the clock of your telephone is right.'

export function passkeyRefused(reason: string): string {
  return `The passkey is refused: ${reason}. Begin again.`
}

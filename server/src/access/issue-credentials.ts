import { randomUUID } from 'node:crypto'
import { serviceTokenLifetimeDays } from '#contract/limits.ts'
import { insertServiceToken, insertSigningSecret } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { newSigningSecret, type SecretKeys, seal, type Tokens } from '../security/index.ts'
import { secretPlace } from './callers.ts'

interface Issued {
  readonly tenant: TenantId
  readonly userId: number
  readonly name: string
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Makes a service token that is valid for a year, with a normalized list of scopes. The token exists only in the return
 * value; the database has only its jti.
 */
export async function issueServiceToken(
  transaction: TenantTransaction,
  issued: Issued & { readonly role: string; readonly scope: string },
  tokens: Tokens,
) {
  const jti = randomUUID()
  const issuedAt = Math.floor(issued.now / 1000)
  const exp = issuedAt + serviceTokenLifetimeDays * 86_400
  const row = await insertServiceToken(transaction, issued.tenant, {
    jti,
    name: issued.name,
    scope: issued.scope,
    userId: issued.userId,
    now: new Date(issued.now),
    expiresAt: new Date(exp * 1000),
    signedWith: tokens.signsWith,
  })
  const token = tokens.sign('service', {
    tenant_id: issued.tenant,
    user_id: issued.userId,
    role: issued.role,
    scope: issued.scope,
    jti,
    iat: issuedAt,
    exp,
  })
  return { row, token }
}

/** Makes a signing secret, sealed for its own row. The plaintext exists only in the return value. */
export async function issueSigningSecret(
  transaction: TenantTransaction,
  issued: Issued,
  [secretKey]: SecretKeys,
) {
  const plaintext = newSigningSecret()
  const row = await insertSigningSecret(transaction, issued.tenant, {
    name: issued.name,
    userId: issued.userId,
    now: new Date(issued.now),
    sealedFor: (secretId) => seal(secretKey, secretPlace(issued.tenant, secretId), plaintext),
  })
  return { row, plaintext }
}

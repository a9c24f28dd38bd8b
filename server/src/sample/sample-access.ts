import { randomBytes } from 'node:crypto'
import { defaultScope } from '#contract/token-scopes.ts'
import { issueServiceToken, issueSigningSecret } from '../access/index.ts'
import { recordEvent } from '../audit/index.ts'
import {
  type ExampleLanes,
  findTenant,
  findUser,
  listAudit,
  readExampleLanes,
  signInOf,
  updateUser,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { hashPassword, type SecretKeys, type Tokens } from '../security/index.ts'
import { ownerEmail } from './insert-sample.ts'

/** The credentials and lanes to try the service with. They are shown once and not saved. */
export interface SampleAccess extends ExampleLanes {
  readonly company: string
  readonly email: string
  readonly password: string
  readonly token: string
  readonly secret: string
}

/**
 * Gives the sample brokerage a password, a service token and a signing secret; null if it has them, or does not exist. Call it only
 * when they can be shown: if a start fails earlier, the next start can still create them.
 */
export async function giveSampleAccess(
  database: Database,
  { tokens, secretKeys, now }: { tokens: Tokens; secretKeys: SecretKeys; now: number },
): Promise<SampleAccess | null> {
  const known = await signInOf(database, ownerEmail)
  if (known === null) return null
  const { tenant, userId } = known
  if (!(await database.inTenant(tenant, (transaction) => awaitsAccess(transaction, tenant, userId))))
    return null
  const password = randomBytes(12).toString('base64url')
  const passwordHash = await hashPassword(password)
  return database.inTenant(tenant, async (transaction) => {
    const issued = { tenant, userId, now }
    await updateUser(transaction, tenant, userId, { password_hash: passwordHash })
    const { row, token } = await issueServiceToken(
      transaction,
      { ...issued, name: 'sample', role: 'owner', scope: defaultScope },
      tokens,
    )
    const { row: secret, plaintext } = await issueSigningSecret(
      transaction,
      { ...issued, name: 'tms' },
      secretKeys,
    )
    const company = (await findTenant(transaction, tenant))?.name
    const examples = await readExampleLanes(transaction, tenant)
    if (company === undefined || examples === null) throw new Error('The sample brokerage has no open quote.')
    const doing = { caller: issued, now, network: null, requestId: null }
    await recordEvent(transaction, doing, 'signed-up')
    await recordEvent(transaction, doing, 'token-created', {
      about: { token_id: row.token_id, name: row.name },
    })
    await recordEvent(transaction, doing, 'secret-created', {
      about: { secret_id: secret.secret_id, name: secret.name },
    })
    return { company, email: ownerEmail, password, token, secret: plaintext, ...examples }
  })
}

/** True until access was given. An imported brokerage has no passwords either, but its audit log has its sign-up. */
async function awaitsAccess(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<boolean> {
  const user = await findUser(transaction, tenant, userId)
  if (user === null || user.password_hash !== null) return false
  const signedUp = await listAudit(transaction, tenant, { kinds: ['signed-up'] }, { before: null, limit: 1 })
  return signedUp.length === 0
}

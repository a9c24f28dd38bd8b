import type { Selectable } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type Database, type TenantId } from '../../session/index.ts'
import { nextTenantNumber } from './people.ts'

export type ServiceTokenRow = Selectable<Tables['service_tokens']>
export type SigningSecretRow = Selectable<Tables['signing_secrets']>

export async function insertServiceToken(
  transaction: TenantTransaction,
  tenant: TenantId,
  token: {
    jti: string
    name: string
    scope: string
    userId: number
    now: Date
    expiresAt: Date
    /** The name of the key that signed it. */
    signedWith: string
  },
): Promise<ServiceTokenRow> {
  return transaction
    .insertInto('service_tokens')
    .values({
      tenant_id: tenant,
      token_id: await nextTenantNumber(transaction, tenant, 'token'),
      jti: token.jti,
      name: token.name,
      scope: token.scope,
      user_id: token.userId,
      created_at: token.now,
      expires_at: token.expiresAt,
      last_used_from: null,
      signed_with: token.signedWith,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function listServiceTokens(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<ServiceTokenRow[]> {
  return transaction
    .selectFrom('service_tokens')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .orderBy('token_id', 'desc')
    .execute()
}

/** The result of a revocation. `revoked` is false if the credential was revoked before. */
export interface Revoked<Row> {
  readonly row: Row
  readonly revoked: boolean
}

/** Revokes a token, and keeps the time of the first revocation. Null if the tenant has no such token. */
export async function revokeServiceToken(
  transaction: TenantTransaction,
  tenant: TenantId,
  tokenId: number,
  now: Date,
): Promise<Revoked<ServiceTokenRow> | null> {
  const found = await transaction
    .selectFrom('service_tokens')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('token_id', '=', tokenId)
    .forUpdate()
    .executeTakeFirst()
  if (found === undefined) return null
  if (found.revoked_at !== null) return { row: found, revoked: false }
  accessChanged(transaction)
  await transaction
    .updateTable('service_tokens')
    .set({ revoked_at: now })
    .where('tenant_id', '=', tenant)
    .where('token_id', '=', tokenId)
    .execute()
  return { row: { ...found, revoked_at: now }, revoked: true }
}

/** The valid tokens of a user. */
export async function liveTokensOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  now: Date,
) {
  return transaction
    .selectFrom('service_tokens')
    .select(['token_id', 'name'])
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .forUpdate()
    .execute()
}

/** The valid tokens that expire before `until`, soonest first. */
export async function expiringTokens(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: Date,
  until: Date,
): Promise<{ token_id: number; name: string; expires_at: Date }[]> {
  return transaction
    .selectFrom('service_tokens')
    .select(['token_id', 'name', 'expires_at'])
    .where('tenant_id', '=', tenant)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', until)
    .orderBy('expires_at')
    .execute()
}

/** Revokes all valid tokens of a user, and returns their ids. */
export async function revokeTokensOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  now: Date,
): Promise<number[]> {
  const live = await liveTokensOf(transaction, tenant, userId, now)
  for (const { token_id } of live) await revokeServiceToken(transaction, tenant, token_id, now)
  return live.map(({ token_id }) => token_id)
}

export async function handOverTokens(
  transaction: TenantTransaction,
  tenant: TenantId,
  from: number,
  to: number,
): Promise<void> {
  accessChanged(transaction)
  await transaction
    .updateTable('service_tokens')
    .set({ user_id: to })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', from)
    .where('revoked_at', 'is', null)
    .execute()
}

/** A valid service token with the current role of its owner, which may differ from the role in the token's claims. */
export async function findLiveServiceToken(
  transaction: TenantTransaction,
  tenant: TenantId,
  jti: string,
  now: Date,
) {
  return (
    (await transaction
      .selectFrom('service_tokens')
      .innerJoin('users', (join) =>
        join
          .onRef('users.tenant_id', '=', 'service_tokens.tenant_id')
          .onRef('users.user_id', '=', 'service_tokens.user_id'),
      )
      .innerJoin('tenants', 'tenants.tenant_id', 'service_tokens.tenant_id')
      .select([
        'token_id',
        'service_tokens.user_id',
        'scope',
        'service_tokens.expires_at',
        'last_used_at',
        'last_used_from',
        'tenants.sandbox_of',
      ])
      .where('service_tokens.tenant_id', '=', tenant)
      .where('jti', '=', jti)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now)
      .where('users.status', '=', 'active')
      .where('users.role', 'in', ['admin', 'owner'])
      .where('tenants.status', '=', 'active')
      .executeTakeFirst()) ?? null
  )
}

/** Whether a token with this jti was ever issued to the tenant, valid or not. */
export async function wasIssued(
  transaction: TenantTransaction,
  tenant: TenantId,
  jti: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('service_tokens')
    .select('token_id')
    .where('tenant_id', '=', tenant)
    .where('jti', '=', jti)
    .executeTakeFirst()
  return row !== undefined
}

/** Records when and from which network a token was last used. */
export function recordTokenUse(
  database: Pick<Database, 'callInTenant'>,
  tenant: TenantId,
  tokenId: number,
  now: Date,
  network: string,
): Promise<void> {
  return database.callInTenant(tenant, 'note_token_use', [tokenId, now, network])
}

export async function insertSigningSecret(
  transaction: TenantTransaction,
  tenant: TenantId,
  secret: { name: string; userId: number; now: Date; sealedFor: (secretId: number) => Buffer },
): Promise<SigningSecretRow> {
  const secretId = await nextTenantNumber(transaction, tenant, 'secret')
  accessChanged(transaction)
  return transaction
    .insertInto('signing_secrets')
    .values({
      tenant_id: tenant,
      secret_id: secretId,
      name: secret.name,
      sealed: secret.sealedFor(secretId),
      created_by: secret.userId,
      created_at: secret.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function listSigningSecrets(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<SigningSecretRow[]> {
  return transaction
    .selectFrom('signing_secrets')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .orderBy('secret_id', 'desc')
    .execute()
}

/** The secrets that are accepted now, newest first. */
export async function liveSigningSecrets(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: Date,
): Promise<SigningSecretRow[]> {
  return transaction
    .selectFrom('signing_secrets')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('revoked_at', 'is', null)
    .where((secret) => secret.or([secret('expires_at', 'is', null), secret('expires_at', '>', now)]))
    .orderBy('secret_id', 'desc')
    .execute()
}

/**
 * Counts the live secrets of a name, one transaction at a time: the tenant's row serves as a lock. The lock is weak (`for no
 * key update`), because all rows of the tenant reference it: a stronger lock could deadlock with writers of those rows.
 */
export async function lockLiveSecretsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  name: string,
  now: Date,
) {
  await transaction
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenant)
    .forNoKeyUpdate()
    .execute()
  return (await liveSigningSecrets(transaction, tenant, now)).filter((secret) => secret.name === name)
}

export async function expireSigningSecret(
  transaction: TenantTransaction,
  tenant: TenantId,
  secretId: number,
  expiresAt: Date,
): Promise<void> {
  accessChanged(transaction)
  await transaction
    .updateTable('signing_secrets')
    .set({ expires_at: expiresAt })
    .where('tenant_id', '=', tenant)
    .where('secret_id', '=', secretId)
    .execute()
}

export async function revokeSigningSecret(
  transaction: TenantTransaction,
  tenant: TenantId,
  secretId: number,
  now: Date,
): Promise<Revoked<SigningSecretRow> | null> {
  const found = await transaction
    .selectFrom('signing_secrets')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('secret_id', '=', secretId)
    .forUpdate()
    .executeTakeFirst()
  if (found === undefined) return null
  if (found.revoked_at !== null) return { row: found, revoked: false }
  accessChanged(transaction)
  await transaction
    .updateTable('signing_secrets')
    .set({ revoked_at: now })
    .where('tenant_id', '=', tenant)
    .where('secret_id', '=', secretId)
    .execute()
  return { row: { ...found, revoked_at: now }, revoked: true }
}

/** Records when a secret was last used. */
export function recordSecretUse(
  database: Pick<Database, 'callInTenant'>,
  tenant: TenantId,
  secretId: number,
  now: Date,
): Promise<void> {
  return database.callInTenant(tenant, 'note_secret_use', [secretId, now])
}

/** All sealed signing secrets, including revoked and expired ones, by id. Locks them until the commit. */
export async function sealedSecrets(
  transaction: TenantTransaction,
  tenant: TenantId,
  after: number,
  limit: number,
) {
  return transaction
    .selectFrom('signing_secrets')
    .select(['secret_id', 'sealed', 'revoked_at', 'expires_at'])
    .where('tenant_id', '=', tenant)
    .where('secret_id', '>', after)
    .orderBy('secret_id')
    .limit(limit)
    .forNoKeyUpdate()
    .execute()
}

/** The valid service tokens that were signed with a key other than the named one, by id. */
export async function tokensOfOtherKeys(
  transaction: TenantTransaction,
  tenant: TenantId,
  keyName: string,
  now: Date,
) {
  return transaction
    .selectFrom('service_tokens')
    .select(['token_id', 'name', 'last_used_at', 'expires_at', 'signed_with'])
    .where('tenant_id', '=', tenant)
    .where('signed_with', 'is distinct from', keyName)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('token_id')
    .execute()
}

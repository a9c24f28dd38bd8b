import type { Selectable } from 'kysely'
import type { TenantId, TenantTransaction } from './open-database.ts'
import { nextTenantNumber } from './people.ts'
import type { Tables } from './tables.ts'

export type ServiceTokenRow = Selectable<Tables['service_tokens']>
export type SigningSecretRow = Selectable<Tables['signing_secrets']>

export async function insertServiceToken(
  transaction: TenantTransaction,
  tenant: TenantId,
  token: { jti: string; name: string; scope: string; userId: number; now: Date; expiresAt: Date },
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

/** Revokes a token; the first revocation's time stands. Null when the tenant has no such token. */
export async function revokeServiceToken(
  transaction: TenantTransaction,
  tenant: TenantId,
  tokenId: number,
  now: Date,
): Promise<ServiceTokenRow | null> {
  return (
    (await transaction
      .updateTable('service_tokens')
      .set((token) => ({ revoked_at: token.fn.coalesce('revoked_at', token.val(now)) }))
      .where('tenant_id', '=', tenant)
      .where('token_id', '=', tokenId)
      .returningAll()
      .executeTakeFirst()) ?? null
  )
}

/** The tokens of a person that still work. */
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

export async function handOverTokens(
  transaction: TenantTransaction,
  tenant: TenantId,
  from: number,
  to: number,
): Promise<void> {
  await transaction
    .updateTable('service_tokens')
    .set({ user_id: to })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', from)
    .where('revoked_at', 'is', null)
    .execute()
}

/** A service token that still works, with the role its owner has now: the token's claims are not believed. */
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
      .select(['token_id', 'service_tokens.user_id', 'scope', 'users.role', 'last_used_at', 'last_used_from'])
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

/** True when a token of this jti was ever issued here, whatever became of it. */
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

export async function recordTokenUse(
  transaction: TenantTransaction,
  tenant: TenantId,
  tokenId: number,
  now: Date,
  network: string,
): Promise<void> {
  await transaction
    .updateTable('service_tokens')
    .set({ last_used_at: now, last_used_from: network })
    .where('tenant_id', '=', tenant)
    .where('token_id', '=', tokenId)
    .execute()
}

export async function insertSigningSecret(
  transaction: TenantTransaction,
  tenant: TenantId,
  secret: { name: string; userId: number; now: Date; sealedFor: (secretId: number) => Buffer },
): Promise<SigningSecretRow> {
  const secretId = await nextTenantNumber(transaction, tenant, 'secret')
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

/** The secrets accepted now, newest first. */
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

/** The live secrets of a name, counted one caller at a time: the counter's row is the lock. */
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
    .forUpdate()
    .execute()
  return (await liveSigningSecrets(transaction, tenant, now)).filter((secret) => secret.name === name)
}

export async function expireSigningSecret(
  transaction: TenantTransaction,
  tenant: TenantId,
  secretId: number,
  expiresAt: Date,
): Promise<void> {
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
): Promise<SigningSecretRow | null> {
  return (
    (await transaction
      .updateTable('signing_secrets')
      .set((secret) => ({ revoked_at: secret.fn.coalesce('revoked_at', secret.val(now)) }))
      .where('tenant_id', '=', tenant)
      .where('secret_id', '=', secretId)
      .returningAll()
      .executeTakeFirst()) ?? null
  )
}

export async function recordSecretUse(
  transaction: TenantTransaction,
  tenant: TenantId,
  secretId: number,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('signing_secrets')
    .set({ last_used_at: now })
    .where('tenant_id', '=', tenant)
    .where('secret_id', '=', secretId)
    .execute()
}

import { eventSecretPlace, keyCheckPlace, keyCheckText, secretPlace } from '../access/index.ts'
import { byOperator, recordEvent } from '../audit/index.ts'
import {
  deleteEventSecret,
  isServing,
  listEventEndpoints,
  liveSigningSecrets,
  type NamedTenant,
  readKeyCheck,
  replaceKeyCheck,
  revokeSigningSecret,
  sealedEventSecrets,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { Database } from '../database/session/index.ts'
import { type SecretKeys, seal, unsealWithAny } from '../security/index.ts'
import { CommandRefused } from './command-database.ts'
import { type ListedCredential, oldTokensOf } from './credentials-list.ts'

interface LostKeyOptions {
  readonly keys: SecretKeys
  /** The keys that verify tokens. */
  readonly tokenKeys: SecretKeys
  readonly oldUntil: number | null
  readonly now: number
  /** Receives each credential that must be made again, as soon as the removal is committed. */
  readonly list: (credential: ListedCredential) => void
}

/**
 * Removes the secrets that only a lost key decrypts, and makes the first of `keys` the key of the database, so that the service
 * starts again. Each brokerage's removal is one transaction with one row in its audit log. After an interruption, the same command
 * continues.
 *
 * @throws CommandRefused when the key is not lost
 */
export async function removeLostSecrets(
  database: Database,
  tenants: readonly NamedTenant[],
  { keys, tokenKeys, oldUntil, now, list }: LostKeyOptions,
): Promise<void> {
  const [check, serving] = await database.outsideTenants(async (transaction) => [
    await readKeyCheck(transaction),
    await isServing(transaction),
  ])
  if (check === null) throw new CommandRefused('The database has had no key yet: start the service.')
  if (unsealWithAny(keys, keyCheckPlace, check) !== null) {
    throw new CommandRefused(
      'The key of this database is among the secret keys, so it is not lost. Leave out --without-secrets.',
    )
  }
  if (serving) throw new CommandRefused(keyIsInMemory)
  for (const brokerage of tenants) {
    const { tenant } = brokerage
    const removed = await database.inTenant(tenant, async (transaction) => {
      const lost = await removeOf(transaction, brokerage, keys, now)
      if (lost.length > 0) {
        const idsOf = (kind: ListedCredential['kind']) =>
          lost.flatMap((one) => (one.kind === kind ? one.id : []))
        await recordEvent(transaction, byOperator(tenant, now), 'secrets-lost', {
          about: { secret_ids: idsOf('signing secret'), endpoint_ids: idsOf('event secret') },
        })
      }
      return lost
    })
    for (const one of removed) list(one)
    for (const token of await oldTokensOf(database, brokerage, { keys: tokenKeys, oldUntil, now })) {
      if (token.endsAt === null || token.signedWith === null) list({ ...token, endsAt: null })
    }
  }
  await database.outsideTenants((transaction) =>
    replaceKeyCheck(transaction, check, seal(keys[0], keyCheckPlace, keyCheckText)),
  )
}

/** A running service is refused: it would go on encrypting with the key that it has, and that key is not lost. */
export const keyIsInMemory =
  'The service runs, so its key is not lost: read it from its environment or its key file (docs/lost-key.md). Or stop every instance, and run this command again.'

/** Revokes the signing secrets and deletes the event secrets of a brokerage that no key decrypts. */
async function removeOf(
  transaction: TenantTransaction,
  brokerage: NamedTenant,
  keys: SecretKeys,
  now: number,
): Promise<ListedCredential[]> {
  const { tenant } = brokerage
  const at = new Date(now)
  const lost: ListedCredential[] = []
  for (const { secret_id: id, sealed, name, last_used_at } of await liveSigningSecrets(
    transaction,
    tenant,
    at,
  )) {
    if (unsealWithAny(keys, secretPlace(tenant, id), sealed) !== null) continue
    await revokeSigningSecret(transaction, tenant, id, at)
    lost.push({ brokerage, kind: 'signing secret', id, name, lastUsedAt: last_used_at, endsAt: null })
  }
  const endpoints = await listEventEndpoints(transaction, tenant, at)
  const sealedById = new Map(
    (await sealedEventSecrets(transaction, tenant, 0, Number.MAX_SAFE_INTEGER)).map((secret) => [
      secret.secret_id,
      secret.sealed,
    ]),
  )
  for (const { endpoint_id, url, secrets } of endpoints) {
    let removed = 0
    for (const { secretId } of secrets) {
      const sealed = sealedById.get(secretId)
      if (sealed === undefined || unsealWithAny(keys, eventSecretPlace(tenant, secretId), sealed) !== null)
        continue
      await deleteEventSecret(transaction, tenant, secretId)
      removed++
    }
    if (removed > 0) {
      const name = new URL(url).host
      lost.push({ brokerage, kind: 'event secret', id: endpoint_id, name, lastUsedAt: null, endsAt: null })
    }
  }
  return lost
}

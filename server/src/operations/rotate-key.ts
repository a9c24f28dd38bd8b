import { eventSecretPlace, keyCheckPlace, keyCheckText, secretPlace } from '../access/index.ts'
import {
  type NamedTenant,
  readKeyCheck,
  readKeyNames,
  replaceKeyCheck,
  type SealedTable,
  sealAnew,
  sealedEventSecrets,
  sealedSecrets,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { keyName, type SecretKeys, seal, unseal, unsealWithAny } from '../security/index.ts'
import { type CommandDatabase, CommandRefused } from './command-database.ts'

const secretsPerLook = 100

/**
 * Encrypts every secret of every brokerage with the first key, so that the other keys can be removed. It works in small
 * transactions next to a running service, which can decrypt with both keys. After an interruption, the same command
 * continues. The check value of the key is re-encrypted last, after a pass that found nothing left to do. Returns the number of
 * secrets that it re-encrypted.
 *
 * @throws CommandRefused when the service has not been started with the first key yet, or a live secret opens with none
 */
export async function rotateKey(
  database: Database,
  tenants: () => Promise<readonly NamedTenant[]>,
  keys: SecretKeys,
  { remark, now }: Pick<CommandDatabase, 'remark'> & { now: number },
): Promise<number> {
  const [first] = keys
  const [check, known] = await database.outsideTenants(async (transaction) => [
    await readKeyCheck(transaction),
    await readKeyNames(transaction),
  ])
  if (check === null || unsealWithAny(keys, keyCheckPlace, check) === null) {
    throw new CommandRefused(
      'None of the secret keys is the key of this database. Add the key it was last used with after the new one. If it is lost for good, docs/lost-key.md says how to go on.',
    )
  }
  if (!known.includes(keyName(first))) {
    throw new CommandRefused(
      'The service has not been started with the first key yet, so it could not decrypt what this command encrypts. Start the service with the same list of keys, the new one first, and then run this command again.',
    )
  }
  let sealedAnew = 0
  for (;;) {
    const all = await tenants()
    let changed = 0
    for (const [index, { tenant, name }] of all.entries()) {
      const here = await sealAll(database, tenant, name, keys, now)
      changed += here
      if (here > 0 || (index + 1) % 100 === 0) {
        remark(`${index + 1} of ${all.length} brokerages: ${sealedAnew + changed} secrets re-encrypted`)
      }
    }
    sealedAnew += changed
    // A process that still uses the old key may have created a secret meanwhile. The next pass finds it.
    if (changed === 0) break
  }
  await database.outsideTenants((transaction) =>
    replaceKeyCheck(transaction, check, seal(first, keyCheckPlace, keyCheckText)),
  )
  return sealedAnew
}

/** A saved secret of any kind. */
interface SealedRow {
  readonly secret_id: number
  readonly sealed: Buffer
  readonly expires_at: Date | null
  readonly revoked_at?: Date | null
}

/** The kinds of encrypted values of a brokerage: how to read their rows, and their name in messages. */
const kindsOfSecret: readonly {
  readonly called: string
  readonly place: (tenant: number, secretId: number) => string
  readonly read: (
    transaction: TenantTransaction,
    tenant: TenantId,
    after: number,
    limit: number,
  ) => Promise<readonly SealedRow[]>
  readonly table: SealedTable
}[] = [
  { called: 'Signing secret', place: secretPlace, read: sealedSecrets, table: 'signing_secrets' },
  { called: 'Event secret', place: eventSecretPlace, read: sealedEventSecrets, table: 'event_secrets' },
]

/** Re-encrypts the secrets of one brokerage that another key encrypted, and returns their number. */
async function sealAll(
  database: Database,
  tenant: NamedTenant['tenant'],
  name: string,
  keys: SecretKeys,
  now: number,
): Promise<number> {
  const [first] = keys
  let changed = 0
  for (const kind of kindsOfSecret) {
    for (let after: number | null = 0; after !== null; ) {
      const from: number = after
      after = await database.inTenant(tenant, async (transaction) => {
        const secrets = await kind.read(transaction, tenant, from, secretsPerLook)
        for (const { secret_id: id, sealed, revoked_at, expires_at } of secrets) {
          const place = kind.place(tenant, id)
          if (unseal(first, place, sealed) !== null) continue
          const plaintext = unsealWithAny(keys, place, sealed)
          if (plaintext !== null) {
            await sealAnew(transaction, tenant, kind.table, {
              secretId: id,
              sealed: seal(first, place, plaintext),
            })
            changed++
          } else if ((revoked_at ?? null) === null && (expires_at === null || expires_at.getTime() > now)) {
            throw new CommandRefused(
              `${kind.called} ${id} of ${name} (${tenant}) cannot be decrypted with any of the keys. Add the key that encrypted it, or have it revoked, and run this command again.`,
            )
          }
        }
        return secrets.length < secretsPerLook ? null : (secrets.at(-1)?.secret_id ?? null)
      })
    }
  }
  return changed
}

import {
  companySignInPlace,
  eventSecretPlace,
  keyCheckPlace,
  keyCheckText,
  mailboxPlace,
  mailServerPlace,
  marketKeyPlace,
  secondFactorPlace,
  secretPlace,
} from '../access/index.ts'
import {
  countTokensOfOtherKeys,
  endSealed,
  type NamedTenant,
  readKeyCheck,
  readKeyNames,
  readSealed,
  replaceKeyCheck,
  type SealedTable,
  sealAnew,
} from '../database/queries/index.ts'
import type { Database } from '../database/session/index.ts'
import { keyName, type SecretKeys, seal, unseal, unsealWithAny } from '../security/index.ts'
import { type CommandDatabase, CommandRefused } from './command-database.ts'

const secretsPerLook = 100

export interface RotatedKey {
  readonly sealedAnew: number
  /** Secrets that no key decrypts, which `lost` ended. */
  readonly ended: number
  /**
   * The brokerages with live service tokens that another key than the first token key has signed, and the number of these tokens.
   * They become invalid when the other keys are removed.
   */
  readonly tokensOfOtherKeys: readonly (NamedTenant & { readonly tokens: number })[]
}

export interface RotationOptions extends Pick<CommandDatabase, 'remark'> {
  readonly now: number
  /** The keys of tokens, the first of which signs. */
  readonly tokenKeys: SecretKeys
  /** The key of the database is lost: secrets that no key decrypts are ended. */
  readonly lost: boolean
}

/**
 * Encrypts every secret of every brokerage with the first key, so that the other keys can be removed. It works in small
 * transactions next to a running service, which can decrypt with both keys. After an interruption, the same command
 * continues. The check value of the key is re-encrypted last, after a pass that found nothing left to do.
 *
 * With `lost`, the service cannot start, and secrets that no key decrypts are ended instead of refused.
 *
 * @throws CommandRefused when the service has not been started with the first key yet, or a live secret opens with none
 */
export async function rotateKey(
  database: Database,
  tenants: () => Promise<readonly NamedTenant[]>,
  keys: SecretKeys,
  { remark, now, tokenKeys, lost }: RotationOptions,
): Promise<RotatedKey> {
  const [first] = keys
  const [check, known] = await database.outsideTenants(async (transaction) => [
    await readKeyCheck(transaction),
    await readKeyNames(transaction),
  ])
  if (check === null) throw new CommandRefused('The database has had no key yet. Start the service.')
  const isKnown = unsealWithAny(keys, keyCheckPlace, check) !== null
  if (isKnown && lost) {
    throw new CommandRefused(
      'The secret keys contain the key of this database, so it is not lost. Leave --lost out.',
    )
  }
  if (!isKnown && !lost) {
    throw new CommandRefused(
      'None of the secret keys is the key of this database. Add the key it was last used with after the new one. If there is no copy of it, docs/lost-key.md says how to go on.',
    )
  }
  if (!lost && !known.includes(keyName(first))) {
    throw new CommandRefused(
      'The service has not been started with the first key yet, so it could not decrypt what this command encrypts. Start the service with the same list of keys, the new one first, and then run this command again.',
    )
  }
  let sealedAnew = 0
  let ended = 0
  for (;;) {
    const all = await tenants()
    let changed = 0
    for (const [index, { tenant, name }] of all.entries()) {
      const here = await sealAll(database, { tenant, name }, keys, { now, lost })
      changed += here.sealed
      ended += here.ended
      if (here.sealed + here.ended > 0 || (index + 1) % 100 === 0) {
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
  const tokensOfOtherKeys: RotatedKey['tokensOfOtherKeys'][number][] = []
  for (const named of await tenants()) {
    const tokens = await database.inTenant(named.tenant, (transaction) =>
      countTokensOfOtherKeys(transaction, named.tenant, keyName(tokenKeys[0]), new Date(now)),
    )
    if (tokens > 0) tokensOfOtherKeys.push({ ...named, tokens })
  }
  return { sealedAnew, ended, tokensOfOtherKeys }
}

/** The kinds of encrypted values of a brokerage: their table, and their name in messages. */
const kindsOfSecret: readonly {
  readonly called: string
  readonly place: (tenant: number, secretId: number) => string
  readonly table: SealedTable
}[] = [
  { called: 'Signing secret', place: secretPlace, table: 'signing_secrets' },
  { called: 'Event secret', place: eventSecretPlace, table: 'event_secrets' },
  { called: 'Market key', place: marketKeyPlace, table: 'market_keys' },
  { called: 'Second factor', place: secondFactorPlace, table: 'second_factors' },
  { called: 'Mail server', place: mailServerPlace, table: 'mail_servers' },
  { called: 'Mailbox', place: mailboxPlace, table: 'mailboxes' },
  {
    called: 'Company sign-in',
    place: companySignInPlace,
    table: 'company_sign_ins',
  },
]

/** Re-encrypts the secrets of one brokerage that another key encrypted, and ends those that no key decrypts if it is lost. */
async function sealAll(
  database: Database,
  { tenant, name }: Pick<NamedTenant, 'tenant' | 'name'>,
  keys: SecretKeys,
  { now, lost }: Pick<RotationOptions, 'now' | 'lost'>,
): Promise<{ readonly sealed: number; readonly ended: number }> {
  const [first] = keys
  let changed = 0
  let ended = 0
  for (const kind of kindsOfSecret) {
    for (let after: number | null = 0; after !== null; ) {
      const from: number = after
      after = await database.inTenant(tenant, async (transaction) => {
        const secrets = await readSealed(transaction, tenant, kind.table, {
          after: from,
          limit: secretsPerLook,
        })
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
            continue
          }
          if (revoked_at !== null || (expires_at !== null && expires_at.getTime() <= now)) continue
          if (lost) {
            await endSealed(transaction, tenant, kind.table, { secretId: id, now: new Date(now) })
            ended++
          } else {
            throw new CommandRefused(
              `${kind.called} ${id} of ${name} (${tenant}) cannot be decrypted with any of the keys. Add the key that encrypted it, or have it revoked, and run this command again.`,
            )
          }
        }
        return secrets.length < secretsPerLook ? null : (secrets.at(-1)?.secret_id ?? null)
      })
    }
  }
  return { sealed: changed, ended }
}

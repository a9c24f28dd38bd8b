import { parseArgs } from 'node:util'
import { type Config, readConfig, secretKeysOf, tokenKeysOf } from '../configuration/index.ts'
import { listTenants, type NamedTenant } from '../database/queries/index.ts'
import type { Database } from '../database/session/index.ts'
import { runningEmbeddedPostgres } from '../embedded-postgres/index.ts'
import { keyName, type SecretKeys } from '../security/index.ts'
import { atDatabase, CommandRefused, exitCodeOf } from './command-database.ts'
import {
  credentialLine,
  credentialsHead,
  type ListedCredential,
  type OldToken,
  oldTokensOf,
} from './credentials-list.ts'
import { keyIsInMemory, removeLostSecrets } from './lost-secrets.ts'
import { rotateKey } from './rotate-key.ts'

const usage = `npm run rotate-key                        encrypts every secret with the first secret key, and lists the tokens of old keys
npm run rotate-key -- --tokens            lists the service tokens that old keys signed; changes nothing
npm run rotate-key -- --without-secrets   the secret key is lost: removes what only it decrypts, and lists it (docs/lost-key.md)
`

const remark = (line: string) => process.stderr.write(`${line}\n`)

/** `npm run rotate-key`: what an operator does when a key changes or is lost. Lists go to standard output, as CSV. */
async function main(): Promise<number> {
  const asked = readArguments()
  if (asked === null) {
    process.stderr.write(usage)
    return 2
  }
  const config = readConfig(process.env)
  const lost = asked['without-secrets'] === true
  if (lost && config.databaseUrl === null && runningEmbeddedPostgres(config.dataDirectory) !== null)
    throw new CommandRefused(keyIsInMemory)
  return atDatabase({ config, remark }, async (database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL as well: only the database owner can list the brokerages of an installation.',
      )
    }
    const tenants = () => listTenants(owner)
    const keys = config.secretKeys ?? keysOfFolder(config.dataDirectory)
    if (lost) return withoutSecrets(database, await tenants(), config, keys)
    if (asked.tokens !== true) {
      const sealedAnew = await rotateKey(database, tenants, keys, { remark, now: Date.now() })
      remark(`Every secret is encrypted with the first key (${sealedAnew} were re-encrypted).`)
    }
    const old = await listOldTokens(database, await tenants(), config, keys)
    if (asked.tokens !== true && keys.length > 1) remark(whatRemovalEnds(config, keys, old))
    return 0
  })
}

function keysOfFolder(dataDirectory: string): SecretKeys {
  try {
    return secretKeysOf(dataDirectory)
  } catch (error) {
    throw new CommandRefused((error as Error).message)
  }
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: { tokens: { type: 'boolean' }, 'without-secrets': { type: 'boolean' } },
    })
    return Object.keys(values).length > 1 ? null : values
  } catch {
    return null
  }
}

async function withoutSecrets(
  database: Database,
  tenants: readonly NamedTenant[],
  config: Config,
  keys: SecretKeys,
): Promise<number> {
  const listing = startListing()
  await removeLostSecrets(database, tenants, {
    keys,
    tokenKeys: tokenKeysOf(config, keys),
    oldUntil: config.oldTokensUntil,
    now: Date.now(),
    list: listing.list,
  })
  remark(
    `The service starts with the first of the secret keys now. ${listing.count()} credential(s) must be made again: the list names them by brokerage (docs/lost-key.md).`,
  )
  return 0
}

/** Writes credentials to standard output, the names of the columns before the first one. */
function startListing() {
  let count = 0
  return {
    list(credential: ListedCredential): void {
      if (count++ === 0) process.stdout.write(credentialsHead)
      process.stdout.write(credentialLine(credential))
    },
    count: () => count,
  }
}

async function listOldTokens(
  database: Database,
  tenants: readonly NamedTenant[],
  config: Config,
  keys: SecretKeys,
): Promise<OldToken[]> {
  const all: OldToken[] = []
  const { list, count } = startListing()
  const tokenKeys = tokenKeysOf(config, keys)
  for (const brokerage of tenants) {
    const old = await oldTokensOf(database, brokerage, {
      keys: tokenKeys,
      oldUntil: config.oldTokensUntil,
      now: Date.now(),
    })
    for (const token of old) list(token)
    all.push(...old)
  }
  if (count() === 0) remark('No live service token was signed with an old key.')
  return all
}

/** What ends when every secret key but the first is removed. */
function whatRemovalEnds(config: Config, keys: SecretKeys, old: readonly OldToken[]): string {
  const kept = [keys[0], ...(config.tokenKeys ?? [])].map(keyName)
  const ending = old.filter(
    ({ endsAt, signedWith }) => endsAt !== null && (signedWith === null || !kept.includes(signedWith)),
  ).length
  const people = config.tokenKeys === null ? ' People must sign in again.' : ''
  return ending === 0
    ? `The other secret keys can be removed: no live service token was signed with them.${people}`
    : `When the other secret keys are removed, ${ending} live service token(s) that were signed with them become invalid.${people} To keep them, set LANEWISE_TOKEN_KEY to a list that ends with the old key first (docs/operating.md).`
}

process.exitCode = await exitCodeOf(main)

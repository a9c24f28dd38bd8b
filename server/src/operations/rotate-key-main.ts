import { parseArgs } from 'node:util'
import { readConfig, secretKeysOf } from '../configuration/index.ts'
import { listTenants } from '../database/queries/index.ts'
import { atDatabase, CommandRefused, exitCodeOf } from './command-database.ts'
import { rotateKey } from './rotate-key.ts'

const usage = `npm run rotate-key              encrypts every secret with the first of the secret keys
npm run rotate-key -- --lost    goes on without the lost key: ends what only that key decrypts (docs/lost-key.md)
`

/** `npm run rotate-key`: encrypts every secret with the first of the secret keys, and lists the tokens of other keys. */
async function main(): Promise<number> {
  const options = { lost: { type: 'boolean' }, help: { type: 'boolean' } } as const
  const { values } = parseArgs({ options, strict: true })
  if (values.help === true) {
    process.stdout.write(usage)
    return 0
  }
  const lost = values.lost === true
  const config = readConfig(process.env)
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  return atDatabase({ config, remark }, async (database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL as well: only the database owner can list the brokerages of an installation.',
      )
    }
    const keys = config.secretKeys ?? secretKeysOf(config.dataDirectory, { make: lost })
    const tokenKeys = config.tokenKeys ?? keys
    const { sealedAnew, ended, tokensOfOtherKeys } = await rotateKey(
      database,
      () => listTenants(owner),
      keys,
      { remark, now: Date.now(), tokenKeys, lost },
    )
    remark(`Every secret is encrypted with the first key (${sealedAnew} were re-encrypted).`)
    if (lost) {
      remark(
        `${ended} secret(s) were ended, because only the lost key decrypts them. docs/lost-key.md lists who must do what now.`,
      )
    }
    for (const { name, tenant, tokens } of tokensOfOtherKeys) {
      remark(`${name} (${tenant}) has ${tokens} live service token(s) that another key signed.`)
    }
    if (tokensOfOtherKeys.length > 0) {
      remark(
        config.formerKeyTokensUntil === null
          ? 'They are valid until they expire. To end them on a day, announce it and set FORMER_KEY_TOKENS_UNTIL.'
          : `They end on ${new Date(config.formerKeyTokensUntil).toISOString().slice(0, 10)} (FORMER_KEY_TOKENS_UNTIL).`,
      )
    }
    if (!lost && keys.length > 1) {
      remark(
        config.tokenKeys !== null
          ? 'The other secret keys can be removed: tokens have a key of their own.'
          : tokensOfOtherKeys.length === 0
            ? 'The other keys can be removed: no live service token was signed with them. People must sign in again.'
            : 'When the other keys are removed, these tokens become invalid, and people must sign in again. To keep them, set LANEWISE_TOKEN_KEY to the other key first.',
      )
    }
    return 0
  })
}

process.exitCode = await exitCodeOf(main)

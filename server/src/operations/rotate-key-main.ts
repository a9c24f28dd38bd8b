import { readConfig, secretKeysOf } from '../configuration/index.ts'
import { listTenants } from '../database/queries/index.ts'
import { atDatabase, CommandRefused, exitCodeOf } from './command-database.ts'
import { rotateKey } from './rotate-key.ts'

/** `npm run rotate-key`: encrypts every signing secret with the first of the secret keys. */
async function main(): Promise<number> {
  if (process.argv.length > 2) {
    process.stderr.write('This command takes no arguments: npm run rotate-key\n')
    return 2
  }
  const config = readConfig(process.env)
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  return atDatabase({ config, remark }, async (database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL as well: only the database owner can list the brokerages of an installation.',
      )
    }
    const keys = config.secretKeys ?? secretKeysOf(config.dataDirectory)
    const { sealedAnew, tokensOfOtherKeys } = await rotateKey(database, () => listTenants(owner), keys, {
      remark,
      now: Date.now(),
    })
    remark(`Every signing secret is encrypted with the first key (${sealedAnew} were re-encrypted).`)
    if (keys.length > 1) {
      remark(
        tokensOfOtherKeys === 0
          ? 'The other keys can be removed: no live service token was signed with them. People must sign in again.'
          : `The other keys can be removed, but ${tokensOfOtherKeys} live service token(s) were signed with them and become invalid then. People must sign in again.`,
      )
    }
    return 0
  })
}

process.exitCode = await exitCodeOf(main)

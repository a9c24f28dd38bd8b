import { CommandRefused } from './command-database.ts'
import { ConfigError, readConfig } from './config.ts'
import { DataFolderInUse } from './database/data-folder.ts'
import { resetPassword } from './reset-password.ts'

/** `npm run reset-password -- EMAIL`: a new random password for a person who lost theirs. */
async function main(): Promise<number> {
  const [email, ...rest] = process.argv.slice(2)
  if (email === undefined || rest.length > 0 || !email.includes('@')) {
    process.stderr.write('Name one person: npm run reset-password -- EMAIL\n')
    return 2
  }
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  const password = await resetPassword(email, { config: readConfig(process.env), remark }, Date.now())
  process.stdout.write(`${password}\n`)
  remark(`The new password of ${email}; shown once. Every session of theirs has ended.`)
  return 0
}

process.exitCode = await main().catch((error: unknown) => {
  const known =
    error instanceof CommandRefused || error instanceof ConfigError || error instanceof DataFolderInUse
  process.stderr.write(`${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  return 1
})

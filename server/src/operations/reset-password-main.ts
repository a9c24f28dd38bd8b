import { readConfig } from '../configuration/index.ts'
import { exitCodeOf } from './command-database.ts'
import { resetPassword } from './reset-password.ts'

const flag = '--sign-out-everywhere'

/** `npm run reset-password -- EMAIL`: sets a new random password for a person. */
async function main(): Promise<number> {
  const words = process.argv.slice(2)
  const signOutEverywhere = words.includes(flag)
  const [email, ...rest] = words.filter((word) => word !== flag)
  if (email === undefined || rest.length > 0 || !email.includes('@')) {
    process.stderr.write(
      `Name one person: npm run reset-password -- EMAIL [${flag}]\n${flag} revokes their service tokens as well.\n`,
    )
    return 2
  }
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  const around = { config: readConfig(process.env), remark }
  const { password, tokensRevoked, tokensLeft } = await resetPassword(email, around, Date.now(), {
    signOutEverywhere,
  })
  process.stdout.write(`${password}\n`)
  remark(`The new password of ${email}; shown once. All their sessions were ended.`)
  if (signOutEverywhere) remark(`Service tokens revoked: ${tokensRevoked}.`)
  if (tokensLeft.length > 0) {
    remark(`Their service tokens that stay valid: ${tokensLeft.join(', ')}. ${flag} revokes them.`)
  }
  return 0
}

process.exitCode = await exitCodeOf(main)

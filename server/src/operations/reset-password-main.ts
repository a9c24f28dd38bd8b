import { readConfig } from '../configuration/index.ts'
import { exitCodeOf } from './command-database.ts'
import { resetPassword } from './reset-password.ts'

const flag = '--sign-out-everywhere'
const factorFlag = '--remove-second-factor'

const usage = `Name one person: npm run reset-password -- EMAIL [--brokerage NUMBER] [${flag}] [${factorFlag}]
--brokerage names one of several brokerages that the address signs in to. ${flag} revokes the service tokens of the person as well. ${factorFlag} removes the second factor of a person who has lost it.
`

/** `npm run reset-password -- EMAIL`: sets a new random password for a person. */
async function main(): Promise<number> {
  const words = process.argv.slice(2)
  const signOutEverywhere = words.includes(flag)
  const removeFactor = words.includes(factorFlag)
  const at = words.indexOf('--brokerage')
  const number = at === -1 ? undefined : words[at + 1]
  const isNumber = at === -1 || /^[1-9]\d{0,9}$/.test(number ?? '')
  const [email, ...rest] = words
    .filter((_, index) => at === -1 || (index !== at && index !== at + 1))
    .filter((word) => word !== flag && word !== factorFlag)
  if (email === undefined || rest.length > 0 || !email.includes('@') || !isNumber) {
    process.stderr.write(usage)
    return 2
  }
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  const around = { config: readConfig(process.env), remark }
  const { password, tokensRevoked, tokensLeft } = await resetPassword(email, around, Date.now(), {
    signOutEverywhere,
    removeFactor,
    brokerage: number === undefined ? undefined : Number(number),
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

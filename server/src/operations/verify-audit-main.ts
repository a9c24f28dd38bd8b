import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../configuration/index.ts'
import { DataFolderInUse } from '../embedded-postgres/index.ts'
import { CommandRefused } from './command-database.ts'
import { readLoggedHeads, verifyAuditLogs } from './verify-audit.ts'

const usage = `npm run verify-audit -- [--head FILE] [--tenant NAME]

Checks that no row of the audit logs was changed, removed or inserted. With --head, a file of the service's log, also that no rows
were removed from the end: the service logs the newest row of each ("audit head") hourly and when it stops.
Exits with 1 and names the first wrong row, if there is one.
`

/** `npm run verify-audit`: checks that the audit logs are unchanged. */
async function main(): Promise<number> {
  const options = { head: { type: 'string' }, tenant: { type: 'string' }, help: { type: 'boolean' } } as const
  const { values } = parseArgs({ options, strict: true })
  if (values.help === true) {
    process.stdout.write(usage)
    return 0
  }
  const heads = values.head === undefined ? new Map() : await readLoggedHeads(values.head)
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  const around = { config: readConfig(process.env), remark }
  const logs = await verifyAuditLogs(around, { named: values.tenant, heads })
  for (const { line } of logs) process.stdout.write(`${line}\n`)
  return logs.every(({ unbroken }) => unbroken) ? 0 : 1
}

process.exitCode = await main().catch((error: NodeJS.ErrnoException) => {
  const isUsage = error.code?.startsWith('ERR_PARSE_ARGS') === true
  const known =
    error instanceof CommandRefused ||
    error instanceof ConfigError ||
    error instanceof DataFolderInUse ||
    error.code === 'ENOENT'
  process.stderr.write(`${isUsage ? `${error.message}\n\n${usage}` : known ? error.message : error.stack}\n`)
  return 2
})

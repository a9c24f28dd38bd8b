import { atDatabase, type CommandDatabase, CommandRefused, exitCodeOf } from './command-database.ts'
import { readConfig } from './config.ts'
import { listTenants } from './database/operators.ts'
import { eraseTenant } from './erase-tenant.ts'
import { changeTenantStatus } from './tenant-status.ts'

const usage = `npm run tenant -- list
npm run tenant -- suspend NAME    nobody of the brokerage gets in any more, people or machines
npm run tenant -- resume NAME     they do again
npm run tenant -- erase NAME      counts what is kept of the brokerage; with --confirm NAME it is all deleted, for ever
`

/** `npm run tenant`: the brokerages of the installation, for its operator. */
async function main(): Promise<number> {
  const [action, named, ...rest] = process.argv.slice(2)
  const around = {
    config: readConfig(process.env),
    remark: (line: string) => process.stderr.write(`${line}\n`),
  }
  if (action === 'list' && named === undefined) return list(around)
  if (action === 'erase' && named !== undefined) {
    const [option, confirmed, ...more] = rest
    if (option === undefined || (option === '--confirm' && confirmed !== undefined && more.length === 0)) {
      return erase(around, named, confirmed)
    }
  }
  if ((action !== 'suspend' && action !== 'resume') || named === undefined || rest.length > 0) {
    process.stderr.write(usage)
    return 2
  }
  const status = action === 'suspend' ? 'suspended' : 'active'
  const { name, changed } = await changeTenantStatus(around, named, status, Date.now())
  process.stdout.write(`${name} is ${changed ? 'now' : 'already'} ${status}.\n`)
  return 0
}

async function erase(around: CommandDatabase, named: string, confirmed: string | undefined): Promise<number> {
  const { name, erased } = await eraseTenant(around, named, {
    ...(confirmed === undefined ? {} : { confirmed }),
    now: Date.now(),
    onTable: (table, rows) =>
      process.stdout.write(`${table.padEnd(20)} ${rows.toLocaleString('en-US')} rows\n`),
  })
  process.stdout.write(
    erased
      ? `${name} is erased. Backups still hold it, until they are deleted.\n`
      : `Nothing was erased. To delete all of it for ever: npm run tenant -- erase ${JSON.stringify(name)} --confirm ${JSON.stringify(name)}\n`,
  )
  return erased ? 0 : 2
}

async function list(around: CommandDatabase): Promise<number> {
  return atDatabase(around, async (_database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL: the brokerages of an installation can be listed by the owner only.',
      )
    }
    for (const { tenant, name, status } of await listTenants(owner)) {
      process.stdout.write(`${name}  (${tenant})  ${status}\n`)
    }
    return 0
  })
}

process.exitCode = await exitCodeOf(main)

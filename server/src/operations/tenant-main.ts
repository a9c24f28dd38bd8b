import { parseArgs } from 'node:util'
import { moveKeyOf, readConfig, secretKeysOf, tokenKeysOf } from '../configuration/index.ts'
import { listTenants } from '../database/queries/index.ts'
import type { SecretKey } from '../security/index.ts'
import { atDatabase, type CommandDatabase, CommandRefused, exitCodeOf } from './command-database.ts'
import { makeTenant } from './create-tenant.ts'
import { eraseTenant } from './erase-tenant.ts'
import { exportTenant } from './export-tenant.ts'
import { importedLines, importTenant } from './import-tenant.ts'
import { changeTenantStatus } from './tenant-status.ts'

const usage = `npm run tenant -- create NAME --owner-email EMAIL   creates a brokerage and its owner, and prints the owner's password once
           --owner-name NAME      the owner's name; default: the first part of the e-mail address
npm run tenant -- list
npm run tenant -- suspend NAME    blocks all people and machines of the brokerage
npm run tenant -- resume NAME     lets them in again
npm run tenant -- export NAME FOLDER   exports all its data into a folder
           --key-file FILE        encrypts signing secrets with the key in the file (created if missing)
           --without-passwords    without password hashes
npm run tenant -- import FOLDER   imports an exported brokerage, and compares every row with the files
           --key-file FILE        the key it was exported with
           --without-secrets      even if its signing secrets cannot be decrypted: they are revoked
npm run tenant -- erase NAME      counts the rows of the brokerage; with --confirm NAME deletes all of them for good
`

/** The number of arguments of each action, and its options. */
const actions: Readonly<Record<string, readonly [words: number, options: readonly string[]]>> = {
  create: [1, ['owner-email', 'owner-name']],
  list: [0, []],
  suspend: [1, []],
  resume: [1, []],
  export: [2, ['key-file', 'without-passwords']],
  import: [1, ['key-file', 'without-secrets']],
  erase: [1, ['confirm']],
}

/** `npm run tenant`: manages the brokerages of the installation. */
async function main(): Promise<number> {
  const asked = readArguments(process.argv.slice(2))
  if (asked === null) {
    process.stderr.write(usage)
    return 2
  }
  const { action, words, options } = asked
  const [named = '', folder = ''] = words
  const around = {
    config: readConfig(process.env),
    remark: (line: string) => process.stderr.write(`${line}\n`),
  }
  if (action === 'create') return create(around, named, options)
  if (action === 'list') return list(around)
  if (action === 'erase') return erase(around, named, options.confirm)
  const keys = () => around.config.secretKeys ?? secretKeysOf(around.config.dataDirectory)
  const moveKey = moveKeyIn(options['key-file'], action === 'export')
  if (action === 'export') {
    const { tables, tenant } = await exportTenant(around, named, {
      folder,
      keys: keys(),
      moveKey,
      passwords: options['without-passwords'] !== true,
      now: Date.now(),
    })
    for (const { name, rows } of tables) writeRows(name, rows)
    process.stdout.write(
      `${tenant.name} (${tenant.tenant_id}) is in ${folder}. Protect it like a backup of the database.\n`,
    )
    return 0
  }
  if (action === 'import') {
    const imported = await importTenant(around, {
      folder: named,
      keys: keys(),
      tokenKeys: tokenKeysOf(around.config, keys()),
      moveKey,
      withoutSecrets: options['without-secrets'] === true,
      now: Date.now(),
      onTable: ({ name, rows, sha256 }) => writeRows(name, rows, `  the same, ${sha256.slice(0, 16)}`),
    })
    process.stdout.write(`${importedLines(imported).join('\n')}\n`)
    return 0
  }
  const status = action === 'suspend' ? 'suspended' : 'active'
  const { name, changed } = await changeTenantStatus(around, named, status, Date.now())
  process.stdout.write(`${name} is ${changed ? 'now' : 'already'} ${status}.\n`)
  return 0
}

interface Asked {
  readonly action: string
  readonly words: readonly string[]
  readonly options: {
    readonly 'key-file'?: string | undefined
    readonly confirm?: string | undefined
    readonly 'owner-email'?: string | undefined
    readonly 'owner-name'?: string | undefined
    readonly 'without-passwords'?: boolean | undefined
    readonly 'without-secrets'?: boolean | undefined
  }
}

/** The parsed command line; null when it is invalid. */
function readArguments(args: string[]): Asked | null {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        'key-file': { type: 'string' },
        confirm: { type: 'string' },
        'owner-email': { type: 'string' },
        'owner-name': { type: 'string' },
        'without-passwords': { type: 'boolean' },
        'without-secrets': { type: 'boolean' },
      },
    })
    const [action = '', ...words] = positionals
    const [count, options] = Object.hasOwn(actions, action) ? (actions[action] ?? []) : []
    if (words.length !== count || words.includes('')) return null
    return Object.keys(values).every((option) => options?.includes(option))
      ? { action, words, options: values }
      : null
  } catch {
    return null
  }
}

function moveKeyIn(file: string | undefined, make: boolean): SecretKey | null {
  if (file === undefined) return null
  const key = moveKeyOf(file, { make })
  if (key === null) throw new CommandRefused(`${file} contains no key.`)
  return key
}

function writeRows(table: string, rows: number, more = ''): void {
  process.stdout.write(`${table.padEnd(20)} ${rows.toLocaleString('en-US').padStart(10)} rows${more}\n`)
}

async function erase(around: CommandDatabase, named: string, confirmed: string | undefined): Promise<number> {
  const { name, erased } = await eraseTenant(around, named, {
    ...(confirmed === undefined ? {} : { confirmed }),
    now: Date.now(),
    onTable: (table, rows) => writeRows(table, rows),
  })
  process.stdout.write(
    erased
      ? `${name} is erased. Backups still contain it until they are deleted.\n`
      : `Nothing was erased. To delete all of it for good: npm run tenant -- erase ${JSON.stringify(name)} --confirm ${JSON.stringify(name)}\n`,
  )
  return erased ? 0 : 2
}

async function create(around: CommandDatabase, company: string, options: Asked['options']): Promise<number> {
  const email = options['owner-email']
  if (email === undefined) {
    throw new CommandRefused(
      'Give the e-mail address that its owner signs in with: --owner-email ana@example.com',
    )
  }
  const name = options['owner-name'] ?? email.split('@')[0] ?? ''
  const { tenant, password } = await makeTenant({ company, email, name }, around, Date.now())
  process.stdout.write(`${password}\n`)
  around.remark(
    `The password of ${email}, owner of ${company} (${tenant}); shown once. Change it in the settings after the first sign-in.`,
  )
  return 0
}

async function list(around: CommandDatabase): Promise<number> {
  return atDatabase(around, async (_database, owner) => {
    if (owner === null) {
      throw new CommandRefused(
        'Set MIGRATION_DATABASE_URL: only the database owner can list the brokerages of an installation.',
      )
    }
    for (const { tenant, name, status } of await listTenants(owner)) {
      process.stdout.write(`${name}  (${tenant})  ${status}\n`)
    }
    return 0
  })
}

process.exitCode = await exitCodeOf(main)

import { randomUUID } from 'node:crypto'
import { constants, existsSync, statSync } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type pg from 'pg'
import { keyCheckPlace, keyCheckText } from '../access/index.ts'
import { type Config, ConfigError } from '../configuration/index.ts'
import { DatabaseClient, urlsOfHosts } from '../database/hosts/index.ts'
import { readKeyCheck } from '../database/queries/index.ts'
import {
  EarlierSchema,
  migrationList,
  missingMigrations,
  unknownMigrations,
} from '../database/schema/index.ts'
import {
  connectionsOfInstance,
  type Database,
  DatabaseUnavailable,
  databaseSafetyFaults,
  openDatabase,
  type ReadOnlyRow,
  readOnlyQuery,
  transferFaults,
  type Worker,
  whyReadOnly,
  workersAway,
} from '../database/session/index.ts'
import { runningEmbeddedPostgres } from '../embedded-postgres/index.ts'
import { unsealWithAny } from '../security/index.ts'

/** The result of one check, with a remedy when it is not ok. */
export interface Finding {
  readonly about: string
  /** `note`: information that prevents nothing. `wrong`: the service cannot start or cannot keep its guarantees. */
  readonly state: 'ok' | 'note' | 'wrong'
  readonly says: string
  readonly mend?: string
}

type Told = Omit<Finding, 'about'>
const ok = (says: string): Told => ({ state: 'ok', says })
const note = (says: string, mend?: string): Told => ({
  state: 'note',
  says,
  ...(mend === undefined ? {} : { mend }),
})
const wrong = (says: string, mend: string): Told => ({ state: 'wrong', says, mend })

const nodeMin = 20
const postgresMin = 14
/**
 * The largest accepted clock difference. Signatures more than 300 s off are rejected, and a clock that is seconds off
 * drifts further.
 */
const clockOffMaxMs = 2_000
/**
 * A new connection within one data center takes some milliseconds. Above this, the first answer of each connection is
 * slow.
 */
const slowConnectionMs = 250
const diskFreeMin = 1_000_000_000
const connectTimeoutMs = 3_000

/**
 * Checks everything that a service needs, changes nothing, and reports problems with remedies. It works with or without
 * a running service.
 */
export async function examine(
  read: () => Config,
  { clock, tell }: { clock: () => number; tell: (finding: Finding) => void },
): Promise<Finding[]> {
  const findings: Finding[] = []
  const say = (about: string, told: Told) => {
    const finding = { about, ...told }
    findings.push(finding)
    tell(finding)
  }
  say('Node', nodeVersion())
  const config = configOf(read)
  if (!('port' in config)) {
    for (const problem of config.problems) say('configuration', wrong(problem, 'Set it as described.'))
    return findings
  }
  say('configuration', ok('every variable can be read'))
  for (const line of config.warnings) say('configuration', note(line))
  say('open files', openFiles())
  if (config.databaseUrl === null) await examineEmbedded(config, say)
  else await examineDatabase(config, config.databaseUrl, clock, say)
  return findings
}

type Say = (about: string, told: Told) => void

function nodeVersion(): Told {
  const major = Number(process.versions.node.split('.')[0])
  return major >= nodeMin
    ? ok(`version ${process.versions.node}`)
    : wrong(`version ${process.versions.node} is too old`, `Install Node ${nodeMin} or newer.`)
}

/** Each connection of a caller is an open file, and a network may have 100 of them. */
const openFilesMin = 1_024

function openFiles(): Told {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: unknown } } }
  const limit = Number(userLimits?.open_files?.soft ?? Number.POSITIVE_INFINITY)
  return limit < openFilesMin
    ? wrong(
        `a process may open only ${limit} files, and each connection is one`,
        `Raise the limit to ${openFilesMin} or more: ulimit -n, or LimitNOFILE in the systemd unit.`,
      )
    : ok(Number.isFinite(limit) ? `a process may open ${limit}` : 'a process may open any number')
}

/** What a fault of the database is about: a lost commit and a statement without end are no gaps between brokerages. */
function subjectOf(fault: string): 'durability' | 'session' | 'tenant isolation' {
  if (fault.includes('acknowledged changes could be lost')) return 'durability'
  return fault.startsWith('Sessions of the role') ? 'session' : 'tenant isolation'
}

function saySafety(faults: readonly string[], say: Say): void {
  if (!faults.some((fault) => subjectOf(fault) === 'tenant isolation')) {
    say('tenant isolation', ok('enforced for the role of the service'))
  }
  for (const fault of faults) {
    say(subjectOf(fault), wrong(fault, 'Fix it as described: the service does not start.'))
  }
}

function configOf(read: () => Config): Config | { readonly problems: readonly string[] } {
  try {
    return read()
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems }
    throw error
  }
}

/** A data folder that does not exist yet: whether this account can create it. */
async function missingFolder(path: string): Promise<Told> {
  let parent = dirname(resolve(path))
  while (!existsSync(parent)) parent = dirname(parent)
  const isUsable = statSync(parent).isDirectory() && (await canWrite(parent))
  return isUsable
    ? note(`${path} does not exist yet: the first start creates it`)
    : wrong(
        `${path} does not exist, and this account cannot create it in ${parent}`,
        'Set DATA_DIR to a folder that can be written, or run the command as the account of the service.',
      )
}

const canWrite = (path: string) =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  )

async function examineEmbedded(config: Config, say: Say): Promise<void> {
  const { dataDirectory } = config
  const disk = await statfs(dataDirectory).catch(() => null)
  if (disk === null) {
    say('data folder', await missingFolder(dataDirectory))
    return
  }
  const free = disk.bavail * disk.bsize
  const gigabytes = (free / 1e9).toFixed(1)
  say(
    'data folder',
    free < diskFreeMin
      ? wrong(
          `only ${gigabytes} GB are free on the disk of ${dataDirectory}`,
          'Free disk space: a full disk stops all writes.',
        )
      : ok(`${dataDirectory}, ${gigabytes} GB free`),
  )
  const running = runningEmbeddedPostgres(dataDirectory)
  say(
    'embedded database',
    running === null
      ? note('it is not running: it can only be checked while the service runs')
      : ok('it runs, and belongs to this folder'),
  )
}

async function examineDatabase(config: Config, url: string, clock: () => number, say: Say): Promise<void> {
  const connection = { connectionString: url, connectionTimeoutMillis: connectTimeoutMs }
  const began = performance.now()
  const client = new DatabaseClient(connection)
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => {})
    say('database', unreachable('DATABASE_URL', error))
    return
  }
  try {
    const tookMs = performance.now() - began
    say(
      'database',
      tookMs > slowConnectionMs
        ? note(
            `a connection takes ${Math.round(tookMs)} ms`,
            'Run the service and its database in the same data center.',
          )
        : ok(`reached in ${Math.round(tookMs)} ms`),
    )
    say('PostgreSQL', await postgresVersion(client))
    say('letters', await letters(client))
    say('encryption', await encryption(client, url))
    say('clocks', await clocks(client, clock))
    const room = await connectionsLeft(client)
    say('connections', room.free < connectionsOfInstance ? room.told : await atOnce(connection, room.told))
    say('session', await sessionTimeout(client))
    const transactions = await transactionsWork(client)
    if (transactions !== null) {
      say('pooler', transactions)
      return
    }
    const { rows } = await client.query<ReadOnlyRow>(`select ${readOnlyQuery}`)
    const readOnly = rows[0] === undefined ? null : whyReadOnly(rows[0])
    if (readOnly !== null) {
      say('writes', wrong(readOnly.says, readOnly.mend))
      return
    }
  } finally {
    await client.end()
  }
  if (!(await examineSchema(config, connection, say))) return
  // An instance name that never registers, so that every running instance counts as another one.
  const database = await openDatabase({ connection, instance: randomUUID() })
  try {
    saySafety(await databaseSafetyFaults(database), say)
    const workers = await database.workers()
    if (workers.length > 0) say('workers', workersAnswer(workers))
    for (const fault of transferFaults(workers)) {
      say(
        'transfer of shards',
        note(
          fault,
          'Set max_slot_wal_keep_size on each worker. If no npm run rebalance is running, run it: it removes what an interrupted one left.',
        ),
      )
    }
    say('secret key', await secretKey(config, database))
    say('instances', await instances(database))
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
    say(
      'database',
      wrong(
        'it stopped answering during these checks',
        'Run npm run doctor again. If it repeats, look at the load and the log of the database.',
      ),
    )
  } finally {
    await database.close()
  }
}

/** True when the tables exist. */
async function examineSchema(config: Config, connection: pg.ClientConfig, say: Say): Promise<boolean> {
  const names = await missingAndUnknown(connection)
  if (names instanceof EarlierSchema) {
    say(
      'schema',
      wrong(`an earlier version created the database (it has ${names.found})`, EarlierSchema.remedy),
    )
    return false
  }
  const { missing, unknown } = names
  const byWhom =
    config.migrationDatabaseUrl === null
      ? 'Run npm run migrate with MIGRATION_DATABASE_URL set to its owner’s connection.'
      : 'Start the service, or run npm run migrate.'
  if (missing.length > 0) say('schema', wrong(`the database lacks ${migrationList(missing)}`, byWhom))
  else if (unknown.length > 0) {
    say(
      'schema',
      note(
        `a newer version has migrated it (${unknown.join(', ')})`,
        'Upgrade every instance to that version soon.',
      ),
    )
  } else say('schema', ok('the database is at this version'))
  if (config.migrationDatabaseUrl !== null) say('owner', await owner(config.migrationDatabaseUrl))
  return missing.length === 0
}

/** The migrations that the database lacks, and those that only a newer version knows. */
async function missingAndUnknown(connection: pg.ClientConfig) {
  try {
    return { missing: await missingMigrations(connection), unknown: await unknownMigrations(connection) }
  } catch (error) {
    if (error instanceof EarlierSchema) return error
    throw error
  }
}

function unreachable(variable: string, error: unknown): Told {
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const { code, message } = first as { code?: string; message: string }
  const mend: Readonly<Record<string, string>> = {
    NO_PRIMARY: 'Promote a standby, or correct the hosts.',
    ECONNREFUSED: 'Start PostgreSQL there, or correct the host and port.',
    ENOTFOUND: 'Correct the host: its name cannot be resolved here.',
    '28P01': 'Mend the password.',
    '28000': 'Allow this role to connect from here: see pg_hba.conf.',
    '3D000': 'Create the database: docs/configuration.md has the statements.',
  }
  return wrong(
    `the database of ${variable} cannot be reached: ${message}`,
    mend[code ?? ''] ??
      `Correct ${variable}, or the network between this machine and the database. In Kubernetes, name the database in deploy/kubernetes/network-policy.yaml.`,
  )
}

/** In the locale C, two spellings of a customer that differ in the case of a non-English letter are two customers. */
async function letters(client: pg.Client): Promise<Told> {
  const { rows } = await client.query<{ known: boolean }>(`select lower('É') = 'é' as known`)
  return rows[0]?.known === true
    ? ok('upper and lower case work for all alphabets')
    : note(
        'upper and lower case work only for the English alphabet',
        "Create it with another locale: create database ... template template0 locale 'C.UTF-8'.",
      )
}

async function postgresVersion(client: pg.Client): Promise<Told> {
  const { rows } = await client.query<{ version: string }>(
    `select current_setting('server_version') as version`,
  )
  const version = rows[0]?.version ?? ''
  return Number.parseInt(version, 10) >= postgresMin
    ? ok(`version ${version}`)
    : wrong(`version ${version} is too old`, `Upgrade to PostgreSQL ${postgresMin} or newer.`)
}

async function encryption(client: pg.Client, url: string): Promise<Told> {
  const { rows } = await client.query<{ ssl: boolean | null; here: boolean }>(
    `select (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as ssl,
       coalesce(inet_client_addr() << '127.0.0.0/8' or inet_client_addr() = '::1', true) as here`,
  )
  if (rows[0]?.here === true) return ok('the database is on this machine')
  if (rows[0]?.ssl !== true) {
    return note('traffic to the database is not encrypted', 'Add ?sslmode=verify-full&sslrootcert=FILE.')
  }
  return new URL(urlsOfHosts(url)[0] ?? url).searchParams.get('sslmode') === 'no-verify'
    ? note(
        'TLS, but the certificate of the database is not verified',
        'Use sslmode=verify-full with sslrootcert=FILE.',
      )
    : ok('TLS, with a verified certificate')
}

async function clocks(client: pg.Client, clock: () => number): Promise<Told> {
  const before = clock()
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
  const offMs = (rows[0]?.now.getTime() ?? 0) - (before + clock()) / 2
  const seconds = (Math.abs(offMs) / 1000).toFixed(1)
  return Math.abs(offMs) > clockOffMaxMs
    ? wrong(
        `the clocks of this machine and the database differ by ${seconds} s`,
        'Synchronize both clocks (chrony, systemd-timesyncd): signatures are checked against this machine’s clock.',
      )
    : ok(`${seconds} s apart`)
}

async function connectionsLeft(client: pg.Client): Promise<{ told: Told; free: number }> {
  const { rows } = await client.query<{ most: number; role_most: number; used: number }>(
    `select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as most,
       (select rolconnlimit from pg_roles where rolname = current_user) as role_most,
       (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as used`,
  )
  const { most = 0, role_most = -1, used = 0 } = rows[0] ?? {}
  const bound = role_most >= 0 ? Math.min(most, role_most) : most
  const says = `an instance uses up to ${connectionsOfInstance} connections; the database allows ${bound}, and ${used} are in use`
  const told =
    bound < connectionsOfInstance
      ? wrong(
          says,
          'Raise max_connections (or the role’s limit), or put a pooler in transaction mode in front.',
        )
      : ok(`${says}: room for ${Math.floor(bound / connectionsOfInstance)} instances`)
  return { told, free: bound - used }
}

/**
 * Opens as many connections as an instance and asks once on each. A pooler in session mode keeps a connection of the database
 * for each, so a small pool answers only some of them, which the settings of the database do not show.
 */
async function atOnce(connection: pg.ClientConfig, told: Told): Promise<Told> {
  const clients: pg.Client[] = []
  let answered = 0
  try {
    for (; answered < connectionsOfInstance; answered++) {
      const client = new DatabaseClient({ ...connection, query_timeout: connectTimeoutMs })
      client.on('error', () => {})
      clients.push(client)
      await client.connect()
      await client.query('select 1')
    }
    return told
  } catch {
    return wrong(
      `only ${answered} of the ${connectionsOfInstance} connections of an instance are answered at the same time`,
      'A pooler must be in transaction mode (pool_mode = transaction). In session mode, its pool needs this many connections for each instance.',
    )
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

/** The longest useful time-out of a statement. A request is answered after 2.5 s, and its statement would go on. */
const statementTimeoutMaxMs = 10_000

async function sessionTimeout(client: pg.Client): Promise<Told> {
  const { rows } = await client.query<{ ms: number }>(
    `select setting::integer as ms from pg_settings where name = 'statement_timeout'`,
  )
  const ms = rows[0]?.ms ?? 0
  return ms > statementTimeoutMaxMs
    ? note(
        `statement_timeout is ${ms / 1000} s: statements go on that long after their request was answered 503`,
        "alter role lanewise_service set statement_timeout = '2s';",
      )
    : ok(ms === 0 ? 'statement_timeout is not set' : `statement_timeout is ${ms / 1000} s`)
}

/** Null if a transaction of two statements works, which a pooler in statement mode does not permit. */
async function transactionsWork(client: pg.Client): Promise<Told | null> {
  try {
    await client.query('begin')
    await client.query('select 1')
    await client.query('rollback')
    return null
  } catch (error) {
    return wrong(
      `transactions do not work: ${(error as Error).message}`,
      'If a pooler is in front of the database, set pool_mode = transaction.',
    )
  }
}

async function owner(url: string): Promise<Told> {
  const client = new DatabaseClient({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ role: string; owns: boolean; is_service: boolean }>(
      `select current_user as role, current_user = 'lanewise_service' as is_service,
         pg_has_role(current_user, (select datdba from pg_database where datname = current_database()), 'usage') as owns`,
    )
    const { role = '', owns = false, is_service = false } = rows[0] ?? {}
    if (is_service)
      return wrong('MIGRATION_DATABASE_URL uses the service’s own role', 'Name the owner of the database.')
    return owns
      ? ok(`migrations run as ${role}`)
      : wrong(`${role} does not own the database`, 'Name its owner in MIGRATION_DATABASE_URL.')
  } catch (error) {
    return unreachable('MIGRATION_DATABASE_URL', error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function secretKey(config: Config, database: Database): Promise<Told> {
  const known = await database.outsideTenants(readKeyCheck)
  if (known === null) return note('the database has no key yet: the first start stores its check value')
  return config.secretKeys !== null && unsealWithAny(config.secretKeys, keyCheckPlace, known) === keyCheckText
    ? ok('it is the key that this database was created with')
    : wrong(
        'it is not the key that this database was created with: no signing secret can be decrypted',
        'Restore LANEWISE_SECRET_KEY. While you replace a key, keep the old one in the list, after the new one.',
      )
}

function workersAnswer(workers: readonly Worker[]): Told {
  const away = workersAway(workers)
  return away === null
    ? ok(workers.map(({ name, brokerages }) => `${name} answers, with ${brokerages} brokerages`).join('; '))
    : wrong(
        away,
        'Start the worker, or put its standby in its place. Running instances notice it within a second.',
      )
}

async function instances(database: Database): Promise<Told> {
  const { others } = await database.changedTenants(null)
  return ok(others ? 'at least one uses this database' : 'none uses this database')
}

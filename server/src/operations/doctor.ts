import { randomUUID } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import type pg from 'pg'
import { socketsPerNetworkMax } from '#contract/limits.ts'
import { keyCheckPlace, keyCheckText } from '../access/index.ts'
import { type Config, ConfigError, keyFileFault } from '../configuration/index.ts'
import { DatabaseClient, urlsOfHosts } from '../database/hosts/index.ts'
import { readKeyCheck, readVerifiedBackup } from '../database/queries/index.ts'
import { EarlierSchema, missingMigrations, unknownMigrations } from '../database/schema/index.ts'
import {
  type Database,
  DatabaseUnavailable,
  databaseSafetyFaults,
  isStatementPooling,
  openDatabase,
  roleTimeouts,
  transferFaults,
  type Worker,
  workersAway,
} from '../database/session/index.ts'
import { findPlace, runningEmbeddedPostgres } from '../embedded-postgres/index.ts'
import { clockDifferenceMs } from '../runtime/index.ts'
import { isWide, unsealWithAny } from '../security/index.ts'

/** The result of one check, with a remedy when it is not ok. */
export interface Finding {
  readonly about: string
  /** `note`: information that prevents nothing. `wrong`: the service cannot start or cannot give its guarantees. */
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
/** Of one instance: twenty connections for requests, one for polling changes. */
const connectionsNeeded = 21
/** Each connection of a caller and of the database is an open file, beside some hundred of the process itself. */
const openFilesMin = 1_024
/** A daily backup that failed once is late; after a day and a half, two are missing. */
const backupHoursMax = 36

/**
 * Checks everything that a service needs, changes nothing, and reports problems with remedies. It works with or without
 * a running service.
 */
export async function examine(
  read: () => Config,
  {
    clock,
    tell,
    openFilesMax = null,
  }: {
    clock: () => number
    tell: (finding: Finding) => void
    /** How many files this process may open; null if that is unknown. */
    openFilesMax?: number | null
  },
): Promise<Finding[]> {
  const findings: Finding[] = []
  const say = (about: string, told: Told) => {
    const finding = { about, ...told }
    findings.push(finding)
    tell(finding)
  }
  say('Node', nodeVersion())
  if (openFilesMax !== null) say('open files', openFiles(openFilesMax))
  const config = configOf(read)
  if (!('port' in config)) {
    for (const problem of config.problems) say('configuration', wrong(problem, 'Set it as described.'))
    return findings
  }
  say('configuration', ok('every variable can be read'))
  for (const line of config.unused) say('configuration', note(line, 'Remove the variable.'))
  say('proxy', proxy(config.trustProxy))
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

function openFiles(most: number): Told {
  return most < openFilesMin
    ? wrong(
        `this process may open only ${most} files, and each connection is one`,
        'Raise the limit for the service: ulimit -n 65536, or LimitNOFILE=65536 in its unit.',
      )
    : ok(`this process may open ${most}`)
}

/** The service speaks no TLS itself, so callers from outside reach it through a proxy. */
function proxy(trusted: Config['trustProxy']): Told {
  if (trusted === null) {
    return note(
      `TRUST_PROXY is not set: behind a proxy, all callers share its address and its ${socketsPerNetworkMax} connections`,
      'Name the addresses of the proxy in TRUST_PROXY, or none if callers connect directly.',
    )
  }
  const wide = trusted.filter(isWide)
  if (wide.length > 0) {
    return note(
      `TRUST_PROXY names ${wide.join(', ')}: whoever connects from there chooses the address that limits and logs count`,
      'Name only the network of the proxies, /16 or narrower.',
    )
  }
  return ok(
    trusted.length === 0
      ? 'callers connect directly'
      : `${trusted.join(', ')} may name the addresses of callers`,
  )
}

function configOf(read: () => Config): Config | { readonly problems: readonly string[] } {
  try {
    return read()
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems }
    throw error
  }
}

async function examineEmbedded(config: Config, say: Say): Promise<void> {
  const { dataDirectory } = config
  const disk = await statfs(dataDirectory).catch(() => null)
  if (disk === null) {
    say('data folder', note(`${dataDirectory} does not exist yet: the first start creates it`))
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
  if (config.secretKeys === null && findPlace(dataDirectory) !== null) {
    const fault = keyFileFault(dataDirectory)
    say('secret key', fault === null ? ok('only its owner can read it') : wrong(fault, 'Do as described.'))
  }
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
    const refused = await writesRefused(client)
    if (refused !== null) {
      say('writes', refused)
      return
    }
    say('PostgreSQL', await postgresVersion(client))
    say('letters', await letters(client))
    say('encryption', await encryption(client, url))
    say('clocks', await clocks(client, clock))
    say('connections', await connectionsLeft(client))
    say('statements', await statementTimeout(client, config.deadlineFactor))
    say('pooler', await pooler(client, connection))
  } finally {
    await client.end()
  }
  if (!(await examineSchema(config, connection, say))) return
  // An instance name that never registers, so that every running instance counts as another one.
  const database = await openDatabase({ connection, instance: randomUUID() })
  try {
    const faults = await databaseSafetyFaults(database)
    if (faults.length === 0) say('tenant isolation', ok('enforced for the role of the service'))
    for (const fault of faults)
      say('tenant isolation', wrong(fault, 'Fix it as described: the service does not start.'))
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
    say('backup', await backup(database, clock))
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

/** Checks the migrations. Returns whether the tables exist. */
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
  if (missing.length > 0) say('schema', wrong(`the database lacks ${missing.join(', ')}`, byWhom))
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
    NO_PRIMARY: 'Start or promote one of the hosts, or correct their names.',
    ECONNREFUSED: 'Start PostgreSQL there, or correct the host and port.',
    ENOTFOUND: 'Correct the host: its name cannot be resolved here.',
    '28P01': 'Correct the password.',
    '28000': 'Allow this role to connect from here: see pg_hba.conf.',
    '3D000': 'Create the database: docs/configuration.md has the statements.',
  }
  return wrong(
    `the database of ${variable} cannot be reached: ${message}`,
    mend[code ?? ''] ??
      `Correct ${variable}, or the network between this machine and the database. In Kubernetes, name the database in deploy/kubernetes/network-policy.yaml.`,
  )
}

/** Why the service could not write through this connection; null if it can. */
async function writesRefused(client: pg.Client): Promise<Told | null> {
  try {
    await client.query('begin')
    const { rows } = await client.query<{ standby: boolean; read_only: boolean }>(
      `select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as read_only`,
    )
    await client.query('rollback')
    if (rows[0]?.standby === true) {
      return wrong(
        'the database is a standby: it accepts no writes',
        'Name the primary in DATABASE_URL, or both hosts (docs/deploying.md, "A primary and its standby").',
      )
    }
    return rows[0]?.read_only === true
      ? wrong(
          'the database is read-only: default_transaction_read_only is on',
          'Set it to off for the database and the role of the service, and make a pooler reopen its connections.',
        )
      : null
  } catch (error) {
    if (!isStatementPooling(error)) throw error
    return wrong(
      'the pooler in front of the database is in statement mode, which has no transactions',
      'Set pool_mode = transaction in it.',
    )
  }
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
  const askedAt = clock()
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
  const offMs = clockDifferenceMs(rows[0]?.now.getTime() ?? 0, askedAt, clock())
  const seconds = (offMs / 1000).toFixed(1)
  return offMs > clockOffMaxMs
    ? wrong(
        `the clocks of this machine and the database differ by ${seconds} s`,
        'Synchronize both clocks (chrony, systemd-timesyncd): signatures are checked against this machine’s clock.',
      )
    : ok(`${seconds} s apart`)
}

async function connectionsLeft(client: pg.Client): Promise<Told> {
  const { rows } = await client.query<{ most: number; role_most: number; used: number }>(
    `select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as most,
       (select rolconnlimit from pg_roles where rolname = current_user) as role_most,
       (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as used`,
  )
  const { most = 0, role_most = -1, used = 0 } = rows[0] ?? {}
  const bound = role_most >= 0 ? Math.min(most, role_most) : most
  const says = `an instance uses up to ${connectionsNeeded} connections; the database allows ${bound}, and ${used} are in use`
  return bound < connectionsNeeded
    ? wrong(
        says,
        'Raise max_connections (or the role’s limit), or put a pooler in transaction mode in front.',
      )
    : ok(`${says}: room for ${Math.floor(bound / connectionsNeeded)} instances`)
}

/** The timeout of new sessions, from the role, the database or DATABASE_URL. Without one, the service refuses to start. */
async function statementTimeout(client: pg.Client, deadlineFactor: number): Promise<Told> {
  const { rows } = await client.query<{ ms: string; role: string }>(
    `select reset_val as ms, current_user as role from pg_settings where name = 'statement_timeout'`,
  )
  const seconds = Number(rows[0]?.ms) / 1000
  const usual = roleTimeouts.find(({ name }) => name === 'statement_timeout')?.value ?? ''
  return seconds > Number.parseInt(usual, 10) * deadlineFactor
    ? note(
        `statement_timeout is ${seconds} s: a statement goes on, with its connection, after its caller got 503`,
        `Run as a superuser: alter role ${rows[0]?.role} set statement_timeout = '${usual}'. Remove it from DATABASE_URL and the settings of the database.`,
      )
    : ok(seconds === 0 ? 'no statement_timeout' : `statement_timeout is ${seconds} s`)
}

/** How often two sessions are asked which process of PostgreSQL serves them. */
const poolerLooks = 10

/**
 * Finds a pooler in session mode, in which a small pool makes requests wait for connections that idle. A pooler gives a session
 * another number than that of the process that serves it; in transaction mode, the process of one session soon serves another.
 */
async function pooler(client: pg.Client, connection: pg.ClientConfig): Promise<Told> {
  const process = async (of: pg.Client) => {
    const { rows } = await of.query<{ pid: number }>('select pg_backend_pid() as pid')
    return rows[0]?.pid
  }
  const { processID } = client as pg.Client & { readonly processID?: number | null }
  if (processID === (await process(client))) return ok('none: the service is connected directly')
  const other = new DatabaseClient(connection)
  other.on('error', () => {})
  const inSessionMode = wrong(
    `the pooler in front of the database is in session mode: each instance holds up to ${connectionsNeeded} of its connections, and further requests get 503`,
    'Set pool_mode = transaction in it.',
  )
  try {
    await other.connect()
    for (let looks = 0; looks < poolerLooks; looks++) {
      if ((await process(client)) === (await process(other))) return ok('in transaction mode')
    }
    return inSessionMode
  } catch {
    // The only connection of the pool is held by the first session.
    return inSessionMode
  } finally {
    await other.end().catch(() => {})
  }
}

async function backup(database: Database, clock: () => number): Promise<Told> {
  const at = await database.outsideTenants(readVerifiedBackup)
  const mend =
    'Schedule one (docs/backup.md). If your provider backs up the database, restore one of its backups from time to time.'
  if (at === null) return note('no backup is known that was restored and compared', mend)
  const hours = Math.round((clock() - at) / 3_600_000)
  return hours > backupHoursMax
    ? note(`the last one that was restored and compared is ${hours} hours old`, mend)
    : ok(`the last one was restored and compared ${hours} hours ago`)
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
  if (known === null) return note('the database has no key yet: the first start saves its check value')
  return config.secretKeys !== null && unsealWithAny(config.secretKeys, keyCheckPlace, known) === keyCheckText
    ? ok('it is the key that this database was created with')
    : wrong(
        'it is not the key that this database was created with: no signing secret can be decrypted',
        'Restore LANEWISE_SECRET_KEY. While you replace a key, keep the old one in the list, after the new one. If there is no copy, docs/lost-key.md says how to go on.',
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

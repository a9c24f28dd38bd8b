import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { roleTimeouts } from '../database/session/index.ts'
import { accountWarning, asAccount, giveTo } from './account.ts'
import { type Binaries, postgresBinaries } from './binaries.ts'
import { findPlace, makeFolderFor, makePlace, type Place } from './cluster-location.ts'
import { type DataFolder, dataFolderUse, lockDataFolder } from './data-folder.ts'
import { keptRunning } from './kept-running.ts'
import { clearLeftOvers, clusterName, readPostmaster, stopCluster, stopInitdb } from './postmaster.ts'

/**
 * The roles. `owner` owns the database and runs migrations. The service connects as `service`, which row-level security
 * restricts. `superuser` is for the setup.
 */
export type DatabaseRole = 'superuser' | 'owner' | 'service'

/** The connection to a running embedded PostgreSQL. */
export type EmbeddedConnection = {
  /** The folder of its Unix socket, the only address on which it listens. */
  readonly host: string
  readonly port: number
  readonly superuserPassword: string
  /** The `pg` configuration to connect as a role. */
  readonly connection: (database: string, role: DatabaseRole) => pg.ClientConfig
}

/** An embedded PostgreSQL that this process started. */
export type EmbeddedPostgres = EmbeddedConnection & {
  readonly pid: number
  /** Closes open connections, stops PostgreSQL, and waits until it has ended. A second call waits for the first. */
  readonly stop: () => Promise<void>
}

export type EmbeddedPostgresOptions = {
  /** The service's data folder (`DATA_DIR`). */
  readonly directory: string
  /** Receives messages for the operator, one line at a time. */
  readonly log?: (line: string) => void
  /** Called once if PostgreSQL has ended without `stop`, and is not started again: it could not start, or ended too often. */
  readonly onExit?: (reason: string) => void
  /** The folder for the cluster if PostgreSQL cannot enter the data folder. Default: `/var/lib/lanewise`. */
  readonly elsewhere?: string
  /** How often within ten minutes a PostgreSQL that ended by itself is started again. Default: 3. */
  readonly restarts?: number
}

/** The database that the service uses in its cluster. */
export const databaseName = 'lanewise'

/** The name of each role in PostgreSQL. */
export const roleNames = {
  superuser: 'postgres',
  owner: 'lanewise_owner',
  service: 'lanewise_service',
} as const

/**
 * Starts the PostgreSQL of the npm packages on its own cluster in the data folder, and sets up its two roles and its
 * database. The first start creates the cluster. Works as root and as a normal user.
 *
 * Committed data survives `kill -9` of the service, of PostgreSQL, or of both, and a power failure if the disk honors fsync. A
 * PostgreSQL that a killed service left behind is stopped first, and one that ends while the service runs is started again. PostgreSQL
 * runs in its own session, so Ctrl-C reaches only the service, which can finish its work before it calls `stop`.
 *
 * Throws `DataFolderInUse` if another process runs this cluster, and an `Error` with instructions if PostgreSQL cannot run on
 * this machine.
 *
 * Example: `const postgres = await startEmbeddedPostgres({ directory: './data', log: console.log })`
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log = () => {} } = options
  const directory = resolve(options.directory)
  const place = makePlace(directory, options.elsewhere)
  const lock = await lockDataFolder(place.folder)
  try {
    if (place.elsewhere)
      log(`PostgreSQL's account cannot enter ${directory}: the database is in ${place.folder}`)
    const warning = accountWarning(place.account)
    if (warning !== null) log(warning)
    return await startIn(place, lock, { ...options, log })
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * The connection to the PostgreSQL that another process runs for this data folder; null if none runs. For commands that run
 * alongside the service.
 */
export function runningEmbeddedPostgres(directory: string): EmbeddedConnection | null {
  const place = findPlace(directory)
  if (place === null || !dataFolderUse(place.folder).inUse) return null
  const postmaster = readPostmaster(place.cluster)
  if (postmaster === null || !postmaster.ready) return null
  return connectionTo(postmaster.socketFolder, readPasswords(place))
}

/** The `pg` configurations to connect to the service's database as its owner and as the service. */
export function embeddedConnections(postgres: EmbeddedConnection): {
  owner: pg.ClientConfig
  service: pg.ClientConfig
} {
  return {
    owner: postgres.connection(databaseName, 'owner'),
    service: postgres.connection(databaseName, 'service'),
  }
}

/**
 * Stops a PostgreSQL whose service was killed, and returns the folders it used outside the data folder, which the
 * caller may delete together with it. Throws `DataFolderInUse` if the service is running.
 */
export async function stopAbandonedPostgres(directory: string): Promise<string[]> {
  const place = findPlace(directory)
  if (place === null) return []
  const lock = await lockDataFolder(place.folder)
  try {
    await clearLeftOvers(place.cluster, () => {})
    return place.elsewhere ? [place.folder] : []
  } finally {
    lock.release()
  }
}

type Passwords = Readonly<Record<DatabaseRole, string>>

const port = 5432

async function startIn(
  place: Place,
  lock: DataFolder,
  options: Required<Pick<EmbeddedPostgresOptions, 'log'>> & EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const binaries = postgresBinaries(place, options.log)
  const passwords = existsSync(place.cluster)
    ? readPasswords(place)
    : await makeCluster(place, binaries, options.log)
  const socket = makeSocketFolder(place)
  const start = async () => {
    await clearLeftOvers(place.cluster, options.log)
    return startPostmaster(place, binaries, socket.folder, options.log)
  }
  const kept = await keptRunning(start, {
    restarts: options.restarts,
    cannotRun: () => isFull(place),
    onEnd: (how, isStartedAgain) => {
      const when = isFull(place) ? ` once there is space on the disk of ${place.cluster}` : ''
      if (isStartedAgain) options.log(`PostgreSQL ended unexpectedly (${how}) and is started again${when}`)
      else options.onExit?.(`PostgreSQL ended unexpectedly (${how}); ${reasonIn(place.log)}`)
    },
    onFailure: (error) => options.onExit?.(error instanceof Error ? error.message : String(error)),
  })
  const logWatch = setInterval(() => keepLogSmall(place.log), 60_000).unref()
  let stopping: Promise<void> | null = null
  const stop = async () => {
    clearInterval(logWatch)
    await kept.release()
    await stopCluster(place.cluster, kept.pid())
    socket.remove()
    lock.release()
  }
  const postgres: EmbeddedPostgres = {
    ...connectionTo(socket.folder, passwords),
    get pid() {
      return kept.pid() ?? 0
    },
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
  try {
    await setUpRoles(postgres, passwords)
  } catch (error) {
    await postgres.stop()
    throw error
  }
  return postgres
}

/** Two segments of the write-ahead log, without which PostgreSQL ends. */
const spaceBytesMin = 2 * 16 * 1_024 * 1_024

function isFull({ cluster }: Place): boolean {
  const { bavail, bsize } = statfsSync(cluster)
  return bavail * bsize < spaceBytesMin
}

/** The reason for the operator: a full disk if PostgreSQL's log names it, or else a reference to the log. */
function reasonIn(log: string): string {
  const said = existsSync(log) ? readFileSync(log, 'utf8').slice(-5_000) : ''
  return /No space left on device/.test(said)
    ? `no space is left on the disk of ${log}: free some, and start again`
    : `see ${log}, and start again`
}

function connectionTo(host: string, passwords: Passwords): EmbeddedConnection {
  return {
    host,
    port,
    superuserPassword: passwords.superuser,
    connection: (database, role) => ({
      host,
      port,
      database,
      user: roleNames[role],
      password: passwords[role],
    }),
  }
}

function readPasswords(place: Place): Passwords {
  try {
    return JSON.parse(readFileSync(place.passwords, 'utf8'))
  } catch (error) {
    throw new Error(`Cannot read the database's passwords in ${place.passwords}: ${String(error)}`)
  }
}

/**
 * Creates the cluster under a temporary name and renames it when it is complete and on disk, so that an interrupted first
 * start can be repeated. Takes about 0.5 s.
 */
async function makeCluster(
  place: Place,
  binaries: Binaries,
  log: (line: string) => void,
): Promise<Passwords> {
  log(`Creating the database in ${place.folder}`)
  const password = () => randomBytes(24).toString('base64url')
  const passwords: Passwords = { superuser: password(), owner: password(), service: password() }
  writeSecret(place.passwords, `${JSON.stringify(passwords)}\n`)
  const unfinished = `${place.cluster}.unfinished`
  await stopInitdb(unfinished)
  rmSync(unfinished, { recursive: true, force: true })
  makeFolderFor(place.account, unfinished)
  const passwordFile = join(place.folder, 'initdb-password')
  writeSecret(passwordFile, `${passwords.superuser}\n`)
  giveTo(place.account, passwordFile)
  try {
    await runInitdb(place, binaries, unfinished, passwordFile)
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(unfinished, place.cluster)
  syncFolder(place.folder)
  return passwords
}

/** Text is sorted by code points, the same on every machine. Letters are classified by Unicode. */
async function runInitdb(
  place: Place,
  binaries: Binaries,
  folder: string,
  passwordFile: string,
): Promise<void> {
  const child = spawn(
    binaries.initdb,
    [
      ['-D', folder, '--username', roleNames.superuser, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      ['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ['--data-checksums', '--no-instructions'],
    ].flat(),
    {
      ...asAccount(place.account),
      env: plainEnvironment,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    },
  )
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0)
    throw new Error(`Cannot create the database in ${place.folder}: ${complaint.trim() || code}`)
}

/** PostgreSQL does not get the service's environment, which may contain secrets. */
const plainEnvironment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' }

function writeSecret(path: string, text: string): void {
  const unfinished = `${path}.unfinished`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, text, { mode: 0o600, flush: true })
  renameSync(unfinished, path)
  syncFolder(dirname(path))
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** The path of a Unix socket has at most 104 bytes on macOS and 108 on Linux, including the terminating zero. */
const socketPathBytesMax = 100

/**
 * The folder of the socket: in the cluster's location, or, if that path is too long, in the system's temporary folder. There
 * it has a random name, because any user could create a folder with a predictable name.
 */
function makeSocketFolder(place: Place): { folder: string; remove: () => void } {
  const inside = join(place.folder, 'socket')
  if (Buffer.byteLength(join(inside, `.s.PGSQL.${port}.lock`)) <= socketPathBytesMax) {
    makeFolderFor(place.account, inside)
    return { folder: inside, remove: () => {} }
  }
  const root = Buffer.byteLength(tmpdir()) <= socketPathBytesMax - 40 ? tmpdir() : '/tmp'
  const folder = mkdtempSync(join(root, 'lanewise-'))
  makeFolderFor(place.account, folder)
  return { folder, remove: () => rmdirSync(folder) }
}

/**
 * Settings on the command line, which neither `postgresql.conf` nor `ALTER SYSTEM` can override. The first group makes commits
 * durable. The second suits a small machine and fast growth; parallel queries need shared memory that containers rarely provide. Errors are
 * logged without details, which would contain customer data.
 */
function settings(place: Place, socketFolder: string): Record<string, string> {
  return {
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',

    max_connections: '60',
    shared_buffers: '128MB',
    wal_compression: 'off',
    max_wal_size: '512MB',
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',
    max_logical_replication_workers: '0',
    // A brokerage pushes its first 20,000 quotes within minutes. Until their table is analyzed, plans are those for a small
    // table, and pushes exceed their time-outs. A crash loses the counts that decide when a table is analyzed.
    autovacuum_naptime: '10s',
    timezone: 'UTC',

    listen_addresses: '',
    port: String(port),
    unix_socket_directories: socketFolder,
    unix_socket_permissions: '0700',
    password_encryption: 'scram-sha-256',

    cluster_name: clusterName(place.cluster),
    log_timezone: 'UTC',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    logging_collector: 'off',
  }
}

/**
 * Starts the postmaster and waits without a timeout until it accepts connections, because after a crash it first replays its log. A
 * start that fails because children of a killed postmaster are still running is repeated.
 */
async function startPostmaster(
  place: Place,
  binaries: Binaries,
  socketFolder: string,
  log: (line: string) => void,
): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt += 1) {
    const logStart = keepLogSmall(place.log)
    const child = spawnPostmaster(place, binaries, socketFolder)
    if (await isReady(place, child, log)) return child
    const said = readFileSync(place.log).subarray(logStart).toString('utf8').trim()
    const leftOver = /lock file .* already exists|shared memory block .* still in use/i.test(said)
    if (!leftOver || attempt === 20) {
      throw new Error(
        `PostgreSQL does not start in ${place.folder}: ${said.split('\n').slice(-5).join(' | ')}`,
      )
    }
    await delay(500)
    await clearLeftOvers(place.cluster, log)
  }
}

function spawnPostmaster(place: Place, binaries: Binaries, socketFolder: string): ChildProcess {
  const output = openSync(place.log, 'a', 0o600)
  try {
    return spawn(
      binaries.postgres,
      [
        '-D',
        place.cluster,
        ...Object.entries(settings(place, socketFolder)).flatMap(([name, value]) => [
          '-c',
          `${name}=${value}`,
        ]),
      ],
      {
        ...asAccount(place.account),
        env: plainEnvironment,
        stdio: ['ignore', output, output],
        detached: true,
      },
    )
  } finally {
    closeSync(output)
  }
}

/** True once the child process reports that it is ready; false if it ended before. */
async function isReady(place: Place, child: ChildProcess, log: (line: string) => void): Promise<boolean> {
  let ended = false
  child.once('error', () => {
    ended = true
  })
  child.once('exit', () => {
    ended = true
  })
  for (let waited = 0; !ended; waited += 10) {
    const postmaster = readPostmaster(place.cluster)
    if (postmaster?.pid === child.pid && postmaster?.ready) return true
    if (waited > 0 && waited % 5_000 === 0)
      log('PostgreSQL is still starting (after a crash, it replays its log)')
    await delay(10)
  }
  return false
}

const logBytesMax = 5_000_000

/**
 * Rotates the log at 5 MB, and keeps one older file. PostgreSQL has the file open for appending, so the file is copied and
 * truncated, not renamed. Returns its size afterwards, in bytes.
 */
function keepLogSmall(path: string): number {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (bytes < logBytesMax) return bytes
  copyFileSync(path, `${path}.1`)
  truncateSync(path, 0)
  return 0
}

/** Creates missing roles and the database. Runs at every start, so an interrupted first start does no harm. */
async function setUpRoles(postgres: EmbeddedConnection, passwords: Passwords): Promise<void> {
  const client = new pg.Client(postgres.connection('postgres', 'superuser'))
  // A lost connection also fails the statement. Without a listener, it would end the process with a stack trace.
  client.on('error', () => {})
  await client.connect()
  try {
    await makeRoles(client, passwords)
    await makeDatabase(client, databaseName)
  } finally {
    await client.end()
  }
}

/**
 * Creates the owner and the service role, or sets the passwords of existing ones. Neither has privileges beyond login, and
 * row-level security restricts both. `client` must be a superuser or able to create roles.
 */
export async function makeRoles(client: pg.Client, passwords: Omit<Passwords, 'superuser'>): Promise<void> {
  for (const role of ['owner', 'service'] as const) {
    const name = roleNames[role]
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name])
    const verb = rowCount === 0 ? 'create' : 'alter'
    await client.query(`${verb} role ${name} login password ${client.escapeLiteral(passwords[role])}`)
  }
  for (const { name, value } of roleTimeouts) {
    await client.query(`alter role ${roleNames.service} set ${name} = '${value}'`)
  }
}

/** Creates a database that only the owner and the service role may connect to, unless it exists. */
export async function makeDatabase(client: pg.Client, name: string, template = 'template0'): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
  const quoted = client.escapeIdentifier(name)
  if (rowCount === 0) {
    await client.query(
      `create database ${quoted} owner ${roleNames.owner} template ${client.escapeIdentifier(template)}`,
    )
  }
  await client.query(`revoke all on database ${quoted} from public`)
  await client.query(`grant connect on database ${quoted} to ${roleNames.service}`)
}

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
import { clearLeftOvers, clusterName, readPostmaster, stopCluster } from './postmaster.ts'

/**
 * Who connects. `owner` owns the database and runs migrations; `service` is what the service works as, and row-level
 * security holds for it; `superuser` is for setting up.
 */
export type DatabaseRole = 'superuser' | 'owner' | 'service'

/** How to reach an embedded PostgreSQL that runs. */
export type EmbeddedConnection = {
  /** The folder of its unix socket: it listens nowhere else. */
  readonly host: string
  readonly port: number
  readonly superuserPassword: string
  /** What `pg` wants to know to connect as the role. */
  readonly connection: (database: string, role: DatabaseRole) => pg.ClientConfig
}

/** An embedded PostgreSQL that this process started. */
export type EmbeddedPostgres = EmbeddedConnection & {
  readonly pid: number
  /** Ends open connections and PostgreSQL, and waits until it is gone. A second call waits for the first. */
  readonly stop: () => Promise<void>
}

/** What to start. */
export type EmbeddedPostgresOptions = {
  /** The service's data folder (`DATA_DIR`). */
  readonly directory: string
  /** Gets what the operator should know, a line at a time. */
  readonly log?: (line: string) => void
  /** Called once if PostgreSQL ends without having been stopped. */
  readonly onExit?: (reason: string) => void
  /** Where the cluster goes when PostgreSQL cannot enter the data folder: `/var/lib/lanewise` unless told. */
  readonly elsewhere?: string
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
 * Starts the PostgreSQL that came with the npm packages, on a cluster of its own in the data folder, and sets up its
 * two roles and its database. The first start makes the cluster. Works as root and as a normal user.
 *
 * What was committed survives `kill -9` of the service, of PostgreSQL or of both, and a power cut as far as the disk
 * keeps its promises. A PostgreSQL that a killed service left behind is stopped first. PostgreSQL runs in a session
 * of its own, so Ctrl-C reaches only the service, which can finish its work before it calls `stop`.
 *
 * Throws `DataFolderInUse` when another process runs this cluster, and an `Error` whose message says what to do when
 * PostgreSQL cannot run here.
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
 * How to reach the PostgreSQL that another process runs for this data folder; null when none runs. For commands that
 * work beside a running service.
 */
export function runningEmbeddedPostgres(directory: string): EmbeddedConnection | null {
  const place = findPlace(resolve(directory))
  if (place === null || !dataFolderUse(place.folder).inUse) return null
  const postmaster = readPostmaster(place.cluster)
  if (postmaster === null || !postmaster.ready) return null
  return connectionTo(postmaster.socketFolder, readPasswords(place))
}

/** What `pg` wants to know to connect to the service's database: as its owner, and as the service. */
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
 * caller may remove together with it. Throws `DataFolderInUse` if the service lives.
 */
export async function stopAbandonedPostgres(directory: string): Promise<string[]> {
  const place = findPlace(resolve(directory))
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
  await clearLeftOvers(place.cluster, options.log)
  const socket = makeSocketFolder(place)
  const child = await startPostmaster(place, binaries, socket.folder, options.log)
  const logWatch = setInterval(() => keepLogSmall(place.log), 60_000).unref()
  let stopping: Promise<void> | null = null
  let ended = false
  child.once('exit', (code, signal) => {
    ended = true
    clearInterval(logWatch)
    if (stopping === null)
      options.onExit?.(`PostgreSQL ended unexpectedly (${signal ?? code}); see ${place.log}`)
  })
  const stop = async () => {
    await stopCluster(place.cluster, ended ? null : (child.pid ?? null))
    socket.remove()
    lock.release()
  }
  const postgres: EmbeddedPostgres = {
    ...connectionTo(socket.folder, passwords),
    pid: child.pid ?? 0,
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
 * Makes the cluster beside its final name and renames it when it is whole and on disk, so a first start that is
 * killed half-way is simply repeated. About 0.5 s.
 */
async function makeCluster(
  place: Place,
  binaries: Binaries,
  log: (line: string) => void,
): Promise<Passwords> {
  log(`Making the database in ${place.folder}`)
  const password = () => randomBytes(24).toString('base64url')
  const passwords: Passwords = { superuser: password(), owner: password(), service: password() }
  writeSecret(place.passwords, `${JSON.stringify(passwords)}\n`)
  const unfinished = `${place.cluster}.unfinished`
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

/** Text sorts by code point, the same on every machine; letters are those of Unicode. */
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
  if (code !== 0) throw new Error(`Cannot make the database in ${place.folder}: ${complaint.trim() || code}`)
}

/** PostgreSQL gets nothing of the service's environment, which may hold secrets. */
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

/** A unix socket's path holds 104 bytes on macOS and 108 on Linux, with its end mark. */
const socketPathBytesMax = 100

/**
 * The socket's folder: in the place, or, when that path is too long, a new one with a random name in the system's
 * temporary folder. A random name, because anybody could make a folder whose name can be foretold.
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
 * Given on the command line, where neither `postgresql.conf` nor `ALTER SYSTEM` can change them. The first group is
 * what "committed" means. The second suits a small machine; parallel queries need shared memory that containers
 * seldom give. Errors are logged without their details, which would quote customers' data.
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
 * Starts the postmaster and waits until it takes connections; after a crash it first replays its log, which takes as
 * long as it takes. A start that fails because children of a killed postmaster have not quite gone is repeated.
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

/** True when the child says that it is ready, false when it ended before. */
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
      log('PostgreSQL is still starting (it replays its log after a crash)')
    await delay(10)
  }
  return false
}

const logBytesMax = 5_000_000

/**
 * Keeps the log at 5 MB and one older piece of the same size. PostgreSQL appends to a file that it holds open, so the
 * file is copied and emptied, not renamed. Gives the bytes that are in it afterwards.
 */
function keepLogSmall(path: string): number {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (bytes < logBytesMax) return bytes
  copyFileSync(path, `${path}.1`)
  truncateSync(path, 0)
  return 0
}

/** Makes the roles and the database where they are missing; every start runs it, so a killed first start is no harm. */
async function setUpRoles(postgres: EmbeddedConnection, passwords: Passwords): Promise<void> {
  const client = new pg.Client(postgres.connection('postgres', 'superuser'))
  await client.connect()
  try {
    await makeRoles(client, passwords)
    await makeDatabase(client, databaseName)
  } finally {
    await client.end()
  }
}

/**
 * Makes the owner and the service role, or sets their passwords where they exist. Neither may do more than log in:
 * row-level security holds for both. `client` is a superuser, or may make roles.
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

/** Makes a database of the owner's that only the owner and the service may connect to; one that exists stays. */
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

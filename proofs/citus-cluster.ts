import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { asAccount, giveTo, postgresAccount } from '#server/embedded-postgres/index.ts'
import { freePort } from '#testing/running-service.ts'
import { proofFolder } from './own-postgres.ts'

/** One PostgreSQL server of the cluster. */
export interface CitusNode {
  readonly host: string
  readonly port: number
  readonly folder: string
  start(): void
  /** Stops the node; `kill` ends all its processes at once, like a power failure. */
  stop(how?: 'kill'): void
}

/** A coordinator and workers on this machine, each a PostgreSQL server with the extension Citus. */
export interface CitusCluster {
  /** The coordinator's URL, as a superuser. The coordinator knows the first workers. */
  readonly url: string
  readonly coordinator: CitusNode
  readonly workers: readonly CitusNode[]
  /** Starts another worker, which the coordinator does not know yet. */
  makeWorker(): Promise<CitusNode>
  remove(): void
}

export const howToBuild =
  'The cluster needs PostgreSQL 15 to 17 with the extension Citus; pg_config names it. "sh scripts/build-citus.sh" builds Citus and says what it needs.'

const superuser = 'postgres'

function pgConfig(option: string): string {
  const { stdout, status } = spawnSync('pg_config', [option], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`There is no pg_config. ${howToBuild}`)
  return stdout.trim()
}

/**
 * Starts a cluster in a temporary folder.
 *
 * @param workers the number of workers that the coordinator knows
 * @throws Error if PostgreSQL or Citus is missing: the message says how to get it
 */
export async function startCitusCluster(workers: number): Promise<CitusCluster> {
  const programs = pgConfig('--bindir')
  if (!existsSync(join(pgConfig('--sharedir'), 'extension', 'citus.control')))
    throw new Error(`${pgConfig('--version')} has no Citus. ${howToBuild}`)
  const root = proofFolder()
  const nodes: CitusNode[] = []
  const add = async () => {
    const node = makeNode(programs, join(root, `node-${nodes.length}`), await freePort())
    nodes.push(node)
    return node
  }
  const remove = () => {
    for (const node of nodes) node.stop('kill')
    rmSync(root, { recursive: true, force: true })
  }
  try {
    const coordinator = await add()
    const known: CitusNode[] = []
    for (let nth = 0; nth < workers; nth++) known.push(await add())
    const url = `postgres://${superuser}@${coordinator.host}:${coordinator.port}/postgres`
    for (const node of [coordinator, ...known]) await extend(node)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('select citus_set_coordinator_host($1, $2)', [coordinator.host, coordinator.port])
    for (const { host, port } of known) await client.query('select citus_add_node($1, $2)', [host, port])
    await client.end()
    return {
      url,
      coordinator,
      workers: known,
      makeWorker: async () => {
        const node = await add()
        await extend(node)
        return node
      },
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}

async function extend({ host, port }: CitusNode): Promise<void> {
  const client = new pg.Client({ host, port, user: superuser, database: 'postgres' })
  await client.connect()
  await client.query('create extension citus')
  await client.end()
}

/** Nodes connect to each other without a password, on the loopback interface only. */
const settings = (port: number, folder: string) => `
port = ${port}
listen_addresses = '127.0.0.1'
unix_socket_directories = '${folder}'
shared_preload_libraries = 'citus'
citus.local_hostname = '127.0.0.1'
wal_level = logical
max_connections = 300
max_prepared_transactions = 300
max_worker_processes = 32
max_replication_slots = 32
max_wal_senders = 32
# A slot of a transfer that never ends must not fill the disk.
max_slot_wal_keep_size = '1GB'
`

function makeNode(programs: string, folder: string, port: number): CitusNode {
  mkdirSync(folder, { recursive: true })
  const account = postgresAccount(folder)
  giveTo(account, folder)
  const data = join(folder, 'data')
  const run = (program: string, ...args: string[]) =>
    execFileSync(join(programs, program), args, {
      ...asAccount(account),
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  run('initdb', '-D', data, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--locale', 'C.UTF-8')
  appendFileSync(join(data, 'postgresql.conf'), settings(port, folder))
  const start = () => {
    run('pg_ctl', '-D', data, '-w', '-t', '60', '-l', join(folder, 'log'), 'start')
  }
  start()
  return {
    host: '127.0.0.1',
    port,
    folder,
    start,
    stop(how) {
      try {
        run('pg_ctl', '-D', data, '-w', '-t', '60', '-m', how === 'kill' ? 'immediate' : 'fast', 'stop')
      } catch {
        // The node was stopped before.
      }
    },
  }
}

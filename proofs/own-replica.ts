import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { asAccount, findPlace, giveTo, postgresBinaries } from '#server/embedded-postgres/index.ts'
import { type OwnPostgres, ownPostgres, proofFolder } from './own-postgres.ts'

/** A PostgreSQL server of a proof, with a streaming replica. */
export interface WithReplica {
  readonly primary: OwnPostgres
  /** The URL of the replica for a role. */
  url(role: 'owner' | 'service' | 'superuser'): string
  /** Runs a statement on the replica as superuser. */
  ask(question: string): Promise<void>
  /** Stops the replica at once (SIGQUIT). */
  kill(): Promise<void>
  /** Starts the replica. */
  start(): Promise<void>
  remove(): Promise<void>
}

/** Starts a primary, runs `prepare`, stops it to copy its folder as the replica, and starts it again. */
export async function withReplica(prepare: (primary: OwnPostgres) => Promise<void>): Promise<WithReplica> {
  const directory = proofFolder()
  const primary = await ownPostgres(directory)
  await prepare(primary)
  const place = findPlace(directory)
  if (place === null) throw new Error('The cluster folder was not found.')
  const superuser = new URL(primary.url('superuser'))
  const [cluster, socket] = [join(place.folder, 'replica'), join(place.folder, 'replica-socket')]
  await primary.stop('fast')
  cpSync(primary.cluster, cluster, { recursive: true, preserveTimestamps: true })
  chmodSync(cluster, 0o700)
  mkdirSync(socket, { mode: 0o700 })
  const primaryConnection = [
    `host=${superuser.searchParams.get('host')}`,
    `port=${superuser.port} user=${superuser.username} password=${superuser.password}`,
  ].join(' ')
  writeFileSync(join(cluster, 'standby.signal'), '')
  writeFileSync(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${primaryConnection}'\n`)
  for (const path of [
    socket,
    cluster,
    ...readdirSync(cluster, { recursive: true }).map((name) => join(cluster, String(name))),
  ]) {
    giveTo(place.account, path)
  }
  await primary.start()
  let child: ChildProcess | null = null
  const url = (role: 'owner' | 'service' | 'superuser') => {
    const changed = new URL(primary.url(role))
    changed.searchParams.set('host', socket)
    return changed.href
  }
  const ask = async (question: string) => {
    const client = new pg.Client(url('superuser'))
    client.on('error', () => {})
    await client.connect()
    try {
      await client.query(question)
    } finally {
      await client.end()
    }
  }
  const kill = async () => {
    const going = child
    child = null
    if (going === null) return
    const gone = new Promise((resolve) => going.once('close', resolve))
    going.kill('SIGQUIT')
    await gone
  }
  return {
    primary,
    url,
    ask,
    kill,
    async start() {
      const settings = {
        hot_standby: 'on',
        max_connections: '60',
        listen_addresses: '',
        unix_socket_directories: socket,
        timezone: 'UTC',
      }
      child = spawn(
        postgresBinaries(place, () => {}).postgres,
        ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        { ...asAccount(place.account), env: { TZ: 'UTC' }, stdio: 'ignore' },
      )
      for (let tries = 0; ; tries++) {
        try {
          return await ask('select 1')
        } catch (error) {
          if (tries === 300) throw error
          await delay(50)
        }
      }
    },
    async remove() {
      await kill()
      await primary.remove()
      rmSync(cluster, { recursive: true, force: true })
    },
  }
}

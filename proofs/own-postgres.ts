import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import {
  clusterIsGone,
  clusterProcesses,
  databaseName,
  type EmbeddedPostgres,
  findPlace,
  signal,
  startEmbeddedPostgres,
  stopAbandonedPostgres,
} from '#server/embedded-postgres/index.ts'
import type { ProofDatabase } from './proof-database.ts'

/**
 * A PostgreSQL server that a proof can stop and kill: the embedded programs with a cluster in a temporary folder. Socket and
 * passwords stay the same, so that the service can reconnect after a restart.
 */
export interface OwnPostgres extends Pick<ProofDatabase, 'url' | 'ask'> {
  readonly cluster: string
  /** Kills all its processes with SIGKILL. */
  kill(): Promise<void>
  /** Sends the signal of a fast or immediate shutdown, and waits for the exit. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Stops the server and removes its folder. */
  remove(): Promise<void>
}

/** Makes a temporary folder that PostgreSQL's user may enter. */
export function proofFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lanewise-proof-'))
  if (process.getuid?.() === 0) chmodSync(folder, 0o711)
  return folder
}

export async function ownPostgres(directory = proofFolder()): Promise<OwnPostgres> {
  // The proof itself starts it again.
  const start = () => startEmbeddedPostgres({ directory, restarts: 0 })
  let running: EmbeddedPostgres = await start()
  const place = findPlace(directory)
  if (place === null) throw new Error('The cluster folder was not found.')
  const { cluster } = place
  const gone = async () => {
    if (!(await clusterIsGone(cluster, 20_000))) throw new Error('PostgreSQL did not exit within 20 s.')
    // Releases the lock of the folder.
    await running.stop()
  }
  const send = async (name: NodeJS.Signals, whom: readonly number[]) => {
    for (const pid of whom) signal(pid, name)
    await gone()
  }
  return {
    cluster,
    url(role) {
      const { user, password } = running.connection(databaseName, role)
      return `postgres://${user}:${password}@localhost:${running.port}/${databaseName}?host=${encodeURIComponent(running.host)}`
    },
    async ask<Row extends object>(question: string, values: readonly unknown[] = []) {
      return withDatabaseClient(running.connection(databaseName, 'superuser'), async (client) => {
        return (await client.query<Row>(question, [...values])).rows
      })
    },
    kill: () => send('SIGKILL', clusterProcesses(cluster)),
    stop: (mode) => send(mode === 'fast' ? 'SIGINT' : 'SIGQUIT', [running.pid]),
    async start() {
      running = await start()
    },
    async remove() {
      await running.stop()
      for (const left of await stopAbandonedPostgres(directory))
        rmSync(left, { recursive: true, force: true })
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

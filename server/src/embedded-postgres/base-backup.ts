import {
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Account } from './account.ts'

/** Files of a cluster's folder that belong to the running process. The next process creates them again. */
const filesOfTheProcess = new Set(['postmaster.pid', 'postmaster.opts', 'pg_internal.init'])
const foldersOfTheProcess = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])

/**
 * Copies the cluster of a running PostgreSQL (15 or newer) without interrupting it, with its low-level backup API. With `log`,
 * the copy includes the write-ahead log that it needs, and starts in the state at the end of the copying; without, the log must
 * come from an archive. With `flush`, the copy is on disk when the function returns.
 *
 * @throws Error if a file cannot be read or written; the copy is unusable then
 */
export async function copyRunningCluster(
  superuser: pg.ClientConfig,
  cluster: string,
  to: string,
  { account, log, flush }: { account: Account; log: boolean; flush: boolean },
): Promise<void> {
  const client = new pg.Client(superuser)
  client.on('error', () => {})
  await client.connect()
  try {
    // A temporary replication slot keeps the log segments that the copy needs. It ends with the connection.
    if (log) await client.query(`select pg_create_physical_replication_slot('lanewise_backup', true, true)`)
    // Request an immediate checkpoint. By default it would take minutes.
    await client.query(`select pg_backup_start('lanewise', fast => true)`)
    copyFolder(cluster, to, { account, flush })
    const { rows } = await client.query<{ labelfile: string; spcmapfile: string }>(
      `select labelfile, spcmapfile from pg_backup_stop(wait_for_archive => ${!log})`,
    )
    const label = join(to, 'backup_label')
    writeFileSync(label, rows[0]?.labelfile ?? '', { mode: 0o600, flush: true })
    giveAway(account, label)
    if (log) copyFolder(join(cluster, 'pg_wal'), join(to, 'pg_wal'), { account, flush })
  } finally {
    await client.end()
  }
}

/** Copies all files that exist. If PostgreSQL deletes a file meanwhile, the recovery from the log makes up for it. */
function copyFolder(from: string, to: string, how: { account: Account; flush: boolean }): void {
  const { account, flush } = how
  mkdirSync(to, { recursive: true, mode: 0o700 })
  giveAway(account, to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) {
      if (!foldersOfTheProcess.has(entry.name)) copyFolder(source, target, how)
      else makeEmpty(target, account)
      continue
    }
    if (!entry.isFile() || filesOfTheProcess.has(entry.name)) continue
    try {
      copyFileSync(source, target, constants.COPYFILE_FICLONE)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue
      throw error
    }
    giveAway(account, target)
    if (flush) toDisk(target)
  }
  if (flush) toDisk(to)
}

/** Creates an empty folder, because PostgreSQL recreates only the folders inside it. */
function makeEmpty(folder: string, account: Account): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  giveAway(account, folder)
}

function giveAway(account: Account, path: string): void {
  if (account !== null) chownSync(path, account.uid, account.gid)
}

function toDisk(path: string): void {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

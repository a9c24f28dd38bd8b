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

/** What of a cluster's folder belongs to the process that runs it, and is made anew by the next one. */
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
 * Copies the cluster of a PostgreSQL (15 or newer) that runs and goes on answering, as its manual says how: between
 * pg_backup_start and pg_backup_stop, with the label it then hands out. With `log` the copy has all of the write-ahead log
 * that it needs and starts by itself, as the database was at the end of the copying; without, the log comes from an archive. With `flush` it is on disk
 * when this is done.
 *
 * @throws Error when a file cannot be read or written; the copy is of no use then
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
    // No segment of the log goes while it may be needed. The slot ends with the connection.
    if (log) await client.query(`select pg_create_physical_replication_slot('lanewise_backup', true, true)`)
    // At once, and not spread over the minutes that a checkpoint is usually given.
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

/** Copies what there is. A file that PostgreSQL removes meanwhile is one that the log makes good. */
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

/** PostgreSQL makes no folder of its own again but those inside this one. */
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

import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import {
  copyRunningCluster,
  findPlace,
  makePlace,
  runningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../embedded-postgres/index.ts'
import { CommandRefused } from './command-database.ts'

/**
 * Copies the embedded database of a data folder into a new data folder, in its state at the end of the copy. A running
 * service is not delayed. The secret key is not copied.
 *
 * @throws CommandRefused when there is no embedded database, or the folder is there already
 * @example await backUp({ dataDirectory: './data', folder: '/backups/2026-11-21', remark: console.error })
 */
export async function backUp({
  dataDirectory,
  folder,
  remark,
}: {
  dataDirectory: string
  folder: string
  remark: (line: string) => void
}): Promise<void> {
  const final = resolve(folder)
  if (existsSync(final)) throw new CommandRefused(`${final} already exists. Name a new folder.`)
  const place = findPlace(dataDirectory)
  if (place === null || !existsSync(place.cluster)) {
    throw new CommandRefused(`There is no embedded database in ${resolve(dataDirectory)}: set DATA_DIR.`)
  }
  const unfinished = `${final}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(dirname(final), { recursive: true })
  mkdirSync(unfinished, { mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  const running = runningEmbeddedPostgres(dataDirectory)
  const started =
    running === null ? await startEmbeddedPostgres({ directory: dataDirectory, log: remark }) : null
  const postgres = running ?? started
  try {
    if (postgres === null) return
    const copy = makePlace(unfinished)
    if (copy.elsewhere) {
      rmSync(copy.folder, { recursive: true, force: true })
      throw new CommandRefused(
        `PostgreSQL's account cannot enter ${final}: name a folder that it can, such as one in /srv.`,
      )
    }
    await copyRunningCluster(postgres.connection('postgres', 'superuser'), place.cluster, copy.cluster, {
      account: place.account,
      log: true,
      flush: true,
    })
    copyFileSync(place.passwords, copy.passwords)
    renameSync(unfinished, final)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    throw error
  } finally {
    await started?.stop()
  }
}

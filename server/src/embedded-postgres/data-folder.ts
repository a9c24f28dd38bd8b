import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'

/** A folder that this process alone may use until `release` is called or the process ends, however it ends. */
export type DataFolder = {
  /** The folder with all links resolved. */
  readonly directory: string
  readonly release: () => void
}

/** Who uses a folder, as the holder wrote it down; null when the note was not there to be read. */
export type DataFolderHolder = { readonly pid: number; readonly host: string } | null

/** Thrown when another process uses the folder. Its message is one line, fit to be shown as it is. */
export class DataFolderInUse extends Error {
  readonly directory: string
  readonly holder: DataFolderHolder

  constructor(directory: string, holder: DataFolderHolder) {
    const who = holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`
    super(
      `The data folder ${directory} is in use by ${who}: stop it first, or set DATA_DIR to another folder.`,
    )
    this.name = 'DataFolderInUse'
    this.directory = directory
    this.holder = holder
  }
}

/** How long a lock that somebody holds is tried again: longer than the instant in which `dataFolderHolder` looks. */
const patienceMilliseconds = 400

/**
 * Takes a data folder for this process alone, and makes the folder where it is missing.
 *
 * The lock is the kernel's own lock on a file (SQLite takes it for us: Node has no call of its own for it). So it
 * ends in the instant the process ends, also by `kill -9`; it cannot go stale, and two processes that start in the
 * same instant cannot both win. Child processes do not inherit it.
 *
 * Throws `DataFolderInUse` when another process, or another part of this one, holds the folder.
 *
 * Example: `const folder = await lockDataFolder('./data')` ... `folder.release()`
 */
export async function lockDataFolder(path: string): Promise<DataFolder> {
  makeFolder(path)
  const directory = realpathSync(path)
  for (let left = patienceMilliseconds; ; left -= 50) {
    const lock = tryLock(directory)
    if (lock !== null) return hold(directory, lock)
    if (left <= 0) throw new DataFolderInUse(directory, readHolder(directory))
    await delay(50)
  }
}

/**
 * Tells whether a process uses the folder now: `{ inUse: true, holder }`, where the holder is null if it has not
 * written its name yet. A folder that does not exist is not in use. Never disturbs the holder.
 */
export function dataFolderUse(path: string): { inUse: boolean; holder: DataFolderHolder } {
  // The lock file must not be opened by any other way than SQLite's: the kernel drops a process's locks on a file
  // as soon as that process closes any of its handles on it.
  if (!existsSync(join(path, lockFile))) return { inUse: false, holder: null }
  const directory = realpathSync(path)
  const lock = tryLock(directory)
  if (lock === null) return { inUse: true, holder: readHolder(directory) }
  lock.close()
  return { inUse: false, holder: null }
}

const lockFile = 'lock'
const holderFile = 'lock-holder.json'

/** Makes a folder where it is missing, and answers the first that was. @throws Error that says what to set */
export function mkdirOrSay(path: string): string | undefined {
  try {
    return mkdirSync(path, { recursive: true })
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new Error(
      `The data folder ${path} cannot be made (${code}): set DATA_DIR to a folder that can be written, or DATABASE_URL to a PostgreSQL of your own.`,
      { cause: error },
    )
  }
}

/**
 * As root the folder must let PostgreSQL's own account pass through, though not look around: 711. Files with
 * secrets in it have mode 600 in either case. A folder that is already there keeps its mode.
 */
function makeFolder(path: string): void {
  const made = mkdirOrSay(path)
  if (made !== undefined) chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700)
}

function tryLock(directory: string): DatabaseSync | null {
  const path = join(directory, lockFile)
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(path, { timeout: 0 })
    lock.exec('begin immediate')
    return lock
  } catch (error) {
    lock?.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return null
    throw new Error(
      `Cannot lock the data folder ${directory}: is it writable for this user? (${String(error)})`,
    )
  }
}

const sqliteBusy = 5

function hold(directory: string, lock: DatabaseSync): DataFolder {
  const path = join(directory, holderFile)
  const holder: DataFolderHolder = { pid: process.pid, host: hostname() }
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  let held = true
  const release = () => {
    if (!held) return
    held = false
    rmSync(path, { force: true })
    lock.close()
  }
  return { directory, release }
}

function readHolder(directory: string): DataFolderHolder {
  try {
    const { pid, host } = JSON.parse(readFileSync(join(directory, holderFile), 'utf8'))
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host } : null
  } catch {
    return null
  }
}

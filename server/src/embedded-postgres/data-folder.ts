import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'

/** A folder that is locked for this process until `release` is called or the process ends in any way. */
export type DataFolder = {
  /** The folder with all links resolved. */
  readonly directory: string
  readonly release: () => void
}

/** The process that uses a folder, according to its note; null if there is no readable note. */
export type DataFolderHolder = { readonly pid: number; readonly host: string } | null

/** Another process uses the folder. The message is one line that can be shown to the operator. */
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

/** How long to retry the lock: longer than `dataFolderUse` holds it for its check. */
const patienceMilliseconds = 400

/**
 * Locks a data folder for this process, and creates the folder if it is missing.
 *
 * The lock is a kernel lock on a file, taken through SQLite because Node has no API for it. It ends with the process, also
 * after `kill -9`, so it cannot become stale, and two processes that start concurrently cannot both get it. Child processes
 * do not inherit it.
 *
 * Throws `DataFolderInUse` if another process, or another part of this one, holds the lock.
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
 * Whether a process uses the folder now: `{ inUse: true, holder }`, where the holder is null if it has not written its note
 * yet. A folder that does not exist is not in use. Does not affect the holder.
 */
export function dataFolderUse(path: string): { inUse: boolean; holder: DataFolderHolder } {
  // Open the lock file through SQLite only, because the kernel releases all locks of a process on a file as soon as the process
  // closes any handle on it.
  if (!existsSync(join(path, lockFile))) return { inUse: false, holder: null }
  const directory = realpathSync(path)
  const lock = tryLock(directory)
  if (lock === null) return { inUse: true, holder: readHolder(directory) }
  lock.close()
  return { inUse: false, holder: null }
}

const lockFile = 'lock'
const holderFile = 'lock-holder.json'

/** Creates a folder and returns the first path that was missing. @throws Error with the setting to change */
export function mkdirOrSay(path: string): string | undefined {
  try {
    return makeFolders(path)
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new Error(
      `The data folder ${path} cannot be created (${code}): set DATA_DIR to a folder that can be written, or DATABASE_URL to a PostgreSQL of your own.`,
      { cause: error },
    )
  }
}

/**
 * Creates a folder with those above it, and returns the first one that was missing. Node's own recursion never ends below a folder
 * that takes no folders and says ENOENT, such as /proc/1.
 */
export function makeFolders(path: string): string | undefined {
  const isFolder = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (isFolder()) return undefined
  const above = existsSync(dirname(path)) ? undefined : makeFolders(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder()) throw error
  }
  return above ?? path
}

/**
 * The mode of a new data folder. As root, it is 711: PostgreSQL's account can pass through, but not list the folder. Files with
 * secrets always have mode 600. An existing folder keeps its mode.
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

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { type Account, canEnter, giveTo, postgresAccount } from './account.ts'
import { mkdirOrSay } from './data-folder.ts'

/** The location of a cluster: `<data folder>/postgres`, or another folder if PostgreSQL cannot access that one. */
export type Place = {
  /** The service's folder: contains the passwords, the log, and the folders below. */
  readonly folder: string
  /** PostgreSQL's own data folder. */
  readonly cluster: string
  readonly passwords: string
  readonly log: string
  readonly account: Account
  readonly elsewhere: boolean
}

/**
 * Decides the location of the data folder's cluster and creates its folders, but not the cluster.
 *
 * As root, PostgreSQL's account may be unable to enter the data folder, such as a clone in `/root`. The modes of existing
 * folders are not changed. Instead, the cluster goes to `/var/lib/lanewise/<random name>`, and
 * `<data folder>/postgres-folder` records the location. A location never changes once it is decided.
 *
 * @throws Error if the recorded folder does not exist: starting with an empty database would look like lost data
 */
export function makePlace(directory: string, elsewhere = '/var/lib/lanewise'): Place {
  const settled = findPlace(directory)
  if (settled !== null) return settled
  const inside = placeAt(join(directory, 'postgres'), false)
  makeOwnFolder(inside.folder)
  if (canServe(inside)) return inside
  const outside = placeAt(join(elsewhere, randomBytes(8).toString('hex')), true)
  mkdirSync(elsewhere, { recursive: true, mode: 0o711 })
  makeOwnFolder(outside.folder)
  if (!canServe(outside)) {
    throw new Error(
      `PostgreSQL's account can enter neither ${inside.folder} nor ${outside.folder}. ` +
        'Set DATA_DIR to a folder that it can enter, such as one in /srv, or set DATABASE_URL.',
    )
  }
  return settle(directory, outside)
}

/**
 * The first process to write the note decides the location. A concurrent process uses that location, too. The note is linked into
 * place, so that an interrupted start leaves no empty one.
 */
function settle(directory: string, place: Place): Place {
  const note = join(directory, noteFile)
  const written = `${note}.${process.pid}`
  try {
    writeFileSync(written, `${place.folder}\n`, { mode: 0o600, flush: true })
    linkSync(written, note)
    return place
  } catch (error) {
    rmSync(place.folder, { recursive: true, force: true })
    const settled = findPlace(directory)
    if (settled === null) throw error
    return settled
  } finally {
    rmSync(written, { force: true })
  }
}

/** The decided location for a data folder; null if there is none yet. Changes nothing. */
export function findPlace(directory: string): Place | null {
  const note = join(directory, noteFile)
  if (existsSync(note)) {
    const folder = readFileSync(note, 'utf8').trim()
    if (!existsSync(folder)) {
      throw new Error(
        `The database of ${directory} is in ${folder}, as ${note} says, but that folder is gone. ` +
          `Bring it back, or remove ${note} to begin with an empty database.`,
      )
    }
    return placeAt(folder, true)
  }
  const inside = placeAt(join(directory, 'postgres'), false)
  if (!existsSync(inside.cluster)) return null
  if (!canEnter(inside.account, inside.folder)) {
    throw new Error(
      `PostgreSQL's account cannot enter ${inside.folder} any more, and its data is there: a folder on the way ` +
        'is closed to other users now. Open that folder (chmod o+x), or move the data folder.',
    )
  }
  return inside
}

const noteFile = 'postgres-folder'

function placeAt(stated: string, elsewhere: boolean): Place {
  // PostgreSQL and `canEnter` run in another working folder than the service.
  const folder = resolve(stated)
  const cluster = join(folder, 'cluster')
  return {
    folder,
    cluster,
    passwords: join(folder, 'passwords.json'),
    log: join(folder, 'postgres.log'),
    account: postgresAccount(cluster),
    elsewhere,
  }
}

/** As root, the account must be able to pass through our folder to its own folders, which only it can enter. */
function makeOwnFolder(folder: string): void {
  mkdirOrSay(folder)
  chmodSync(folder, process.getuid?.() === 0 ? 0o711 : 0o700)
}

/** Whether the account can enter the folder, and folders in it can be given to the account (not so on some mounts). */
function canServe(place: Place): boolean {
  if (!canEnter(place.account, place.folder)) return false
  try {
    makeFolderFor(place.account, join(place.folder, 'socket'))
    return true
  } catch {
    return false
  }
}

/** Creates a folder that only the account can read. An existing folder must belong to the account. */
export function makeFolderFor(account: Account, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  giveTo(account, folder)
  chmodSync(folder, 0o700)
  const { uid } = statSync(folder)
  const wanted = account?.uid ?? process.getuid?.()
  if (wanted !== undefined && uid !== wanted)
    throw new Error(`${folder} belongs to user ${uid}, not to ${wanted}.`)
}

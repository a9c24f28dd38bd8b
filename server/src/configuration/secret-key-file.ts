import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SecretKey, type SecretKeys, secretKeys, weakness } from '../security/index.ts'

const keyFileOf = (dataDirectory: string) => join(dataDirectory, 'secret-key')

/**
 * Creates the secret key of a new installation with the embedded database, in a file in the data folder that only its owner
 * can read. An existing file stays. A data folder that has a database gets no new key: it could not decrypt that database's
 * secrets, and would hide that the right key is lost.
 */
export function makeSecretKey(dataDirectory: string): void {
  makeKeyFile(keyFileOf(dataDirectory))
}

/**
 * The secret keys of an installation with the embedded database, from the file in its data folder. To rotate the key, add the
 * new one on a line above the old one.
 *
 * @throws Error if the file is missing, contains no secret key or a weak one, or every user of the machine can read or write it
 */
export function secretKeysOf(dataDirectory: string): SecretKeys {
  const fault = keyFileFault(dataDirectory)
  if (fault !== null) throw new Error(fault)
  const file = keyFileOf(dataDirectory)
  const keys = secretKeys(readFileSync(file, 'utf8'))
  if (keys === null) throw new Error(`${file} does not contain a secret key. Restore it from a backup.`)
  const weak = weakness(keys[0])
  if (weak !== null) throw new Error(`The secret key ${file} ${weak}`)
  chmodSync(file, 0o600)
  return keys
}

/**
 * Why the key file of a data folder that has a database cannot be used, as a sentence; null if it can.
 *
 * @example keyFileFault('./data') // 'The secret key data/secret-key is missing, and ...'
 */
export function keyFileFault(dataDirectory: string): string | null {
  const file = keyFileOf(dataDirectory)
  return existsSync(file)
    ? exposureOf(file)
    : `The secret key ${file} is missing, and the database in ${dataDirectory} was created with it: restore the file from your copy, or set LANEWISE_SECRET_KEY to the key. If there is no copy, docs/lost-key.md says how to go on.`
}

/**
 * A sentence if every user of this machine can read or replace a key file; null if not. Its group may read it, as with secrets of
 * Kubernetes. Windows has no such modes.
 */
export function exposureOf(file: string): string | null {
  const { mode } = statSync(file)
  if (process.platform === 'win32' || (mode & 0o006) === 0) return null
  const can = (mode & 0o004) === 0 ? 'write' : 'read'
  return `Every user of this machine can ${can} the secret key ${file}: run chmod 600 ${file}, and replace the key if others may have ${can === 'read' ? 'read' : 'written'} it.`
}

/**
 * The key that encrypts one export of a brokerage, from its file; null if the file has none. With `make`, a missing file is
 * created.
 */
export function moveKeyOf(file: string, { make }: { make: boolean }): SecretKey | null {
  if (make) makeKeyFile(file)
  else if (!existsSync(file)) return null
  return secretKeys(readFileSync(file, 'utf8'))?.[0] ?? null
}

/** Writes a new key to a temporary file and links it into place, so that an interrupted start leaves no partial key. */
function makeKeyFile(file: string): void {
  if (existsSync(file)) return
  const written = `${file}.${process.pid}`
  writeFileSync(written, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(written, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(written)
  }
}

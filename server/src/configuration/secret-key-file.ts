import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SecretKey, type SecretKeys, secretKeys } from '../security/index.ts'

/**
 * The secret keys of an installation with the embedded database: generated once, and saved in a file in the data folder that
 * only its owner can read. To rotate the key, add the new one on a line above the old one.
 *
 * @throws Error if the file does not contain a secret key
 */
export function secretKeysOf(dataDirectory: string): SecretKeys {
  mkdirSync(dataDirectory, { recursive: true })
  const file = join(dataDirectory, 'secret-key')
  makeKeyFile(file)
  chmodSync(file, 0o600)
  const keys = secretKeys(readFileSync(file, 'utf8'))
  if (keys === null) throw new Error(`${file} does not contain a secret key. Restore it from a backup.`)
  return keys
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

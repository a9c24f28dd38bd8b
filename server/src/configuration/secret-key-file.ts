import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SecretKey, type SecretKeys, secretKeys } from '../security/index.ts'

/**
 * The secret key of an installation on the embedded database: made once, kept in the data folder, readable by its
 * owner only. An operator who changes it writes the new one into a line above. Written whole beside its place and linked into it, so that a start that is cut off leaves no half key.
 */
export function secretKeysOf(dataDirectory: string): SecretKeys {
  mkdirSync(dataDirectory, { recursive: true })
  const file = join(dataDirectory, 'secret-key')
  makeKeyFile(file)
  chmodSync(file, 0o600)
  const keys = secretKeys(readFileSync(file, 'utf8'))
  if (keys === null) throw new Error(`${file} does not hold a secret key. Restore it from a backup.`)
  return keys
}

/** The key of one move of a brokerage, from its file; null when the file holds none. With `make` it is made where it is not there. */
export function moveKeyOf(file: string, { make }: { make: boolean }): SecretKey | null {
  if (make) makeKeyFile(file)
  else if (!existsSync(file)) return null
  return secretKeys(readFileSync(file, 'utf8'))?.[0] ?? null
}

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

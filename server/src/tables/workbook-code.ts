import { existsSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string | null | undefined

/**
 * A folder for the compiled code of the processes that read workbooks, which otherwise need three times as long to start and 40 MB
 * more; null if there can be none. The user's services share it. No other user can write to it: one that another user has
 * made is not used.
 */
export function compiledCodeFolder(): string | null {
  if (folder !== undefined) return folder
  // The account of a container has no entry in /etc/passwd, so only its number is known.
  const uid = process.getuid?.()
  const path = join(tmpdir(), `lanewise-code-${uid}`)
  try {
    if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
    const found = lstatSync(path)
    folder = found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0 ? path : null
  } catch {
    folder = null
  }
  return folder
}

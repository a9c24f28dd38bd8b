import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string | null | undefined

/**
 * A folder for the compiled code of the processes that read workbooks, which otherwise need three times as long to start and 40 MB
 * more; null if there can be none. No other user can write to it. It is deleted when the service ends.
 */
export function compiledCodeFolder(): string | null {
  if (folder !== undefined) return folder
  try {
    const made = mkdtempSync(join(tmpdir(), 'lanewise-code-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  } catch {
    folder = null
  }
  return folder
}

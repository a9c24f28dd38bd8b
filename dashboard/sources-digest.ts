import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The file of the built dashboard with the digest of its sources. */
export const builtFrom = join(import.meta.dirname, 'dist/built-from')

/** A hash of all sources of the dashboard. */
export function sourcesDigest(): string {
  const digest = createHash('sha256')
  const paths = globSync(
    [
      'dashboard/src/**/*',
      'dashboard/index.html',
      'dashboard/{build,sources-digest,tabler-icons}.ts',
      'contract/src/**/*.ts',
      'engine/src/**/*.ts',
      'client/src/**/*.ts',
      'client/operations-table.ts',
      'package-lock.json',
    ],
    { cwd: root, withFileTypes: true },
  )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  for (const path of paths) digest.update(path.slice(root.length)).update(readFileSync(path))
  return digest.digest('hex')
}

/** The digest of the sources that the built dashboard was made from; null if there is no built dashboard. */
export function builtDigest(): string | null {
  try {
    return readFileSync(builtFrom, 'utf8')
  } catch {
    return null
  }
}

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')

/** The version of Lanewise, from package.json. */
export const version: string = (
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
).version

/**
 * The commit of a folder of Lanewise, 12 hexadecimal digits; `unknown` for a copy that is neither a clone nor made by `git
 * archive`, which fills in `revision.txt`.
 *
 * @example revisionOf('/opt/lanewise') // '3f6d1c02ab97'
 */
export function revisionOf(folder: string): string {
  const path = join(folder, 'revision.txt')
  const archived = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
  if (/^[0-9a-f]{40}$/.test(archived)) return archived.slice(0, 12)
  // Without this check, Git would look in the folders above, which may be another project's.
  if (!existsSync(join(folder, '.git'))) return 'unknown'
  try {
    // The service may run as another account than the owner of its files, whose folder Git would refuse.
    const asked = ['-c', 'safe.directory=*', '-C', folder, 'rev-parse', '--short=12', 'HEAD']
    return execFileSync('git', asked, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    // Git is not installed, or older than 2.38 and refuses a folder of another account.
    return 'unknown'
  }
}

/** The commit of this version of Lanewise. */
export const revision = revisionOf(root)

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Programs that only tests use. If the machine lacks one, it is installed once into the user's cache folder. */

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'lanewise-tests')

export interface Missing {
  /** Why the program is not available, for the message about skipped tests. */
  readonly missing: string
}

const nodeVersions: Readonly<Record<number, string>> = { 20: '20.20.2', 22: '22.23.3', 24: '24.22.3' }

/** Returns the path of a Node of this major version: the running one, an installed one, or one from the registry. */
export function nodeOfMajor(major: number): string | Missing {
  for (const node of [process.execPath, '/usr/bin/node', '/usr/local/bin/node']) {
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    if (stdout?.startsWith(`v${major}.`)) return node
  }
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    return { missing: `Node ${major} is not available for ${process.platform} ${process.arch}` }
  }
  const name = `node-linux-${process.arch}`
  const found = fetched(name, nodeVersions[major] ?? String(major))
  return typeof found === 'string' ? join(found, 'bin', 'node') : found
}

/** Returns the folder of a package at one version. Installs it with its dependencies if necessary. */
function fetched(name: string, version: string): string | Missing {
  const home = join(cache, `${name.replaceAll('/', '-')}-${version}`)
  const folder = join(home, 'node_modules', ...name.split('/'))
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const making = mkdtempSync(join(cache, 'making-'))
  try {
    execFileSync(
      'npm',
      [
        'install',
        '--prefix',
        making,
        '--no-save',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--fetch-retries=1',
        `${name}@${version}`,
      ],
      { cwd: making, stdio: 'ignore', timeout: 120_000 },
    )
    if (!existsSync(home)) renameSync(making, home)
    return existsSync(folder) ? folder : { missing: `${name} ${version} was installed but is incomplete` }
  } catch {
    // Another test may have installed the same package in the meantime.
    if (existsSync(folder)) return folder
    return { missing: `${name} ${version} could not be installed from the package registry` }
  } finally {
    if (readdirSync(cache).some((entry) => making.endsWith(entry)))
      rmSync(making, { recursive: true, force: true })
  }
}

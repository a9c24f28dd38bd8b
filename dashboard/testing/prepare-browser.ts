import { spawnSync } from 'node:child_process'
import { accessSync, constants, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
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
 * Finds the browser once for the whole run, before any test: the machine's own where it has one, else the Chromium that
 * came with the packages, unpacked (by one process: two at a time would run each other's half of it), with the libraries
 * of its package where the machine has none.
 */
export async function findBrowser(): Promise<TestBrowser> {
  const own = ownBrowsers.find(isThere)
  if (own !== undefined) return { executablePath: own, libraryPath: null }
  const unpacked = { executablePath: await bundled.executablePath(), libraryPath: null }
  if (starts(unpacked)) return unpacked
  const folder = fileURLToPath(new URL('.', import.meta.resolve('@sparticuz/chromium')))
  const libraries = await inflate(`${folder}../bin/al2023.tar.br`)
  const withLibraries = { ...unpacked, libraryPath: `${libraries}/lib` }
  if (starts(withLibraries)) return withLibraries
  // What an unpacking that was cut off left behind.
  rmSync(unpacked.executablePath, { force: true })
  const again = { ...withLibraries, executablePath: await bundled.executablePath() }
  if (starts(again)) return again
  throw new Error(
    `The Chromium of the packages does not start on this machine (${again.executablePath}). Install Chromium or Chrome.`,
  )
}

export default async function prepareBrowser(project: TestProject): Promise<void> {
  project.provide('testBrowser', await findBrowser())
}

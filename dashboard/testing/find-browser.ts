import { spawnSync } from 'node:child_process'
import { accessSync, constants, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import bundled, { inflate } from '@sparticuz/chromium'

/** The browser of a test run: its path, and the path of libraries that the machine lacks. */
export interface TestBrowser {
  readonly executablePath: string
  readonly libraryPath: string | null
}

/** The paths of installed Chromium or Chrome on Debian, Ubuntu and macOS. */
const installedBrowsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function starts({ executablePath, libraryPath }: TestBrowser): boolean {
  const { status } = spawnSync(executablePath, ['--version', '--no-sandbox', '--headless'], {
    timeout: 180_000,
    env: libraryPath === null ? undefined : { LD_LIBRARY_PATH: libraryPath },
  })
  return status === 0
}

/**
 * Finds the browser once per run, before all tests: the pinned Chromium from the packages, or else an installed browser. One
 * process unpacks Chromium, because two at a time would run each other's incomplete files.
 */
export async function findBrowser(): Promise<TestBrowser> {
  const installed = installedBrowsers.find(isExecutable)
  const found =
    (await bundledBrowser()) ??
    (installed === undefined ? null : { executablePath: installed, libraryPath: null })
  if (found !== null) return found
  throw new Error('No browser starts on this machine. Install Chromium or Chrome.')
}

/** Null if the packages have no browser for this platform. They have one for Linux x64. */
async function bundledBrowser(): Promise<TestBrowser | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const unpacked = { executablePath: await bundled.executablePath(), libraryPath: null }
  if (starts(unpacked)) return unpacked
  // Minimal machines lack some libraries of Chromium. Its package includes them.
  const folder = dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium'))
  const libraries = await inflate(join(folder, '../bin/al2023.tar.br'))
  const withLibraries = { ...unpacked, libraryPath: `${libraries}/lib` }
  if (starts(withLibraries)) return withLibraries
  // Removes the files of an interrupted unpacking.
  rmSync(unpacked.executablePath, { force: true })
  const again = { ...withLibraries, executablePath: await bundled.executablePath() }
  return starts(again) ? again : null
}

/** Says at once that there is no dashboard to test, instead of letting each test wait for its page. */
export function requireBuiltDashboard(built: string | null, sources: string): void {
  if (built === null) {
    throw new Error(
      'The dashboard is not built. Build it with `npm run build`, or run `npm test`, which does.',
    )
  }
  if (built !== sources) {
    process.stdout.write('The dashboard is built from older sources. Build it again with `npm run build`.\n')
  }
}

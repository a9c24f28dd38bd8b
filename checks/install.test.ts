// Runs scripts/install.mjs in a temporary folder. A small program replaces npm: it records its arguments and writes
// the same list of packages. The install from the real registry is not tested here: every fresh clone begins with it.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from './repository.ts'

const standIn = `
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const asked = process.argv.slice(2)
if (process.env.NPM_FAILS) {
  console.error('npm error code ' + process.env.NPM_FAILS + '\\nnpm error network request failed')
  process.exit(1)
}
if (asked[0] !== 'view') {
  appendFileSync('npm-calls.txt', asked.filter((word) => !/^--(fetch|no-audit|no-fund|ignore|include=optional|loglevel)/.test(word)).join(' ') + '\\n')
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const chosen = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !(dev && asked.includes('--omit=dev')))
  for (const [path] of chosen) {
    mkdirSync(path, { recursive: true })
    writeFileSync(path + '/package.json', '{}')
  }
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(chosen) }))
}
`

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-install-'))
  mkdirSync(join(folder, 'scripts'))
  copyFileSync(join(root, 'scripts/install.mjs'), join(folder, 'scripts/install.mjs'))
  writeFileSync(join(folder, 'npm.cjs'), standIn)
  const asked = { dependencies: { service: '1.0.0' }, devDependencies: { linter: '1.0.0' } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(asked))
  const packages = {
    '': asked,
    'node_modules/service': { version: '1.0.0' },
    'node_modules/linter': { version: '1.0.0', dev: true },
  }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function install(...options: string[]): { status: number | null; stderr: string } {
  return installWith({}, ...options)
}

function installWith(
  env: Record<string, string>,
  ...options: string[]
): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/install.mjs', ...options], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      npm_execpath: join(folder, 'npm.cjs'),
      npm_node_execpath: process.execPath,
      ...env,
    },
  })
  return { status, stderr }
}

const calls = () => readFileSync(join(folder, 'npm-calls.txt'), 'utf8').trimEnd().split('\n')

test('a fresh clone installs everything for tests and checks', { tags: 'long' }, () => {
  const { status, stderr } = install()
  expect(stderr).toContain('lanewise: installed in ')
  expect(status).toBe(0)
  expect(calls()).toEqual(['ci --include=dev'])
})

test('a fresh clone that starts the service installs no tools, and the tools are added without removing anything', {
  tags: 'long',
}, () => {
  expect(install('--without-tools').status).toBe(0)
  expect(existsSync(join(folder, 'node_modules/linter'))).toBe(false)
  expect(install('--without-tools')).toMatchObject({ status: 0, stderr: '' })
  expect(install().status).toBe(0)
  expect(existsSync(join(folder, 'node_modules/linter'))).toBe(true)
  expect(calls()).toEqual(['ci --omit=dev', 'install --no-save --include=dev'])
})

test('an interrupted install starts over', { tags: 'long' }, () => {
  expect(install().status).toBe(0)
  rmSync(join(folder, 'node_modules/.package-lock.json'))
  expect(install().status).toBe(0)
  expect(calls()).toEqual(['ci --include=dev', 'ci --include=dev'])
})

test('a fresh clone installs everything, and a second run nothing', () => {
  expect(install().status).toBe(0)
  expect(calls()).toEqual(['ci --include=dev'])
  expect(install()).toMatchObject({ status: 0, stderr: '' })
  expect(install('--without-tools')).toMatchObject({ status: 0, stderr: '' })
  expect(calls()).toHaveLength(1)
})

test.each([
  ['ENOTFOUND', /the npm registry cannot be reached \(ENOTFOUND\).*check the network, any proxy/],
  ['ECONNREFUSED', /the npm registry cannot be reached \(ECONNREFUSED\).*"registry" in \.npmrc/],
])(
  'without a registry (%s), one line says what is needed, and nothing is removed',
  {
    tags: 'long',
  },
  (code, line) => {
    expect(install().status).toBe(0)
    rmSync(join(folder, 'node_modules/.package-lock.json'))
    const { status, stderr } = installWith({ NPM_FAILS: code })
    expect(stderr).toMatch(line)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(status).toBe(1)
    expect(existsSync(join(folder, 'node_modules/service'))).toBe(true)
    expect(existsSync(join(folder, '.install-lock'))).toBe(false)
  },
)

test('a file that is in the way is named in one line, without a stack trace', { tags: 'long' }, () => {
  writeFileSync(join(folder, 'node_modules'), '')
  const { status, stderr } = install()
  expect(stderr).toMatch(/lanewise: [^\n]*node_modules[^\n]*run this again\.\n$/)
  expect(stderr).not.toContain('    at ')
  expect(status).toBe(1)
})

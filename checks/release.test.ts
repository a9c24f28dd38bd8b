import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { revisionOf } from '#server/runtime/index.ts'
import { migrationFaults, readReleased, releasedFile } from './released-migrations.ts'
import { filesOf, root, textOf } from './repository.ts'

/** Promise: one command makes a release whose files all report the same version and commit, or changes nothing. */

/** The files that a release changes, and its script. */
const changedFiles = [
  '{package,package-lock}.json',
  '{CHANGELOG.md,LICENSE,revision.txt,tsconfig.json,.dockerignore,.gitattributes,.gitignore,.npmrc}',
  'scripts/*',
  'client/{CHANGELOG.md,src/lanewise.ts}',
  'checks/{released-migrations,repository}.ts',
  'server/src/database/schema/{released-migrations.txt,migrations/*}',
  'deploy/{compose,container,kubernetes}/**/*',
  'docs/deploying.md',
]
/** What the packages of the client and the command line are built from. */
const sources = ['{client,cli,contract,dashboard,engine,geography,server}/**/*']
const { version: current } = JSON.parse(textOf('package.json')) as { version: string }
const next = '97.0.0'

let folder: string
let released: string

/** Makes a clone with these files of the project, and a change in the changelog. */
function makeClone(...patterns: string[]): void {
  const temporary = mkdtempSync(join(tmpdir(), 'lanewise-release-'))
  folder = join(temporary, 'clone')
  released = join(temporary, 'released')
  for (const path of filesOf(...patterns)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  edit('CHANGELOG.md', (changes) =>
    changes.replace(/## Unreleased\n\nNothing yet\.\n/, '## Unreleased\n\n- One.\n'),
  )
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Ana Ortiz')
  git('config', 'user.email', 'ana@example.com')
  git('config', 'commit.gpgSign', 'false')
  writeFileSync(join(folder, '.git/info/exclude'), 'node_modules\n')
  commit()
}
const removeClone = () => rmSync(dirname(folder), { recursive: true, force: true })

const git = (...given: string[]) => execFileSync('git', given, { cwd: folder, encoding: 'utf8' }).trim()
const text = (path: string) => readFileSync(join(folder, path), 'utf8')
function edit(path: string, change: (text: string) => string): void {
  writeFileSync(join(folder, path), change(text(path)))
}
function commit(): void {
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Change')
}
const release = (...given: string[]) =>
  spawnSync(process.execPath, ['scripts/release.mjs', ...given], { cwd: folder, encoding: 'utf8' })

describe('a release is refused, and changes nothing,', () => {
  let first: string
  beforeAll(() => {
    makeClone(...changedFiles)
    git('tag', 'v98.0.0')
    first = git('rev-parse', 'HEAD')
  })
  afterEach(() => git('reset', '--quiet', '--hard', first))
  afterAll(removeClone)

  test.each([
    ['without a version', [], /Give the version/],
    ['with a version that is no version', ['1.0'], /Give the version/],
    ['with the current version', [current], /is not newer than/],
    ['with an earlier version', ['0.0.9'], /is not newer than/],
    ['over a tag', ['98.0.0'], /The tag v98\.0\.0 exists\./],
    ['into a folder that exists', [next, '--out', 'docs'], /docs exists/],
  ])('%s', (_case, given, message) => {
    const before = git('rev-parse', 'HEAD')
    const { status, stderr } = release(...given)
    expect([status, message.test(stderr)]).toEqual([1, true])
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual([
      before,
      '',
      'v98.0.0',
    ])
  })

  test('with changes that are not committed', () => {
    edit('LICENSE', (license) => `${license}\n`)
    expect(release(next).stderr).toContain('There are changes that are not committed.')
    expect(git('status', '--porcelain')).toBe('M LICENSE')
  })

  test('without a change in the changelog', () => {
    edit('CHANGELOG.md', (changes) =>
      changes.replace(/## Unreleased[\s\S]*?(?=^## )/m, '## Unreleased\n\nNothing yet.\n\n'),
    )
    commit()
    expect(release(next).stderr).toContain('CHANGELOG.md lists no changes under "Unreleased".')
  })

  test('with a migration that has changed since databases ran it', () => {
    edit('server/src/database/schema/migrations/0003-people.sql', (sql) => `${sql}\n`)
    commit()
    expect(release(next).stderr).toContain('0003-people.sql was changed.')
    expect(git('status', '--porcelain')).toBe('')
  })

  test('if a file names another version', () => {
    edit('deploy/compose/compose.yaml', (file) => file.replace(`lanewise:${current}`, 'lanewise:0.0.1'))
    commit()
    expect(release(next).stderr).toContain(`deploy/compose/compose.yaml does not name lanewise:${current}.`)
    expect(git('status', '--porcelain')).toBe('')
  })
})

test('a release has one version and one commit in all of its files, a dated changelog, a tag and checksums', {
  tags: 'long',
  timeout: 120_000,
}, ({ onTestFinished }) => {
  onTestFinished(removeClone)
  makeClone(...changedFiles, ...sources)
  const { status, stderr } = release(next, '--out', released)
  expect([status, stderr]).toEqual([0, ''])
  const head = git('rev-parse', 'HEAD')
  expect([git('log', '-1', '--format=%s'), git('rev-parse', `v${next}^{commit}`)]).toEqual([
    `Release ${next}`,
    head,
  ])
  expect([git('cat-file', '-t', `v${next}`), git('status', '--porcelain')]).toEqual(['tag', ''])
  const today = new Date().toISOString().slice(0, 10)
  for (const path of ['CHANGELOG.md', 'client/CHANGELOG.md']) {
    expect(text(path)).toContain(`\n## Unreleased\n\nNothing yet.\n\n## ${next} (${today})\n`)
  }
  const frozen = readReleased(text(releasedFile))
  const migrations = filesOf('server/src/database/schema/migrations/*.sql')
  expect([frozen.versions.at(-1), frozen.digests.size]).toEqual([next, migrations.length])
  const changed = new Map(migrations.map((path) => [basename(path), `${textOf(path)} `]))
  expect(migrationFaults(frozen, changed)).toHaveLength(migrations.length)
  const sums = readFileSync(join(released, 'SHA256SUMS'), 'utf8').trim().split('\n')
  const names = sums.map((line) => line.slice(66))
  expect(names).toEqual([
    `lanewise-${next}.tar.gz`,
    `lanewise-${next}-image.tar.gz`,
    `lanewise-client-${next}.tgz`,
    `lanewise-cli-${next}.tgz`,
  ])
  for (const line of sums) {
    const bytes = readFileSync(join(released, line.slice(66)))
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(line.slice(0, 64))
  }
  const unpack = (name = '') => execFileSync('tar', ['-xzf', join(released, name), '-C', released])
  unpack(names[0])
  expect(revisionOf(join(released, `lanewise-${next}`))).toBe(head.slice(0, 12))
  for (const [name, version] of [
    [names[2], 'index.js'],
    [names[3], 'lanewise.js'],
  ]) {
    unpack(name)
    const { version: packed } = JSON.parse(readFileSync(join(released, 'package/package.json'), 'utf8'))
    expect(packed).toBe(next)
    const code = readFileSync(join(released, 'package', version ?? ''), 'utf8')
    expect(code).toContain(`"${next}"`)
    expect(code).toContain(`"${head.slice(0, 12)}"`)
  }
  // The context of the image has the Dockerfile where the command of docs/deploying.md expects it.
  unpack(names[1])
  expect(readFileSync(join(released, 'deploy/container/Dockerfile'), 'utf8')).toContain(`lanewise:${next}`)
  expect(revisionOf(released)).toBe(head.slice(0, 12))
  expect(release('98.0.0').stderr).toContain('lists no changes')
})

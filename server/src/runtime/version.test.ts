import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { revision, revisionOf, version } from './version.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-revision-'))
  writeFileSync(join(folder, 'revision.txt'), '$Format:%H$\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function git(...given: string[]): string {
  const name = ['-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgSign=false']
  return execFileSync('git', ['-C', folder, ...name, ...given], { encoding: 'utf8' }).trim()
}

function commit(): string {
  writeFileSync(join(folder, '.gitattributes'), 'revision.txt export-subst\n')
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'First')
  return git('rev-parse', 'HEAD')
}

describe('the commit of', () => {
  test('a clone is that of HEAD', () => {
    expect(revisionOf(folder)).toBe('unknown')
    expect(revisionOf(folder)).not.toBe(commit().slice(0, 12))
    expect(revisionOf(folder)).toBe(git('rev-parse', 'HEAD').slice(0, 12))
  })

  test('a clone of another account is that of HEAD, too', () => {
    const head = commit()
    vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1')
    try {
      expect(() => git('rev-parse', 'HEAD')).toThrow()
      expect(revisionOf(folder)).toBe(head.slice(0, 12))
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('an archive is the archived one, also without Git', () => {
    const head = commit()
    const unpacked = join(folder, 'unpacked')
    mkdirSync(unpacked)
    git('archive', '--output', join(folder, 'sources.tar'), 'HEAD')
    execFileSync('tar', ['-xf', join(folder, 'sources.tar'), '-C', unpacked])
    expect(revisionOf(unpacked)).toBe(head.slice(0, 12))
  })

  test('a copy inside another project is unknown', () => {
    commit()
    const inside = join(folder, 'copy')
    mkdirSync(inside)
    expect(revisionOf(inside)).toBe('unknown')
  })
})

test('this version has a number and a commit', () => {
  expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  expect(revision).toMatch(/^([0-9a-f]{12}|unknown)$/)
})

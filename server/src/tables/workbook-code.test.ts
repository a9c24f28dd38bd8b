import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-tmp-'))
  vi.stubEnv('TMPDIR', folder)
  vi.resetModules()
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const path = () => join(folder, `lanewise-code-${process.getuid?.()}`)
const found = async () => (await import('./workbook-code.ts')).compiledCodeFolder()

test('the folder for compiled code is closed to other users, and the next service uses it again', async () => {
  expect(await found()).toBe(path())
  expect(statSync(path()).mode & 0o777).toBe(0o700)
  vi.resetModules()
  expect(await found()).toBe(path())
})

test.each([
  [
    'a folder that others can write to',
    () => {
      mkdirSync(path())
      chmodSync(path(), 0o777)
    },
  ],
  ['a link to another folder', () => symlinkSync(tmpdir(), path())],
  ['a file of that name', () => writeFileSync(path(), '')],
  ['a temporary folder that does not exist', () => rmSync(folder, { recursive: true })],
])('compiled code is not stored in %s', async (_, plant) => {
  plant()
  expect(await found()).toBeNull()
})

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdDataFolder } from '#testing/data-folder-holder.ts'
import { DataFolderInUse, dataFolderUse, lockDataFolder } from './data-folder.ts'

let directory = ''

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'lanewise-folder-')))
})

afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

test('of eight processes that start concurrently, exactly one gets the folder, and the others report which one', {
  tags: 'long',
}, async () => {
  const holders = await Promise.all(Array.from({ length: 8 }, () => holdDataFolder(directory, 'lock')))
  const winners = holders.filter(({ refusal }) => refusal === null)
  expect(winners).toHaveLength(1)
  for (const { refusal } of holders.filter((holder) => !winners.includes(holder))) {
    expect(refusal).toContain(directory)
    expect(refusal).toContain(`process ${winners[0]?.pid} `)
  }
  await Promise.all(holders.map((holder) => holder.end()))
})

test('the folder is free as soon as the process that locked it is killed', async () => {
  const holder = await holdDataFolder(directory, 'lock')
  expect(dataFolderUse(directory)).toMatchObject({ inUse: true, holder: { pid: holder.pid } })
  await holder.kill()
  expect(dataFolderUse(directory).inUse).toBe(false)
  const folder = await lockDataFolder(directory)
  folder.release()
})

test('a process cannot lock a folder twice, and a check does not release its lock', async () => {
  const folder = await lockDataFolder(directory)
  await expect(lockDataFolder(directory)).rejects.toThrow(DataFolderInUse)
  expect(dataFolderUse(directory)).toMatchObject({ inUse: true, holder: { pid: process.pid } })
  const other = await holdDataFolder(directory, 'lock')
  expect(other.refusal).toContain(`process ${process.pid} `)
  await other.end()
  folder.release()
  expect(dataFolderUse(directory)).toEqual({ inUse: false, holder: null })
})

test('a folder that does not exist is not in use, and locking creates it', async () => {
  const missing = join(directory, 'a', 'b')
  expect(dataFolderUse(missing)).toEqual({ inUse: false, holder: null })
  const folder = await lockDataFolder(missing)
  expect(folder.directory).toBe(missing)
  folder.release()
})

test('an error about a folder that cannot be created names the folder and the setting', async () => {
  // In such a folder, Node's own recursion never ends.
  if (process.platform === 'linux') {
    await expect(lockDataFolder('/proc/1/lanewise/data')).rejects.toThrow(
      /^The data folder \/proc\/1\/lanewise\/data cannot be created \(E\w+\): set DATA_DIR/,
    )
  }
  const file = join(directory, 'file')
  writeFileSync(file, '')
  await expect(lockDataFolder(join(file, 'data'))).rejects.toThrow(
    /^The data folder .* cannot be created \(ENOTDIR\): set DATA_DIR to a folder that can be written, or DATABASE_URL/,
  )
})

import { execFileSync } from 'node:child_process'
import { constants, getPriority } from 'node:os'
import { utils, write } from '@e965/xlsx'
import { beforeEach, expect, test, vi } from 'vitest'
import { inReadingTurn, type ReadingTurn, TurnEnded } from '../runtime/index.ts'
import { ImportFileError } from './refused.ts'
import { openTable } from './table-file.ts'

const started = vi.hoisted((): (number | undefined)[] => [])
vi.mock('node:child_process', async (original) => {
  const real = await original<typeof import('node:child_process')>()
  const spawn = (...from: Parameters<typeof real.spawn>) => {
    const child = real.spawn(...from)
    started.push(child.pid)
    return child
  }
  return { ...real, spawn }
})

const most = vi.hoisted(() => ({ bytes: 0, shortBytes: 0, shortMs: 0 }))
vi.mock('#contract/limits.ts', async (original) => ({
  ...(await original<typeof import('#contract/limits.ts')>()),
  get workbookMemoryBytesMax() {
    return most.bytes
  },
  get firstWorkbookTurnBytes() {
    return most.shortBytes
  },
  get firstWorkbookTurnMs() {
    return most.shortMs
  },
}))
beforeEach(() => {
  Object.assign(most, { bytes: 1024 ** 3, shortBytes: 1024 ** 3, shortMs: 60_000 })
})

function workbook(rows: number): Uint8Array {
  const book = utils.book_new()
  const lines = Array.from({ length: rows }, (_, at) => ['Dallas, TX', 'Waco, TX', 900 + at])
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Origin', 'Destination', 'Rate'], ...lines]), 'S')
  return new Uint8Array(write(book, { type: 'buffer', compression: true }) as Buffer)
}

const small = workbook(1)
const open = (bytes: Uint8Array = small) => openTable([bytes], { vocabulary: 'quotes' })
const running = () => process.getActiveResourcesInfo().filter((one) => one === 'ProcessWrap').length

function turn(isShort = false) {
  const ends = new AbortController()
  const used: number[] = []
  const of: ReadingTurn = { signal: ends.signal, isShort, used: (ms) => used.push(ms) }
  return { of, end: () => ends.abort(), used }
}

test('a workbook is read in a process of its own, whose processor time counts', async () => {
  const { of, used } = turn()
  const reading = inReadingTurn(of, () => open())
  await expect.poll(running).toBe(1)
  expect((await reading).header).toEqual(['Origin', 'Destination', 'Rate'])
  await expect.poll(running).toBe(0)
  expect(used).toEqual([expect.any(Number)])
  expect(used[0]).toBeGreaterThan(0)
})

test('a workbook that needs too much memory is refused, and the service goes on', async () => {
  most.bytes = 1024 ** 2
  const refused = await open().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ImportFileError)
  expect((refused as ImportFileError).problems[0]?.detail).toContain('too large to be read')
  await expect.poll(running).toBe(0)
})

test.each([{ shortMs: 1 }, { shortBytes: 1024 ** 2 }])(
  'a workbook that needs more than a short turn (%o) can be read in a long one',
  async (limit) => {
    Object.assign(most, limit)
    const { of, used } = turn(true)
    const ended = await inReadingTurn(of, () => open()).catch((error) => error)
    expect([ended, ended.isSpent]).toEqual([expect.any(TurnEnded), true])
    expect(used).toEqual([expect.any(Number)])
    expect((await inReadingTurn(turn().of, () => open())).header).toHaveLength(3)
  },
)

test('a long turn gives way to requests and to short turns', async () => {
  const priority = async (isShort: boolean) => {
    const { of, end } = turn(isShort)
    const before = started.length
    const reading = inReadingTurn(of, () => open()).catch(() => {})
    await expect.poll(() => started.length).toBe(before + 1)
    const priorityOfProcess = getPriority(started.at(-1))
    end()
    await reading
    await expect.poll(running).toBe(0)
    return priorityOfProcess
  }
  expect(await priority(false)).toBe(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  expect(await priority(true)).toBe(getPriority())
})

test('the process ends with the turn of its file', async () => {
  const { of, end } = turn()
  const reading = inReadingTurn(of, () => open(workbook(20_000))).catch((error) => error)
  await expect.poll(running).toBe(1)
  end()
  const ended = await reading
  expect([ended, ended.isSpent]).toEqual([expect.any(TurnEnded), false])
  await expect.poll(running).toBe(0)
  await expect(inReadingTurn(of, () => open())).rejects.toThrow(TurnEnded)
})

test('the process ends with the service, however that ends', { tags: 'long' }, async () => {
  const main = new URL('./workbook-main.ts', import.meta.url).pathname
  const question = {
    bytes: 10,
    choice: { vocabulary: 'quotes' },
    limits: {},
  }
  // The service starts the process, sends a part of a file, and is killed.
  const service = `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, ['${main}', '{"residentBytes":1e12,"processorMs":1e9}'], { stdio: ['pipe', 'ignore', 'inherit'] })
    child.stdin.write(${JSON.stringify(`${JSON.stringify(question)}\n`)})
    process.stdout.write(String(child.pid))
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 500)`
  const pid = Number(
    execFileSync('/bin/sh', ['-c', '"$0" -e "$1" || true', process.execPath, service], { encoding: 'utf8' }),
  )
  const isAlive = () => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  await expect.poll(isAlive, { timeout: 60_000 }).toBe(false)
})

import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import {
  fileReadingMsMax,
  fileReadingMsPerSecond,
  filesWaitingMax,
  smallFileBytesMax,
} from '#contract/limits.ts'
import { tenantId } from '../database/session/index.ts'
import { QueueFull, type ReadingTurn, readingTurn, TurnEnded } from '../runtime/index.ts'
import { type FileToRead, fileTurns } from './file-turns.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Files whose reading the test ends, with a clock that the test moves. */
function reader() {
  let now = 1_000
  const turns = fileTurns({ of: (tenant) => tenant }, () => now)
  const started: string[] = []
  const reading = new Map<string, { turn: ReadingTurn; end: (error?: Error) => void }>()
  return {
    started,
    pass: (ms: number) => {
      now += ms
    },
    read: (brokerage: number, name: string, file: FileToRead, signal = new AbortController().signal) =>
      turns.read(tenantId(brokerage), file, signal, async () => {
        const turn = readingTurn()
        if (turn === null) throw new Error('A file is read in a turn.')
        started.push(name)
        const work = Promise.withResolvers<string>()
        reading.set(name, {
          turn,
          end: (error) => (error === undefined ? work.resolve(name) : work.reject(error)),
        })
        turn.signal.addEventListener('abort', () => work.reject(new TurnEnded(false)))
        return work.promise
      }),
    turnOf: (name: string) => reading.get(name)?.turn,
    end: async (name: string, { used = 0, error }: { used?: number; error?: Error } = {}) => {
      reading.get(name)?.turn.used(used)
      reading.get(name)?.end(error)
      await setImmediate()
    },
  }
}

const text = (bytes: number): FileToRead => ({ kind: 'small', bytes })
const large: FileToRead = { kind: 'large', bytes: 500 }
const workbook = (bytes = 500): FileToRead => ({ kind: 'workbook', bytes })
const largeWorkbook = workbook(smallFileBytesMax + 1)

test('a text never waits for a workbook, and a small file never for a large one', async () => {
  const { read, started, end } = reader()
  const all = [
    read(1, 'workbook', largeWorkbook),
    read(2, 'next workbook', largeWorkbook),
    read(3, 'large', large),
    read(4, 'next large', large),
    read(5, 'small workbook', workbook()),
    read(6, 'small', text(500)),
  ]
  await setImmediate()
  expect(started).toEqual(['workbook', 'large', 'small workbook', 'small'])
  for (const name of ['small', 'small workbook', 'workbook', 'large', 'next workbook', 'next large'])
    await end(name)
  expect(await Promise.all(all)).toHaveLength(6)
})

test('the next file is of the brokerage that has used the least, then the smallest, then the first', async () => {
  const { read, started, end } = reader()
  const used = read(1, 'used', workbook())
  await setImmediate()
  const all = [
    read(1, 'of the same brokerage', workbook(10)),
    read(2, 'larger', workbook(200)),
    read(3, 'smaller', workbook(100)),
    read(4, 'later', workbook(100)),
  ]
  await end('used', { used: 3_000 })
  await used
  for (const name of ['smaller', 'later', 'larger', 'of the same brokerage']) await end(name)
  await Promise.all(all)
  expect(started).toEqual(['used', 'smaller', 'later', 'larger', 'of the same brokerage'])
})

test('a brokerage that has used up its reading time waits until it has gained some, also if it is alone', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { read, started, end, pass } = reader()
  for (const [name, file] of [
    ['workbook', workbook()],
    ['text', large],
  ] as const) {
    const first = read(1, name, file)
    await setImmediate()
    if (file.kind === 'large') pass(fileReadingMsMax + 500)
    await end(name, { used: fileReadingMsMax + 500 })
    await first
    const second = read(1, `${name} again`, file)
    const others = read(2, `${name} of another`, file)
    await setImmediate()
    expect(started.splice(0)).toEqual([name, `${name} of another`])
    await end(`${name} of another`)
    const waitMs = (500 / fileReadingMsPerSecond) * 1_000
    pass(waitMs / 2)
    await vi.advanceTimersByTimeAsync(waitMs / 2)
    expect(started).toEqual([])
    pass(waitMs / 2 + 10)
    await vi.advanceTimersByTimeAsync(waitMs / 2 + 10)
    expect(started.splice(0)).toEqual([`${name} again`])
    await end(`${name} again`)
    await Promise.all([second, others])
    pass(60_000)
  }
})

test('a small workbook that needs more than its short turn begins again in the place of large ones', async () => {
  const { read, started, end, turnOf } = reader()
  const long = read(1, 'large', largeWorkbook)
  const slow = read(2, 'slow', workbook())
  const other = read(3, 'other', workbook())
  await setImmediate()
  expect([turnOf('large')?.isShort, turnOf('slow')?.isShort]).toEqual([false, true])
  await end('slow', { used: 1_000, error: new TurnEnded(true) })
  expect(started.splice(0)).toEqual(['large', 'slow', 'other'])
  await end('large')
  expect(started).toEqual(['slow'])
  expect(turnOf('slow')?.isShort).toBe(false)
  for (const name of ['slow', 'other']) await end(name)
  expect(await Promise.all([long, slow, other])).toEqual(['large', 'slow', 'other'])
})

test('however many small workbooks are read, a large one is read to its end', async () => {
  const { read, started, end, turnOf } = reader()
  const long = read(1, 'large', largeWorkbook)
  for (let nth = 0; nth < 20; nth++) {
    const small = read(2, 'small', workbook())
    await setImmediate()
    await end('small')
    await small
  }
  expect(turnOf('large')?.signal.aborted).toBe(false)
  expect(started.filter((name) => name === 'large')).toHaveLength(1)
  await end('large')
  expect(await long).toBe('large')
})

test('a file whose caller has hung up leaves the queue, and is not read further', async () => {
  const { read, started, end } = reader()
  const [waits, reads] = [new AbortController(), new AbortController()]
  const first = read(1, 'read', workbook(), reads.signal)
  const second = read(2, 'waiting', workbook(), waits.signal)
  const third = read(3, 'next', workbook())
  waits.abort()
  await expect(second).rejects.toThrow(TurnEnded)
  await setImmediate()
  reads.abort()
  await expect(first).rejects.toThrow(TurnEnded)
  await end('next')
  expect(await third).toBe('next')
  expect(started).toEqual(['read', 'next'])
  await expect(read(4, 'gone', workbook(), AbortSignal.abort())).rejects.toThrow(TurnEnded)
})

test('a file is refused when too many wait', async () => {
  const { read, end } = reader()
  const all = Array.from({ length: 1 + filesWaitingMax }, (_, at) => read(at + 1, `${at}`, workbook()))
  await expect(read(200, 'too many', workbook())).rejects.toThrow(QueueFull)
  await setImmediate()
  for (let at = 0; at < all.length; at++) await end(`${at}`)
  expect(await Promise.all(all)).toHaveLength(1 + filesWaitingMax)
})

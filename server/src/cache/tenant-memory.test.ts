import { expect, test } from 'vitest'
import { DatabaseUnavailable, tenantId, type VersionsListener } from '#server/database/session/index.ts'
import type { ChangedTenants } from '../database/session/index.ts'
import { type Remembered, tenantMemory } from './tenant-memory.ts'
import { tenantWatch } from './tenant-watch.ts'

const ours = tenantId(1)
const theirs = tenantId(2)

/** A memory over a database of which only the versions are told, and whose looks go as the test says. */
function memory(bytesMax = 1_000_000) {
  let commit: VersionsListener = () => {}
  const stand = { away: false, at: 1_000, server: 'first', moved: [] as ChangedTenants['tenants'] }
  let looks = 0
  const watch = tenantWatch({
    database: {
      changedTenants: async () => {
        looks++
        if (stand.away) throw new DatabaseUnavailable('away')
        return { next: '1', server: stand.server, tenants: stand.moved, others: false, joinedMs: null }
      },
      onVersionsMoved: (listener) => {
        commit = listener
      },
    },
    monotonic: () => stand.at,
    log: { info() {}, warn() {}, error() {} },
  })
  const kept = tenantMemory(watch, bytesMax)
  return {
    kept,
    watch,
    stand,
    looks: () => looks,
    commit: (...moved: Parameters<VersionsListener>) => commit(...moved),
  }
}

const read = <T>(value: T, more: Partial<Remembered<T>> = {}): Remembered<T> => ({
  value,
  versions: { facts: 1, access: 1 },
  until: Number.POSITIVE_INFINITY,
  bytes: 10,
  ...more,
})

test('what was read is answered until facts or access move, and without facts until access does', async () => {
  const { kept, commit } = memory()
  await kept.recall(ours, 'lane', 0, async () => read('lane'))
  await kept.recall(ours, 'token', 0, async () => read('token', { versions: { access: 1 } }))
  expect([kept.peek(ours, 'lane', 0), kept.peek(ours, 'token', 0)]).toEqual(['lane', 'token'])
  expect(kept.peek(theirs, 'lane', 0)).toBeUndefined()
  commit(ours, { facts: 2, access: 1 })
  expect([kept.peek(ours, 'lane', 0), kept.peek(ours, 'token', 0)]).toEqual([undefined, 'token'])
  await kept.recall(ours, 'lane', 0, async () => read('lane', { versions: { facts: 2, access: 1 } }))
  expect(kept.peek(ours, 'lane', 0)).toBe('lane')
  commit(ours, { facts: 2, access: 2 })
  expect([kept.peek(ours, 'lane', 0), kept.peek(ours, 'token', 0)]).toEqual([undefined, undefined])
})

test('what moved on while it was being read is not answered again', async () => {
  const { kept, commit } = memory()
  const found = await kept.recall(ours, 'lane', 0, async () => {
    commit(ours, { facts: 2, access: 1 })
    return read('before')
  })
  expect([found, kept.peek(ours, 'lane', 0)]).toEqual(['before', undefined])
})

test('what nobody knows to be committed ends what was remembered', async () => {
  const { kept, commit } = memory()
  await kept.recall(ours, 'lane', 0, async () => read('lane'))
  commit(ours, null)
  expect(kept.peek(ours, 'lane', 0)).toBeUndefined()
})

test('it holds for the time it was read for: neither once that is over, nor for a clock that was set back', async () => {
  const { kept } = memory()
  await kept.recall(ours, 'lane', 500, async () => read('lane', { until: 900 }))
  expect([499, 500, 899, 900].map((now) => kept.peek(ours, 'lane', now))).toEqual([
    undefined,
    'lane',
    'lane',
    undefined,
  ])
  await kept.recall(ours, 'lane', 100, async () => read('set back', { until: 500 }))
  expect(kept.peek(ours, 'lane', 100)).toBe('set back')
})

test('nothing is answered from when the database has not said for 800 ms what changed', async () => {
  const { kept, stand, watch } = memory()
  await kept.recall(ours, 'lane', 0, async () => read('lane'))
  stand.away = true
  stand.at += 800
  expect(kept.peek(ours, 'lane', 0)).toBe('lane')
  stand.at += 1
  expect(kept.peek(ours, 'lane', 0)).toBeUndefined()
  stand.away = false
  await watch.look()
  expect(kept.peek(ours, 'lane', 0)).toBe('lane')
})

test('a database that became another one (its replica, a backup) ends all that was remembered, also at the same versions', async () => {
  const { kept, stand, watch } = memory()
  await kept.recall(ours, 'lane', 0, async () => read('lost'))
  stand.server = 'replica'
  stand.at += 801
  await watch.look()
  expect(kept.peek(ours, 'lane', 0)).toBeUndefined()
  await kept.recall(ours, 'other', 0, async () => read('other'))
  expect([kept.peek(ours, 'lane', 0), kept.peek(ours, 'other', 0)]).toEqual([undefined, 'other'])
})

test('before the first look that is answered, nothing that was read is taken for current', async () => {
  const { kept, stand, watch } = memory()
  stand.away = true
  expect(await kept.recall(ours, 'lane', 0, async () => read('unheard'))).toBe('unheard')
  stand.away = false
  await watch.look()
  expect(kept.peek(ours, 'lane', 0)).toBeUndefined()
})

test('who asks while it is being read waits for that reading, unless the tenant moved on or is not watched', async () => {
  for (const [away, moved, readings] of [
    [false, false, 1],
    [false, true, 2],
    [true, false, 2],
  ] as const) {
    const { kept, stand, commit } = memory()
    stand.away = away
    const { promise: open, resolve } = Promise.withResolvers<void>()
    let begun = 0
    const ask = () =>
      kept.recall(ours, 'lane', 0, async () => {
        const mine = ++begun
        await open
        return read(mine)
      })
    const first = ask()
    // The reading begins after a look or two.
    await new Promise((resume) => setTimeout(resume, 5))
    if (moved) commit(ours, { facts: 2, access: 1 })
    const second = ask()
    await new Promise((resume) => setTimeout(resume, 5))
    resolve()
    expect([away, moved, await first, await second]).toEqual([away, moved, 1, readings])
  }
})

test('a reading that fails ends nobody but who began it', async () => {
  const { kept } = memory()
  const { promise: open, reject } = Promise.withResolvers<Remembered<string>>()
  const first = kept.recall(ours, 'lane', 0, () => open)
  await new Promise((resume) => setTimeout(resume, 5))
  const second = kept.recall(ours, 'lane', 0, async () => read('read again'))
  reject(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  expect(await second).toBe('read again')
})

test('it takes no more bytes than it may: what is not asked for goes first', async () => {
  const { kept } = memory(10_000)
  await kept.recall(ours, 'often', 0, async () => read('often'))
  for (let lane = 0; lane < 200; lane++) {
    await kept.recall(ours, `lane ${lane}`, 0, async () => read(lane))
    expect(kept.peek(ours, 'often', 0)).toBe('often')
  }
  const left = Array.from({ length: 200 }, (_, lane) => kept.peek(ours, `lane ${lane}`, 0)).filter(
    (value) => value !== undefined,
  )
  expect(left.length).toBeLessThanOrEqual(10_000 / 310)
  expect(left.length).toBeGreaterThan(20)
  await kept.recall(ours, 'huge', 0, async () => read('huge', { bytes: 20_000 }))
  expect(kept.peek(ours, 'huge', 0)).toBeUndefined()
})

test('after it was stopped nobody looks any more', async () => {
  const { kept, watch, looks } = memory()
  await kept.recall(ours, 'lane', 0, async () => read('lane'))
  await watch.stop()
  kept.peek(ours, 'lane', 0)
  const before = looks()
  await new Promise((resume) => setTimeout(resume, 100))
  expect(looks()).toBe(before)
})

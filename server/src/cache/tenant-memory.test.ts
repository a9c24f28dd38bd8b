import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  type ChangedTenants,
  DatabaseUnavailable,
  RequestDeadline,
  tenantId,
  type VersionsListener,
  waitWithinDeadline,
  withDeadline,
} from '../database/session/index.ts'
import { type CachedRead, tenantMemory } from './tenant-memory.ts'
import { tenantWatch } from './tenant-watch.ts'

const ours = tenantId(1)
const theirs = tenantId(2)
/** How long an answer of the database is valid (`answerValidMs` of the watch). */
const answerValidMs = 800

/** A cache over a fake database that only reports versions. `commit` reports a commit of this process. */
function makeCache(bytesMax = 1_000_000) {
  let commit: VersionsListener = () => {}
  const database = {
    isDown: false,
    server: 'primary',
    polls: 0,
    gate: Promise.resolve(),
    /** How much later this process reads each of the next answers. */
    lateMs: [] as number[],
    joinedMs: null as number | null,
  }
  const clock = { now: 1_000 }
  const watch = tenantWatch({
    database: {
      changedTenants: async (): Promise<ChangedTenants> => {
        database.polls++
        await database.gate
        clock.now += database.lateMs.shift() ?? 0
        if (database.isDown) throw new DatabaseUnavailable('down')
        return { next: '1', server: database.server, tenants: [], others: false, joinedMs: database.joinedMs }
      },
      onVersionsMoved: (listener) => {
        commit = listener
      },
    },
    monotonic: () => clock.now,
    log: { info() {}, warn() {}, error() {} },
  })
  return {
    cache: tenantMemory(watch, bytesMax),
    watch,
    database,
    clock,
    commit: (...change: Parameters<VersionsListener>) => commit(...change),
  }
}

/** A value as it was read: at versions 1 and 1, without expiry, 10 bytes, unless `over` says otherwise. */
const found = <T>(value: T, over: Partial<CachedRead<T>> = {}): CachedRead<T> => ({
  value,
  versions: { facts: 1, access: 1 },
  until: Number.POSITIVE_INFINITY,
  bytes: 10,
  ...over,
})

describe('a cached value', () => {
  test('is returned to its tenant only', async () => {
    const { cache } = makeCache()
    await cache.getOrRead(ours, 'lane', 0, async () => found('our lane'))
    expect(cache.peek(ours, 'lane', 0)).toBe('our lane')
    expect(cache.peek(theirs, 'lane', 0)).toBeUndefined()
  })

  test('is invalid after a commit that changes the facts or the access of its tenant', async () => {
    const { cache, commit } = makeCache()
    await cache.getOrRead(ours, 'lane', 0, async () => found('lane'))
    commit(ours, { facts: 2, access: 1 })
    expect(cache.peek(ours, 'lane', 0)).toBeUndefined()

    await cache.getOrRead(ours, 'lane', 0, async () => found('lane', { versions: { facts: 2, access: 1 } }))
    expect(cache.peek(ours, 'lane', 0)).toBe('lane')
    commit(ours, { facts: 2, access: 2 })
    expect(cache.peek(ours, 'lane', 0)).toBeUndefined()
  })

  test('that depends on access only stays valid when facts change', async () => {
    const { cache, commit } = makeCache()
    await cache.getOrRead(ours, 'token', 0, async () => found('token', { versions: { access: 1 } }))
    commit(ours, { facts: 2, access: 1 })
    expect(cache.peek(ours, 'token', 0)).toBe('token')
    commit(ours, { facts: 2, access: 2 })
    expect(cache.peek(ours, 'token', 0)).toBeUndefined()
  })

  test('is invalid after a commit whose outcome is unknown', async () => {
    const { cache, commit } = makeCache()
    await cache.getOrRead(ours, 'lane', 0, async () => found('lane'))
    commit(ours, null)
    expect(cache.peek(ours, 'lane', 0)).toBeUndefined()
  })

  test('is returned but not cached if its tenant changed during the read', async () => {
    const { cache, commit } = makeCache()
    const value = await cache.getOrRead(ours, 'lane', 0, async () => {
      commit(ours, { facts: 2, access: 1 })
      return found('lane before the change')
    })
    expect(value).toBe('lane before the change')
    expect(cache.peek(ours, 'lane', 0)).toBeUndefined()
  })

  test('is valid from the moment it was read for until it expires', async () => {
    const { cache } = makeCache()
    await cache.getOrRead(ours, 'lane', 500, async () => found('lane', { until: 900 }))
    const atMoments = [499, 500, 899, 900].map((now) => cache.peek(ours, 'lane', now))
    expect(atMoments).toEqual([undefined, 'lane', 'lane', undefined])
  })

  test('is read again after the clock was set back', async () => {
    const { cache } = makeCache()
    await cache.getOrRead(ours, 'lane', 500, async () => found('lane'))
    await cache.getOrRead(ours, 'lane', 100, async () => found('lane after the clock was set back'))
    expect(cache.peek(ours, 'lane', 100)).toBe('lane after the clock was set back')
  })
})

describe('while the database does not answer', () => {
  test('cached values are valid for 800 ms after its last answer, and again once it answers', async () => {
    const { cache, clock, database, watch } = makeCache()
    await cache.getOrRead(ours, 'lane', 0, async () => found('lane'))

    database.isDown = true
    clock.now += answerValidMs
    expect(cache.peek(ours, 'lane', 0)).toBe('lane')
    clock.now += 1
    expect(cache.peek(ours, 'lane', 0)).toBeUndefined()

    database.isDown = false
    await watch.poll()
    expect(cache.peek(ours, 'lane', 0)).toBe('lane')
  })

  test('a value that is read before its first answer is not cached', async () => {
    const { cache, database, watch } = makeCache()
    database.isDown = true
    expect(await cache.getOrRead(ours, 'lane', 0, async () => found('lane'))).toBe('lane')

    database.isDown = false
    await watch.poll()
    expect(cache.peek(ours, 'lane', 0)).toBeUndefined()
  })

  test('a request waits for it only until its deadline, also behind the poll and the read of another request', async () => {
    const { cache, database } = makeCache()
    const { promise, resolve } = Promise.withResolvers<void>()
    database.gate = promise
    const read = () =>
      withDeadline(new RequestDeadline(50), () =>
        cache.getOrRead(ours, 'lane', 0, () => waitWithinDeadline(async () => found('lane'))),
      )
    expect(await Promise.all([read(), read()])).toEqual(['lane', 'lane'])
    // The poll of the first two reads is still in progress.
    expect(await read()).toBe('lane')
    resolve()
  })
})

test('a switch to another database (a replica, a restored backup) invalidates all cached values', async () => {
  const { cache, clock, database, watch } = makeCache()
  await cache.getOrRead(ours, 'lane', 0, async () => found('lane of the primary'))

  database.server = 'replica'
  clock.now += answerValidMs + 1
  await watch.poll()
  expect(cache.peek(ours, 'lane', 0)).toBeUndefined()

  await cache.getOrRead(ours, 'other lane', 0, async () => found('lane of the replica'))
  expect(cache.peek(ours, 'lane', 0)).toBeUndefined()
  expect(cache.peek(ours, 'other lane', 0)).toBe('lane of the replica')
})

describe('a call during a read of the same key', () => {
  /** Starts two calls for one key and runs `between` after the first. Returns the number of the read that each call got. */
  async function twoCalls({ cache }: ReturnType<typeof makeCache>, between = () => {}) {
    const gate = Promise.withResolvers<void>()
    let reads = 0
    const read = async () => {
      const number = ++reads
      await gate.promise
      return found(number)
    }
    const first = cache.getOrRead(ours, 'lane', 0, read)
    await delay(5)
    between()
    const second = cache.getOrRead(ours, 'lane', 0, read)
    await delay(5)
    gate.resolve()
    return Promise.all([first, second])
  }

  test('shares that read', async () => {
    expect(await twoCalls(makeCache())).toEqual([1, 1])
  })

  test('reads again if the tenant changed since that read began', async () => {
    const made = makeCache()
    expect(await twoCalls(made, () => made.commit(ours, { facts: 2, access: 1 }))).toEqual([1, 2])
  })

  test('reads again if changes of the tenant cannot be detected', async () => {
    const made = makeCache()
    made.database.isDown = true
    expect(await twoCalls(made)).toEqual([1, 2])
  })

  test('reads again if the value of that read is only valid until the moment of this call', async () => {
    const { cache } = makeCache()
    const gate = Promise.withResolvers<CachedRead<string>>()
    await cache.getOrRead(ours, 'another key', 0, async () => found('so that the tenant is watched'))
    const first = cache.getOrRead(ours, 'lane', 0, () => gate.promise)
    const second = cache.getOrRead(ours, 'lane', 900, async () => found('read again'))
    gate.resolve(found('lane', { until: 900 }))
    expect(await Promise.all([first, second])).toEqual(['lane', 'read again'])
  })

  test('reads again if that read fails', async () => {
    const { cache } = makeCache()
    const gate = Promise.withResolvers<CachedRead<string>>()
    const first = cache.getOrRead(ours, 'lane', 0, () => gate.promise)
    await delay(5)
    const second = cache.getOrRead(ours, 'lane', 0, async () => found('read again'))
    gate.reject(new Error('gone'))
    await expect(first).rejects.toThrow('gone')
    expect(await second).toBe('read again')
  })

  test('shares that read also when both calls start at the same time', async () => {
    const { cache } = makeCache()
    let reads = 0
    const read = async () => found(++reads)
    await cache.getOrRead(ours, 'another key', 0, async () => found('so that the tenant is watched'))
    const values = await Promise.all([
      cache.getOrRead(ours, 'lane', 0, read),
      cache.getOrRead(ours, 'lane', 0, read),
    ])
    expect(values).toEqual([1, 1])
  })
})

describe('the size of the cache', () => {
  test('stays within its limit: entries that are not used are evicted first', async () => {
    const { cache } = makeCache(10_000)
    await cache.getOrRead(ours, 'used', 0, async () => found('used'))
    for (let lane = 0; lane < 200; lane++) {
      await cache.getOrRead(ours, `lane ${lane}`, 0, async () => found(lane))
      expect(cache.peek(ours, 'used', 0)).toBe('used')
    }
    expect(cache.counts().bytes).toBeLessThanOrEqual(10_000)
    // An entry takes 310 bytes: 10 of its own and 300 of overhead.
    expect(cache.counts().entries).toBeLessThanOrEqual(10_000 / 310)
    expect(cache.counts().entries).toBeGreaterThan(20)
  })

  test('a value that is larger than the limit is not cached', async () => {
    const { cache } = makeCache(10_000)
    await cache.getOrRead(ours, 'huge', 0, async () => found('huge', { bytes: 20_000 }))
    expect(cache.peek(ours, 'huge', 0)).toBeUndefined()
  })
})

test('a stopped watch does not poll the database', async () => {
  const { cache, database, watch } = makeCache()
  await cache.getOrRead(ours, 'lane', 0, async () => found('lane'))
  await watch.stop()
  cache.peek(ours, 'lane', 0)
  const pollsBefore = database.polls
  await delay(100)
  expect(database.polls).toBe(pollsBefore)
})

test('the age of a registration counts from the answer of a slow poll, not from the start of the poll', async () => {
  const { watch, database, clock } = makeCache()
  const gate = Promise.withResolvers<void>()
  database.gate = gate.promise
  database.joinedMs = 2_000
  const poll = watch.poll()
  clock.now += 700
  gate.resolve()
  await poll
  expect(watch.otherInstances()?.joinedMs).toBe(2_000)
  clock.now += 50
  expect(watch.otherInstances()?.joinedMs).toBe(2_050)
  await watch.stop()
})

test('a process that read an answer too late polls again, a few times at most, and uses no answer that is too old', async () => {
  const { cache, watch, database } = makeCache()
  const isKnown = () => [watch.otherInstances() !== null, watch.failure()]
  database.lateMs = [answerValidMs + 1]
  await watch.poll()
  expect([database.polls, ...isKnown()]).toEqual([2, true, null])
  await cache.getOrRead(ours, 'lane', 0, async () => found('lane'))

  database.lateMs = Array(10).fill(answerValidMs + 1)
  await delay(100)
  const before = database.polls
  await watch.poll()
  expect(database.polls).toBeLessThan(before + 5)
  expect([...isKnown(), cache.peek(ours, 'lane', 0)]).toEqual([false, null, undefined])
  await watch.stop()
})

test('a database that does not answer is asked once, and named as the cause', async () => {
  const { watch, database } = makeCache()
  database.isDown = true
  await watch.poll()
  expect([database.polls, watch.otherInstances(), watch.failure()]).toEqual([
    1,
    null,
    expect.any(DatabaseUnavailable),
  ])
  await watch.stop()
})

import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { OtherInstances } from '../cache/index.ts'
import { DatabaseUnavailable, RequestDeadline, tenantId, withDeadline } from '../database/session/index.ts'
import { slidingWindow } from '../security/index.ts'
import { joinMs, sharedLimit } from './shared-limit.ts'
import { ownLimit, tenantWindow } from './tenant-limit.ts'

const tenant = tenantId(7)
const { max, windowMs } = tenantWindow

/** Reports of the watch: this instance alone, beside others, beside others that have just started, or unknown. */
const alone: OtherInstances = { exist: false, notAloneSince: Number.NEGATIVE_INFINITY, joinedMs: 60_000 }
const besideOthers: OtherInstances = { ...alone, exist: true }
const besideOthersSince = (notAloneSince: number): OtherInstances => ({ ...besideOthers, notAloneSince })

let now: number
let instances: OtherInstances | null
/** Why the database did not answer the poll of the watch; null if it did. */
let pollFailure: Error | null
/** The window that all instances share. `callsToShared` counts the calls that this instance made to it. */
let shared: ReturnType<typeof slidingWindow>
let callsToShared: number
let isSharedDown: boolean
/** Calls to the shared window wait for this promise. */
let sharedGate: Promise<void>
let limit: ReturnType<typeof sharedLimit>

function limitOf(otherInstances: () => OtherInstances | null) {
  return sharedLimit({
    own: slidingWindow(max, windowMs),
    watch: { otherInstances, poll: async () => {}, failure: () => pollFailure },
    monotonic: () => now,
    takePermit: async (of, alreadyAdmitted) => {
      callsToShared++
      await sharedGate
      if (isSharedDown) throw new DatabaseUnavailable('down')
      if (!alreadyAdmitted) return shared.admit(of, now)
      shared.note(of, now)
      return { admitted: true, remaining: 0, retryAfterMs: 0 }
    },
  })
}

beforeEach(() => {
  now = 100_000
  instances = alone
  pollFailure = null
  shared = slidingWindow(max, windowMs)
  callsToShared = 0
  isSharedDown = false
  sharedGate = Promise.resolve()
  limit = limitOf(() => instances)
})

const fillSharedWindow = () => {
  for (let n = 0; n < max; n++) shared.admit(tenant, now)
}
const admitTimes = (times: number) => Promise.all(Array.from({ length: times }, () => limit.admit(tenant)))
const admittedOf = (admissions: readonly { admitted: boolean }[]) =>
  admissions.filter(({ admitted }) => admitted).length

describe('an instance that runs alone', () => {
  test('admits by its own window, at once and without calls to the shared window', () => {
    const admitted = Array.from({ length: max + 1 }, () => limit.admitNow(tenant)?.admitted)
    expect(admitted).toEqual([...Array(max).fill(true), false])
    expect(callsToShared).toBe(0)
  })

  test('does not count as alone until its registration is visible', async () => {
    instances = { ...alone, joinedMs: null }
    expect(limit.admitNow(tenant)).toBeNull()
    const admission = limit.admit(tenant)
    instances = alone
    expect((await admission).admitted).toBe(true)
    expect(callsToShared).toBe(0)
  })
})

describe('an instance beside others', () => {
  test('takes each permit from the shared window', async () => {
    instances = besideOthers
    for (let n = 0; n < max - 1; n++) shared.admit(tenant, now)
    expect(limit.admitNow(tenant)).toBeNull()
    expect((await limit.admit(tenant)).admitted).toBe(true)
    expect((await limit.admit(tenant)).admitted).toBe(false)
    expect(callsToShared).toBe(2)
  })

  test('does not ask the shared window again before a permit can be free', async () => {
    instances = besideOthers
    fillSharedWindow()
    expect(await limit.admit(tenant)).toEqual({ admitted: false, remaining: 0, retryAfterMs: windowMs })

    now += windowMs / 2
    expect(limit.admitNow(tenant)).toEqual({ admitted: false, remaining: 0, retryAfterMs: windowMs / 2 })
    expect((await limit.admit(tenant)).admitted).toBe(false)
    expect(callsToShared).toBe(1)

    now += windowMs / 2
    expect((await limit.admit(tenant)).admitted).toBe(true)
    expect(callsToShared).toBe(2)
  })

  test('waits after it joined until the others have noticed it', async () => {
    instances = { ...besideOthers, joinedMs: joinMs - 30 }
    const admission = limit.admit(tenant)
    await setImmediate()
    expect(callsToShared).toBe(0)
    instances = besideOthers
    expect((await admission).admitted).toBe(true)
  })
})

describe('when another instance starts', () => {
  test('the requests that this instance admitted alone still count', async () => {
    for (let n = 0; n < max; n++) limit.admitNow(tenant)
    instances = besideOthersSince(now)
    now += 1
    expect((await limit.admit(tenant)).admitted).toBe(false)
  })

  test('the own window decides for one more window, and the shared window records what it admits', async () => {
    instances = besideOthersSince(now)
    expect((await limit.admit(tenant)).admitted).toBe(true)
    expect(shared.remaining(tenant, now)).toBe(max - 1)
  })

  test('the shared window decides only after all records of admitted requests have arrived', async () => {
    const gate = Promise.withResolvers<void>()
    sharedGate = gate.promise
    instances = besideOthersSince(now - windowMs + 1)
    const byOwnWindow = admitTimes(max)
    await setImmediate()

    instances = besideOthers
    const bySharedWindow = limit.admit(tenant)
    gate.resolve()
    expect(admittedOf(await byOwnWindow)).toBe(max)
    expect((await bySharedWindow).admitted).toBe(false)
  })

  test('a request that was recorded too late for the other instance is not admitted', async () => {
    const gate = Promise.withResolvers<void>()
    sharedGate = gate.promise
    instances = besideOthersSince(now - windowMs + 1)
    const admission = limit.admit(tenant)
    await setImmediate()
    // The other instance joined 800 ms earlier at most, and admits requests by now.
    now += joinMs - windowMs - 800 + 1
    gate.resolve()
    await expect(admission).rejects.toThrow(DatabaseUnavailable)
  })
})

describe('the states', () => {
  test('the shared window never decides directly after the own window did', async () => {
    expect(limit.admitNow(tenant)?.admitted).toBe(true)
    now += windowMs - 1
    instances = besideOthers
    await expect(limit.admit(tenant)).rejects.toThrow('cannot go from alone to shared')
    expect(callsToShared).toBe(0)
  })

  test('after a window without a request, the shared window may decide: the own one has forgotten its permits', async () => {
    expect(limit.admitNow(tenant)?.admitted).toBe(true)
    now += windowMs
    instances = besideOthers
    expect((await limit.admit(tenant)).admitted).toBe(true)
    expect(callsToShared).toBe(1)
  })

  test('an instance whose registration has expired joins again before the shared window decides', async () => {
    instances = { ...alone, joinedMs: null }
    expect(limit.admitNow(tenant)).toBeNull()
    instances = { ...besideOthers, joinedMs: joinMs - 30 }
    const admission = limit.admit(tenant)
    await setImmediate()
    expect(callsToShared).toBe(0)
    instances = besideOthers
    expect((await admission).admitted).toBe(true)
    expect(callsToShared).toBe(1)
  })

  test('an instance whose registration continues after an outage asks the shared window at once', async () => {
    instances = besideOthers
    await limit.admit(tenant)
    instances = { ...besideOthers, joinedMs: null }
    expect(limit.admitNow(tenant)).toBeNull()
    instances = besideOthers
    expect((await limit.admit(tenant)).admitted).toBe(true)
    expect(callsToShared).toBe(2)
  })
})

describe('when the other instances stop', () => {
  test('the requests that the shared window admitted still count', async () => {
    instances = besideOthers
    expect(admittedOf(await admitTimes(max))).toBe(max)
    instances = alone
    expect(limit.admitNow(tenant)?.admitted).toBe(false)
  })

  test('the own window decides only after all calls to the shared window have ended', async () => {
    const gate = Promise.withResolvers<void>()
    sharedGate = gate.promise
    instances = besideOthers
    const bySharedWindow = admitTimes(max)
    await setImmediate()

    instances = alone
    expect(limit.admitNow(tenant)).toBeNull()
    const byOwnWindow = limit.admit(tenant)
    gate.resolve()
    expect(admittedOf(await bySharedWindow)).toBe(max)
    expect((await byOwnWindow).admitted).toBe(false)
  })
})

describe('after an outage of the database', () => {
  const late = () => {
    const deadline = new RequestDeadline(2_500)
    deadline.leftMs -= 2_000
    return deadline
  }

  test('a window that late requests fill is no 429: the next ones wait for it, or are told to come again', async () => {
    instances = besideOthers
    for (let n = 0; n < max; n++) {
      expect((await withDeadline(late(), () => limit.admit(tenant))).admitted).toBe(true)
    }
    expect(limit.admitNow(tenant)).toBeNull()
    await expect(withDeadline(late(), () => limit.admit(tenant))).rejects.toThrow(DatabaseUnavailable)
    now += windowMs - 20
    const waiting = withDeadline(new RequestDeadline(60_000), () => limit.admit(tenant))
    await setImmediate()
    now += 20
    expect((await waiting).admitted).toBe(true)
  })

  test('a full window is a 429 again as soon as the late requests have left it', async () => {
    instances = besideOthers
    await withDeadline(late(), () => limit.admit(tenant))
    now += 2 * windowMs
    fillSharedWindow()
    expect((await limit.admit(tenant)).admitted).toBe(false)
    expect(limit.admitNow(tenant)?.admitted).toBe(false)
  })
})

describe('no request is admitted', () => {
  test('while the running instances are unknown: the database did not say, or this process read its answer too late', async () => {
    instances = null
    expect(limit.admitNow(tenant)).toBeNull()
    await expect(limit.admit(tenant)).rejects.toThrow('The service is busy and could not answer in time.')
    pollFailure = new Error('refused')
    await expect(limit.admit(tenant)).rejects.toThrow('The database cannot answer.')
  })

  test('while this instance joins others, which is no fault of the database', async () => {
    instances = { ...besideOthers, joinedMs: 0 }
    const admission = withDeadline(new RequestDeadline(20), () => limit.admit(tenant))
    await expect(admission).rejects.toThrow('The service joins its other instances')
  })

  test('while the shared window cannot be reached', async () => {
    instances = besideOthers
    isSharedDown = true
    await expect(limit.admit(tenant)).rejects.toThrow(DatabaseUnavailable)
  })

  test('by the own window if the list of instances expires during the call', async () => {
    // The first look shows other instances; then the list has expired. The shared window decides.
    const answers = [besideOthers]
    limit = limitOf(() => answers.shift() ?? null)
    fillSharedWindow()
    expect(await limit.admit(tenant)).toEqual({ admitted: false, remaining: 0, retryAfterMs: windowMs })
    expect(callsToShared).toBe(1)
  })

  test('if the instance was alone and the list of instances expires on every attempt', async () => {
    let looks = 0
    limit = limitOf(() => (looks++ % 2 === 0 ? alone : null))
    await expect(limit.admit(tenant)).rejects.toThrow(DatabaseUnavailable)
    expect(callsToShared).toBe(0)
  })
})

test('a look at the own window takes no permit, also if the window opens during the look', () => {
  let readings = 0
  const own = ownLimit(slidingWindow(1, 1_000), () => readings++)
  expect(own.admitNow(tenant)).toMatchObject({ admitted: true })
  readings = 999
  expect(own.refusedNow(tenant)).toMatchObject({ admitted: false })
  expect(own.refusedNow(tenant)).toBeNull()
})

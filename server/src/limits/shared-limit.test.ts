import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import type { OtherInstances } from '../cache/index.ts'
import { DatabaseUnavailable, tenantId } from '../database/session/index.ts'
import { slidingWindow } from '../security/index.ts'
import { joinMs, sharedLimit, tenantWindow } from './tenant-limit.ts'

const ours = tenantId(7)
const { max, windowMs } = tenantWindow
const alone: OtherInstances = { others: false, notAloneSince: Number.NEGATIVE_INFINITY, joinedMs: 60_000 }
const among: OtherInstances = { ...alone, others: true }

/** What the instance is told of the others, and the window that all of them share. */
const stand = {
  now: 0,
  otherInstances: alone as OtherInstances | null,
  away: false,
  asked: 0,
  held: Promise.resolve(),
}
let shared = slidingWindow(max, windowMs)
let limit = fresh()

function fresh(otherInstances: () => OtherInstances | null = () => stand.otherInstances) {
  shared = slidingWindow(max, windowMs)
  return sharedLimit({
    own: slidingWindow(max, windowMs),
    watch: { otherInstances, look: async () => {} },
    monotonic: () => stand.now,
    takePermit: async (tenant, alreadyAdmitted) => {
      stand.asked++
      await stand.held
      if (stand.away) throw new DatabaseUnavailable('away')
      if (alreadyAdmitted) shared.note(tenant, stand.now)
      return alreadyAdmitted
        ? { admitted: true, remaining: 0, retryAfterMs: 0 }
        : shared.admit(tenant, stand.now)
    },
  })
}

beforeEach(() => {
  Object.assign(stand, {
    now: 100_000,
    otherInstances: alone,
    away: false,
    asked: 0,
    held: Promise.resolve(),
  })
  limit = fresh()
})

test('alone it admits by its own window, at once and without asking', () => {
  const admitted = Array.from({ length: max + 1 }, () => limit.admitNow(ours)?.admitted)
  expect(admitted).toEqual([...Array(max).fill(true), false])
  expect(stand.asked).toBe(0)
})

test('among others it asks for each request, and not again before there can be a place', async () => {
  stand.otherInstances = among
  expect(limit.admitNow(ours)).toBeNull()
  for (let nth = 0; nth < max - 1; nth++) shared.admit(ours, stand.now)
  expect((await limit.admit(ours)).admitted).toBe(true)
  expect(await limit.admit(ours)).toEqual({ admitted: false, remaining: 0, retryAfterMs: windowMs })
  stand.now += windowMs / 2
  expect(limit.admitNow(ours)).toEqual({ admitted: false, remaining: 0, retryAfterMs: windowMs / 2 })
  expect((await limit.admit(ours)).admitted).toBe(false)
  expect(stand.asked).toBe(2)
  stand.now += windowMs / 2
  expect((await limit.admit(ours)).admitted).toBe(true)
})

test('what was admitted alone counts when others have come, and what was admitted among them when they have gone', async () => {
  for (let nth = 0; nth < max; nth++) limit.admitNow(ours)
  stand.otherInstances = { ...among, notAloneSince: stand.now }
  stand.now += 1
  expect((await limit.admit(ours)).admitted).toBe(false)
  stand.now += windowMs
  stand.otherInstances = { ...among, notAloneSince: stand.now }
  expect((await limit.admit(ours)).admitted).toBe(true)
  // The shared window has been told: others may take one less.
  expect(shared.remaining(ours, stand.now)).toBe(max - 1)
  stand.otherInstances = among
  for (let nth = 1; nth < max; nth++) expect((await limit.admit(ours)).admitted).toBe(true)
  stand.otherInstances = alone
  expect(limit.admitNow(ours)?.admitted).toBe(false)
})

test('what is on its way to the shared window when an instance is no longer alone, or is again, is counted too', async () => {
  const way = Promise.withResolvers<void>()
  stand.held = way.promise
  stand.otherInstances = { ...among, notAloneSince: stand.now - windowMs + 1 }
  const noted = Array.from({ length: max }, () => limit.admit(ours))
  await delay(1)
  stand.otherInstances = among
  const asked = limit.admit(ours)
  way.resolve()
  expect((await Promise.all(noted)).every(({ admitted }) => admitted)).toBe(true)
  expect((await asked).admitted).toBe(false)

  stand.now += windowMs
  const back = Promise.withResolvers<void>()
  stand.held = back.promise
  const among10 = Array.from({ length: max }, () => limit.admit(ours))
  await delay(1)
  stand.otherInstances = alone
  expect(limit.admitNow(ours)).toBeNull()
  const byItself = limit.admit(ours)
  back.resolve()
  expect((await Promise.all(among10)).every(({ admitted }) => admitted)).toBe(true)
  expect((await byItself).admitted).toBe(false)
})

test('one that the others do not know of is not alone', async () => {
  stand.otherInstances = { ...alone, joinedMs: null }
  expect(limit.admitNow(ours)).toBeNull()
  const waiting = limit.admit(ours)
  stand.otherInstances = alone
  expect((await waiting).admitted).toBe(true)
  expect(stand.asked).toBe(0)
})

test('one that has only just joined waits until the others know of it', async () => {
  stand.otherInstances = { ...among, joinedMs: joinMs - 30 }
  const waiting = limit.admit(ours)
  await Promise.resolve()
  expect(stand.asked).toBe(0)
  stand.otherInstances = among
  expect((await waiting).admitted).toBe(true)
})

test('where nobody can say, nobody is let in', async () => {
  stand.otherInstances = null
  expect(limit.admitNow(ours)).toBeNull()
  await expect(limit.admit(ours)).rejects.toThrow(DatabaseUnavailable)
  stand.otherInstances = among
  stand.away = true
  await expect(limit.admit(ours)).rejects.toThrow(DatabaseUnavailable)
})

test('what is known and a moment later is too old lets nobody in by the own window', async () => {
  let asked = 0
  limit = fresh(() => (asked++ === 0 ? among : null))
  for (let nth = 0; nth < max; nth++) shared.admit(ours, stand.now)
  expect(await limit.admit(ours)).toEqual({ admitted: false, remaining: 0, retryAfterMs: windowMs })
  expect(stand.asked).toBe(1)

  limit = fresh(() => (asked++ % 2 === 1 ? alone : null))
  await expect(limit.admit(ours)).rejects.toThrow(DatabaseUnavailable)
})

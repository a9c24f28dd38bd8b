import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tenantId } from '../database/open-database.ts'
import { slidingWindow } from '../security/rate-limit.ts'
import { sharedTenantMemory, sharedTenants } from './shared-tenants.ts'

const ours = tenantId(824_472_605)

test('two threads see one limit, and it is the limit of one thread', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ gap: fc.integer({ min: 0, max: 300 }), other: fc.boolean() })),
      (calls) => {
        const memory = sharedTenantMemory()
        const views = [sharedTenants(memory), sharedTenants(memory)] as const
        const alone = slidingWindow(10, 1_000)
        let now = 0
        for (const { gap, other } of calls) {
          now += gap
          const { tenantLimit } = views[other ? 1 : 0]
          expect(tenantLimit.remaining(ours, now)).toBe(alone.remaining(ours, now))
          expect(tenantLimit.admit(ours, now)).toEqual(alone.admit(ours, now))
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('a thread that looked at the clock first and came second opens nothing', () => {
  const { tenantLimit } = sharedTenants(sharedTenantMemory())
  for (let i = 0; i < 9; i++) tenantLimit.admit(ours, 1_000)
  tenantLimit.admit(ours, 1_005)
  for (const now of [1_004, 1_999]) expect(tenantLimit.admit(ours, now).admitted).toBe(false)
  for (let i = 0; i < 9; i++) expect(tenantLimit.admit(ours, 2_000).admitted).toBe(true)
  expect(tenantLimit.admit(ours, 2_004).admitted).toBe(false)
  expect(tenantLimit.admit(ours, 2_005).admitted).toBe(true)
})

test('three hundred thousand tenants have each their own limit or a stricter one', () => {
  const { tenantLimit } = sharedTenants(sharedTenantMemory())
  let admitted = 0
  for (let tenant = 1; tenant <= 300_000; tenant++) {
    const first = tenantLimit.admit(tenant * 7_919, 0)
    if (first.admitted) admitted++
    if (tenant <= 100_000) expect(first.remaining).toBe(9)
  }
  expect(admitted).toBeGreaterThan(130_000)
}, 60_000)

test('what is committed by one thread is known to all; what nobody knows of is doubted by all', () => {
  const memory = sharedTenantMemory()
  const [one, other] = [sharedTenants(memory).versions, sharedTenants(memory).versions]
  const place = other.placeOf(ours)
  expect(one.placeOf(ours)).toBe(place)
  one.moved(ours, { facts: 5, access: 2 })
  // Words of an earlier commit may come later.
  other.moved(ours, { facts: 4, access: 3 })
  expect([one.factsAt(place), one.accessAt(place), one.doubtsAt(place)]).toEqual([5, 3, 0])
  one.moved(ours, null)
  expect(other.doubtsAt(place)).toBe(1)
  one.reset()
  expect([other.factsAt(place), other.accessAt(place)]).toEqual([0, 0])
})

/** Asks for as many places as it can in a second and a half, of 50 tenants, and says when each was given. */
const hammer = `
  import { parentPort, workerData } from 'node:worker_threads'
  const { sharedTenants } = await import(workerData.module)
  const { tenantLimit } = sharedTenants(workerData.memory)
  const clock = () => Number(process.hrtime.bigint()) / 1e6
  const given = []
  const until = clock() + 1_500
  for (let nth = 0; clock() < until; nth++) {
    const tenant = (nth % 50) + 1
    const before = clock()
    if (tenantLimit.admit(tenant, before).admitted) given.push([tenant, before, clock()])
  }
  parentPort.postMessage(given)
`

test('threads that hammer at the same tenants get ten in any second, and all of the ten', async () => {
  const memory = sharedTenantMemory()
  const module = new URL('./shared-tenants.ts', import.meta.url).href
  const given = (
    await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise<[number, number, number][]>((resolve, reject) => {
            const url = new URL(`data:text/javascript,${encodeURIComponent(hammer)}`)
            const worker = new Worker(url, { workerData: { memory, module } })
            worker.once('message', resolve)
            worker.once('error', reject)
          }),
      ),
    )
  ).flat()
  for (let tenant = 1; tenant <= 50; tenant++) {
    const mine = given.filter(([of]) => of === tenant)
    expect(mine.length).toBeGreaterThanOrEqual(20)
    for (const [, before] of mine) {
      // Those that were certainly given within one second: asked for in it, and told within it.
      const within = mine.filter(([, began, ended]) => began >= before && ended < before + 1_000)
      expect(within.length).toBeLessThanOrEqual(10)
    }
  }
}, 30_000)

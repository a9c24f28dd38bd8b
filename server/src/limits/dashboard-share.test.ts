import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  dashboardProcessorMsMax,
  dashboardRequestsAtOnceMax,
  dashboardRequestsWaitingMax,
} from '#contract/limits.ts'
import type { Steps } from '#engine/steps.ts'
import {
  BrokerageBusy,
  ProcessUnavailable,
  RequestDeadline,
  type TenantId,
  tenantId,
  withDeadline,
} from '../database/session/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import { dashboardShare } from './dashboard-share.ts'

const [ours, theirs, third] = [tenantId(1), tenantId(2), tenantId(3)]

/** The limit of dashboard requests, with clocks that move in steps only. `work` takes processor time, and then waits until it is ended. */
function sharing() {
  const clock = { now: 0, processor: 0 }
  const share = dashboardShare(
    () => clock.now,
    () => clock.processor,
  )
  const started: string[] = []
  const ends: (() => void)[] = []
  const start = (tenant = ours, name = String(tenant), processorMs = 0) =>
    share.run(tenant, () => {
      started.push(name)
      clock.processor += processorMs
      return new Promise<void>((end) => ends.push(end))
    })
  return { clock, share, started, ends, start }
}

/** Enough turns of the event loop for everything that may start. */
async function turns(count = 400): Promise<void> {
  for (let nth = 0; nth < count; nth++) await turn()
}

test('a brokerage runs 16 requests at once, the next ones start in order, and another brokerage does not wait', async () => {
  const { start, started, ends } = sharing()
  const names = Array.from({ length: dashboardRequestsAtOnceMax + 2 }, (_, nth) => `ours ${nth}`)
  const runs = names.map((name) => start(ours, name))
  await turns()
  expect(started).toEqual(names.slice(0, dashboardRequestsAtOnceMax))
  runs.push(start(theirs, 'theirs'))
  await turns()
  expect(started.at(-1)).toBe('theirs')
  ends[0]?.()
  await turns()
  expect(started.at(-1)).toBe(names[dashboardRequestsAtOnceMax])
  for (let nth = 1; nth < names.length + 1; nth++) {
    ends[nth]?.()
    await turns(5)
  }
  await Promise.all(runs)
  expect(started).toHaveLength(names.length + 1)
})

test('in one turn of the event loop one request starts, and the brokerages take turns', async () => {
  const { start, started } = sharing()
  for (let nth = 0; nth < 10; nth++) void start(ours)
  for (let nth = 0; nth < 3; nth++) void start(theirs)
  void start(third)
  await Promise.resolve()
  expect(started).toEqual(['1'])
  const perTurn: number[] = []
  for (let nth = 0; nth < 14; nth++) {
    const before = started.length
    await turn()
    perTurn.push(started.length - before)
  }
  expect(Math.max(...perTurn)).toBe(1)
  expect(started.slice(0, 7)).toEqual(['1', '2', '3', '1', '2', '1', '2'])
  expect(started).toHaveLength(14)
})

test('in each turn a request starts or a running one goes on, so another brokerage waits for two turns, not for the flood', async () => {
  const { share } = sharing()
  let now = 0
  let isOver = false
  const countTurns = () => {
    now++
    if (!isOver) setImmediate(countTurns)
  }
  const did: { name: string; turn: number }[] = []
  function* steps(name: string): Steps<void> {
    for (let step = 0; step < 6; step++) {
      did.push({ name, turn: now })
      yield
    }
  }
  let time = 0
  const send = (tenant: TenantId, name: string) =>
    share.run(tenant, () => {
      did.push({ name, turn: now })
      return yieldBetweenSteps(steps(name), tenant, () => (time += 1_000))
    })
  setImmediate(countTurns)
  const flood = Array.from({ length: 60 }, (_, nth) => send(ours, `ours ${nth}`))
  await turns(20)
  const [askedAt, before] = [now, did.length]
  const answer = send(theirs, 'theirs')
  await turns(3)
  const started = did.find(({ name }) => name === 'theirs')
  expect(started?.turn).toBeLessThanOrEqual(askedAt + 2)
  await answer
  // Of every three turns, it gets one for its slice. The others are for a start and for a slice of the flood.
  expect(now - askedAt).toBeLessThan(3 * 6 + 3)
  expect(did.length - before).toBeLessThan(3 * 6 + 3)
  await Promise.all(flood)
  isOver = true
  const inTurn = Map.groupBy(did, ({ turn }) => turn)
  expect([...inTurn.values()].filter((one) => new Set(one.map(({ name }) => name)).size > 1)).toEqual([])
})

test('a brokerage that has used up its processor time waits until it has gained some, and others do not', async () => {
  const { clock, start, started, ends, share } = sharing()
  const first = start(ours, 'expensive', 5_000)
  await turns(2)
  ends[0]?.()
  await first
  const late = withDeadline(new RequestDeadline(2_500), () => start(ours, 'late'))
  void start(theirs, 'theirs')
  await turns()
  expect(started).toEqual(['expensive', 'theirs'])
  // The brokerage owes a second of processor time at most.
  clock.now += 1_001
  await share.run(theirs, async () => {})
  await turns()
  expect(started).toEqual(['expensive', 'theirs', 'late'])
  ends[2]?.()
  await late
})

test('what a request computes after its wait counts, too, and an idle hour gains no more than the maximum', async () => {
  const { clock, share, start, started, ends } = sharing()
  const runs = async (name: string) => {
    void withDeadline(new RequestDeadline(2_500), () => start(ours, name)).catch(() => {})
    await turns()
    ends.at(-1)?.()
    return started.includes(name)
  }
  expect(await runs('at first')).toBe(true)
  clock.now += 3_600_000
  share.charge(ours, () => (clock.processor += dashboardProcessorMsMax - 1))
  expect(await runs('with a millisecond left')).toBe(true)
  share.charge(ours, () => (clock.processor += 1))
  expect(await runs('with none left')).toBe(false)
})

test('a request that waits too long, or finds 128 waiting, is refused as too many of its brokerage', async () => {
  const { start } = sharing()
  for (let nth = 0; nth < dashboardRequestsAtOnceMax; nth++) void start(ours)
  await turns()
  await expect(withDeadline(new RequestDeadline(20), () => start(ours))).rejects.toThrow(BrokerageBusy)
  for (let nth = 0; nth < dashboardRequestsWaitingMax; nth++) void start(ours)
  await expect(start(ours)).rejects.toThrow(BrokerageBusy)
})

test('a request that waits too long for the turns of others is not blamed on its brokerage', async () => {
  const { start } = sharing()
  for (let other = 0; other < 1_000; other++) void start(tenantId(100 + other))
  const late = withDeadline(new RequestDeadline(1), () => start(ours))
  await expect(late).rejects.toThrow(ProcessUnavailable)
})

test('work that fails gives its place back', async () => {
  const { share } = sharing()
  for (let nth = 0; nth < 3 * dashboardRequestsAtOnceMax; nth++) {
    await expect(share.run(ours, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  }
  await expect(
    share.run(ours, () => {
      throw new Error('at once')
    }),
  ).rejects.toThrow('at once')
  expect(await share.run(ours, async () => 'runs')).toBe('runs')
})

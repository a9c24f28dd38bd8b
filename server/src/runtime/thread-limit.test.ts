import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { limitProcessorTime } from './thread-limit.ts'

afterEach(() => {
  vi.useRealTimers()
})

const minuteMs = 60_000

/** A thread that has used as much processor time as the test says. */
function threadThatUsed(ms: () => number) {
  let looks = 0
  const cpuUsage = async () => {
    looks++
    return { user: ms() * 1_000, system: 0 }
  }
  return { thread: { cpuUsage }, looks: () => looks }
}

test('a thread that waits for a processor is not ended, however late it is', async () => {
  vi.useFakeTimers()
  const { thread, looks } = threadThatUsed(() => 999)
  const spent = vi.fn()
  const end = limitProcessorTime(thread, 1_000, spent)
  await vi.advanceTimersByTimeAsync(60 * minuteMs)
  expect(spent).not.toHaveBeenCalled()
  expect(looks()).toBeGreaterThan(3_000)
  end()
  const before = looks()
  await vi.advanceTimersByTimeAsync(minuteMs)
  expect(looks()).toBe(before)
})

test('a thread that has used more processor time is reported once', async () => {
  vi.useFakeTimers()
  let used = 0
  const { thread } = threadThatUsed(() => (used += 400))
  const spent = vi.fn()
  limitProcessorTime(thread, 1_000, spent)
  await vi.advanceTimersByTimeAsync(minuteMs)
  expect(spent).toHaveBeenCalledOnce()
})

test('the limit applies while the thread computes, and forgets a thread that has ended', async () => {
  const endless = new Worker('for (;;);', { eval: true })
  await new Promise<void>((resolve) => limitProcessorTime(endless, 50, resolve))
  await endless.terminate()

  const short = new Worker('', { eval: true })
  await once(short, 'exit')
  vi.useFakeTimers()
  const spent = vi.fn()
  limitProcessorTime(short, 0, spent)
  await vi.advanceTimersByTimeAsync(minuteMs)
  expect(spent).not.toHaveBeenCalled()
})

import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { uploadBytesPerSecondMin, uploadGraceSeconds } from '#contract/limits.ts'
import { watchRate } from './upload-rate.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Lets a second pass, in which so many bytes arrive, which are read only after the timers. */
async function second(bytes: number, read: (bytes: number) => void) {
  vi.advanceTimersByTime(1_000)
  read(bytes)
  await setImmediate()
}

test('an upload must keep its rate after its first seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let received = 7
  const onSlow = vi.fn()
  const end = watchRate(() => received, onSlow)
  const read = (bytes: number) => {
    received += bytes
  }
  for (let at = 0; at < uploadGraceSeconds; at++) await second(0, read)
  for (let at = 0; at < 5; at++) await second(uploadBytesPerSecondMin, read)
  expect(onSlow).not.toHaveBeenCalled()
  await second(uploadBytesPerSecondMin - 8, read)
  expect(onSlow).toHaveBeenCalledOnce()
  end()
  await second(0, read)
  expect(onSlow).toHaveBeenCalledOnce()
})

test('the time in which the process was busy does not count', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] })
  const onSlow = vi.fn()
  const end = watchRate(() => 0, onSlow)
  // However long a turn of the process was, the timer is called once after it.
  for (let turn = 0; turn < uploadGraceSeconds; turn++) {
    vi.setSystemTime(Date.now() + 60_000)
    await second(0, () => {})
  }
  expect(onSlow).not.toHaveBeenCalled()
  await second(0, () => {})
  expect(onSlow).toHaveBeenCalledOnce()
  end()
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { keptRunning } from './kept-running.ts'

test('a process that cannot run is started again once it can, however often it ends', async () => {
  let isFull = false
  let starts = 0
  const told: unknown[] = []
  const kept = await keptRunning(
    async () => {
      starts++
      const child = spawn('sleep', ['600'], { stdio: 'ignore' })
      await once(child, 'spawn')
      // A disk that became full after it was asked.
      if (starts === 2) isFull = true
      if (!isFull) return child
      child.kill()
      throw new Error('No space left on device')
    },
    {
      restarts: 1,
      cannotRun: () => isFull,
      onEnd: (how, isStartedAgain) => told.push([how, isStartedAgain]),
      onFailure: (error) => told.push(error),
    },
  )
  onTestFinished(async () => {
    const pid = kept.pid()
    await kept.release()
    if (pid !== null) process.kill(pid)
  })
  const end = async (full: boolean) => {
    isFull = full
    process.kill(kept.pid() ?? 0)
    await expect.poll(kept.pid).toBeNull()
  }
  for (let nth = 0; nth < 2; nth++) {
    await end(nth > 0)
    await expect.poll(() => starts >= 2 && isFull).toBe(true)
    isFull = false
    await expect.poll(kept.pid).not.toBeNull()
  }
  expect(told).toEqual([
    ['SIGTERM', true],
    ['SIGTERM', true],
  ])
  // Another end is beyond the limit of one.
  await end(false)
  expect(told.at(-1)).toEqual(['SIGTERM', false])
})

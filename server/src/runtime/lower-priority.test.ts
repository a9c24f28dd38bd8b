import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { expect, test, vi } from 'vitest'
import { lowerPriority } from './lower-priority.ts'

const planted = vi.hoisted(() => ({ isForbidden: false }))
vi.mock('node:os', async (original) => {
  const real = await original<typeof import('node:os')>()
  const setPriority = (pid: number, priority: number) => {
    if (planted.isForbidden) throw Object.assign(new Error('EPERM'), { code: 'ERR_SYSTEM_ERROR' })
    real.setPriority(pid, priority)
  }
  return { ...real, setPriority }
})

test('the priority of a process only becomes lower, and stays where a sandbox forbids the change', async () => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  try {
    const pid = child.pid as number
    const before = getPriority(pid)
    planted.isForbidden = true
    lowerPriority(pid, 19)
    expect(getPriority(pid)).toBe(before)
    planted.isForbidden = false
    lowerPriority(pid, 19)
    lowerPriority(pid, 7)
    expect(getPriority(pid)).toBe(19)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

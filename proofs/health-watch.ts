import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { RunningService } from '#testing/running-service.ts'

/** Another caller, who asks for `/healthz` all the time, in a thread of its own. */
export interface HealthWatch {
  /** The longest wait of this caller since the last call of this function, in milliseconds. */
  longestMs(): Promise<number>
  close(): void
}

/** Asks a service for `/healthz` until the watch is closed. */
export function watchHealth({ url, child }: Pick<RunningService, 'url' | 'child'>): HealthWatch {
  const worker = new Worker(new URL(import.meta.url), { workerData: { url, pid: child.pid } })
  worker.unref()
  return {
    async longestMs() {
      worker.postMessage('longest')
      const [longest] = await once(worker, 'message')
      return longest as number
    },
    close: () => void worker.terminate(),
  }
}

/**
 * Returns the processor time of a process's main thread in milliseconds, which only Linux reports. Elsewhere it returns elapsed time,
 * so the watch also counts waits that other programs cause.
 */
function mainThreadMs(pid: number): number {
  try {
    const [ns] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
    return Number(ns) / 1e6
  } catch {
    return performance.now()
  }
}

async function ask(url: string, pid: number, port: NonNullable<typeof parentPort>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let longest = 0
  let wait = () => 0
  port.on('message', () => {
    port.postMessage(Math.max(longest, wait()))
    longest = 0
  })
  for (;;) {
    const began = performance.now()
    const beganMs = mainThreadMs(pid)
    // A wait counts at most as the processor time of the service meanwhile: on a busy machine, both programs also wait for a core.
    wait = () => Math.min(performance.now() - began, mainThreadMs(pid) - beganMs)
    const asked = request(`${url}/healthz`, { agent })
    asked.end()
    try {
      const [answer] = await once(asked, 'response')
      answer.resume()
      await once(answer, 'end')
    } catch {
      // The service ended, which the proof itself reports.
      await delay(50)
    }
    longest = Math.max(longest, wait())
    wait = () => 0
    await delay(2)
  }
}

if (!isMainThread && parentPort !== null && typeof workerData?.pid === 'number') {
  await ask(workerData.url, workerData.pid, parentPort)
}

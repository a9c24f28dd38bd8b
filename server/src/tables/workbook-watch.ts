import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { ProcessLimits } from './workbook-main.ts'

/** Ends the process that reads a workbook when it is over its limits, or when the service that started it has ended. */
const { residentBytes, processorMs, parent } = workerData as ProcessLimits & { readonly parent: number }

/** Short, because memory can grow by a hundred megabytes in a tenth of a second. */
const lookEveryMs = 5

function look(): void {
  const { user, system } = process.cpuUsage()
  const used = (user + system) / 1_000
  const isOver = process.memoryUsage.rss() > residentBytes || used > processorMs
  if (!isOver && process.ppid === parent) return
  if (isOver) writeSync(2, `${JSON.stringify({ processorMs: Math.ceil(used) })}\n`)
  process.kill(process.pid, 'SIGKILL')
}

look()
setInterval(look, lookEveryMs)
parentPort?.postMessage('watching')

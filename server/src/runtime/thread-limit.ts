import type { Worker } from 'node:worker_threads'

const lookEveryMs = 1_000

/**
 * Calls `onSpent` when a thread has used more processor time than its work can need. Elapsed time would also count waits for a
 * processor, and end useful work on a busy machine. Returns the function that ends the limit.
 *
 * @example const unlimited = limitProcessorTime(thread, 120_000, () => thread.terminate())
 */
export function limitProcessorTime(
  thread: Pick<Worker, 'cpuUsage'>,
  msMax: number,
  onSpent: () => void,
): () => void {
  let timer: NodeJS.Timeout
  let isOver = false
  const look = async () => {
    // A thread that has ended has no usage.
    const used = await thread.cpuUsage().catch(() => null)
    if (isOver || used === null) return
    if ((used.user + used.system) / 1_000 > msMax) onSpent()
    else timer = setTimeout(() => void look(), lookEveryMs)
  }
  timer = setTimeout(() => void look(), lookEveryMs)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

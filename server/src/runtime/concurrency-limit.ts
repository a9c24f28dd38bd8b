/** The queue of a concurrency limit is full. */
export class QueueFull extends Error {
  constructor() {
    super('Too many calls are waiting already.')
    this.name = 'QueueFull'
  }
}

/**
 * Limits concurrency per key: at most `runningMax` calls of one key run at once. Further calls wait and start in the
 * order in which they arrived. A call that fails frees its slot like one that succeeds.
 *
 * @param waitingMax calls of one key that may wait; a further call is rejected with QueueFull
 * @example const limited = concurrencyLimit<string>(2); await limited('hash', () => hashPassword(text))
 */
export function concurrencyLimit<Key>(
  runningMax: number,
  waitingMax = Number.POSITIVE_INFINITY,
): <T>(key: Key, work: () => Promise<T>) => Promise<T> {
  const queues = new Map<Key, { running: number; readonly waiting: (() => void)[] }>()
  return async (key, work) => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running < runningMax) queue.running++
    else if (queue.waiting.length >= waitingMax) throw new QueueFull()
    else await new Promise<void>((start) => queue.waiting.push(start))
    try {
      return await work()
    } finally {
      // Hand the slot to the next call in the queue, so that no newcomer can take it first.
      const startNext = queue.waiting.shift()
      if (startNext !== undefined) startNext()
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}

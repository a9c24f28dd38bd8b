import { Worker } from 'node:worker_threads'
import type { BacktestResult, TooFewQuotes } from '#engine/backtest/backtest.ts'
import type { BacktestFacts } from './backtest-facts.ts'

/** What the thread says: how far it is, then what it found. */
export type WorkerMessage = { readonly progress: number } | { readonly result: BacktestResult | TooFewQuotes }

/** Far more than the largest history takes; what is beyond is not progress but a fault. */
const durationMaxMs = 30 * 60_000
const heapMaxMb = 768

/**
 * Walks the facts in a thread of its own, so that nobody else waits.
 *
 * @throws when the thread fails, runs out of memory, takes over half an hour, or is stopped by `signal`
 */
export function backtestInThread(
  facts: BacktestFacts,
  options: { onProgress?: (share: number) => void; signal?: AbortSignal; file?: URL } = {},
): Promise<BacktestResult | TooFewQuotes> {
  const { promise, resolve, reject } = Promise.withResolvers<BacktestResult | TooFewQuotes>()
  const thread = new Worker(options.file ?? new URL('./backtest-worker.ts', import.meta.url), {
    workerData: facts,
    // It needs nothing of the environment, where the keys of the installation are.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMaxMb },
  })
  const stop = (why: string) => {
    reject(new Error(why))
    void thread.terminate()
  }
  const timer = setTimeout(() => stop('The backtest took over half an hour.'), durationMaxMs)
  const abort = () => stop('The backtest was stopped.')
  if (options.signal?.aborted === true) abort()
  options.signal?.addEventListener('abort', abort, { once: true })
  thread.on('message', (message: WorkerMessage) => {
    if ('result' in message) resolve(message.result)
    else options.onProgress?.(message.progress)
  })
  thread.on('error', reject)
  thread.on('exit', (code) => reject(new Error(`The backtest ended without a result (${code}).`)))
  return promise.finally(() => {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
  })
}

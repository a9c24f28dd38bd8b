import { Worker } from 'node:worker_threads'
import type { BacktestResult, TooFewQuotes } from '#engine/backtest/backtest.ts'
import { limitProcessorTime } from '../runtime/index.ts'
import type { BacktestFacts } from './backtest-facts.ts'

/** A message of the thread: progress, or the result at the end. */
export type WorkerMessage = { readonly progress: number } | { readonly result: BacktestResult | TooFewQuotes }

/** The maximum processor time of a backtest. The largest history takes a fraction of it. */
const processorMsMax = 30 * 60_000
const heapMaxMb = 768

/**
 * Runs a backtest in its own thread, so that requests are not delayed.
 *
 * @throws when the thread fails, runs out of memory, takes over half an hour of processor time, or is stopped by `signal`
 */
export function backtestInThread(
  facts: BacktestFacts,
  options: { onProgress?: (share: number) => void; signal?: AbortSignal; file?: URL } = {},
): Promise<BacktestResult | TooFewQuotes> {
  const { promise, resolve, reject } = Promise.withResolvers<BacktestResult | TooFewQuotes>()
  const thread = new Worker(options.file ?? new URL('./backtest-worker.ts', import.meta.url), {
    workerData: facts,
    // The thread gets no environment variables, because they contain the secret keys of the installation.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMaxMb },
  })
  const stop = (why: string) => {
    reject(new Error(why))
    void thread.terminate()
  }
  const unlimited = limitProcessorTime(thread, processorMsMax, () =>
    stop('The backtest took more than half an hour of processor time.'),
  )
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
    unlimited()
    options.signal?.removeEventListener('abort', abort)
  })
}

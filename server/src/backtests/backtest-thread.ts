import type { BacktestResult, TooFewQuotes } from '#engine/backtest/backtest.ts'
import { inThread, type ThreadMessage, type ThreadOptions } from '../runtime/index.ts'
import type { BacktestFacts } from './backtest-facts.ts'

export type BacktestMessage = ThreadMessage<BacktestResult | TooFewQuotes>

/** The largest history takes a fraction of this time. */
const limits = { durationMaxMs: 30 * 60_000, heapMaxMb: 768 }

/**
 * Runs a backtest in its own thread, so that requests are not delayed.
 *
 * @throws when the thread fails, runs out of memory, takes over half an hour, or is stopped by `signal`
 */
export function backtestInThread(
  facts: BacktestFacts,
  { file, ...options }: Pick<ThreadOptions, 'onProgress' | 'signal'> & { readonly file?: URL } = {},
): Promise<BacktestResult | TooFewQuotes> {
  return inThread(file ?? new URL('./backtest-worker.ts', import.meta.url), facts, {
    work: 'The backtest',
    ...limits,
    ...options,
  })
}

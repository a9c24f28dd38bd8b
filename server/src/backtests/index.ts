/**
 * Backtests: each past quote of a brokerage is estimated from the quotes before its day, in a worker thread.
 */
export { backtestAnswer } from './backtest-answer.ts'
export { readBacktestFacts } from './backtest-facts.ts'
export { backtestReport } from './backtest-report.ts'
export { type BacktestCounts, type BacktestRunner, backtestRunner } from './backtest-runner.ts'
export { backtestInThread } from './backtest-thread.ts'

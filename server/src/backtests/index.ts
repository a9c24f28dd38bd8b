/**
 * Backtests: a brokerage's past quotes, estimated again as of their own day, in a worker thread.
 */
export { backtestAnswer } from './backtest-answer.ts'
export { readBacktestFacts } from './backtest-facts.ts'
export { backtestReport } from './backtest-report.ts'
export { type BacktestCounts, type BacktestRunner, backtestRunner } from './backtest-runner.ts'
export { backtestInThread } from './backtest-thread.ts'

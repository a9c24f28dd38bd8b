import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { backtest } from '#engine/backtest/backtest.ts'
import type { BacktestFacts } from './backtest-facts.ts'
import type { WorkerMessage } from './backtest-thread.ts'

// On Linux a thread has a niceness of its own; elsewhere it would be the whole process's.
if (process.platform === 'linux') setPriority(19)

const tell = (message: WorkerMessage) => parentPort?.postMessage(message)
const facts: BacktestFacts = workerData
tell({ result: backtest({ ...facts, onProgress: (progress) => tell({ progress }) }) })

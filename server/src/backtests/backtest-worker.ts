import { parentPort, workerData } from 'node:worker_threads'
import { backtest } from '#engine/backtest/backtest.ts'
import { lowerPriority } from '../runtime/index.ts'
import type { BacktestFacts } from './backtest-facts.ts'
import type { WorkerMessage } from './backtest-thread.ts'

// Only on Linux does a thread have its own priority. Elsewhere this would lower that of the whole process.
if (process.platform === 'linux') lowerPriority(0, 19)

const tell = (message: WorkerMessage) => parentPort?.postMessage(message)
const facts: BacktestFacts = workerData
tell({ result: backtest({ ...facts, onProgress: (progress) => tell({ progress }) }) })

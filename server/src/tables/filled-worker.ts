import { parentPort, workerData } from 'node:worker_threads'
import { type FilledColumn, filledWorkbook } from './filled-workbook.ts'
import { UnreadableWorkbook } from './workbook-rows.ts'

/** Fills a workbook in a thread of its own: to pack the sheets takes up to seconds. */
const {
  bytes,
  sheet,
  filled: column,
} = workerData as {
  readonly bytes: Uint8Array
  readonly sheet: string
  readonly filled: FilledColumn
}
try {
  const filled = filledWorkbook(bytes, sheet, column)
  parentPort?.postMessage({ filled }, [filled.buffer as ArrayBuffer])
} catch (error) {
  if (!(error instanceof UnreadableWorkbook)) throw error
  parentPort?.postMessage({ unreadable: error.message })
}

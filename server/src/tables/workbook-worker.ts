import { parentPort, workerData } from 'node:worker_threads'
import { knownNames } from '../csv/index.ts'
import { sheetText, UnreadableWorkbook, type WorkbookLimits } from './workbook-rows.ts'

/** Reads a workbook in a thread of its own. */
const { bytes, limits, sheet } = workerData as {
  readonly bytes: Uint8Array
  readonly limits: WorkbookLimits
  readonly sheet: string | undefined
}
try {
  const isTable = (rows: string[][]) => rows.some((cells) => knownNames(cells) >= 2)
  const { csv, ...rest } = sheetText(bytes, limits, { sheet, isTable })
  const text = new TextEncoder().encode(csv)
  parentPort?.postMessage({ ...rest, text }, [text.buffer])
} catch (error) {
  if (!(error instanceof UnreadableWorkbook)) throw error
  parentPort?.postMessage({ unreadable: error.message })
}

import { parentPort, workerData } from 'node:worker_threads'
import { type Vocabulary, vocabularies } from '../csv/index.ts'
import { UnreadableWorkbook } from './workbook-archive.ts'
import { type SheetChoice, sheetText, type WorkbookLimits } from './workbook-rows.ts'

/** Reads a workbook in a thread of its own. */
const { bytes, limits, choice } = workerData as {
  readonly bytes: Uint8Array
  readonly limits: WorkbookLimits
  readonly choice: SheetChoice & { readonly vocabulary: Vocabulary }
}
try {
  const { count, least } = vocabularies[choice.vocabulary]
  const isTable = (rows: string[][]) => rows.some((cells) => count(cells) >= least)
  const { csv, facts } = await sheetText(bytes, limits, { ...choice, isTable })
  const text = new TextEncoder().encode(csv)
  parentPort?.postMessage({ ...facts, text }, [text.buffer])
} catch (error) {
  if (!(error instanceof UnreadableWorkbook)) throw error
  parentPort?.postMessage({ unreadable: error.message })
}

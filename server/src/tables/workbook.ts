import { Worker } from 'node:worker_threads'
import { workbookTextLengthMax, workbookUnpackedBytesMax } from '#contract/limits.ts'
import type { Vocabulary } from '../csv/index.ts'
import { limitProcessorTime } from '../runtime/index.ts'
import type { SheetChoice, SheetFacts, WorkbookLimits } from './workbook-rows.ts'

/** A sheet of a workbook as CSV text in UTF-8: line N is row N of the sheet. */
export type SheetBytes = SheetFacts & { readonly text: Uint8Array }

/** The maximum memory of the thread that reads a workbook: four times what the largest text needs. */
const heapMaxMb = 512
/** The memory for the newest objects of the thread. Nearly all live as long as one row, so more would not save time. */
const newestMaxMb = 4
/** The maximum processor time of the thread. A hundred thousand rows take five seconds. */
const processorMsMax = 120_000

const tooLarge = 'The workbook is too large to be read. Save the sheet as "CSV UTF-8" and send that file.'

/**
 * Reads a sheet of a workbook in a thread with its own memory, so that requests are not delayed.
 *
 * @returns the sheet, or why the workbook cannot be read
 */
export function readWorkbook(
  bytes: Uint8Array<ArrayBuffer>,
  choice: Omit<SheetChoice, 'isTable'> & { readonly vocabulary: Vocabulary },
): Promise<SheetBytes | { readonly unreadable: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<SheetBytes | { readonly unreadable: string }>()
  const limits: WorkbookLimits = {
    unpackedBytesMax: workbookUnpackedBytesMax,
    textLengthMax: workbookTextLengthMax,
  }
  const thread = new Worker(new URL('./workbook-worker.ts', import.meta.url), {
    workerData: { bytes, limits, choice },
    transferList: [bytes.buffer],
    // The thread gets no environment variables, because they contain the secret keys of the installation.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMaxMb, maxYoungGenerationSizeMb: newestMaxMb },
  })
  const unlimited = limitProcessorTime(thread, processorMsMax, () => {
    resolve({ unreadable: tooLarge })
    void thread.terminate()
  })
  thread.on('message', resolve)
  thread.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ unreadable: tooLarge })
    else reject(error)
  })
  thread.on('exit', (code) => reject(new Error(`The workbook's thread ended without a result (${code}).`)))
  return promise.finally(unlimited)
}

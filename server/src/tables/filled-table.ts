import { Worker } from 'node:worker_threads'
import type { FilledColumn } from './filled-workbook.ts'
import { ImportFileError, type TableFile } from './table-file.ts'

export type { FilledColumn } from './filled-workbook.ts'

const amountOf = (cents: number) => String(cents / 100)

/**
 * A CSV text with amounts in a column. All other bytes stay as they are, whatever the encoding.
 *
 * @param column from 0. A line that ends before it gets the cells that are missing
 * @example filledText(table, { column: 7, cells: [{ row: 12, cents: 215025 }] })
 */
export function filledText(
  bytes: Buffer,
  { encoding, delimiter, newline }: Pick<TableFile, 'encoding' | 'delimiter' | 'newline'>,
  { column, cells }: FilledColumn,
): Buffer {
  const isBigEndian = encoding === 'utf-16' && bytes[0] === 0xfe
  const swapped = isBigEndian ? Buffer.from(bytes).swap16() : bytes
  // Latin-1 keeps every byte of the other encodings, and all of them have the delimiters of ASCII.
  const form = encoding === 'utf-16' ? 'utf16le' : 'latin1'
  const text = swapped.toString(form)
  const wanted = new Map(cells.map(({ row, cents }) => [row, cents]))
  const pieces: string[] = []
  let [line, start, kept] = [1, 0, 0]
  while (start < text.length && wanted.size > 0) {
    const cents = wanted.get(line)
    if (cents !== undefined) {
      wanted.delete(line)
      const cell = cellAt(text, start, { column, delimiter, newline })
      pieces.push(text.slice(kept, cell.from), delimiter.repeat(cell.missing), amountOf(cents))
      kept = cell.to
    }
    const end = text.indexOf(newline, start)
    start = end < 0 ? text.length : end + 1
    line++
  }
  const filled = Buffer.from(pieces.join('') + text.slice(kept), form)
  return isBigEndian ? filled.swap16() : filled
}

interface CellRange {
  readonly from: number
  readonly to: number
  /** Delimiters that the line lacks before the cell. */
  readonly missing: number
}

/** Where a cell of the row that starts here is: its text with its quotes. */
function cellAt(
  text: string,
  start: number,
  { column, delimiter, newline }: { column: number; delimiter: string; newline: string },
): CellRange {
  let [from, nth, isQuoted] = [start, 0, false]
  for (let at = start; at <= text.length; at++) {
    const character = text[at]
    if (character === '"') isQuoted = !isQuoted
    const isEnd = character === undefined || (!isQuoted && character === newline)
    if (!isEnd && (isQuoted || character !== delimiter)) continue
    const to = isEnd && newline === '\n' && text[at - 1] === '\r' && at > from ? at - 1 : at
    if (nth === column) return { from, to, missing: 0 }
    if (isEnd) return { from: to, to, missing: column - nth }
    from = at + 1
    nth++
  }
  throw new Error('A text ends at its length.')
}

const durationMaxMs = 60_000

/**
 * A workbook with amounts in a column of a sheet, as `filledWorkbook` in filled-workbook.ts, made in a thread of its own so that requests
 * are not delayed.
 *
 * @throws ImportFileError
 */
export async function filledWorkbook(
  bytes: Uint8Array<ArrayBuffer>,
  sheet: string,
  filled: FilledColumn,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<
    { readonly filled: Uint8Array } | { readonly unreadable: string }
  >()
  const thread = new Worker(new URL('./filled-worker.ts', import.meta.url), {
    workerData: { bytes, sheet, filled },
    transferList: [bytes.buffer],
    // The thread gets no environment variables, because they contain the secret keys of the installation.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 1_024 },
  })
  const tooLarge =
    'The workbook is too large to be filled. Remove the sheets that are not needed, and upload it again.'
  const timer = setTimeout(() => {
    resolve({ unreadable: tooLarge })
    void thread.terminate()
  }, durationMaxMs)
  thread.on('message', resolve)
  thread.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ unreadable: tooLarge })
    else reject(error)
  })
  thread.on('exit', (code) =>
    reject(new Error(`The thread that fills a workbook ended without a result (${code}).`)),
  )
  const result = await promise.finally(() => clearTimeout(timer))
  if ('filled' in result) return result.filled
  throw new ImportFileError([{ code: 'file', row: null, column: null, detail: result.unreadable }])
}

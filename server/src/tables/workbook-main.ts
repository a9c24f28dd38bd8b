import { once } from 'node:events'
import { readSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
// Without the other modules of the room, which take 26 MB in each process.
import { type Vocabulary, vocabularies } from '../csv/vocabularies.ts'
import { UnreadableWorkbook } from './workbook-archive.ts'
import {
  type SheetChoice,
  type SheetFacts,
  type SheetText,
  sheetText,
  type WorkbookLimits,
} from './workbook-rows.ts'

/**
 * Reads a workbook in a process of its own. The first line of its input is the question, and the rest is the file. The first line
 * of its output is the answer, and the rest is the text of the sheet.
 */
export interface WorkbookQuestion {
  readonly bytes: number
  readonly limits: WorkbookLimits
  readonly choice: Omit<SheetChoice, 'isTable'> & { readonly vocabulary: Vocabulary }
}

/** `bytes` of text follow, and `processorMs` were used. */
export type WorkbookAnswer =
  | { readonly facts: SheetFacts; readonly bytes: number; readonly processorMs: number }
  | { readonly unreadable: string; readonly processorMs: number }

/** At more memory or processor time, the process ends itself. Its only argument. */
export interface ProcessLimits {
  readonly residentBytes: number
  readonly processorMs: number
}

/** Reads the input to its end, into memory that is used again, because freed memory is only returned much later. */
function input(): { question: WorkbookQuestion; file: Uint8Array } {
  const piece = Buffer.alloc(64 * 1024)
  let line = Buffer.alloc(0)
  let end = -1
  while (end < 0) {
    const read = readSync(0, piece)
    if (read === 0) throw new Error('The question is incomplete.')
    line = Buffer.concat([line, piece.subarray(0, read)])
    end = line.indexOf('\n')
  }
  const question = JSON.parse(line.toString('utf8', 0, end)) as WorkbookQuestion
  const file = new Uint8Array(question.bytes)
  file.set(line.subarray(end + 1))
  let at = line.length - end - 1
  while (at < file.length) {
    const read = readSync(0, file, at, file.length - at, null)
    if (read === 0) throw new Error('The file is incomplete.')
    at += read
  }
  return { question, file }
}

/** Ends the process at its limits, from a thread, because the thread that reads may not yield for long. */
async function watched(): Promise<void> {
  const thread = new Worker(new URL('./workbook-watch.ts', import.meta.url), {
    workerData: { ...JSON.parse(process.argv[2] ?? '{}'), parent: process.ppid },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  })
  thread.unref()
  await once(thread, 'message')
}

async function write(piece: string): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
}

const writeLine = (answer: WorkbookAnswer) => write(`${JSON.stringify(answer)}\n`)

/** The lines that are written at once, so that the text is never whole in the memory of this process. */
const linesAtOnce = 1_000

async function writeSheet({ lines, facts }: SheetText): Promise<void> {
  let bytes = lines.length
  for (const line of lines) bytes += Buffer.byteLength(line ?? '')
  await writeLine({ facts, bytes, processorMs: processorMs() })
  for (let at = 0; at < lines.length; at += linesAtOnce) {
    await write(`${lines.slice(at, at + linesAtOnce).join('\n')}\n`)
  }
}

const processorMs = () => {
  const { user, system } = process.cpuUsage()
  return Math.ceil((user + system) / 1_000)
}

async function answer(): Promise<void> {
  await watched()
  const { question, file } = input()
  const { choice, limits } = question
  const { count, least } = vocabularies[choice.vocabulary]
  const isTable = (rows: string[][]) => rows.some((cells) => count(cells) >= least)
  try {
    await writeSheet(await sheetText(file, limits, { ...choice, isTable }))
  } catch (error) {
    if (!(error instanceof UnreadableWorkbook)) throw error
    await writeLine({ unreadable: error.message, processorMs: processorMs() })
  }
}

// A signal to the whole group of processes is for the service, which ends this process when it no longer needs it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
await answer()
process.stdout.write('', () => process.exit())

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import {
  firstWorkbookTurnBytes,
  firstWorkbookTurnMs,
  workbookMemoryBytesMax,
  workbookProcessorSecondsMax,
  workbookTextBytesMax,
  workbookUnpackedBytesMax,
} from '#contract/limits.ts'
import { lowerPriority, type ReadingTurn, readingTurn, TurnEnded } from '../runtime/index.ts'
import { type FileBytes, unpacked } from './file-bytes.ts'
import { compiledCodeFolder } from './workbook-code.ts'
import type { ProcessLimits, WorkbookAnswer, WorkbookQuestion } from './workbook-main.ts'
import type { SheetFacts } from './workbook-rows.ts'

/** A sheet of a workbook as CSV text in UTF-8: line N is row N of the sheet. */
export type SheetBytes = SheetFacts & { readonly text: Uint8Array }

/** The heap of the process that reads a workbook. It is only a part of its memory, so the process watches the whole, too. */
const heapMaxMb = 96
/** The memory for the newest objects. Nearly all live as long as one row, so more would not save time. */
const newestMaxMb = 2
/** The maximum length of the first line of the answer: the names of a thousand sheets. */
const answerLengthMax = 1024 * 1024

const tooLarge = 'The workbook is too large to be read. Save the sheet as "CSV UTF-8" and send that file.'

/**
 * Reads a sheet of a workbook in a process with its own memory. However the process ends, the service goes on. It ends with the turn
 * of the file.
 *
 * @returns the sheet, or why the workbook cannot be read
 * @throws TurnEnded if the turn of the file ended before, and the file may be read in another
 */
export async function readWorkbook(
  file: FileBytes,
  { bytes, choice }: Pick<WorkbookQuestion, 'bytes' | 'choice'>,
): Promise<SheetBytes | { readonly unreadable: string }> {
  const turn = readingTurn()
  if (turn?.signal.aborted === true) throw new TurnEnded(false)
  const question: WorkbookQuestion = {
    bytes,
    choice,
    limits: { unpackedBytesMax: workbookUnpackedBytesMax, textBytesMax: workbookTextBytesMax },
  }
  const most: ProcessLimits =
    turn?.isShort === true
      ? { residentBytes: firstWorkbookTurnBytes, processorMs: firstWorkbookTurnMs }
      : { residentBytes: workbookMemoryBytesMax, processorMs: workbookProcessorSecondsMax * 1_000 }
  const child = startProcess(most)
  // Requests and small workbooks come before a long one.
  if (turn?.isShort === false && child.pid !== undefined)
    lowerPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  const kill = () => child.kill('SIGKILL')
  turn?.signal.addEventListener('abort', kill, { once: true })
  try {
    return await answerOf(child, { question, file, most, turn })
  } finally {
    turn?.signal.removeEventListener('abort', kill)
    kill()
  }
}

function startProcess(most: ProcessLimits) {
  const folder = compiledCodeFolder()
  return spawn(
    process.execPath,
    [
      `--max-old-space-size=${heapMaxMb}`,
      `--max-semi-space-size=${newestMaxMb}`,
      fileURLToPath(new URL('./workbook-main.ts', import.meta.url)),
      JSON.stringify(most),
    ],
    {
      // No other variables, because they contain the secret keys of the installation.
      env: folder === null ? {} : { NODE_COMPILE_CACHE: folder },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
}

type Process = ReturnType<typeof startProcess>

async function answerOf(
  child: Process,
  {
    question,
    file,
    most,
    turn,
  }: {
    readonly question: WorkbookQuestion
    readonly file: FileBytes
    readonly most: ProcessLimits
    readonly turn: ReadingTurn | null
  },
): Promise<SheetBytes | { readonly unreadable: string }> {
  const [ended, answer, said] = [endOf(child), readAnswer(child.stdout), readEnd(child.stderr)]
  // Also of a process that could not start, whose end is then reported below.
  for (const one of [ended, answer, said]) one.catch(() => {})
  const sent = pipeline(Readable.from(asked(question, file)), child.stdin)
  // A process that has ended no longer reads its input. A file that cannot be unpacked ends the process.
  const failed = sent.then(
    () => null,
    (error: NodeJS.ErrnoException) => (error.code === 'EPIPE' || error.code === 'ECONNRESET' ? null : error),
  )
  const { code, signal } = await ended
  const error = await failed
  if (code === 0) {
    const read = await answer
    if (read !== null) {
      turn?.used(read.processorMs)
      return 'unreadable' in read ? { unreadable: read.unreadable } : { ...read.facts, text: read.text }
    }
  }
  if (turn?.signal.aborted === true) throw new TurnEnded(false)
  if (error !== null && signal === null) throw error
  const words = await said
  const used = Number(/^{"processorMs":(\d+)/.exec(words)?.[1] ?? most.processorMs)
  turn?.used(used)
  // The process has ended itself or was ended by the system: it needed too much memory or time.
  if (signal !== null || /heap out of memory/i.test(words)) {
    if (turn?.isShort === true) throw new TurnEnded(true)
    return { unreadable: tooLarge }
  }
  throw new Error(`The process of a workbook ended without an answer (${code}): ${words.slice(0, 2_000)}`)
}

async function* asked(question: WorkbookQuestion, file: FileBytes): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(question)}\n`)
  yield* unpacked(file)
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
}

type Answer = Extract<WorkbookAnswer, { unreadable: string }> | (Sheet & { readonly text: Uint8Array })
type Sheet = Exclude<WorkbookAnswer, { unreadable: string }>

/** The answer of the process; null if it is incomplete. */
async function readAnswer(output: Readable): Promise<Answer | null> {
  let line = Buffer.alloc(0)
  let sheet: Answer | null = null
  let at = 0
  for await (const piece of output as AsyncIterable<Buffer>) {
    let rest = piece
    if (sheet === null) {
      line = Buffer.concat([line, piece])
      const end = line.indexOf('\n')
      if (end < 0 && line.length > answerLengthMax) return null
      if (end < 0) continue
      const said = JSON.parse(line.toString('utf8', 0, end)) as WorkbookAnswer
      if ('unreadable' in said) return said
      sheet = { ...said, text: new Uint8Array(said.bytes) }
      rest = line.subarray(end + 1)
    }
    if (!('text' in sheet)) continue
    sheet.text.set(rest, at)
    at += rest.length
  }
  return sheet !== null && 'text' in sheet && at === sheet.text.length ? sheet : null
}

/** The first words that the process has said about its end. */
async function readEnd(output: Readable): Promise<string> {
  let words = ''
  for await (const piece of output) if (words.length < 4_000) words += String(piece)
  return words
}

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type FileHandle, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isLanewiseFailure } from '#client/failures.ts'
import { readBytes } from './booking-commands.ts'
import { serviceClient, urlOf } from './clients.ts'
import type { AddCommands, Run } from './command.ts'
import { CommandFailed, failureOutput } from './exits.ts'
import { addedCells, headText, laneOfRow, type PriceFile, readPriceFile, rowsText } from './price-file.ts'
import { lanePricer, type PricedLane, type PriceLanes } from './price-lanes.ts'
import { progressBar } from './quote-commands.ts'

/** Rows between two checkpoints. A run that is killed repeats at most this many rows, about two seconds of work. */
const rowsPerCheckpoint = 1_000

interface PriceOptions {
  readonly output?: string
  readonly column?: string[]
  readonly insight?: boolean
  readonly suggest?: boolean
  readonly restart?: boolean
}

/** The checkpoint of a run, saved next to its output file until the run is complete. */
interface Progress {
  readonly of: string
  readonly rowsDone: number
  readonly rowsRefused: number
  readonly bytes: number
}

export const addPriceCommand: AddCommands = (program, action) => {
  program
    .command('price <file>')
    .summary('price every lane of a CSV file')
    .description(
      `Writes the same file with added columns: the priced rate, win probability, confidence, markup, suggested rate, rate band, verdict, the basis and currency of these amounts, and an error for a row that cannot be priced. Rows keep their order. The file needs a column with the rate to price, unless --suggest prices every lane at its suggested rate; a row without a rate gets an error. Columns are recognized by the same names as in imports, such as Sell Rate, Ship From or Origin Zip. A rate must be in US dollars per load, on the default basis of the brokerage: if the name of its column or a column Basis states another one, the row gets an error. Up to 1,000 lanes are sent per request, and half of the brokerage's rate limit is left for other systems: 10,000 lanes take about twenty seconds. If the command is interrupted, run it again to continue.`,
    )
    .option('-o, --output <file>', 'the output file; default FILE.priced.csv; - for the standard output')
    .option(
      '-c, --column <field=column...>',
      'the column of a field, by name or number (#3). Fields: origin, destination (each also with _city, _state, _zip), equipment, rate, basis, currency',
    )
    .option('--suggest', 'price every lane at its suggested rate; rate columns are ignored')
    .option('--insight', 'also add the insight about each lane')
    .option('--restart', 'start again, and discard an unfinished run')
    .addHelpText('after', '\nExample:\n  lanewise price lanes.csv -o priced.csv --column "rate=Sell Rate"')
    .action(
      action<PriceOptions>(async (run, [name = ''], own) => {
        const withInsight = own.insight === true
        const bytes = await readBytes(run, name)
        const file = readPriceFile(bytes, own.column ?? [], own.suggest === true)
        const target = resolve(run.folder, own.output ?? name.replace(/(\.csv)?$/i, '.priced.csv'))
        if (target === resolve(run.folder, name))
          throw new CommandFailed(2, 'The output must be another file.')
        // Long timeouts, because a call may wait while other systems use the rate limit of the brokerage.
        const lanewise = serviceClient(run.options, run, 'token', {
          retries: 20,
          attemptTimeoutMs: 45_000,
          timeoutMs: 180_000,
        })
        const { signal } = run
        const price = lanePricer({ lanewise, withInsight, signal })
        if (own.output === '-') {
          const refused = await priceToOutput(run, file, withInsight, price)
          run.remark(`${counted(file.rows.length)}, ${refused} with an error.`)
          if (refused > 0) run.exitWith(6)
          return
        }
        const of = createHash('sha256')
          .update(JSON.stringify([file.columns, withInsight]))
          .update(bytes)
          .digest('hex')
        const done = await priceInto(
          run,
          { file, target, of, withInsight, restart: own.restart === true },
          price,
        )
        run.answer(
          { file: target, rows: file.rows.length, refused: done.rowsRefused },
          `Wrote ${target}: ${counted(file.rows.length)}, ${done.rowsRefused} with an error.`,
        )
        if (done.rowsRefused > 0) run.exitWith(6)
      }),
    )
}

const counted = (rows: number) => `${rows} row${rows === 1 ? '' : 's'}`

interface Work {
  readonly file: PriceFile
  readonly target: string
  /** A digest of the file and the options. An unfinished run is continued only if its digest is equal. */
  readonly of: string
  readonly withInsight: boolean
  readonly restart: boolean
}

/** Prices to the standard output, without checkpoints. Returns the number of rows with an error. */
async function priceToOutput(
  run: Run,
  file: PriceFile,
  withInsight: boolean,
  price: PriceLanes,
): Promise<number> {
  let refused = 0
  run.write(headText(file, withInsight))
  for (let at = 0; at < file.rows.length; at += rowsPerCheckpoint) {
    const rows = file.rows.slice(at, at + rowsPerCheckpoint)
    const priced = await pricedRows(rows, file, price)
    run.write(
      rowsText(
        file,
        rows.map((row, place) => [row, addedCells(priced[place] ?? null, withInsight)]),
      ),
    )
    refused += priced.filter((one) => one?.ok === false).length
  }
  return refused
}

async function priceInto(run: Run, work: Work, price: PriceLanes): Promise<Progress> {
  const { file, target, withInsight } = work
  const [part, note] = [`${target}.part`, `${target}.part.json`]
  const begun = await begin(work, part, note)
  let progress = begun
  if (begun.rowsDone > 0) run.remark(`Continuing after row ${begun.rowsDone} of ${file.rows.length}.`)
  const bar = progressBar(run, file.rows.length, 'rows')
  const out = await open(part, 'r+')
  try {
    await out.truncate(begun.bytes)
    bar?.update(begun.rowsDone)
    while (progress.rowsDone < file.rows.length) {
      const rows = file.rows.slice(progress.rowsDone, progress.rowsDone + rowsPerCheckpoint)
      const priced = await pricedRows(rows, file, price)
      progress = await append(
        out,
        rowsText(
          file,
          rows.map((row, at) => [row, addedCells(priced[at] ?? null, withInsight)]),
        ),
        {
          ...progress,
          rowsDone: progress.rowsDone + rows.length,
          rowsRefused: progress.rowsRefused + priced.filter((one) => one?.ok === false).length,
        },
      )
      await writeFile(`${note}.new`, JSON.stringify(progress))
      await rename(`${note}.new`, note)
      if (bar !== null) bar.update(progress.rowsDone)
      else if (isTenth(progress.rowsDone, rows.length, file.rows.length)) {
        run.remark(`${progress.rowsDone} of ${file.rows.length} rows`)
      }
    }
  } catch (error) {
    if (!isLanewiseFailure(error) && !run.signal.aborted) throw error
    const { exit, shown } = run.signal.aborted
      ? { exit: 130 as const, shown: 'Stopped.' }
      : failureOutput(error, () => urlOf(run.options, run))
    throw new CommandFailed(
      exit,
      `${shown}\n${progress.rowsDone} of ${file.rows.length} rows are priced. Run the same command again to continue.`,
      error,
    )
  } finally {
    bar?.stop()
    await out.close()
  }
  await rename(part, target)
  await rm(note, { force: true })
  return progress
}

/**
 * The position to start from: after the output of an unfinished run of the same file and options, else after the
 * header.
 */
async function begin(
  { file, of, withInsight, restart }: Work,
  part: string,
  note: string,
): Promise<Progress> {
  if (!restart && existsSync(note) && existsSync(part)) {
    const progress = JSON.parse(await readFile(note, 'utf8')) as Progress
    if (progress.of === of) return progress
    throw new CommandFailed(
      2,
      `${part} belongs to another file or other options. Delete it, or start again with --restart.`,
    )
  }
  const head = headText(file, withInsight)
  await writeFile(part, head)
  return { of, rowsDone: 0, rowsRefused: 0, bytes: Buffer.byteLength(head) }
}

async function append(
  out: FileHandle,
  text: string,
  progress: Omit<Progress, 'bytes'> & { bytes: number },
): Promise<Progress> {
  const bytes = Buffer.from(text)
  await out.write(bytes, 0, bytes.length, progress.bytes)
  await out.sync()
  return { ...progress, bytes: progress.bytes + bytes.length }
}

/** The result for each row; null for an empty line. */
async function pricedRows(
  rows: readonly (readonly string[])[],
  file: PriceFile,
  price: PriceLanes,
): Promise<(PricedLane | null)[]> {
  const lanes = rows.map((row) => laneOfRow(row, file))
  const asked = lanes.flatMap((lane) => (lane === null || 'error' in lane ? [] : [lane]))
  const answers = (await price(asked)).values()
  return lanes.map((lane) => {
    if (lane === null) return null
    return 'error' in lane ? { ok: false, detail: lane.error } : (answers.next().value ?? null)
  })
}

function isTenth(done: number, step: number, total: number): boolean {
  return Math.floor((done * 10) / total) > Math.floor(((done - step) * 10) / total)
}

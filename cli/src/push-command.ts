import { createHash } from 'node:crypto'
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isLanewiseFailure, type Lanewise } from '#client/index.ts'
import type { Answer } from '#client/sent.ts'
import { pushedItemsMax } from '#contract/limits.ts'
import { readBytes } from './booking-commands.ts'
import { serviceClient, urlOf } from './clients.ts'
import { type AddCommands, type Run, withExample } from './command.ts'
import { listed } from './csv-file.ts'
import { CommandFailed, failureOutput } from './exits.ts'
import type { DateOptions } from './push-dates.ts'
import {
  columnName,
  type PushedQuote,
  type PushFile,
  type PushRow,
  pushFieldNames,
  pushRows,
  readPushFile,
} from './push-file.ts'
import { progressBar } from './quote-commands.ts'
import { pairs, shortened, unknownPlacesText } from './show.ts'

/** The command gives up after this many calls in a row in which the service reached no item. */
const fruitlessCallsMax = 3

/** The result of a row, as printed with --json and saved in the journal. */
interface RowResult {
  readonly row: number
  readonly external_id: string
  readonly result: 'created' | 'updated' | 'unchanged' | 'refused'
  readonly lane_ref?: string
  readonly kept?: readonly string[]
  readonly unknown_places?: Extract<Answered, { status: 200 }>['unknown_places']
  readonly errors?: readonly { readonly column: string | null; readonly detail: string }[]
}

interface PushOptions extends DateOptions {
  readonly column?: string[]
  readonly dryRun?: boolean
  readonly restart?: boolean
}

const addPush: AddCommands = (quotes, action) => {
  quotes
    .command('push <file>')
    .summary('push the quotes of a CSV file under your own ids, signed')
    .description(
      `Creates and updates quotes by your own ids (external_id). Columns are recognized by the same names as in imports, such as Load ID, Ship From, Sell Price or Status. Rows that are not valid are reported with row and column; the others are pushed, ${pushedItemsMax} per call. Pushing the same file again changes nothing. A push counts as newer than everything before it: do not push an old file over newer values. If the command is interrupted, run it again: it continues after the last call.`,
    )
    .option(
      '-c, --column <field=column...>',
      `the column of a field, by name or number (#3). Fields: ${pushFieldNames.join(', ')}`,
    )
    .option('--time-zone <zone>', 'the zone of times without one, such as America/Chicago')
    .option('--dates <order>', 'the order of dates such as 3/1/2026: month_first or day_first')
    .option('--dry-run', 'show what would change, and which rows have errors, without pushing anything')
    .option('--restart', 'start again, and discard an unfinished run')
    .addHelpText(
      'after',
      withExample(
        'lanewise quotes push quotes.csv --dry-run',
        'lanewise quotes push quotes.csv --column "quoted_rate=Sell Rate"',
      ),
    )
    .action(
      action<PushOptions>(async (run, [name = ''], own) => {
        const bytes = await readBytes(run, name)
        const file = readPushFile(bytes, own.column ?? [], own)
        for (const note of file.dates.notes) run.remark(note)
        if (file.unused.length > 0) run.remark(`Not pushed: the columns ${listed(file.unused)}.`)
        const rows = pushRows(file)
        const wrong = rows.flatMap(wrongRow)
        // Long timeouts, because a push waits for the rate limit of the brokerage.
        const lanewise = serviceClient(run.options, run, 'token and secret', {
          retries: 20,
          attemptTimeoutMs: 45_000,
          timeoutMs: 180_000,
        })
        if (own.dryRun === true) {
          const checked = await checkAll(run, { lanewise, file, rows })
          printResults(run, inOrder([...wrong, ...checked]), rows.length, true)
          return
        }
        const of = createHash('sha256')
          .update(JSON.stringify([file.columns, own.timeZone, own.dates, urlOf(run.options, run)]))
          .update(bytes)
          .digest('hex')
        const journal = await openJournal(
          run,
          `${resolve(run.folder, name)}.push.jsonl`,
          of,
          own.restart === true,
        )
        const pushed = await pushAll(run, { lanewise, file, rows, journal })
        await rm(journal.path, { force: true })
        printResults(run, inOrder([...wrong, ...pushed]), rows.length)
      }),
    )
}

/** Commands for many quotes. */
export const addPushCommand: AddCommands = (program, action) => {
  const quotes = program
    .command('quotes')
    .summary('push the quotes of a CSV file')
    .addHelpText('after', withExample('lanewise quotes push quotes.csv'))
  addPush(quotes, action)
}

const inOrder = (results: readonly RowResult[]) => [...results].sort((a, b) => a.row - b.row)

const wrongRow = ({ row, quote, errors }: PushRow): RowResult[] =>
  errors.length === 0 ? [] : [{ row, external_id: quote.external_id, result: 'refused', errors }]

/** The results of an unfinished run, next to its file, one per line after the digest of the run. */
interface Journal {
  readonly path: string
  readonly done: readonly RowResult[]
}

/** Opens the journal of an unfinished run of the same file, or starts a new one. */
async function openJournal(run: Run, path: string, of: string, restart: boolean): Promise<Journal> {
  const text = restart ? '' : await readFile(path, 'utf8').catch(() => '')
  const [head = '', ...lines] = text.split('\n')
  if (head === of) {
    // A line that was written in part is pushed again.
    const done = lines.flatMap((line) => parsedLine(line))
    await writeFile(path, journalText([of, ...done.map((one) => JSON.stringify(one))]))
    if (done.length > 0) run.remark(`Continuing: ${counted(done.length)} of an unfinished run are pushed.`)
    return { path, done }
  }
  if (head !== '') run.remark('The file or the options changed since the unfinished run. Pushing all rows.')
  await writeFile(path, journalText([of]))
  return { path, done: [] }
}

const journalText = (lines: readonly string[]) => `${lines.join('\n')}\n`

function parsedLine(line: string): RowResult[] {
  try {
    return [JSON.parse(line) as RowResult]
  } catch {
    return []
  }
}

interface Push {
  readonly lanewise: Lanewise
  readonly file: PushFile
  readonly rows: readonly PushRow[]
  readonly journal: Journal
}

/** Pushes the valid rows that are not in the journal yet, and returns the results of all valid rows. */
async function pushAll(run: Run, { lanewise, file, rows, journal }: Push): Promise<RowResult[]> {
  const results = [...journal.done]
  const before = new Set(results.map(({ row }) => row))
  const left = rows.filter(({ row, errors }) => errors.length === 0 && !before.has(row))
  const total = left.length + results.length
  try {
    await inCalls(
      run,
      { file, left, results },
      async (quotes) => {
        const { results: answered } = await lanewise.pushQuotes({ quotes }, { signal: run.signal })
        return answered
      },
      (done) => appendFile(journal.path, journalText(done.map((one) => JSON.stringify(one)))),
    )
    return results
  } catch (error) {
    if (!isLanewiseFailure(error) && !(error instanceof CommandFailed) && !run.signal.aborted) throw error
    const { exit, shown } = run.signal.aborted
      ? { exit: 130 as const, shown: 'Stopped.' }
      : failureOutput(error, () => urlOf(run.options, run))
    throw new CommandFailed(
      exit,
      `${shown}\n${results.length} of ${total} rows are pushed. Run the same command again to continue.`,
      error,
    )
  }
}

/** The results that a push of the valid rows would have now. */
async function checkAll(run: Run, { lanewise, file, rows }: Omit<Push, 'journal'>): Promise<RowResult[]> {
  const results: RowResult[] = []
  const left = rows.filter(({ errors }) => errors.length === 0)
  await inCalls(run, { file, left, results }, async (quotes) => {
    const { results: answered } = await lanewise.checkQuotes({ quotes }, { signal: run.signal })
    return answered
  })
  return results
}

interface Calls {
  readonly file: PushFile
  readonly left: readonly PushRow[]
  /** The results of the calls are added to these. */
  readonly results: RowResult[]
}

/** Sends rows in calls of at most `pushedItemsMax`, and resends rows that the service did not reach in time. */
async function inCalls(
  run: Run,
  { file, left: rows, results }: Calls,
  send: (quotes: readonly PushedQuote[]) => Promise<readonly Answered[]>,
  keep: (done: readonly RowResult[]) => Promise<void> = async () => {},
): Promise<void> {
  const total = rows.length + results.length
  const bar = progressBar(run, total, 'rows')
  let left = rows
  let fruitless = 0
  try {
    while (left.length > 0) {
      const chunk = left.slice(0, pushedItemsMax)
      const { done, late } = resultsOf(file, chunk, await send(chunk.map(({ quote }) => quote)))
      left = [...late, ...left.slice(chunk.length)]
      fruitless = done.length === 0 ? fruitless + 1 : 0
      if (fruitless === fruitlessCallsMax) {
        throw new CommandFailed(5, 'The service is too busy: it reached none of the rows of three calls.')
      }
      await keep(done)
      results.push(...done)
      if (bar !== null) bar.update(results.length)
      else run.remark(`${results.length} of ${total} rows`)
    }
  } finally {
    bar?.stop()
  }
}

type Answered = Answer<'push-quotes' | 'check-quotes'>['results'][number]

/** The results of a call, and the rows that the service did not reach in time. */
function resultsOf(
  file: PushFile,
  chunk: readonly PushRow[],
  answered: readonly Answered[],
): { done: RowResult[]; late: PushRow[] } {
  const done: RowResult[] = []
  const late: PushRow[] = []
  for (const result of answered) {
    const sent = chunk[result.index]
    if (sent === undefined) continue
    const row = { row: sent.row, external_id: sent.quote.external_id }
    if (result.status === 200) {
      const { kept, unknown_places } = result
      done.push({
        ...row,
        result: result.result,
        ...('lane_ref' in result ? { lane_ref: result.lane_ref } : {}),
        ...(kept === undefined ? {} : { kept }),
        ...(unknown_places === undefined ? {} : { unknown_places }),
      })
    } else if (result.status === 503) late.push(sent)
    else done.push({ ...row, result: 'refused', errors: errorsOf(file, result) })
  }
  return { done, late }
}

type Refused = Exclude<Answered, { status: 200 }>

const errorsOf = (file: PushFile, { errors, detail }: Refused) =>
  errors === undefined || errors.length === 0
    ? [{ column: null, detail }]
    : errors.map((error) => ({ column: columnName(file, error.pointer.slice(1)), detail: error.detail }))

const counted = (rows: number) => `${rows} row${rows === 1 ? '' : 's'}`

const errorLines = (results: readonly RowResult[]) =>
  shortened(
    results.flatMap(({ row, errors = [] }) =>
      errors.map(({ column, detail }) => `row ${row}${column === null ? '' : `, ${column}`}: ${detail}`),
    ),
  )

function printResults(run: Run, results: readonly RowResult[], rows: number, isCheck = false): void {
  const count = (wanted: RowResult['result']) => results.filter(({ result }) => result === wanted).length
  const refused = count('refused')
  const kept = results.flatMap(({ row, kept: fields = [] }) =>
    fields.length === 0
      ? []
      : `row ${row}: not applied, because the quote has newer values: ${fields.join(', ')}`,
  )
  const misspelled = results.flatMap((one) =>
    unknownPlacesText(one).map((sentence) => `row ${one.row}: ${sentence}`),
  )
  const counts = {
    rows,
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    refused,
  }
  run.answer(
    { ...counts, results },
    [
      pairs([
        ['rows', counts.rows],
        [isCheck ? 'would be created' : 'created', counts.created],
        [isCheck ? 'would be updated' : 'updated', counts.updated],
        ['unchanged', counts.unchanged],
        ['with errors', refused],
        ...(misspelled.length === 0 ? [] : ([['unknown places', misspelled.length]] as const)),
      ]),
      ...errorLines(results),
      ...shortened(kept),
      ...shortened(misspelled),
    ].join('\n'),
  )
  if (refused > 0) run.exitWith(6)
}

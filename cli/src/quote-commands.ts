import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import cliProgress from 'cli-progress'
import type { Answer, Body } from '#client/sent.ts'
import { chargesTyped, readBytes } from './booking-commands.ts'
import { serviceClient } from './clients.ts'
import { type AddCommands, decimal, given, type Run, withExample } from './command.ts'
import { CommandFailed } from './exits.ts'
import type { PushedQuote } from './push-file.ts'
import { pairs, unknownPlacesText } from './show.ts'

const longTimeouts = { attemptTimeoutMs: 600_000, timeoutMs: 900_000 }
const pollEveryMs = 400
const outcomes = ['won', 'lost', 'pending'] as const satisfies readonly PushedOutcome['outcome'][]
const outcomeReasons = [
  'price',
  'service',
  'capacity',
  'no_response',
  'withdrawn',
  'other',
] as const satisfies readonly PushedOutcome['outcome_reason'][]

type PushedOutcome = Body<'push-outcomes'>['outcomes'][number]
type PushedResult = Answer<'push-quotes' | 'push-outcomes'>['results'][number]

interface QuoteOptions {
  readonly externalId: string
  readonly customer: string
  readonly estimatedCost?: string
  readonly quotedBasis?: string
  readonly quotedFuel?: string
  readonly quotedAccessorials?: string
  readonly quotedCharges?: string
  readonly currency?: string
  readonly miles?: string
  readonly rateType?: string
  readonly mode?: string
  readonly stops?: string
  readonly pickupDate?: string
  readonly repName?: string
  readonly quotedAt?: string
  readonly validUntil?: string
}

const addQuote: AddCommands = (program, action) => {
  program
    .command('quote <origin> <destination> <equipment> <rate>')
    .summary('push a quote under your own id, signed; prints its lane_ref')
    .description(
      'Creates a quote under your own id. The same id again updates the quote, and the same command again changes nothing.',
    )
    .requiredOption('--external-id <id>', 'your own id of the quote')
    .requiredOption('--customer <name>', 'the shipper that the quote is for')
    .option('--estimated-cost <dollars>', 'the expected truck cost')
    .option('--quoted-basis <basis>', 'what the rate includes: linehaul or all_in')
    .option('--quoted-fuel <dollars>', 'the fuel charge of the rate')
    .option('--quoted-accessorials <dollars>', 'the accessorial charges of the rate')
    .option('--quoted-charges <charges>', 'accessorial charges by name: "detention 75; lumper 120"')
    .option('--currency <currency>', 'the currency of all amounts: USD or CAD')
    .option('--miles <miles>', 'the loaded miles; computed from the places if absent')
    .option('--rate-type <type>', 'spot or contract')
    .option('--mode <mode>', 'truckload, partial, ltl, drayage or intermodal')
    .option('--stops <places>', 'between origin and destination: "Memphis, TN; Nashville, TN"')
    .option('--pickup-date <day>', 'YYYY-MM-DD')
    .option('--rep-name <name>', 'who quoted: a name or an e-mail address')
    .option('--quoted-at <time>', 'when it was quoted, ISO 8601; default now')
    .option('--valid-until <time>', 'until when the rate is valid, ISO 8601')
    .addHelpText(
      'after',
      withExample(
        'lanewise quote "Dallas, TX" "Atlanta, GA" V 2150 --external-id TMS-10442 --customer "Harvest Table Foods"',
      ),
    )
    .action(
      action<QuoteOptions>(async (run, [origin = '', destination = '', equipment = '', rate = ''], own) => {
        const amount = (text: string | undefined, name: string) =>
          text === undefined ? undefined : Number(decimal(text, name))
        const quote: PushedQuote = {
          external_id: own.externalId,
          origin,
          destination,
          equipment,
          quoted_rate: Number(decimal(rate, 'The rate')),
          customer_name: own.customer,
          ...given({
            estimated_cost: amount(own.estimatedCost, '--estimated-cost'),
            // The service checks the word.
            quoted_basis: own.quotedBasis as PushedQuote['quoted_basis'],
            quoted_fuel: amount(own.quotedFuel, '--quoted-fuel'),
            quoted_accessorials: amount(own.quotedAccessorials, '--quoted-accessorials'),
            quoted_charges:
              own.quotedCharges === undefined
                ? undefined
                : chargesTyped(own.quotedCharges, '--quoted-charges'),
            quoted_currency: own.currency as PushedQuote['quoted_currency'],
            miles: amount(own.miles, '--miles'),
            rate_type: own.rateType as PushedQuote['rate_type'],
            mode: own.mode as PushedQuote['mode'],
            stops: own.stops?.split(';').map((place) => place.trim()),
            pickup_date: own.pickupDate,
            rep_name: own.repName,
            quoted_at: own.quotedAt,
            valid_until: own.validUntil,
          }),
        }
        const lanewise = serviceClient(run.options, run, 'token and secret')
        const { results } = await lanewise.pushQuotes({ quotes: [quote] }, { signal: run.signal })
        const pushed = appliedResult(run, results)
        run.answer(pushed, pushed.lane_ref)
      }),
    )
}

const addOutcome: AddCommands = (program, action) => {
  program
    .command('outcome <lane_ref> <outcome>')
    .summary(`mark a quote ${outcomes.join(', ')}, signed`)
    .option('--reason <reason>', `why it was lost: ${outcomeReasons.join(', ')}`)
    .addHelpText('after', withExample('lanewise outcome 48211093754-1-1 lost --reason price'))
    .action(
      action<{ reason?: string }>(async (run, [laneRef = '', outcome = ''], own) => {
        const known = outcomes.find((one) => one === outcome)
        const reason = outcomeReasons.find((one) => one === own.reason)
        if (known === undefined)
          throw new CommandFailed(2, `The outcome must be one of ${outcomes.join(', ')}; it is "${outcome}".`)
        if (own.reason !== undefined && reason === undefined) {
          throw new CommandFailed(
            2,
            `--reason must be one of ${outcomeReasons.join(', ')}; it is "${own.reason}".`,
          )
        }
        const decided = { lane_ref: laneRef, outcome: known, ...given({ outcome_reason: reason }) }
        const lanewise = serviceClient(run.options, run, 'token and secret')
        const { results } = await lanewise.pushOutcomes({ outcomes: [decided] }, { signal: run.signal })
        const pushed = appliedResult(run, results)
        run.answer(pushed, `${pushed.lane_ref}: ${known}, ${pushed.result}`)
      }),
    )
}

/** The result of the only item of a push. @throws CommandFailed if the service refused the item */
function appliedResult(run: Run, [result]: readonly PushedResult[]): Extract<PushedResult, { status: 200 }> {
  if (result?.status === 200) {
    const { kept = [] } = result
    if (kept.length > 0) run.remark(`Not applied, because the quote has newer values: ${kept.join(', ')}.`)
    for (const sentence of unknownPlacesText(result)) run.remark(sentence)
    return result
  }
  const { status = 503, detail = 'The service returned no result.', errors = [] } = result ?? {}
  const details = errors.map((error) => error.detail).join('\n')
  throw new CommandFailed(status === 404 ? 4 : status === 503 ? 5 : 1, details || detail)
}

const addImport: AddCommands = (program, action) => {
  program
    .command('import <file>')
    .summary('import past quotes and bookings from a file, signed')
    .description(
      'The file is CSV text in any usual encoding, or an Excel workbook (.xlsx), also gzip. Valid rows are imported; invalid rows are skipped. A row with a known reference updates its quote. Importing the same row again changes nothing. The service token needs the scope imports:write.',
    )
    .option('--dry-run', 'check the file without importing it')
    .option('--map <pairs>', 'field=column pairs, such as quoted_rate=Sell Rate,outcome=#7')
    .option('--sheet <name>', 'the sheet of a workbook; the first one with a header if absent')
    .addHelpText(
      'after',
      withExample(
        'lanewise import quotes.csv --dry-run',
        'lanewise import quotes.csv --map "quoted_rate=Sell Rate"',
      ),
    )
    .action(
      action<{ dryRun?: boolean; map?: string; sheet?: string }>(async (run, [file = ''], own) => {
        const lanewise = serviceClient(run.options, run, 'token and secret', longTimeouts)
        const bytes = await readBytes(run, file)
        const query = {
          file_name: basename(file),
          ...(own.dryRun === true ? { dry_run: 'true' as const } : {}),
          ...given({ map: own.map, sheet: own.sheet }),
        }
        let now = await lanewise.call(
          'integration-create-import',
          { query, body: new Blob([new Uint8Array(bytes)]) },
          { signal: run.signal },
        )
        const bar = progressBar(run, bytes.length, 'bytes')
        while (now.status === 'running') {
          await pause(pollEveryMs, undefined, { signal: run.signal })
          now = await lanewise.call(
            'integration-get-import',
            { params: { import_id: now.import_id } },
            { signal: run.signal },
          )
          bar?.update(now.bytes_read)
        }
        bar?.stop()
        printImport(run, now)
      }),
    )
}

/** Commands to create, decide and import quotes. */
export const addQuoteCommands: AddCommands = (program, action) => {
  for (const add of [addQuote, addOutcome, addImport]) add(program, action)
}

function printImport(run: Run, done: Answer<'integration-get-import'>): void {
  const { rows_read, rows_added, rows_updated, rows_repeated, rows_refused, rows_kept, errors } = done
  const value = (one: string | number | null) => (one === null ? 'empty' : String(one))
  const changes = done.changes.slice(0, 20).map(({ row, lane_ref, fields }) => {
    const what = fields.map(({ field, before, after }) => `${field} ${value(before)} -> ${value(after)}`)
    return `line ${row}, ${done.dry_run ? 'will change' : 'changed'} ${lane_ref}: ${what.join(', ')}`
  })
  const kept = done.kept.slice(0, 20).map(({ row, detail }) => `line ${row}: ${detail}`)
  const shown = errors
    .slice(0, 20)
    .map(({ row, column, detail }) => `line ${row}${column === null ? '' : `, ${column}`}: ${detail}`)
  run.answer(
    done,
    [
      ...done.understood.flatMap(understoodLines),
      pairs([
        ['rows read', rows_read],
        [done.dry_run ? 'would be added' : 'added', rows_added],
        [done.dry_run ? 'would be updated' : 'updated', rows_updated],
        ['repeated', rows_repeated],
        ['skipped for newer values', rows_kept],
        ['with errors', rows_refused],
      ]),
      ...changes,
      ...(rows_updated > changes.length
        ? [`and ${rows_updated - changes.length} more changed: see --json`]
        : []),
      ...kept,
      ...(done.kept.length > kept.length ? ['and more skipped values: see --json'] : []),
      ...shown,
      ...(errors.length > shown.length ? [`and ${rows_refused - shown.length} more: see --json`] : []),
    ].join('\n'),
  )
  if (done.status === 'failed' || done.status === 'stopped')
    throw new CommandFailed(1, done.failure ?? `The import was ${done.status}.`)
  if (rows_refused > 0) run.exitWith(6)
}

/** How a part of the file was read, and the other choices for --map. */
const understoodLines = ({ detail, choices }: Answer<'integration-get-import'>['understood'][number]) => [
  detail,
  ...choices.map((choice) => `  --map ${choice.map}: ${choice.detail}`),
]

/** A progress bar; null if the standard error is not a terminal. */
export function progressBar(run: Run, total: number, unit: string): cliProgress.SingleBar | null {
  if (run.terminal === null) return null
  const bar = new cliProgress.SingleBar(
    {
      stream: run.terminal,
      format: `{bar} {percentage} % | {value} of {total} ${unit} | {eta_formatted} left`,
      hideCursor: true,
      clearOnComplete: true,
    },
    cliProgress.Presets.rect,
  )
  bar.start(total, 0)
  return bar
}

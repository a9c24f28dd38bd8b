import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import cliProgress from 'cli-progress'
import type { Answer, Body } from '#client/sent.ts'
import { chargesTyped, readBytes } from './booking-commands.ts'
import { serviceClient, sessionClient } from './clients.ts'
import { type AddCommands, decimal, given, type Run, withExample } from './command.ts'
import { CommandFailed } from './exits.ts'
import { money, pairs } from './show.ts'

const longTimeouts = { attemptTimeoutMs: 600_000, timeoutMs: 900_000 }
const pollEveryMs = 400
const outcomes = ['won', 'lost', 'pending'] as const satisfies readonly Body<'set-outcome'>['outcome'][]
const outcomeReasons = [
  'price',
  'service',
  'capacity',
  'no_response',
  'other',
] as const satisfies readonly Body<'set-outcome'>['reason'][]

type SentLane = Body<'create-quote-request'>['lanes'][number]

interface QuoteOptions {
  readonly customer: string
  readonly reference?: string
  readonly estimatedCost?: string
  readonly quotedBasis?: string
  readonly quotedFuel?: string
  readonly quotedAccessorials?: string
  readonly quotedCharges?: string
  readonly currency?: string
  readonly marketRate?: string
  readonly miles?: string
  readonly rateType?: string
  readonly pickupDate?: string
}

const addQuote: AddCommands = (program, action) => {
  program
    .command('quote <origin> <destination> <equipment> <rate>')
    .summary('quote a lane; prints its lane_ref')
    .requiredOption('--customer <name>', 'the shipper that the quote is for')
    .option('--reference <text>', "the shipper's own reference")
    .option('--estimated-cost <dollars>', 'the expected truck cost')
    .option('--quoted-basis <basis>', 'what the rate includes: linehaul or all_in')
    .option('--quoted-fuel <dollars>', 'the fuel charge of the rate')
    .option('--quoted-accessorials <dollars>', 'the accessorial charges of the rate')
    .option('--quoted-charges <charges>', 'accessorial charges by name: "detention 75; lumper 120"')
    .option('--currency <currency>', 'the currency of all amounts: USD or CAD')
    .option('--market-rate <dollars>', 'the market rate at quote time')
    .option('--miles <miles>', 'the loaded miles, if you know them better')
    .option('--rate-type <type>', 'spot or contract')
    .option('--pickup-date <day>', 'YYYY-MM-DD')
    .addHelpText(
      'after',
      withExample('lanewise quote "Dallas, TX" "Atlanta, GA" V 2150 --customer "Harvest Table Foods"'),
    )
    .action(
      action<QuoteOptions>(async (run, [origin = '', destination = '', equipment = '', rate = ''], own) => {
        const amount = (text: string | undefined, name: string) =>
          text === undefined ? undefined : Number(decimal(text, name))
        const body = {
          customer_name: own.customer,
          ...given({ reference: own.reference }),
          request_key: randomUUID(),
          lanes: [
            {
              origin,
              destination,
              equipment,
              quoted_rate: Number(decimal(rate, 'The rate')),
              ...given({
                estimated_cost: amount(own.estimatedCost, '--estimated-cost'),
                // The service checks the word.
                quoted_basis: own.quotedBasis as SentLane['quoted_basis'],
                quoted_fuel: amount(own.quotedFuel, '--quoted-fuel'),
                quoted_accessorials: amount(own.quotedAccessorials, '--quoted-accessorials'),
                quoted_charges:
                  own.quotedCharges === undefined
                    ? undefined
                    : chargesTyped(own.quotedCharges, '--quoted-charges'),
                quoted_currency: own.currency as SentLane['quoted_currency'],
                market_rate: amount(own.marketRate, '--market-rate'),
                miles: amount(own.miles, '--miles'),
                rate_type: own.rateType as SentLane['rate_type'],
                pickup_date: own.pickupDate,
              }),
            },
          ],
        }
        // request_key makes the call idempotent: a repeat returns the quote request that the first call created.
        const made = await sessionClient(run.options, run).call(
          'create-quote-request',
          { body },
          { signal: run.signal, isRepeatable: true },
        )
        run.answer(made, made.lanes.map(({ lane_ref }) => lane_ref).join('\n'))
      }),
    )
}

const addOutcome: AddCommands = (program, action) => {
  program
    .command('outcome <lane_ref> <outcome>')
    .summary(`mark a lane ${outcomes.join(', ')}`)
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
        const lane = await sessionClient(run.options, run).call(
          'set-outcome',
          { params: { lane_ref: laneRef }, body: { outcome: known, ...given({ reason }) } },
          { signal: run.signal, isRepeatable: true },
        )
        run.answer(
          lane,
          pairs([
            ['lane', `${lane.origin} to ${lane.destination}, ${lane.equipment}`],
            ['quoted', money(lane.quoted_rate)],
            ['outcome', lane.outcome],
          ]),
        )
      }),
    )
}

const addImport: AddCommands = (program, action) => {
  program
    .command('import <file>')
    .summary('import past quotes and bookings from a CSV file')
    .description(
      'Valid rows are imported; invalid rows are skipped. A row with a known reference updates its lane. Importing the same row again changes nothing.',
    )
    .option('--dry-run', 'check the file without importing it')
    .option('--map <pairs>', 'field=column pairs, such as quoted_rate=Sell Rate,outcome=#7')
    .option('--signed', 'push it with the service token (scope imports:write) and the signing secret')
    .addHelpText(
      'after',
      withExample(
        'lanewise import quotes.csv --dry-run',
        'lanewise import quotes.csv --map "quoted_rate=Sell Rate"',
        'lanewise import quotes.csv --signed',
      ),
    )
    .action(
      action<{ dryRun?: boolean; map?: string; signed?: boolean }>(async (run, [file = ''], own) => {
        const isSigned = own.signed === true
        const lanewise = isSigned
          ? serviceClient(run.options, run, 'token and secret', longTimeouts)
          : sessionClient(run.options, run, longTimeouts)
        const bytes = await readBytes(run, file)
        const query = {
          file_name: basename(file),
          ...(own.dryRun === true ? { dry_run: 'true' as const } : {}),
          ...given({ map: own.map }),
        }
        let now = await lanewise.call(
          isSigned ? 'integration-create-import' : 'create-import',
          { query, body: new Blob([new Uint8Array(bytes)]) },
          { signal: run.signal },
        )
        const bar = progressBar(run, bytes.length, 'bytes')
        while (now.status === 'running') {
          await pause(pollEveryMs, undefined, { signal: run.signal })
          now = await lanewise.call(
            isSigned ? 'integration-get-import' : 'get-import',
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

const addExport: AddCommands = (program, action) => {
  program
    .command('export <what>')
    .summary('export lanes or shipments as a CSV file')
    .option('-o, --output <file>', 'the output file; default - for the standard output')
    .option('--from <day>', 'quoted on or after')
    .option('--to <day>', 'quoted before')
    .option('--customer <name>', 'only for this customer')
    .option('-e, --equipment <code>', 'only for this equipment')
    .addHelpText(
      'after',
      withExample(
        'lanewise export lanes -o lanes.csv',
        'lanewise export shipments --from 2026-01-01 -o - | wc -l',
      ),
    )
    .action(
      action<{ output?: string; from?: string; to?: string; customer?: string; equipment?: string }>(
        async (run, [what = ''], { output, ...filters }) => {
          const lanewise = sessionClient(run.options, run, longTimeouts)
          const options = { signal: run.signal }
          const query = given(filters)
          if (what !== 'lanes' && what !== 'shipments') {
            throw new CommandFailed(2, `The export must be lanes or shipments; it is "${what}".`)
          }
          const csv =
            what === 'lanes'
              ? await lanewise.call('export-lanes', { query }, options)
              : await lanewise.call('export-shipments', { query }, options)
          if (output === undefined || output === '-') run.write(csv)
          else {
            await writeFile(resolve(run.folder, output), csv)
            run.answer({ file: output, bytes: Buffer.byteLength(csv) }, `Wrote ${output}.`)
          }
        },
      ),
    )
}

/** Commands to create, decide, import and export quotes. */
export const addQuoteCommands: AddCommands = (program, action) => {
  for (const add of [addQuote, addOutcome, addImport, addExport]) add(program, action)
}

function printImport(run: Run, done: Answer<'get-import'>): void {
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

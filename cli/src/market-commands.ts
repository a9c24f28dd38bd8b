import { isLanewiseFailure } from '#client/index.ts'
import type { Answer, Body } from '#client/sent.ts'
import { textOfBytes } from '#contract/text-of-bytes.ts'
import { readBytes } from './booking-commands.ts'
import { serviceClient } from './clients.ts'
import { type AddCommands, given, withExample } from './command.ts'
import { pairs, shortened } from './show.ts'

type RateFile = Body<'push-market-file'>

interface PushOptions {
  readonly source?: string
  readonly basis?: string
  readonly kind?: string
  readonly unit?: string
  readonly equipment?: string
  readonly asOf?: string
  readonly dryRun?: boolean
}

/** A file of 5,000 rates is stored within seconds; a busy service may take longer. */
const longTimeouts = { attemptTimeoutMs: 120_000, timeoutMs: 300_000 }

const addPush: AddCommands = (market, action) => {
  market
    .command('push <file>')
    .summary('push the market rates of a CSV file, signed')
    .description(
      'Stores the rates of a file as a provider exports it, such as DAT or Greenscreens: origin, destination, equipment and rate, and, if the file has them, low, high, fuel, reports, miles, source, date and basis. Rows that are not valid are reported by line; the others are stored. Pushing the same file again changes nothing. Each option gives a value for rows or columns that do not state one. If the file needs an option, the error names it.',
    )
    .option('--source <name>', 'the source of the rates, such as DAT')
    .option('--basis <basis>', 'what the rates include: linehaul, or all_in with fuel')
    .option('--kind <kind>', 'buy (default): what carriers are paid; sell: what customers pay')
    .option('--unit <unit>', 'per_load (default) or per_mile')
    .option('--equipment <code>', 'the equipment, such as V')
    .option('--as-of <day>', 'when the rates were published, YYYY-MM-DD')
    .option('--dry-run', 'check the file and store nothing')
    .addHelpText(
      'after',
      withExample(
        'lanewise market push rates.csv --source DAT --basis linehaul --dry-run',
        'lanewise market push rates.csv --source DAT --basis linehaul --as-of 2026-02-27',
      ),
    )
    .action(
      action<PushOptions>(async (run, [name = ''], { asOf, dryRun, ...own }) => {
        const text = textOfBytes(await readBytes(run, name))
        // The service checks the words.
        const assumed = given({ ...own, as_of: asOf, dry_run: dryRun }) as Omit<RateFile, 'text'>
        const lanewise = serviceClient(run.options, run, 'token and secret', longTimeouts)
        const loaded = await lanewise
          .pushMarketFile({ text, ...assumed }, { signal: run.signal })
          .catch((error: unknown) => {
            if (isLanewiseFailure(error) && error.status === 422) {
              run.remark(
                'Options that give a value for the whole file: --source, --basis, --kind, --unit, --equipment and --as-of.',
              )
            }
            throw error
          })
        run.answer(loaded, shown(loaded))
        if (loaded.failed > 0) run.exitWith(6)
      }),
    )
}

function shown(loaded: Answer<'push-market-file'>): string {
  const { rows, stored, created, updated, unchanged, failed, not_used: notUsed, columns } = loaded
  const named = (isRead: boolean) =>
    columns.flatMap(({ name, field }) =>
      (field !== null) === isRead && name !== '' ? (isRead ? `${name} (${field})` : name) : [],
    )
  return [
    pairs([
      ['rows', rows],
      ...(stored
        ? ([
            ['created', created],
            ['updated', updated],
            ['unchanged', unchanged],
          ] as const)
        : ([['would be stored', rows - failed]] as const)),
      ['not compared', notUsed],
      ['with errors', failed],
      ['columns read', named(true).join(', ')],
      ['columns not read', named(false).join(', ') || null],
    ]),
    ...loaded.notes,
    ...shortened(loaded.errors.map(({ line, detail }) => `line ${line}: ${detail}`)),
  ].join('\n')
}

/** Commands for market rates. */
export const addMarketCommands: AddCommands = (program, action) => {
  const market = program
    .command('market')
    .summary('push the market rates of a CSV file')
    .addHelpText('after', withExample('lanewise market push rates.csv --source DAT --basis linehaul'))
  addPush(market, action)
}

import { parseArgs } from 'node:util'
import { SingleBar } from 'cli-progress'
import { TESTED_DAYS } from '#engine/backtest/backtest.ts'
import { backtestInThread, backtestReport, readBacktestFacts } from '../backtests/index.ts'
import { atTenant, type CommandDatabase } from './command-database.ts'
import { UsageError } from './import-command-line.ts'

/** A parsed command line. */
export type BacktestCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'backtest'; readonly tenant: string | undefined; readonly windowDays: number }

const windowDaysMin = 30
const windowDaysMax = 600
const percentStep = 10

export const backtestUsage = `Test the estimate on a brokerage's own past quotes.

  npm run backtest -- [--tenant NAME] [--days N]

  --tenant   the brokerage, by name or number; optional while there is one
  --days N   test the decided quotes of the last N days, ${windowDaysMin} to ${windowDaysMax}; ${TESTED_DAYS} by default

Each tested quote is forecast from the quotes of the days before it, by the calibrated estimate and by simple rules. The
dollar figures are an estimate by the model itself, not an experiment. Nothing is changed in the database.

Exit code: 0 tested, 1 failed, 2 wrong usage, 3 too few quotes to test on, 130 stopped by Ctrl-C.
`

/**
 * Parses the arguments after `npm run backtest --`.
 *
 * @throws UsageError
 * @example readBacktestCommand(['--tenant', 'Acme']) // { kind: 'backtest', tenant: 'Acme', windowDays: 180 }
 */
export function readBacktestCommand(words: readonly string[]): BacktestCommand {
  const { values } = parsed(words)
  if (values.help === true) return { kind: 'help' }
  const days = values.days ?? String(TESTED_DAYS)
  const windowDays = /^\d{1,4}$/.test(days) ? Number(days) : Number.NaN
  if (!(windowDays >= windowDaysMin && windowDays <= windowDaysMax)) {
    throw new UsageError(
      `--days must be a whole number from ${windowDaysMin} to ${windowDaysMax}; it is "${days}".`,
    )
  }
  return { kind: 'backtest', tenant: values.tenant, windowDays }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        tenant: { type: 'string' },
        days: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

export interface BacktestSurroundings extends CommandDatabase {
  readonly clock: () => number
  readonly print: (text: string) => void
  /** A terminal that can show a progress bar, or null. */
  readonly terminal: NodeJS.WriteStream | null
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}

/**
 * Backtests a brokerage's quotes and prints the report. The database connection is closed before the computation begins.
 *
 * @returns the exit code
 * @throws CommandRefused
 */
export async function runBacktestCommand(
  command: Extract<BacktestCommand, { kind: 'backtest' }>,
  around: BacktestSurroundings,
): Promise<number> {
  const { tenant, facts } = await atTenant(around, command.tenant, async (database, named) => ({
    tenant: named,
    facts: await database.inTenant(named.tenant, (transaction) =>
      readBacktestFacts(transaction, named.tenant, { now: around.clock(), windowDays: command.windowDays }),
    ),
  }))
  if (around.signal.aborted) return 130
  around.remark(
    `Testing the estimate on ${facts.quotes.length.toLocaleString('en-US')} quotes of ${tenant.name}.`,
  )
  const shown = progressShown(around)
  try {
    const found = await backtestInThread(facts, { onProgress: shown.update, signal: around.signal })
    shown.end()
    around.print(backtestReport(tenant.name, found))
    return found.enough ? 0 : 3
  } catch (error) {
    shown.end()
    if (around.signal.aborted) return 130
    throw error
  }
}

/** Shows progress: a bar on a terminal, otherwise a line at every tenth to keep logs readable. */
function progressShown({ terminal, remark }: BacktestSurroundings) {
  if (terminal === null) {
    let told = 0
    return {
      update: (share: number) => {
        const percent = Math.floor((100 * share) / percentStep) * percentStep
        if (percent <= told) return
        told = percent
        remark(`${percent} %`)
      },
      end: () => {},
    }
  }
  const bar = new SingleBar({
    format: '{bar} {percentage} % | {eta_formatted} left',
    stream: terminal,
    hideCursor: true,
  })
  bar.start(100, 0)
  return { update: (share: number) => bar.update(Math.floor(100 * share)), end: () => bar.stop() }
}

import { ConfigError, readConfig } from '../configuration/index.ts'
import { DatabaseUnavailable } from '../database/session/index.ts'
import { DataFolderInUse } from '../embedded-postgres/index.ts'
import { backtestUsage, readBacktestCommand, runBacktestCommand } from './backtest-command.ts'
import { CommandRefused } from './command-database.ts'
import { UsageError } from './import-command-line.ts'

/** `npm run backtest -- --tenant NAME`: tests the estimate on a brokerage's own quotes. */
async function main(): Promise<number> {
  const command = readBacktestCommand(process.argv.slice(2))
  if (command.kind === 'help') {
    process.stdout.write(backtestUsage)
    return 0
  }
  const stopping = new AbortController()
  // A database that this command started is stopped in order before the exit.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
  return runBacktestCommand(command, {
    config: readConfig(process.env),
    clock: Date.now,
    print: (text) => process.stdout.write(`${text}\n`),
    remark: (line) => process.stderr.write(`${line}\n`),
    terminal: process.stderr.isTTY ? process.stderr : null,
    signal: stopping.signal,
  })
}

/** Prints an error, and returns its exit code. */
function refuse(error: unknown): number {
  const say = (text: string) => process.stderr.write(`${text}\n`)
  if (error instanceof UsageError) {
    say(`${error.message}\nFor all options: npm run backtest -- --help`)
    return 2
  }
  if (
    error instanceof CommandRefused ||
    error instanceof ConfigError ||
    error instanceof DataFolderInUse ||
    error instanceof DatabaseUnavailable
  ) {
    say(error.message)
  } else say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
}

process.exitCode = await main().catch(refuse)

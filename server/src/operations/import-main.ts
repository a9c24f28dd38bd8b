import { ConfigError, readConfig } from '../configuration/index.ts'
import { DatabaseUnavailable } from '../database/session/index.ts'
import { DataFolderInUse } from '../embedded-postgres/index.ts'
import { ImportFileError } from '../imports/index.ts'
import { CommandRefused } from './command-database.ts'
import { fileProblems, runImportCommand } from './import-command.ts'
import { readCommandLine, UsageError, usage } from './import-command-line.ts'

/** `npm run import -- FILE`: imports past quotes and bookings. */
async function main(): Promise<number> {
  const command = readCommandLine(process.argv.slice(2))
  if (command.kind === 'help') {
    process.stdout.write(usage)
    return 0
  }
  let stopping = false
  const remark = (line: string) => process.stderr.write(`${line}\n`)
  const stop = () => {
    if (stopping) process.exit(130)
    stopping = true
    remark(
      '\nStopping after the current rows. Press Ctrl-C again to stop at once; no row is left half imported.',
    )
  }
  // A reader such as `| head` may close the pipe early. That is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return runImportCommand(command, {
    config: readConfig(process.env),
    // npm runs scripts in the project's folder. INIT_CWD is the folder where the person ran the command.
    folder: process.env.INIT_CWD ?? process.cwd(),
    clock: Date.now,
    print: (line) => process.stdout.write(`${line}\n`),
    remark,
    terminal: process.stderr.isTTY ? process.stderr : null,
    isStopping: () => stopping,
  })
}

/** Prints an error, and returns its exit code. */
function refuse(error: unknown): number {
  const say = (text: string) => process.stderr.write(`${text}\n`)
  if (error instanceof UsageError) {
    say(`${error.message}\nFor all options: npm run import -- --help`)
    return 2
  }
  if (error instanceof ImportFileError) say(`Nothing was imported.\n${fileProblems(error)}`)
  else if (
    error instanceof CommandRefused ||
    error instanceof ConfigError ||
    error instanceof DataFolderInUse
  ) {
    say(error.message)
  } else if (error instanceof DatabaseUnavailable) {
    say(
      'The database does not answer. Run the same command again later: an import or an undo continues where it stopped.',
    )
  } else say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
}

process.exitCode = await main().catch(refuse)

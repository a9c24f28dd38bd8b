import { Command, CommanderError } from 'commander'
import { isLanewiseFailure } from '#client/failures.ts'
import { clientRevision, clientVersion } from '#client/lanewise.ts'
import { addBookingCommands } from './booking-commands.ts'
import { defaultUrl, urlOf } from './clients.ts'
import type { Action, GlobalOptions, Run } from './command.ts'
import { CommandFailed, exits, failureOutput } from './exits.ts'
import { addInsightCommands } from './insight-commands.ts'
import { addPriceCommand } from './price-command.ts'
import { addPushCommand } from './push-command.ts'
import { addQuoteCommands } from './quote-commands.ts'
import type { Surroundings } from './surroundings.ts'

const helpEpilogue = `
First steps:
  An admin creates a service token and a signing secret on the page Developers.
  export LANEWISE_URL=https://lanewise.example.com LANEWISE_TOKEN=... LANEWISE_SECRET=...
  lanewise quote "Dallas, TX" "Atlanta, GA" V 2150 --external-id TMS-10442 --customer "Harvest Table Foods"
  lanewise shipment-update LANE_REF --customer-rate 2150 --truck-cost 1820.50
  lanewise markup "Dallas, TX" "Atlanta, GA" 2150 -e V

Environment variables:
  LANEWISE_URL      the URL of the service; --url takes precedence; default ${defaultUrl}
  LANEWISE_TOKEN    the service token, for all commands except verify-signature
  LANEWISE_SECRET   the signing secret, for commands that write, and for verify-signature

Exit codes:
${Object.entries(exits)
  .map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`)
  .join('\n')}
`

/**
 * Runs one command line and returns its exit code.
 *
 * @example await runProgram(['markup', 'Dallas, TX', 'Atlanta, GA', '2150'], surroundings) // 0
 */
export async function runProgram(words: readonly string[], surroundings: Surroundings): Promise<number> {
  let exit = 0
  let globals: GlobalOptions = words.includes('--json') ? { json: true } : {}
  const usage: string[] = []
  const program = new Command('lanewise')
  const action: Action =
    (code) =>
    async (...received) => {
      // Commander passes each argument, then the options, then the command.
      const command = received.at(-1) as Command
      const options = command.optsWithGlobals<GlobalOptions>()
      globals = options
      const isJson = options.json === true
      const run: Run = {
        ...surroundings,
        options,
        answer: (value, shown) => surroundings.print(isJson ? JSON.stringify(value) : shown),
        remark: (text) => surroundings.remark(isJson ? JSON.stringify({ note: text }) : text),
        report: (kind, value, shown) =>
          surroundings.remark(isJson ? JSON.stringify({ [kind]: value }) : shown),
        exitWith: (code) => {
          exit = code
        },
      }
      await code(run, received.slice(0, -2).flat() as string[], received.at(-2) as never)
    }

  program
    .description('The Lanewise command line: pricing advice for lanes, quotes and bookings.')
    .version(`${clientVersion} (${clientRevision})`, '--version')
    .option('--url <address>', 'the URL of the service')
    .option('--json', 'results and errors as JSON, for scripts')
    .option('--lenient', 'let the service ignore unknown fields, with a warning')
    .option('--verbose', 'show every request and response, without credentials')
    .addHelpText('after', helpEpilogue)
    .helpCommand('help [command...]', 'show help for a command')
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => usage.push(text.trimEnd()),
    })
  for (const add of [
    addInsightCommands,
    addBookingCommands,
    addQuoteCommands,
    addPushCommand,
    addPriceCommand,
  ]) {
    add(program, action)
  }
  try {
    // The help command of commander knows only the first of several words.
    const [first, ...named] = words
    const asked = first === 'help' && named.length > 1 ? [...named, '--help'] : words
    await program.parseAsync(asked, { from: 'user' })
    return exit
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0
    const error =
      thrown instanceof CommanderError
        ? new CommandFailed(2, usage.join('\n').replace(/^error: /, ''))
        : thrown
    const failed = failureOutput(error, () => urlOf(globals, surroundings))
    const code = surroundings.signal.aborted ? 130 : failed.exit
    const isExpected = error instanceof CommandFailed || isLanewiseFailure(error)
    surroundings.remark(
      globals.json === true ? JSON.stringify({ error: { ...failed.error, exit: code } }) : failed.shown,
    )
    if (globals.verbose === true && !isExpected) surroundings.remark(String((error as Error).stack))
    return code
  }
}

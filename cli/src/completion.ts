import type { Command } from 'commander'
import { tokenScopes } from '#contract/token-scopes.ts'
import { type AddCommands, withExample } from './command.ts'
import { CommandFailed } from './exits.ts'

/** Arguments with a fixed list of values, by command and argument position. */
const values: Readonly<Record<string, readonly (readonly string[])[]>> = {
  completion: [['bash', 'zsh', 'fish']],
  export: [['lanes', 'shipments']],
  outcome: [[], ['won', 'lost', 'pending']],
}

/** Options with a fixed list of values. */
const optionValues: Readonly<Record<string, readonly string[]>> = {
  '--scope': Object.keys(tokenScopes),
  '--customer-basis': ['linehaul', 'all_in'],
  '--truck-basis': ['linehaul', 'all_in'],
  '--customer-currency': ['USD', 'CAD'],
  '--truck-currency': ['USD', 'CAD'],
}

/** Completion candidates for the last word: commands, values from a fixed list, or options after a dash. */
export function candidates(program: Command, words: readonly string[]): string[] {
  const begun = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  let place = program
  const args: string[] = []
  let isValue = false
  for (const word of before[0] === 'help' ? before.slice(1) : before) {
    if (isValue) {
      isValue = false
      continue
    }
    const option = [...place.options, ...program.options].find(
      ({ long, short }) => word === long || word === short,
    )
    const next = place.commands.find((one) => one.name() === word)
    if (next !== undefined && args.length === 0) place = next
    else if (!word.startsWith('-')) args.push(word)
    isValue = option?.required === true
  }
  if (isValue) return starting(optionValues[before.at(-1) ?? ''] ?? [], begun)
  if (begun.startsWith('-')) {
    const options = [...place.options, ...program.options].flatMap(({ long }) => long ?? [])
    return starting([...options, '--help'], begun)
  }
  const commands = place.commands.map((one) => one.name())
  const isStart = place === program && before.length === 0
  const listed = before[0] === 'help' ? [] : (values[place.name()]?.[args.length] ?? [])
  return starting([...commands, ...(isStart ? ['help'] : []), ...listed], begun)
}

function starting(offered: readonly string[], begun: string): string[] {
  return [...new Set(offered)].filter((one) => one.startsWith(begun) && !one.startsWith('__'))
}

const scripts: Readonly<Record<string, string>> = {
  bash: `_lanewise() {
  local IFS=$'\\n'
  COMPREPLY=($(lanewise __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _lanewise lanewise`,
  zsh: `#compdef lanewise
_lanewise() {
  local -a offered
  offered=("\${(@f)$(lanewise __complete -- "\${words[@]:1:$((CURRENT-1))}" 2>/dev/null)}")
  if [[ -n "$offered" ]]; then compadd -- $offered; else _files; fi
}
compdef _lanewise lanewise`,
  fish: `complete -c lanewise -a '(lanewise __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
}

export const addCompletion: AddCommands = (program, action) => {
  program
    .command('completion <shell>')
    .summary('print a completion script for bash, zsh or fish')
    .description(
      'Prints a script that completes commands, options, and values from a fixed list. Load it in the startup file of the shell:',
    )
    .addHelpText(
      'after',
      withExample(
        'in ~/.bashrc:                  eval "$(lanewise completion bash)"',
        'in ~/.zshrc, after compinit:   eval "$(lanewise completion zsh)"',
        'in ~/.config/fish/config.fish: lanewise completion fish | source',
      ),
    )
    .action(
      action(async (run, [shell = '']) => {
        const script = scripts[shell]
        if (script === undefined)
          throw new CommandFailed(2, `The shell must be bash, zsh or fish; it is "${shell}".`)
        run.print(script)
      }),
    )
  program
    .command('__complete [words...]', { hidden: true })
    .allowUnknownOption()
    .action(
      action(async (run, words) => {
        const offered = candidates(program, words)
        if (offered.length > 0) run.print(offered.join('\n'))
      }),
    )
}

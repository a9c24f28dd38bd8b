import type { Command } from 'commander'
import type { AddCommands } from './command.ts'
import { CommandFailed } from './exits.ts'

/** What may come next on a command line: commands of this place, or options where a dash was begun. */
export function candidates(program: Command, words: readonly string[]): string[] {
  const begun = words.at(-1) ?? ''
  let place = program
  for (const word of words.slice(0, -1)) place = place.commands.find((one) => one.name() === word) ?? place
  const options = [...place.options, ...program.options].flatMap(({ long }) => long ?? [])
  const offered = begun.startsWith('-') ? [...options, '--help'] : place.commands.map((one) => one.name())
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
    .summary('the script that completes commands in bash, zsh or fish')
    .addHelpText(
      'after',
      '\nIn ~/.bashrc:              eval "$(lanewise completion bash)"\nIn ~/.zshrc:               eval "$(lanewise completion zsh)"\nIn ~/.config/fish/config.fish: lanewise completion fish | source',
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

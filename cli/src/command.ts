import type { Command } from 'commander'
import type { GlobalOptions } from './clients.ts'
import { CommandFailed } from './exits.ts'
import type { Surroundings } from './surroundings.ts'

/** What a command's code gets beside its arguments. With --json each line on the standard error is JSON, too. */
export interface Run extends Surroundings {
  readonly options: GlobalOptions
  /** Prints an answer: as JSON with --json, else as people read it. */
  answer(value: unknown, shown: string): void
  /** Reports something beside the answer: as `{"warning": ...}` with --json, else as people read it. */
  report(kind: 'warning' | 'event', value: unknown, shown: string): void
  /** The exit code where it is not 0 although the command is done. */
  exitWith(code: number): void
}

/** Adds commands to the program; each of them gets the surroundings when it runs. */
export type AddCommands = (program: Command, action: Action) => void

/** Wraps the code of a command: its arguments, its own options and the run. */
export type Action = <Own extends object>(
  code: (run: Run, args: readonly string[], own: Own) => Promise<void>,
) => (...received: unknown[]) => Promise<void>

/** Commas stand every three digits or not at all: 2150,500 is another country's number. */
const decimalForm = /^(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?$/

/** An amount as it was typed, once it is known to be one. @throws CommandFailed @example decimal('1820.50', '--truck-cost') // '1820.50' */
export function decimal(text: string, name: string): string {
  const plain = text.replace(/^\$/, '')
  if (decimalForm.test(plain)) return plain.replaceAll(',', '')
  throw new CommandFailed(2, `${name} must be an amount of dollars such as 2150 or 1820.50; it is "${text}".`)
}

/** The id of a record. @throws CommandFailed */
export function recordIdOf(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new CommandFailed(2, `The id must be a whole number as the list shows it; it is "${text}".`)
}

/** Only the members that are there: an option that was not given is absent, not undefined. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

/** Adds an example to the help of a command. */
export function withExample(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

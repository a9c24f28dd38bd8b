import type { Command } from 'commander'
import { CommandFailed } from './exits.ts'
import type { Surroundings } from './surroundings.ts'

/** Options of all commands. */
export interface GlobalOptions {
  readonly url?: string
  readonly json?: boolean
  readonly verbose?: boolean
  readonly lenient?: boolean
}

/** The context of a command. With --json each line on the standard error is JSON, too. */
export interface Run extends Surroundings {
  readonly options: GlobalOptions
  /** Prints a result: as JSON with --json, else the text `shown`. */
  answer(value: unknown, shown: string): void
  /** Prints a warning or event to the standard error: as `{"warning": ...}` with --json, else the text `shown`. */
  report(kind: 'warning' | 'event', value: unknown, shown: string): void
  /** Sets an exit code other than 0 for a command that completed. */
  exitWith(code: number): void
}

export type AddCommands = (program: Command, action: Action) => void

/** Wraps the code of a command, which receives the context, the arguments and the command's own options. */
export type Action = <Own extends object>(
  code: (run: Run, args: readonly string[], own: Own) => Promise<void>,
) => (...received: unknown[]) => Promise<void>

/** Commas must separate groups of three digits. Rejects decimal commas, such as 2150,500. */
const decimalForm = /^(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?$/

/**
 * Validates an amount and returns it as typed, without $ and commas. @throws CommandFailed
 *
 * @example decimal('1820.50', '--truck-cost') // '1820.50'
 */
export function decimal(text: string, name: string): string {
  const plain = text.replace(/^\$/, '')
  if (decimalForm.test(plain)) return plain.replaceAll(',', '')
  throw new CommandFailed(2, `${name} must be an amount of dollars such as 2150 or 1820.50; it is "${text}".`)
}

/** Removes undefined members, so that an option that was not given is absent. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

/** Formats examples for the help of a command. */
export function withExample(...lines: string[]): string {
  return `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

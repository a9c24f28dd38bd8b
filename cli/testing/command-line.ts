import { runProgram } from '../src/program.ts'
import type { Surroundings } from '../src/surroundings.ts'

export interface CommandOutput {
  readonly exit: number
  readonly printed: string
  readonly remarked: string
}

/** Runs a command line in a folder, and returns its standard output, its standard error and its exit code. */
export async function runCommandLine(
  words: readonly string[],
  {
    stdin = '',
    folder,
    ...more
  }: Pick<Surroundings, 'env' | 'folder' | 'now'> & Partial<Surroundings> & { readonly stdin?: string },
): Promise<CommandOutput> {
  const printed: string[] = []
  const remarked: string[] = []
  const exit = await runProgram(words, {
    folder,
    print: (text) => printed.push(text),
    write: (text) => printed.push(text),
    remark: (text) => remarked.push(text),
    input: async () => Buffer.from(stdin),
    terminal: null,
    signal: new AbortController().signal,
    ...more,
  })
  return { exit, printed: printed.join('\n'), remarked: remarked.join('\n') }
}

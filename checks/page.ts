import { spawn, spawnSync } from 'node:child_process'
import { textOf } from './repository.ts'

/** Returns the code blocks of a page with this language, in order. */
export function codeBlocks(path: string, language: string): string[] {
  const fences = textOf(path).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)
  return [...fences].flatMap(([, marked, code]) => (marked === language && code !== undefined ? [code] : []))
}

/** Returns the rows of all tables under a heading, as lists of cells without backticks. */
export function tableRows(path: string, heading: string): string[][] {
  const lines = textOf(path).split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start === -1) throw new Error(`${path} has no heading "${heading}".`)
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line))
  const section = lines.slice(start + 1, length === -1 ? undefined : start + 1 + length)
  return section
    .filter((line, at) => line.startsWith('|') && !/^\|( *:?-+:? *\|)+$/.test(line) && !isHeader(section, at))
    .map((line) =>
      line
        .slice(1, line.lastIndexOf('|'))
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
}

function isHeader(lines: readonly string[], at: number): boolean {
  return /^\|( *:?-+:? *\|)+$/.test(lines[at + 1] ?? '')
}

export interface Ran {
  readonly code: number | null
  /** The text on stdout. */
  readonly output: string
  /** The text on stderr. */
  readonly complaint: string
}

/** Runs a program with text as its stdin, without blocking this process. */
export function run(
  command: string,
  args: readonly string[],
  options: { input?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...options.env } })
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output, complaint }))
    // A program may end without reading its input.
    child.stdin.once('error', () => {})
    child.stdin.end(options.input ?? '')
  })
}

/** Whether the machine has these programs. Only Node is certain. */
export function has(...commands: string[]): boolean {
  return commands.every((command) => spawnSync(command, ['--version']).error === undefined)
}

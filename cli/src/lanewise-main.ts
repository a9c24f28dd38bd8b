import { runProgram } from './program.ts'

/** The command `lanewise`. */

const stop = new AbortController()
process.on('SIGINT', () => {
  if (stop.signal.aborted) process.exit(130)
  stop.abort()
})
process.on('SIGTERM', () => stop.abort())
// A closed pipe (such as `| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

async function input(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

process.exitCode = await runProgram(process.argv.slice(2), {
  env: process.env,
  // npm runs scripts in the project's folder; INIT_CWD is the folder where the person started npm.
  folder: process.env.INIT_CWD ?? process.cwd(),
  now: Date.now,
  print: (text) => process.stdout.write(`${text}\n`),
  write: (text) => process.stdout.write(text),
  remark: (text) => process.stderr.write(`${text}\n`),
  input,
  terminal: process.stderr.isTTY ? process.stderr : null,
  signal: stop.signal,
})

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Runs `npm run bench` with options, for tests. The output contains stdout and stderr. */
export function benchCommand(...options: string[]): Promise<{ code: number | null; output: string }> {
  const program = fileURLToPath(new URL('./bench-main.ts', import.meta.url))
  const child = spawn(process.execPath, [program, ...options])
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}

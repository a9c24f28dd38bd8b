import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }

/** The service in its own process, as an operator runs it. */
export interface RunningService {
  readonly url: string
  readonly child: ChildProcess
  /** The output so far (stdout and stderr). */
  printed(): string
  /** Sends a signal and waits for the process to exit. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const patienceMs = 45_000
/** Tests create more tenants per hour than the limit of sign-ups per network allows. */
export const manySignUps = '9999'
/** The options that `npm start` passes to Node. */
export const startOptions: readonly string[] = Array.from(
  packageJson.scripts.start.matchAll(/(?<=node (?:\S+ )*)--\S+(?= (?:\S+ )*server\/src\/main\.ts)/g),
  ([option]) => option,
)
/** Node's compile cache, which makes the next start faster. */
const compiledFolder = join(tmpdir(), 'node-compile-cache')

/** Returns a port that is free at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No port.')
  return address.port
}

/**
 * Starts the service and waits until it is ready. Throws with its output if it exits first or takes longer than 45 s. `main` is
 * the main file of another version.
 */
export async function runService(
  dataDirectory: string,
  env: Record<string, string> = {},
  main = mainFile,
): Promise<RunningService> {
  const port = await freePort()
  const child = spawn(process.execPath, [...startOptions, main], {
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: compiledFolder,
      DATA_DIR: dataDirectory,
      PORT: String(port),
      LOG_LEVEL: 'warn',
      SIGN_UPS_PER_HOUR: manySignUps,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The service did not start:\n${text}`)), patienceMs)
    const look = (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.includes('Lanewise is ready')) return
      clearTimeout(timer)
      resolve()
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    ended.then(() => {
      clearTimeout(timer)
      reject(new Error(`The service ended before it was ready:\n${text}`))
    }, reject)
  })
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    printed: () => text,
    async end(signal) {
      child.kill(signal)
      const [code, by] = await ended
      return { code, signal: by }
    },
  }
}

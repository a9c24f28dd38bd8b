import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }

/** The service as an operator runs it: its own process, its own embedded database, its own folder. */
export interface RunningService {
  readonly url: string
  readonly child: ChildProcess
  /** All it has printed so far. */
  printed(): string
  /** Sends a signal and waits until the process has ended. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const patienceMs = 45_000
/** A test makes more brokerages in an hour than one network may. */
export const manySignUps = '9999'
/** What `npm start` tells Node. */
export const startOptions: readonly string[] = Array.from(
  packageJson.scripts.start.matchAll(/(?<=node (?:\S+ )*)--\S+(?= (?:\S+ )*server\/src\/main\.ts)/g),
  ([option]) => option,
)
/** Where Node keeps what it compiled, so that the next start takes less of the machine. */
const compiledFolder = join(tmpdir(), 'node-compile-cache')

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No port.')
  return address.port
}

/** Starts the service in a process and waits for its greeting. Fails with what it printed when it ends before that. */
export async function runService(
  dataDirectory: string,
  env: Record<string, string> = {},
): Promise<RunningService> {
  const port = await freePort()
  const child = spawn(process.execPath, [...startOptions, mainFile], {
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

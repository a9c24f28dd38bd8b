import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
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
/** The longest start. It takes two seconds, but minutes on a very busy machine. */
const startMs = 900_000
/** A limit of sign-ups for tests, which create more tenants per hour than the usual limit allows. */
export const manySignUps = '9999'
/** The options that `npm start` passes to Node. */
export const startOptions: readonly string[] = Array.from(
  packageJson.scripts.start.matchAll(/(?<=node (?:\S+ )*)--\S+(?= (?:\S+ )*server\/src\/main\.ts)/g),
  ([option]) => option,
)
/** Node's compile cache, which makes the next start faster. */
const compiledFolder = join(tmpdir(), 'node-compile-cache')

/**
 * Returns a port that is free at the moment. It is below the range from which the system gives ports to sockets, because those
 * change hands all the time: another test could get one before its user listens on it.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = randomInt(20_000, 32_768)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
  throw new Error('No port is free.')
}

/**
 * Starts the service and waits until it is ready. Throws with its output if it exits first or takes longer than fifteen minutes. `main` is
 * the main file of another version.
 */
export async function runService(
  dataDirectory: string,
  env: Record<string, string> = {},
  main = mainFile,
): Promise<RunningService> {
  const child = spawn(process.execPath, [...startOptions, main], {
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: compiledFolder,
      DATA_DIR: dataDirectory,
      // The system chooses the port, so that none is taken by another test before the service listens.
      PORT: '0',
      LOG_LEVEL: 'warn',
      SIGN_UPS_PER_HOUR: manySignUps,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The service did not start:\n${text}`)), startMs)
    const look = (chunk: Buffer) => {
      text += chunk.toString()
      const address = /Lanewise is ready at (\S+)\s/.exec(text)?.[1]
      if (address === undefined) return
      clearTimeout(timer)
      resolve(address)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    ended.then(() => {
      clearTimeout(timer)
      reject(new Error(`The service ended before it was ready:\n${text}`))
    }, reject)
  })
  return {
    url,
    child,
    printed: () => text,
    async end(signal) {
      child.kill(signal)
      const [code, by] = await ended
      return { code, signal: by }
    },
  }
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { freePort, startOptions } from '#testing/running-service.ts'
import type { LoadOrder, LoadReport, LoadResult, LoadRun, RequestPool } from './load/load-messages.ts'
import type { ScaleDatabase } from './scale-database.ts'

/** The core that a process is pinned to: servers and the load generator have one each; `any` is not pinned. */
export type Core = 'server' | 'generator' | 'any'

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-p', String(process.pid)]).status === 0

/** Describes the pinning of processes, for the report. */
export const pinning = canPin
  ? 'servers on core 0, load generator on core 1'
  : 'processes are not pinned, because this machine has no taskset or only one core'

const cores: Readonly<Record<Exclude<Core, 'any'>, string>> = {
  server: '0',
  generator: '1',
}

/** Runs a file with Node, pinned to its core if possible. */
export function spawnPinned(
  core: Core,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): ChildProcess {
  const node = [process.execPath, ...startOptions, fileURLToPath(new URL(file, import.meta.url))]
  const [program = '', ...rest] = canPin && core !== 'any' ? ['taskset', '-c', cores[core], ...node] : node
  return spawn(program, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
}

/** A server under measurement. */
export interface ServerProcess {
  readonly name: string
  readonly port: number
  readonly pid: number
  /** CPU time used so far by all threads, in microseconds; null if the system does not report it. */
  cpuMicros(): number | null
  /** Resident memory in bytes; null if the system does not report it. */
  residentBytes(): number | null
  /** Sends a message over the IPC channel and waits for the reply. */
  ask<Answer>(order: unknown): Promise<Answer>
  /** Stops the server at once, or with SIGTERM in order, which takes some seconds. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

const readyMsMax = 60_000
/** Linux reports CPU time in hundredths of a second. */
const microsPerTick = 10_000

/** Starts a server and waits until its output contains `readyText`. */
export async function startServer(
  name: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  readyText = 'ready',
  core: Core = 'server',
): Promise<ServerProcess> {
  const port = await freePort()
  const child = spawnPinned(core, file, { ...env, PORT: String(port), LOG_LEVEL: 'warn' })
  const ended = once(child, 'exit')
  let text = ''
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer)
      reject(new Error(`${name} ${why}:\n${text}`))
    }
    const timer = setTimeout(() => fail('did not start'), readyMsMax)
    const look = (chunk: Buffer) => {
      text = `${text}${chunk}`.slice(-4_000)
      if (!text.includes(readyText)) return
      clearTimeout(timer)
      resolve()
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('error', (error) => fail(`cannot be run (${error.message})`))
    child.once('exit', () => fail('exited before it was ready'))
  })
  const pid = child.pid ?? 0
  return {
    name,
    port,
    pid,
    cpuMicros: () => cpuOf(pid),
    residentBytes: () => residentOf(pid),
    ask: <Answer>(order: unknown) =>
      new Promise<Answer>((resolve, reject) => {
        const onExit = () => reject(new Error(`${name} exited:\n${text}`))
        child.once('exit', onExit)
        child.once('message', (answer) => {
          child.off('exit', onExit)
          resolve(answer as Answer)
        })
        child.send(order as Parameters<typeof child.send>[0])
      }),
    async stop(signal = 'SIGKILL') {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill(signal)
      await ended
    },
  }
}

/** Starts Lanewise on a database. First removes registered instances, because a killed one would still count for a while. */
export async function startLanewise(data: ScaleDatabase): Promise<ServerProcess> {
  await data.as('owner', (client) => client.query('delete from instances'))
  return startServer('lanewise', '../server/src/main.ts', data.serviceEnv, 'Lanewise is ready')
}

const cpuOf = (pid: number): number | null => statOf(pid)?.cpuMicros ?? null

/** CPU time used so far by a process and its children, also those that have ended, in microseconds; null if the system does not report it. */
export function cpuWithChildren(pid: number): number | null {
  const own = statOf(pid)
  if (own === null) return null
  const children = readdirSync('/proc').flatMap((name) => statOf(Number(name)) ?? [])
  return children
    .filter(({ parent }) => parent === pid)
    .reduce((sum, child) => sum + child.cpuMicros, own.cpuMicros + own.endedMicros)
}

/** The parent of a process, its CPU time, and that of its children that have ended, in microseconds. */
function statOf(pid: number) {
  try {
    // The program name is in parentheses and can contain any characters.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    const micros = (one: number, other: number) => ((fields[one] ?? 0) + (fields[other] ?? 0)) * microsPerTick
    return { parent: fields[1] ?? 0, cpuMicros: micros(11, 12), endedMicros: micros(13, 14) }
  } catch {
    return null
  }
}

function residentOf(pid: number): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? null : Number(kilobytes) * 1024
  } catch {
    return null
  }
}

/** The benchmark's access to the load generator. */
export interface LoadGenerator {
  /** Passes a pool of requests to the generator. */
  take(name: string, pool: RequestPool): Promise<void>
  run(run: LoadRun): Promise<LoadResult>
  stop(): Promise<void>
}

export function startLoadGenerator(): LoadGenerator {
  const child = spawnPinned('generator', './load/load-main.ts', {})
  const ended = once(child, 'exit')
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk
  })
  const ask = (order: LoadOrder) =>
    new Promise<LoadReport>((resolve, reject) => {
      const onExit = () => reject(new Error(`The load generator exited:\n${output}`))
      child.once('exit', onExit)
      child.once('message', (report: LoadReport) => {
        child.off('exit', onExit)
        if (report.kind === 'failed') reject(new Error(report.reason))
        else resolve(report)
      })
      child.send(order)
    })
  return {
    async take(name, pool) {
      await ask({ kind: 'pool', name, pool })
    },
    async run(run) {
      const report = await ask({ kind: 'run', run })
      if (report.kind !== 'done') throw new Error(`Unexpected reply of the load generator: ${report.kind}.`)
      return report.result
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.disconnect()
      await ended
    },
  }
}

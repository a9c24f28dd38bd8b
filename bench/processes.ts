import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { freePort, startOptions } from '#testing/running-service.ts'
import type { LoadOrder, LoadReport, LoadResult, LoadRun, RequestPool } from './load/load-messages.ts'

/**
 * Servers run on one core, what asks them on another. `any` is wherever the system puts it, as people run it.
 */
export type Core = 'server' | 'generator' | 'any'

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-p', String(process.pid)]).status === 0

/** Whether processes stay on their core, in words for the report. */
export const pinning = canPin
  ? 'servers on core 0, load generator on core 1'
  : 'processes are not pinned: this machine has no taskset, or one core'

const cores: Readonly<Record<Exclude<Core, 'any'>, string>> = {
  server: '0',
  generator: '1',
}

/** Runs a file of ours with Node, on its core where that can be had. */
export function spawnPinned(core: Core, file: string, env: Readonly<Record<string, string>>): ChildProcess {
  const node = [process.execPath, ...startOptions, fileURLToPath(new URL(file, import.meta.url))]
  const [program = '', ...rest] = canPin && core !== 'any' ? ['taskset', '-c', cores[core], ...node] : node
  return spawn(program, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
}

/** A server that is measured. */
export interface ServerProcess {
  readonly name: string
  readonly port: number
  readonly pid: number
  /** Milliseconds from the spawn to the line that says it is ready. */
  readonly readyMs: number
  /** CPU time used so far by all its threads, in microseconds; null where the system does not tell. */
  cpuMicros(): number | null
  /** Resident memory in bytes; null where the system does not tell. */
  residentBytes(): number | null
  /** Sends an order over the channel and waits for its answer; for servers of ours that take orders. */
  ask<Answer>(order: unknown): Promise<Answer>
  /** At once; with SIGTERM as an operator stops it, which takes it some seconds. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

const readyMsMax = 60_000
/** Linux counts processor time in hundredths of a second. */
const microsPerTick = 10_000

/** Starts a server and waits for a line of its output that says it is ready. */
export async function startServer(
  name: string,
  file: string,
  env: Readonly<Record<string, string>>,
  readyText = 'ready',
  core: Core = 'server',
): Promise<ServerProcess> {
  const port = await freePort()
  const began = performance.now()
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
    child.once('exit', () => fail('ended before it was ready'))
  })
  const pid = child.pid ?? 0
  return {
    name,
    port,
    pid,
    readyMs: performance.now() - began,
    cpuMicros: () => cpuOf(pid),
    residentBytes: () => residentOf(pid),
    ask: <Answer>(order: unknown) =>
      new Promise<Answer>((resolve, reject) => {
        const onExit = () => reject(new Error(`${name} ended:\n${text}`))
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

function cpuOf(pid: number): number | null {
  try {
    // The name of the program is between brackets and may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * microsPerTick
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

/** The load generator as the benchmark sees it. */
export interface LoadGenerator {
  /** Hands over the requests of the runs that follow. */
  take(name: string, pool: RequestPool): Promise<void>
  run(run: LoadRun): Promise<LoadResult>
  stop(): Promise<void>
}

export function startLoadGenerator(): LoadGenerator {
  const child = spawnPinned('generator', './load/load-main.ts', {})
  const ended = once(child, 'exit')
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk
  })
  const ask = (order: LoadOrder) =>
    new Promise<LoadReport>((resolve, reject) => {
      const onExit = () => reject(new Error(`The load generator ended:\n${said}`))
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
      if (report.kind !== 'done') throw new Error(`The load generator answered "${report.kind}".`)
      return report.result
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.disconnect()
      await ended
    },
  }
}

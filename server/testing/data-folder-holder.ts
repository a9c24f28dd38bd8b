import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A separate process that locked a data folder, or was refused the lock. */
export type Holder = {
  readonly pid: number
  readonly refusal: string | null
  readonly postgresPid: number | null
  readonly host: string | null
  /** Kills the process with SIGKILL, so that it cannot clean up. */
  readonly kill: () => Promise<void>
  /** Lets the process shut down in order, and waits for its exit. */
  readonly end: () => Promise<void>
}

/** Starts a process that locks the folder and, with `postgres`, starts PostgreSQL there. `account` is the user it runs as. */
export async function holdDataFolder(
  directory: string,
  what: 'lock' | 'postgres',
  account: { uid: number; gid: number } | null = null,
): Promise<Holder> {
  const program = fileURLToPath(new URL('./hold-data-folder.ts', import.meta.url))
  const child = spawn(process.execPath, [program, directory, what], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(account ?? {}),
  })
  const ended = once(child, 'exit')
  const report = await firstLine(child)
  return {
    pid: report.pid,
    refusal: report.refusal ?? null,
    postgresPid: report.postgresPid ?? null,
    host: report.host ?? null,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    end: async () => {
      child.stdin?.end()
      await ended
    },
  }
}

type Report = { pid: number; refusal?: string; postgresPid?: number; host?: string }

async function firstLine(child: ChildProcess): Promise<Report> {
  if (child.stdout === null) throw new Error('The process has no stdout.')
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line)
  throw new Error('The process exited without output.')
}

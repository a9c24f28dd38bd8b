import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A process of its own that took a data folder, or was refused it. */
export type Holder = {
  readonly pid: number
  readonly refusal: string | null
  readonly postgresPid: number | null
  readonly host: string | null
  /** As the kernel would: no warning, no tidying. */
  readonly kill: () => Promise<void>
  /** Lets it stop what it started, and waits for its end. */
  readonly end: () => Promise<void>
}

/** Starts a process that takes the folder, and with `postgres` a PostgreSQL in it; `account` is whom it runs as. */
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
  const said = await firstLine(child)
  return {
    pid: said.pid,
    refusal: said.refusal ?? null,
    postgresPid: said.postgresPid ?? null,
    host: said.host ?? null,
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

type Said = { pid: number; refusal?: string; postgresPid?: number; host?: string }

async function firstLine(child: ChildProcess): Promise<Said> {
  if (child.stdout === null) throw new Error('The holder has no output.')
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line)
  throw new Error('The holder ended without a word.')
}

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The content of the `postmaster.pid` file of a running PostgreSQL. */
export type Postmaster = { readonly pid: number; readonly socketFolder: string; readonly ready: boolean }

/** Reads `postmaster.pid`; null if it is missing or incomplete. The process in it may have ended. */
export function readPostmaster(cluster: string): Postmaster | null {
  let lines: string[]
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 1) return null
  return { pid, socketFolder: lines[4] ?? '', ready: lines[7]?.trim() === 'ready' }
}

/**
 * The running processes of a cluster: the postmaster and its children, which outlive it for a moment if it is killed. On
 * Linux, processes are recognized by their working directory, which is the cluster, so that a reused pid of another program
 * is never included.
 */
export function clusterProcesses(cluster: string): number[] {
  return process.platform === 'linux' ? byWorkingFolder(cluster) : byCommandLine(cluster)
}

function byWorkingFolder(cluster: string): number[] {
  let folder: string
  try {
    folder = realpathSync(cluster)
  } catch {
    return []
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === folder
      } catch {
        return false
      }
    })
    .map(Number)
    .filter(isPostgres)
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres'
  } catch {
    return false
  }
}

/** Recognizes the postmaster by its `-D` argument, and its children by their parent or, if orphaned, by the cluster's name. */
function byCommandLine(cluster: string): number[] {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
  const processes = stdout.split('\n').flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(\S.*)$/.exec(line)
    return found === null
      ? []
      : [{ pid: Number(found[1]), parent: Number(found[2]), command: found[3] ?? '' }]
  })
  const title = `postgres: ${clusterName(cluster)}:`
  const roots = processes.filter(({ command }) => command.includes(` -D ${cluster} `)).map(({ pid }) => pid)
  return processes
    .filter(
      ({ pid, parent, command }) =>
        roots.includes(pid) || roots.includes(parent) || command.startsWith(title),
    )
    .map(({ pid }) => pid)
}

/** Kills an `initdb` that a killed service left behind, with its children, because it would empty the folder when it fails. */
export async function stopInitdb(folder: string): Promise<void> {
  const left = () => [...initdbProcesses(folder), ...clusterProcesses(folder)]
  for (const pid of left()) signal(pid, 'SIGKILL')
  const until = performance.now() + killedMs
  while (left().length > 0) {
    if (performance.now() > until)
      throw new Error(
        `An earlier start left processes that do not end (${left().join(', ')}): stop them first.`,
      )
    await delay(20)
  }
}

function initdbProcesses(folder: string): number[] {
  return commands()
    .filter(({ words }) => words[0]?.endsWith('initdb') && words.includes(folder))
    .map(({ pid }) => pid)
}

/** The command lines of all processes. (A path with spaces is several words outside Linux.) */
function commands(): { pid: number; words: string[] }[] {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' })
    return stdout.split('\n').map((line) => {
      const [pid, ...words] = line.trim().split(/\s+/)
      return { pid: Number(pid), words }
    })
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return { pid: Number(pid), words: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') }
      } catch {
        return []
      }
    })
}

/** How long a killed process may take to end. On a busy disk, it ends only after its last write. */
const killedMs = 60_000

/** A short name of the cluster in the titles of its processes: `lanewise` and a hash of the path. */
export function clusterName(cluster: string): string {
  let hash = 0
  for (const letter of cluster) hash = (hash * 31 + letter.charCodeAt(0)) % 0x7fff_ffff
  return `lanewise-${hash.toString(36)}`
}

/** Sends a signal. Ignores a process that has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Waits until all processes of the cluster have ended. Returns false on timeout. */
export async function clusterIsGone(cluster: string, withinMilliseconds: number): Promise<boolean> {
  const until = performance.now() + withinMilliseconds
  while (clusterProcesses(cluster).length > 0) {
    if (performance.now() > until) return false
    await delay(20)
  }
  return true
}

/**
 * Cleans up after a service that was killed: stops a running PostgreSQL (first fast, then immediate), waits for its children,
 * and deletes the pid files and sockets of ended processes. The caller holds the folder's lock, so no service uses that
 * PostgreSQL. All commits are on disk, so nothing is lost.
 */
export async function clearLeftOvers(cluster: string, log: (line: string) => void): Promise<void> {
  const postmaster = readPostmaster(cluster)
  const left = clusterProcesses(cluster)
  if (left.length > 0) {
    log(
      `An earlier service was killed and left PostgreSQL running (process ${postmaster?.pid ?? left[0]}): stopping it`,
    )
    await stopCluster(cluster, postmaster !== null && left.includes(postmaster.pid) ? postmaster.pid : null)
  }
  if (postmaster === null) return
  rmSync(join(cluster, 'postmaster.pid'), { force: true })
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) {
    if (postmaster.socketFolder !== '') rmSync(join(postmaster.socketFolder, name), { force: true })
  }
}

/** A fast shutdown with 20 seconds, then an immediate one with 5 (the next start recovers from the log), then a kill. */
export async function stopCluster(cluster: string, postmaster: number | null): Promise<void> {
  if (postmaster !== null) signal(postmaster, 'SIGINT')
  if (await clusterIsGone(cluster, 20_000)) return
  for (const pid of clusterProcesses(cluster)) signal(pid, 'SIGQUIT')
  if (await clusterIsGone(cluster, 5_000)) return
  for (const pid of clusterProcesses(cluster)) signal(pid, 'SIGKILL')
  if (await clusterIsGone(cluster, killedMs)) return
  throw new Error(`PostgreSQL processes of ${cluster} do not end: ${clusterProcesses(cluster).join(', ')}.`)
}

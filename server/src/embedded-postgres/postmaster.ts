import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** What PostgreSQL itself writes into its data folder while it runs. */
export type Postmaster = { readonly pid: number; readonly socketFolder: string; readonly ready: boolean }

/** Reads `postmaster.pid`; null when there is none or it is not whole. It says nothing about whether that process lives. */
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
 * The processes of a cluster that live: the postmaster and its children, which outlive it for a moment when it is
 * killed. On Linux a process counts by its working folder (PostgreSQL's is the cluster), so a number that was given
 * to another program since is never taken for one of them.
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

/** The postmaster by its `-D` argument, its children by being its children or orphans that name the cluster. */
function byCommandLine(cluster: string): number[] {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
  const processes = stdout.split('\n').flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)
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

/** A short name for the cluster that its processes carry in their titles: `lanewise` and a number made from the path. */
export function clusterName(cluster: string): string {
  let hash = 0
  for (const letter of cluster) hash = (hash * 31 + letter.charCodeAt(0)) % 0x7fff_ffff
  return `lanewise-${hash.toString(36)}`
}

/** Sends a signal; a process that is gone already is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Waits until no process of the cluster lives: true; or until the time is over: false. */
export async function clusterIsGone(cluster: string, withinMilliseconds: number): Promise<boolean> {
  const until = performance.now() + withinMilliseconds
  while (clusterProcesses(cluster).length > 0) {
    if (performance.now() > until) return false
    await delay(20)
  }
  return true
}

/**
 * Ends what an earlier service left behind after it was killed: a PostgreSQL that still runs (asked to stop fast,
 * then harder), children on their way out, and the notes and sockets of processes that are gone. The caller holds
 * the folder's lock, so nobody uses that PostgreSQL. Every commit is on disk already; nothing is lost.
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

/** Fast stop for 20 seconds, immediate stop for 5 (the next start recovers from the log), then the end. */
export async function stopCluster(cluster: string, postmaster: number | null): Promise<void> {
  if (postmaster !== null) signal(postmaster, 'SIGINT')
  if (await clusterIsGone(cluster, 20_000)) return
  for (const pid of clusterProcesses(cluster)) signal(pid, 'SIGQUIT')
  if (await clusterIsGone(cluster, 5_000)) return
  for (const pid of clusterProcesses(cluster)) signal(pid, 'SIGKILL')
  if (await clusterIsGone(cluster, 5_000)) return
  throw new Error(`PostgreSQL processes of ${cluster} do not end: ${clusterProcesses(cluster).join(', ')}.`)
}

import { execFile } from 'node:child_process'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { makeKnownBrokerage, type Read, readInsights } from './insight-readers.ts'
import { type OwnPostgres, ownPostgres, proofFolder } from './own-postgres.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions } from './proof.ts'
import { serviceProcesses } from './service-process.ts'
import { acknowledgedCount, lossesIn, makeWriters, write, writersLog } from './signed-writers.ts'

const run = promisify(execFile)

/** Mounts a small in-memory disk, which needs root. Returns null without that permission. */
export async function smallDisk(): Promise<{ folder: string; remove(): Promise<void> } | null> {
  const folder = proofFolder()
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=220m,mode=0711', 'tmpfs', folder])
  } catch {
    rmSync(folder, { recursive: true, force: true })
    return null
  }
  return {
    folder,
    async remove() {
      await run('umount', [folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Fills a disk with files, but for some bytes, and adds their paths to `ballast`. */
export function fill(folder: string, ballast: string[], { leave = 0 } = {}): void {
  for (;;) {
    const { bavail, bsize } = statfsSync(folder)
    const free = bavail * bsize - leave
    if (free <= 0) return
    const path = join(folder, `ballast-${ballast.length}`)
    ballast.push(path)
    try {
      writeFileSync(path, Buffer.alloc(Math.min(free, 64 * 1024 * 1024)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}

const recoveryMsMax = 5_000

async function fillUnderLoad(
  { share, onProgress, signal }: ProofOptions,
  fault?: 'a full disk is a bug',
): Promise<Finding> {
  const disk = await smallDisk()
  if (disk === null) return { figure: '-', faults: [], skipped: 'mounting a small disk requires root' }
  let postgres: OwnPostgres | null = null
  let services: ReturnType<typeof serviceProcesses> | null = null
  let load: Promise<unknown> = Promise.resolve()
  let over = false
  const faults: string[] = []
  const log = writersLog()
  const reads: Read[] = []
  const ballast: string[] = []
  try {
    postgres = await ownPostgres(join(disk.folder, 'data'))
    services = serviceProcesses(postgres)
    const service = await services.start(fault === undefined ? {} : { fault })
    const writers = await makeWriters(service.url, 6)
    const reader = await makeKnownBrokerage(service.url)
    await delay(1_100)
    load = Promise.all([
      write(
        writers,
        log,
        () => service.url,
        () => over,
      ),
      readInsights(
        () => service.url,
        reader,
        reads,
        () => over,
      ),
    ])
    await delay(1_500)
    const before = acknowledgedCount(log)
    const refused = () => log.answers.filter(({ status }) => status >= 500).length
    // PostgreSQL first uses free pages in its files, so the proof fills the disk until updates are refused.
    for (let waited = 0; refused() === 0 && waited < 60_000 && !signal.aborted; waited += 100) {
      fill(disk.folder, ballast)
      await delay(100)
    }
    onProgress(`the disk is full after ${acknowledgedCount(log)} acknowledged updates`)
    const full = performance.now()
    const fullMs = Math.max(2_000, 20_000 * share)
    while (performance.now() - full < fullMs && !signal.aborted) {
      fill(disk.folder, ballast)
      await delay(100)
    }
    const readyWhileFull = (await fetch(`${service.url}/readyz`)).status
    if (readyWhileFull !== 503) faults.push(`/readyz was ${readyWhileFull} while the disk was full`)
    const readsWhileFull = reads.filter(({ began }) => began > full)
    const refusedWhileFull = refused()
    for (const path of ballast) rmSync(path, { force: true })
    const freed = performance.now()
    const isBack = () => log.answers.some(({ began, status }) => began > freed && status === 200)
    while (!isBack() && performance.now() - freed < recoveryMsMax) await delay(20)
    const backMs = performance.now() - freed
    if (!isBack()) faults.push('no update is acknowledged after space was freed')
    await delay(500)
    const readyAfterwards = (await fetch(`${service.url}/readyz`)).status
    if (readyAfterwards !== 200) faults.push(`/readyz was ${readyAfterwards} after space was freed`)
    over = true
    await load
    if (service.child.exitCode !== null) faults.push('the service exited')
    if (refusedWhileFull === 0) faults.push('the full disk refused nothing: the proof is empty')
    const odd = log.answers.filter(({ status }) => ![200, 429, 503].includes(status))
    if (odd.length > 0) faults.push(`${odd.length} updates returned ${odd[0]?.status}`)
    const wrong = readsWhileFull.filter(({ found, status }) => status !== 429 && found !== true)
    if (wrong.length > 0)
      faults.push(`${wrong.length} reads while the disk was full returned ${wrong[0]?.status}`)
    faults.push(...(await lossesIn(postgres, log)))
    return {
      figure: `${before} updates acknowledged before and ${acknowledgedCount(log) - before} during and after; ${refusedWhileFull} refused and ${readsWhileFull.length} reads while full; recovered after ${Math.round(backMs)} ms`,
      faults: firstFaults(faults),
    }
  } finally {
    over = true
    await services?.remove()
    await load
    for (const path of ballast) rmSync(path, { force: true })
    await postgres?.remove()
    await disk.remove()
  }
}

export const fullDisk: Proof = {
  name: 'full-disk',
  claim:
    'While the disk is full, reads work and writes get 503; no acknowledged update is lost, and no restart is needed',
  fault: 'a full disk counts as a bug and returns 500',
  run: (options) => fillUnderLoad(options),
  control: (options) => fillUnderLoad({ ...options, share: 0 }, 'a full disk is a bug'),
}

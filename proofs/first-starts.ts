import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  clusterProcesses,
  databaseName,
  findPlace,
  runningEmbeddedPostgres,
  signal as sendSignal,
  stopAbandonedPostgres,
} from '#server/embedded-postgres/index.ts'
import { comparableRows, firstDifference } from '#testing/comparable-rows.ts'
import { type RunningService, runService } from '#testing/running-service.ts'
import { proofFolder } from './own-postgres.ts'
import { type FaultName, planting } from './planted-fault.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'

type Rows = Awaited<ReturnType<typeof comparableRows>>

/** The points where a first start is killed. */
const points = [
  'killed during initdb',
  'killed during a migration',
  'killed before the first quote',
  'killed amid the quotes',
  'killed after the last quote',
  'killed before the credentials',
] as const satisfies readonly FaultName[]

/**
 * Two busy programs: one computes, one writes. Each has a process session of its own, because Linux shares processor time by
 * session: each program gets as much as the whole service.
 */
const busy = 'for (;;);'
const writing =
  "const fs = require('fs'), file = fs.openSync(process.argv[1], 'w'), page = Buffer.alloc(65536); for (;;) { fs.writeSync(file, page, 0, page.length, 0); fs.fsyncSync(file) }"
const busyMax = 20
const writersMax = 6

function otherPrograms(folder: string, share: number): ChildProcess[] {
  const run = (...options: string[]) =>
    spawn(process.execPath, ['-e', ...options], { detached: true, stdio: 'ignore' })
  return [
    ...Array.from({ length: shareOf(busyMax, share, 4) }, () => run(busy)),
    ...Array.from({ length: shareOf(writersMax, share) }, (_, nth) =>
      run(writing, join(folder, `file-${nth}`)),
    ),
  ]
}

/** Starts the service at a given time of its clock, so that each start writes the same quotes. */
function startAt(now: number, directory: string, fault?: FaultName): Promise<RunningService> {
  const clock = `--import=data:text/javascript,${encodeURIComponent(`Date.now = () => ${now}`)}`
  return runService(directory, {
    NODE_OPTIONS: fault === undefined ? clock : `${clock} ${planting(fault)}`,
  })
}

async function rowsIn(directory: string): Promise<Rows> {
  const postgres = runningEmbeddedPostgres(directory)
  if (postgres === null) throw new Error('PostgreSQL does not run.')
  return comparableRows(postgres.connection(databaseName, 'superuser'))
}

async function remove(directory: string): Promise<void> {
  for (const left of await stopAbandonedPostgres(directory)) rmSync(left, { recursive: true, force: true })
  rmSync(directory, { recursive: true, force: true })
}

/** Starts in a new folder; with a point, after a first start that was killed at this point. Returns the rows and the faults. */
async function startedRows(
  now: number,
  { point, alsoDatabase = false }: { point?: FaultName; alsoDatabase?: boolean } = {},
): Promise<{ rows: Rows; seconds: number; faults: string[] }> {
  const directory = proofFolder()
  const faults: string[] = []
  try {
    if (point !== undefined) {
      await startAt(now, directory, point).then(
        async (service) => {
          await service.end('SIGKILL')
          faults.push(`a start was not ${point}: the proof is empty`)
        },
        () => {},
      )
      const place = findPlace(directory)
      if (alsoDatabase && place !== null)
        for (const pid of clusterProcesses(place.cluster)) sendSignal(pid, 'SIGKILL')
    }
    const began = performance.now()
    const service = await startAt(now, directory)
    const seconds = (performance.now() - began) / 1_000
    const rows = await rowsIn(directory)
    if (!service.printed().includes('Shown once'))
      faults.push(`after a start ${point}, no start shows the credentials`)
    const { code } = await service.end('SIGTERM')
    if (code !== 0) faults.push(`the service stopped with exit code ${code}`)
    return { rows, seconds, faults }
  } finally {
    await remove(directory)
  }
}

async function killedAt(now: number, undisturbed: Rows, point: FaultName): Promise<string[]> {
  // At other points PostgreSQL survives the kill of the service.
  const alsoDatabase = point === 'killed amid the quotes'
  const { rows, faults } = await startedRows(now, { point, alsoDatabase })
  const difference = firstDifference(rows, undisturbed)
  return difference === null ? faults : [...faults, `after a start ${point}, ${difference}`.slice(0, 400)]
}

async function firstStarts({ share, onProgress, signal }: ProofOptions): Promise<Finding> {
  const now = Date.now()
  const faults: string[] = []
  const undisturbed = await startedRows(now)
  faults.push(...undisturbed.faults)
  onProgress(`an undisturbed first start took ${undisturbed.seconds.toFixed(1)} s`)
  let kills = 0
  for (const point of points.slice(0, shareOf(points.length, share))) {
    if (signal.aborted) break
    faults.push(...(await killedAt(now, undisturbed.rows, point)))
    kills++
    onProgress(`${point}, and started again`)
  }
  const folder = proofFolder()
  const others = otherPrograms(folder, share)
  try {
    const beside = await startedRows(now)
    faults.push(...beside.faults)
    const difference = firstDifference(beside.rows, undisturbed.rows)
    if (difference !== null) faults.push(`beside busy programs, ${difference}`)
    return {
      figure: `${kills} kills; ready after ${undisturbed.seconds.toFixed(1)} s alone, and after ${beside.seconds.toFixed(1)} s beside ${others.length} busy programs`,
      faults: firstFaults(faults),
    }
  } finally {
    for (const { pid } of others) if (pid !== undefined) sendSignal(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function halfAStart(): Promise<Finding> {
  const now = Date.now()
  const { rows } = await startedRows(now)
  return { figure: 'one kill', faults: await killedAt(now, rows, 'a first start in two transactions') }
}

export const firstStartsProof: Proof = {
  name: 'first-starts',
  claim:
    'A first start is ready also beside twenty busy programs and six that write to the disk; one that was killed anywhere is completed by the next, with the same rows',
  fault: 'the first start writes its mark before the sample brokerage, and is killed between them',
  run: firstStarts,
  control: halfAStart,
}

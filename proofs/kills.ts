import { setTimeout as delay } from 'node:timers/promises'
import type { RunningService } from '#testing/running-service.ts'
import { type OwnPostgres, ownPostgres } from './own-postgres.ts'
import {
  between,
  type Finding,
  firstFaults,
  type Proof,
  type ProofOptions,
  seeded,
  shareOf,
} from './proof.ts'
import { serviceProcesses } from './service-process.ts'
import {
  acknowledgedCount,
  lossesIn,
  makeWriters,
  type WritersLog,
  write,
  writersLog,
} from './signed-writers.ts'

type Kill = 'service' | 'database' | 'both'

const writersCount = 8

/** Returns the processes to kill, for a share of the full length, in an order that depends on the seed. */
function killsOf(random: () => number, share: number): Kill[] {
  const kills: Kill[] = [
    ...Array<Kill>(shareOf(100, share)).fill('service'),
    ...Array<Kill>(shareOf(50, share)).fill('database'),
    ...Array<Kill>(shareOf(20, share)).fill('both'),
  ]
  return kills
    .map((kill) => ({ kill, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ kill }) => kill)
}

async function killUnderWriters(
  kills: readonly Kill[],
  { seed, onProgress, signal }: ProofOptions,
  prepare: (postgres: OwnPostgres) => Promise<void> = async () => {},
): Promise<Finding> {
  const random = seeded(seed)
  const postgres = await ownPostgres()
  const services = serviceProcesses(postgres)
  const done = { service: 0, database: 0, both: 0 }
  const log = writersLog()
  const faults: string[] = []
  let acknowledgedAfterKill = 0
  let over = false
  let writing: Promise<void> = Promise.resolve()
  try {
    let service: RunningService = await services.start()
    const writers = await makeWriters(service.url, writersCount)
    await prepare(postgres)
    writing = write(
      writers,
      log,
      () => service.url,
      () => over,
    )
    for (const kill of kills) {
      if (signal.aborted) break
      await delay(between(random, 300, 900))
      // Wait for acknowledged updates since the last kill: without them a kill could lose nothing.
      await waitForAcknowledged(log, acknowledgedAfterKill + writersCount)
      const running = service
      await Promise.all([
        kill === 'database' ? null : running.end('SIGKILL'),
        kill === 'service' ? null : postgres.kill(),
      ])
      if (kill !== 'service') await postgres.start()
      if (kill !== 'database') service = await services.start()
      else if (running.child.exitCode !== null) faults.push('the service exited with its database')
      done[kill]++
      acknowledgedAfterKill = acknowledgedCount(log)
      onProgress(
        `${done.service} + ${done.database} + ${done.both} kills, ${acknowledgedCount(log)} acknowledged`,
      )
      if (faults.length > 0) break
    }
    await delay(500)
    over = true
    await writing
    faults.push(...(await lossesIn(postgres, log)))
    const count = acknowledgedCount(log)
    if (count < kills.length) faults.push(`only ${count} updates were acknowledged: the proof is empty`)
    return {
      figure: `${done.service} kills of the service, ${done.database} of the database, ${done.both} of both; ${count} updates acknowledged`,
      faults: firstFaults(faults),
    }
  } finally {
    over = true
    await services.remove()
    await writing
    await postgres.remove()
  }
}

/** Waits until `count` updates are acknowledged, for at most 10 s. */
async function waitForAcknowledged(log: WritersLog, count: number): Promise<void> {
  const until = performance.now() + 10_000
  while (acknowledgedCount(log) < count && performance.now() < until) await delay(20)
}

/**
 * Plants the fault: commits are acknowledged before they are on disk. The service refuses to start with this setting, so it is
 * set afterwards. A long WAL writer delay makes it unlikely that everything is on disk by chance when the kill comes.
 */
async function acknowledgeEarly(postgres: OwnPostgres): Promise<void> {
  await postgres.ask('alter role lanewise_service set synchronous_commit = off')
  await postgres.ask("alter system set wal_writer_delay = '10s'")
  await postgres.ask('select pg_reload_conf()')
  await postgres.ask(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'lanewise_service'",
  )
}

export const kills: Proof = {
  name: 'process-kills',
  claim:
    'When the service or PostgreSQL is killed, no acknowledged update is lost and no update is partly stored',
  fault: 'synchronous_commit = off',
  run: (options) => killUnderWriters(killsOf(seeded(options.seed), options.share), options),
  // After one kill everything may be on disk by chance; after several that is unlikely.
  control: (options) =>
    killUnderWriters(Array<Kill>(shareOf(8, options.share, 2)).fill('database'), options, acknowledgeEarly),
}

import { readConfig } from '../configuration/index.ts'
import { DistributionRefused, prepareWorkers, rebalance, type ShardMove } from '../database/schema/index.ts'
import { databaseSafetyFaults, openDatabase } from '../database/session/index.ts'
import { CommandRefused, exitCodeOf } from './command-database.ts'

const usage = `npm run rebalance    moves shards until the rows are spread evenly over the Citus workers, while the service works.
It needs DATABASE_URL, and in CLUSTER_DATABASE_URL a superuser's connection to the coordinator.
`

/** `npm run rebalance`: spreads the rows over the workers of a Citus cluster, after a worker was added. */
async function main(): Promise<number> {
  if (process.argv.length > 2) {
    process.stderr.write(usage)
    return 2
  }
  const { databaseUrl, clusterDatabaseUrl } = readConfig(process.env)
  if (databaseUrl === null || clusterDatabaseUrl === null) {
    throw new CommandRefused(
      "Set DATABASE_URL to the service's connection, and CLUSTER_DATABASE_URL to a superuser's connection to the same coordinator.",
    )
  }
  const superuser = { connectionString: clusterDatabaseUrl }
  await prepareWorkers(superuser)
  // A new worker must isolate brokerages before it gets their rows.
  const faults = await faultsOf(databaseUrl)
  if (faults.length > 0) {
    throw new CommandRefused(
      `Nothing was moved, because the cluster is not safe to serve from:\n${faults.join('\n')}`,
    )
  }
  const signals = stopOnSignals()
  try {
    const moves = await rebalance(superuser, {
      ...signals,
      onMove: ({ shard, bytes, from, to }, nth) => {
        process.stdout.write(
          `${String(nth).padStart(3)}  shard ${shard} (${megabytes(bytes)}) from ${from} to ${to}`,
        )
      },
      onMoved: (_move: ShardMove, tookMs) => {
        process.stdout.write(`: moved in ${(tookMs / 1000).toFixed(1)} s\n`)
      },
      onLeftover: (fault) => {
        process.stderr.write(`\n${fault}\nRun this command again when the worker answers.\n`)
      },
    })
    process.stdout.write(moves === 0 ? 'The workers are balanced already.\n' : 'The workers are balanced.\n')
  } catch (error) {
    if (error instanceof DistributionRefused) throw new CommandRefused(error.message)
    throw new CommandRefused(
      `\nThe move failed and was undone: ${error instanceof Error ? error.message : String(error)}\nNo rows were lost, and earlier moves stay done. Run npm run doctor, and then this command again.`,
    )
  }
  const left = await faultsOf(databaseUrl)
  for (const fault of left) process.stderr.write(`${fault}\n`)
  return left.length === 0 ? 0 : 1
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

async function faultsOf(databaseUrl: string): Promise<string[]> {
  const database = await openDatabase({ connection: { connectionString: databaseUrl } })
  try {
    return await databaseSafetyFaults(database)
  } finally {
    await database.close()
  }
}

/** The first signal stops before the next move, the second one cancels the move that runs. */
function stopOnSignals(): { readonly stopped: () => boolean; readonly cancel: AbortSignal } {
  const canceling = new AbortController()
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) canceling.abort()
      else process.stderr.write('\nStopping after this shard. Press Ctrl-C again to undo its move.\n')
      stopping = true
    })
  }
  return { stopped: () => stopping, cancel: canceling.signal }
}

process.exitCode = await exitCodeOf(main)

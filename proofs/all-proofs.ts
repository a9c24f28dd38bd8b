import { cloneDatabase } from '#testing/cloned-database.ts'
import { clockJumps } from './clock-jumps.ts'
import { concurrencyWalk } from './concurrency-walk.ts'
import { cutDatabase } from './cut-database.ts'
import { databaseRestarts } from './database-restarts.ts'
import { fullDisk } from './full-disk.ts'
import { kills } from './kills.ts'
import { lateDeliveries } from './late-deliveries.ts'
import { filteredFiles, mutationWalk } from './mutation-walk.ts'
import { noisyNeighbour, slowConnections } from './neighbours.ts'
import { firstFaults, type Proof, shareOf } from './proof.ts'
import { rollingRestart } from './rolling-restart.ts'
import { simulation } from './simulation.ts'

/** The setting of a transaction's tenant becomes one of the whole connection. */
const forTheWholeConnection = (statement: string) =>
  statement.replace(/^(begin; select set_config\('app\.tenant_id', '\d+'), true\)$/, '$1, false)')

const concurrency: Proof = {
  name: 'concurrency',
  claim: 'Fifty brokerages over two connections, with callers that hang up: each answer is its caller’s own',
  fault: 'a tenant set for the connection in the place of the transaction',
  async run({ seed, share, cluster, onProgress, signal }) {
    const result = await concurrencyWalk({
      requests: shareOf(20_000, share, 500),
      seed,
      signal,
      makeDatabase: () => cloneDatabase(cluster),
      onProgress: (done, of) => onProgress(`${done} of ${of} requests`),
    })
    return {
      figure: `${result.requests} requests, ${result.aborted} hung up, connections ended ${result.resets} times`,
      faults: firstFaults(result.faults),
    }
  },
  async control({ seed, cluster, signal }) {
    const { faults, requests } = await concurrencyWalk({
      requests: 500,
      seed,
      signal,
      makeDatabase: () => cloneDatabase(cluster),
      rewrite: forTheWholeConnection,
    })
    return { figure: `${requests} requests`, faults: firstFaults(faults) }
  },
}

const walls: Proof = {
  name: 'walls',
  claim: 'Without the conditions of any one file of queries, row-level security still shows nobody’s rows',
  fault: 'no row-level security either',
  async run({ share, cluster, onProgress, signal }) {
    const files = filteredFiles().slice(0, shareOf(filteredFiles().length, share, 1))
    const results = await mutationWalk({
      files,
      signal,
      makeDatabase: () => cloneDatabase(cluster),
      onProgress: (done, of, { file }) => onProgress(`${done} of ${of} files: ${file}`),
    })
    const taken = results.reduce((sum, result) => sum + result.taken, 0)
    return {
      figure: `${taken} conditions of ${results.length} files`,
      faults: firstFaults(
        results.flatMap(({ file, behindRowLevelSecurity }) =>
          behindRowLevelSecurity.map((fault) => `without ${file}: ${fault}`),
        ),
      ),
    }
  },
  async control({ cluster, signal }) {
    const [result] = await mutationWalk({
      files: ['lanes.ts'],
      signal,
      makeDatabase: () => cloneDatabase(cluster),
    })
    return { figure: 'one file', faults: firstFaults(result?.withoutAnyWall ?? []) }
  },
}

/** Every proof, with the minutes that its full length takes on two cores. */
export const allProofs: readonly { readonly proof: Proof; readonly minutes: number }[] = [
  { proof: kills, minutes: 8.5 },
  { proof: databaseRestarts, minutes: 1.5 },
  { proof: lateDeliveries, minutes: 9 },
  { proof: cutDatabase, minutes: 2.5 },
  { proof: fullDisk, minutes: 1 },
  { proof: clockJumps, minutes: 1 },
  { proof: rollingRestart, minutes: 2 },
  { proof: simulation, minutes: 2.5 },
  { proof: slowConnections, minutes: 2.5 },
  { proof: noisyNeighbour, minutes: 2.5 },
  { proof: concurrency, minutes: 1 },
  { proof: walls, minutes: 3 },
]

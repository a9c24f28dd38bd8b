import type { FastifyInstance } from 'fastify'
import { appOn } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { clockJumps } from './clock-jumps.ts'
import { concurrencyWalk, setForConnection } from './concurrency-walk.ts'
import { cutDatabase } from './cut-database.ts'
import { databaseRestarts } from './database-restarts.ts'
import { eventCrashes } from './event-crashes.ts'
import { firstStartsProof } from './first-starts.ts'
import { fullDisk } from './full-disk.ts'
import { heavyRequestsProof } from './heavy-requests.ts'
import { hostileRequests } from './hostile-input.ts'
import { kills } from './kills.ts'
import { lateDeliveries } from './late-deliveries.ts'
import { liveMigrations } from './live-migrations.ts'
import { filesWithTenantConditions, mutationWalk } from './mutation-walk.ts'
import { compressedUploads, largeNeighbour, noisyNeighbour, slowConnections } from './neighbours.ts'
import { type Finding, firstFaults, type Proof, shareOf } from './proof.ts'
import { rememberedAnswers } from './remembered-answers.ts'
import { pointInTime } from './restore-drill.ts'
import { rollingRestart } from './rolling-restart.ts'
import { type CallerName, callerNames } from './route-expectations.ts'
import { endlessThread, type Walked, walkAlone, walkForeignIds, walkRoutes } from './route-walk.ts'
import { canaryOf, seededTenants } from './seeded-tenants.ts'
import { simulation } from './simulation.ts'

const concurrency: Proof = {
  name: 'concurrent-tenants',
  claim:
    'Fifty brokerages share two connections, some callers hang up, and each response has only the caller’s data',
  fault: 'the tenant is set for the connection instead of the transaction',
  async run({ seed, share, requests = shareOf(20_000, share, 500), cluster, onProgress, signal }) {
    const result = await concurrencyWalk({
      requests,
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
      rewrite: setForConnection,
    })
    return { figure: `${requests} requests`, faults: firstFaults(faults) }
  },
}

const rowLevelSecurity: Proof = {
  name: 'row-level-security',
  claim: 'Without the tenant conditions of any one file of queries, row-level security still prevents leaks',
  fault: 'row-level security is disabled, too',
  async run({ share, cluster, onProgress, signal }) {
    // A short run covers only a share of the files.
    const all = filesWithTenantConditions()
    const files = share > 0.5 ? all : all.slice(0, shareOf(all.length, share))
    const results = await mutationWalk({
      files,
      withoutIsolation: false,
      signal,
      makeDatabase: () => cloneDatabase(cluster),
      onProgress: (done, of, { file }) => onProgress(`${done} of ${of} files: ${file}`),
    })
    const removed = results.reduce((sum, result) => sum + result.conditionsRemoved, 0)
    return {
      figure: `${removed} conditions of ${results.length} files`,
      faults: firstFaults(
        results.flatMap(({ file, leaksWithRowLevelSecurity }) =>
          leaksWithRowLevelSecurity.map((fault) => `without ${file}: ${fault}`),
        ),
      ),
    }
  },
  async control({ cluster, signal }) {
    const [result] = await mutationWalk({
      files: ['lanes.ts'],
      withoutIsolation: true,
      signal,
      makeDatabase: () => cloneDatabase(cluster),
    })
    return { figure: 'one file', faults: firstFaults(result?.leaksWithoutIsolation ?? []) }
  },
}

const routes: Proof = {
  name: 'route-access',
  claim:
    'Every operation gives every kind of caller the expected status; no id of another brokerage gives access to its data',
  fault: 'a response with a name of the other brokerage',
  run: ({ cluster, signal, onProgress }) => walkEverywhere(cluster, { signal, onProgress }),
  control: ({ cluster, signal }) =>
    walkEverywhere(cluster, { signal, callers: ['owner-B'], plant: foreignName }),
}

/** Plants a name of A in the response to `GET /api/me`. */
const foreignName = (server: FastifyInstance) => {
  server.addHook('onSend', async ({ routeOptions }, _reply, payload) =>
    routeOptions.url === '/api/me' && typeof payload === 'string'
      ? payload.replace('{', `{"other":"${canaryOf('A')}company",`)
      : payload,
  )
}

/** Runs all walks through the routes, or only the walk of some callers. */
async function walkEverywhere(
  cluster: DatabaseCluster,
  options: {
    readonly signal: AbortSignal
    readonly onProgress?: (line: string) => void
    readonly callers?: readonly CallerName[]
    readonly plant?: (server: FastifyInstance) => void
  },
): Promise<Finding> {
  const { callers, plant, signal, onProgress } = options
  const database = await cloneDatabase(cluster)
  const app = await appOn(database, {
    backtestThread: endlessThread,
    ...(plant === undefined ? {} : { plant }),
  })
  const tenants = await seededTenants(app)
  try {
    const walks = [
      () => walkRoutes(app, tenants, callers ?? callerNames),
      ...(callers === undefined ? [() => walkForeignIds(app, tenants), () => walkAlone(app, tenants)] : []),
    ]
    const walked: Walked[] = []
    for (const walk of walks) {
      if (signal.aborted) break
      walked.push(await walk())
      onProgress?.(`${walked.length} of ${walks.length} walks`)
    }
    return {
      figure: `${walked.reduce((sum, { calls }) => sum + calls, 0)} calls`,
      faults: firstFaults(walked.flatMap(({ faults }) => faults)),
    }
  } finally {
    await tenants.close()
    await app.close()
    await database.drop()
  }
}

/** Every proof, with the duration of its full length on two cores, in minutes. */
export const allProofs: readonly { readonly proof: Proof; readonly minutes: number }[] = [
  { proof: kills, minutes: 8.5 },
  { proof: databaseRestarts, minutes: 1.5 },
  { proof: lateDeliveries, minutes: 9 },
  { proof: cutDatabase, minutes: 2.5 },
  { proof: fullDisk, minutes: 1 },
  { proof: firstStartsProof, minutes: 5 },
  { proof: clockJumps, minutes: 1 },
  { proof: liveMigrations, minutes: 2.5 },
  { proof: rollingRestart, minutes: 2 },
  { proof: pointInTime, minutes: 1.5 },
  { proof: eventCrashes, minutes: 4 },
  { proof: simulation, minutes: 2.5 },
  { proof: hostileRequests, minutes: 2.5 },
  { proof: slowConnections, minutes: 2.5 },
  { proof: noisyNeighbour, minutes: 2.5 },
  { proof: largeNeighbour, minutes: 7 },
  { proof: compressedUploads, minutes: 1.5 },
  { proof: concurrency, minutes: 1 },
  { proof: routes, minutes: 0.5 },
  { proof: rowLevelSecurity, minutes: 2 },
  { proof: rememberedAnswers, minutes: 1.5 },
  { proof: heavyRequestsProof, minutes: 12 },
]

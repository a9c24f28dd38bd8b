import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { appOn } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { clockJumps } from './clock-jumps.ts'
import { concurrencyWalk, keepFirstTenant, setForConnection } from './concurrency-walk.ts'
import { cutDatabase } from './cut-database.ts'
import { databaseRestarts } from './database-restarts.ts'
import { eventCrashes } from './event-crashes.ts'
import { failover } from './failover.ts'
import { firstStartsProof } from './first-starts.ts'
import { fullDisk } from './full-disk.ts'
import { heavyRequestsProof } from './fuzz-costs.ts'
import { hostileRequests } from './fuzzer.ts'
import { kills } from './kills.ts'
import { lateDeliveries } from './late-deliveries.ts'
import { liveMigrations } from './live-migrations.ts'
import { compressedUploads, largeNeighbour, noisyNeighbour, slowConnections } from './neighbours.ts'
import { type Finding, firstFaults, type Proof, shareOf } from './proof.ts'
import { rememberedAnswers } from './remembered-answers.ts'
import { pointInTime } from './restore-drill.ts'
import { rollingRestart } from './rolling-restart.ts'
import { type CallerName, callerNames } from './route-expectations.ts'
import { endlessThread, type Walked, walkAlone, walkForeignIds, walkRoutes } from './route-walk.ts'
import { canaryOf, seededTenants } from './seeded-tenants.ts'
import { simulation } from './simulation.ts'
import { disableRowLevelSecurity, rewriteStatements, withoutTenantConditions } from './tenant-conditions.ts'
import { upgrade } from './upgrade.ts'

const concurrency: Proof = {
  name: 'concurrent-tenants',
  claim:
    'Fifty brokerages share two connections, some callers hang up, and each response has only the caller’s data',
  fault:
    'the tenant is set for the connection instead of the transaction; a connection keeps its first tenant',
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
    const found: string[] = []
    for (const rewrite of [setForConnection, keepFirstTenant()]) {
      const { faults } = await concurrencyWalk({
        requests: 500,
        seed,
        signal,
        makeDatabase: () => cloneDatabase(cluster),
        rewrite,
      })
      // The control must find both faults.
      if (faults.length === 0) return { figure: 'a planted fault is missed', faults: [] }
      found.push(...faults)
    }
    return { figure: '500 requests with each fault', faults: firstFaults(found) }
  },
}

const rowLevelSecurity: Proof = {
  name: 'row-level-security',
  claim: 'Without the tenant conditions of all statements, row-level security still prevents leaks',
  fault: 'row-level security is disabled, too',
  run: ({ cluster, signal, onProgress }) => walkWithoutConditions(cluster, { signal, onProgress }),
  control: ({ cluster, signal }) => walkWithoutConditions(cluster, { signal, isOpen: true }),
}

/** Calls every route as B, with the tenant conditions removed from every statement of the service. */
async function walkWithoutConditions(
  cluster: DatabaseCluster,
  options: Pick<WalkOptions, 'signal' | 'onProgress' | 'isOpen'>,
): Promise<Finding> {
  let removed = 0
  const restore = rewriteStatements((statement, connection) => {
    // Statements of the proof itself keep their conditions.
    if ((connection as pg.Client).user !== 'lanewise_service') return statement
    const rest = withoutTenantConditions(statement)
    if (rest !== statement) removed += 1
    return rest
  })
  try {
    const { figure, faults } = await walkEverywhere(cluster, {
      ...options,
      callers: ['service-B', 'owner-B'],
      readsAlone: true,
    })
    return { figure: `${figure}, ${removed} statements without their conditions`, faults }
  } finally {
    restore()
  }
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

interface WalkOptions {
  readonly signal: AbortSignal
  readonly onProgress?: (line: string) => void
  /** Only these callers call, and no step puts ids of A into parameters of B. */
  readonly callers?: readonly CallerName[]
  /** Also compares the reads of B with its reads from a database without A. */
  readonly readsAlone?: boolean
  /** Disables row-level security. */
  readonly isOpen?: boolean
  readonly plant?: (server: FastifyInstance) => void
}

/** Runs all checks of `route-walk.ts`, each of which calls every route. */
async function walkEverywhere(cluster: DatabaseCluster, options: WalkOptions): Promise<Finding> {
  const { callers, readsAlone = callers === undefined, isOpen = false, plant, signal, onProgress } = options
  const database = await cloneDatabase(cluster)
  if (isOpen) await disableRowLevelSecurity(database)
  const app = await appOn(database, {
    backtestThread: endlessThread,
    ...(plant === undefined ? {} : { plant }),
  })
  const tenants = await seededTenants(app)
  try {
    const walks = [
      () => walkRoutes(app, tenants, callers ?? callerNames),
      ...(callers === undefined ? [() => walkForeignIds(app, tenants)] : []),
      ...(readsAlone ? [() => walkAlone(app, tenants)] : []),
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

/** Every proof, with the minutes that its full length takes on two cores. */
export const allProofs: readonly { readonly proof: Proof; readonly minutes: number }[] = [
  { proof: kills, minutes: 8.5 },
  { proof: databaseRestarts, minutes: 1.5 },
  { proof: lateDeliveries, minutes: 9 },
  { proof: cutDatabase, minutes: 2.5 },
  { proof: fullDisk, minutes: 1 },
  { proof: firstStartsProof, minutes: 5 },
  { proof: clockJumps, minutes: 1 },
  { proof: liveMigrations, minutes: 2.5 },
  { proof: upgrade, minutes: 3 },
  { proof: rollingRestart, minutes: 2 },
  { proof: failover, minutes: 3 },
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

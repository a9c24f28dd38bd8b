import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { appOn } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import { startCluster } from '#testing/database-cluster.ts'
import { hostileInput } from './hostile-input.ts'
import { endlessThread } from './route-walk.ts'
import { seededTenants } from './seeded-tenants.ts'

/** Sends hostile requests at length: `node proofs/hostile-input-main.ts --requests 1000000 --seed 7 [--request 123]`. */
const { values } = parseArgs({
  options: { requests: { type: 'string' }, seed: { type: 'string' }, request: { type: 'string' } },
})
const seed = Number(values.seed ?? randomInt(2 ** 31))
const requests = Number(values.requests ?? 1_000_000)
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const { cluster, stop: stopCluster } = await startCluster()
const database = await cloneDatabase(cluster)
const app = await appOn(database, { backtestThread: endlessThread })
const tenants = await seededTenants(app)
const began = performance.now()
process.stdout.write(`seed ${seed}\n`)
const { faults, succeeded, statuses, ...figures } = await hostileInput(app, tenants, {
  requests,
  seed,
  signal: stop.signal,
  ...(values.request === undefined ? {} : { only: Number(values.request) }),
  onProgress: (done) => {
    const perSecond = Math.round(done / ((performance.now() - began) / 1000))
    if (done % 10_000 === 0) process.stdout.write(`${done} of ${requests} (${perSecond} a second)\n`)
  },
})
await tenants.close()
await app.close()
await database.drop()
await stopCluster()
const seconds = Math.round((performance.now() - began) / 1000)
process.stdout.write(`${JSON.stringify({ ...figures, seconds, succeeded: succeeded.size, statuses })}\n`)
for (const fault of faults) process.stdout.write(`FAULT (seed ${seed}) ${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1

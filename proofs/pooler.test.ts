import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { freePort, type RunningService } from '#testing/running-service.ts'
import { mostWithinASecond, sendFor } from './one-limit.ts'
import { type ProofDatabase, proofDatabase } from './proof-database.ts'
import { type ServiceProcesses, serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

const cluster: DatabaseCluster = inject('databaseCluster')
/** PgBouncer is not available as an npm package, so the tests run only where it is installed. */
const hasPooler = spawnSync('pgbouncer', ['--version']).status === 0
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
/** Fewer connections than a service opens, so that each serves many sessions. */
const poolSize = 3
const nobody = 65_534

describe.skipIf(!hasPooler)('through PgBouncer in transaction mode', () => {
  let database: ProofDatabase
  let services: ServiceProcesses
  let pooler: ChildProcess
  let folder: string
  let one: RunningService
  let other: RunningService

  async function startPooler(): Promise<string> {
    const { username, password, pathname } = new URL(database.url('service'))
    const { target } = database
    const at =
      typeof target === 'string'
        ? `host=${target.replace(/\/\.s\.PGSQL\.\d+$/, '')} port=${target.split('.').at(-1)}`
        : `host=${target.host} port=${target.port}`
    const port = await freePort()
    folder = mkdtempSync(join(tmpdir(), 'lanewise-pooler-'))
    chmodSync(folder, 0o755)
    const config = join(folder, 'pgbouncer.ini')
    writeFileSync(
      config,
      `[databases]
lanewise = ${at} dbname=${pathname.slice(1)} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
`,
    )
    const isRoot = process.getuid?.() === 0
    pooler = spawn('pgbouncer', [config], {
      stdio: 'ignore',
      ...(isRoot ? { uid: nobody, gid: nobody } : {}),
    })
    for (let tries = 0; tries < 100; tries++) {
      const socket = connect(port, '127.0.0.1')
      const isThere = await Promise.race([
        once(socket, 'connect').then(
          () => true,
          () => false,
        ),
        once(socket, 'error').then(() => false),
      ])
      socket.destroy()
      if (isThere) return `postgres://anybody@127.0.0.1:${port}/lanewise`
      await delay(50)
    }
    throw new Error('The pooler did not start.')
  }

  beforeAll(async () => {
    database = await proofDatabase(cluster)
    services = serviceProcesses(database)
    const databaseUrl = await startPooler()
    one = await services.start({ databaseUrl })
    other = await services.start({ databaseUrl })
  })
  afterAll(async () => {
    await services?.remove()
    pooler?.kill('SIGKILL')
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    await database?.drop()
  })

  const winsAt = async (service: RunningService, { token }: Integration) =>
    (await call(asApp(service.url), 'GET', readPath, { token })).body.history?.wins ?? 0

  test('tenants are isolated, and one instance returns what another has committed', async () => {
    const brokerages = await Promise.all(Array.from({ length: 6 }, () => makeIntegration(asApp(one.url))))
    await Promise.all(
      brokerages.map(async (ours, nth) => {
        for (let won = 1; won <= 2; won++) {
          const { lane_ref } = await makeQuote(asApp(one.url), ours.tenant)
          const pushed = await pushUpdate(asApp(one.url), ours, { lane_ref, customer_rate: 2_000 + nth })
          expect(pushed.status).toBe(200)
          await expect.poll(() => winsAt(other, ours), { interval: 250 }).toBe(won)
        }
      }),
    )
    const rows = await database.ask<{ tenant_id: number; won: number }>(
      `select tenant_id, count(*)::integer as won from quotes where outcome = 'won' group by 1`,
    )
    expect(rows.map(({ won }) => won)).toEqual(brokerages.map(() => 2))
  })

  test('the rate limit is shared across instances', async () => {
    const ours = await makeIntegration(asApp(one.url))
    await delay(1_100)
    const log = await sendFor(
      [one, one, other, other].map(
        (service) => async () =>
          (await call(asApp(service.url), 'GET', readPath, { token: ours.token })).status,
      ),
      { ms: 2_200 },
    )
    expect([...new Set(log.map(({ status }) => status))].sort()).toEqual([200, 429])
    expect(mostWithinASecond(log)).toBeLessThanOrEqual(10)
  })
})

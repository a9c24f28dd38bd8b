import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { readConfig } from '#server/configuration/index.ts'
import { examine } from '#server/operations/index.ts'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { call, type Integration, makeIntegration, makeLane, pushUpdate } from '#testing/make.ts'
import { freePort, type RunningService, runService } from '#testing/running-service.ts'
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

interface Pooler {
  /** The database through the pooler, as the service. */
  readonly url: string
  readonly stop: () => void
}

async function startPooler(
  database: ProofDatabase,
  mode: 'transaction' | 'session' | 'statement',
): Promise<Pooler> {
  const { username, password, pathname } = new URL(database.url('service'))
  const { target } = database
  const at =
    typeof target === 'string'
      ? `host=${target.replace(/\/\.s\.PGSQL\.\d+$/, '')} port=${target.split('.').at(-1)}`
      : `host=${target.host} port=${target.port}`
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'lanewise-pooler-'))
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
pool_mode = ${mode}
default_pool_size = ${poolSize}
`,
  )
  const isRoot = process.getuid?.() === 0
  const pooler = spawn('pgbouncer', [config], {
    stdio: 'ignore',
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  })
  const stop = () => {
    pooler.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
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
    if (isThere) return { url: `postgres://anybody@127.0.0.1:${port}/lanewise`, stop }
    await delay(50)
  }
  stop()
  throw new Error('The pooler did not start.')
}

describe.skipIf(!hasPooler)('through PgBouncer in transaction mode', () => {
  let database: ProofDatabase
  let services: ServiceProcesses
  let pooler: Pooler
  let one: RunningService
  let other: RunningService

  beforeAll(async () => {
    database = await proofDatabase(cluster)
    services = serviceProcesses(database)
    pooler = await startPooler(database, 'transaction')
    const databaseUrl = pooler.url
    one = await services.start({ databaseUrl })
    other = await services.start({ databaseUrl })
  })
  afterAll(async () => {
    await services?.remove()
    pooler?.stop()
    await database?.drop()
  })

  const winsAt = async (service: RunningService, { token }: Integration) =>
    (await call(asApp(service.url), 'GET', readPath, { token })).body.history?.wins ?? 0

  test('tenants are isolated, and one instance returns what another has committed', async () => {
    const brokerages = await Promise.all(Array.from({ length: 6 }, () => makeIntegration(asApp(one.url))))
    await Promise.all(
      brokerages.map(async (ours, nth) => {
        for (let won = 1; won <= 2; won++) {
          const { lane_ref } = await makeLane(asApp(one.url), ours.tenant)
          const pushed = await pushUpdate(asApp(one.url), ours, { lane_ref, customer_rate: 2_000 + nth })
          expect(pushed.status).toBe(200)
          await expect.poll(() => winsAt(other, ours), { interval: 250 }).toBe(won)
        }
      }),
    )
    const rows = await database.ask<{ tenant_id: number; won: number }>(
      `select tenant_id, count(*)::integer as won from lanes where outcome = 'won' group by 1`,
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

describe.skipIf(!hasPooler)('PgBouncer in another mode is named', () => {
  let database: ProofDatabase
  beforeAll(async () => {
    database = await proofDatabase(cluster)
  })
  afterAll(() => database?.drop())

  const key = 'k'.repeat(44)

  async function wrongsOf(url: string): Promise<string[]> {
    const wrongs: string[] = []
    await examine(() => readConfig({ DATABASE_URL: url, LANEWISE_SECRET_KEY: key }), {
      clock: Date.now,
      tell: ({ about, state, says }) => {
        if (state === 'wrong') wrongs.push(`${about}: ${says}`)
      },
    })
    return wrongs
  }

  test('by the doctor, if its pool is too small for the session mode', async () => {
    const pooler = await startPooler(database, 'session')
    try {
      expect(await wrongsOf(pooler.url)).toContain(
        `connections: only ${poolSize - 1} of the 22 connections of an instance are answered at the same time`,
      )
    } finally {
      pooler.stop()
    }
  })

  test('by the doctor and the start, in one line, in statement mode', async () => {
    const pooler = await startPooler(database, 'statement')
    const folder = mkdtempSync(join(tmpdir(), 'lanewise-pooler-'))
    try {
      expect((await wrongsOf(pooler.url)).at(-1)).toMatch(
        /^pooler: transactions do not work: .*statement pooling/,
      )
      const env = { DATABASE_URL: pooler.url, LANEWISE_SECRET_KEY: key }
      const message = await runService(folder, env).catch((error: Error) => error.message)
      expect(message).toMatch(/lanewise: The database cannot answer.*statement pooling/)
      expect(message).not.toMatch(/^ +at /m)
    } finally {
      pooler.stop()
      rmSync(folder, { recursive: true })
    }
  })
})

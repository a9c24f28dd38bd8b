import { spawnSync } from 'node:child_process'
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { migrate } from '#server/database/schema/index.ts'
import { giveTo, makeDatabase, makeRoles } from '#server/embedded-postgres/index.ts'
import { verifyAuditLogs } from '#server/operations/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { call, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { quotesFile } from '#testing/quotes-file.ts'
import {
  type DrillCluster,
  type DrillPrograms,
  type DrillServer,
  drillCluster,
  drillPrograms,
  withClient,
} from './drill-server.ts'
import { firstFaults, type Proof, shareOf } from './proof.ts'

/** The number of rows of a table and their checksum. */
interface Sum {
  readonly table: string
  readonly rows: number
  readonly sum: string
}

export interface Drilled {
  readonly version: string
  readonly base: string
  readonly baseMs: number
  readonly restoreMs: number
  readonly rows: number
  readonly bytes: number
  readonly sums: readonly Sum[]
  /** The differences after a restore to the second before the accident, and after a restore to a moment after it. */
  readonly faults: { readonly before: readonly string[]; readonly after: readonly string[] }
}

const database = 'lanewise'

/** Returns row count and checksum of every table, and the newest hash of each audit log. */
function sumsOf(server: DrillServer): Promise<Sum[]> {
  return withClient(server, database, async (client) => {
    const { rows: tables } = await client.query<{ table: string }>(
      `select oid::regclass::text as table from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace and relpersistence = 'p' order by 1`,
    )
    const sums: Sum[] = []
    for (const { table } of tables) {
      const { rows } = await client.query<{ rows: number; sum: string }>(
        `select count(*)::int as rows, md5(coalesce(string_agg(sum, '' order by sum), '')) as sum
         from (select md5(t::text) as sum from ${table} t) as rows_of_it`,
      )
      sums.push({ table, rows: rows[0]?.rows ?? 0, sum: rows[0]?.sum ?? '' })
    }
    const { rows: heads } = await client.query<{ head: string }>(
      `select string_agg(encode(hash, 'hex'), ' ' order by tenant_id) as head
       from (select distinct on (tenant_id) * from audit_log order by tenant_id, entry_number desc) as newest`,
    )
    return [...sums, { table: 'newest rows of audit_log', rows: 0, sum: heads[0]?.head ?? '' }]
  })
}

/** Adds a brokerage with quotes through the API: quoted, booked and imported, with events that were not sent yet. */
async function fill(server: DrillServer, quotes: number): Promise<void> {
  const urls = {
    owner: server.url('lanewise_owner', database),
    service: server.url('lanewise_service', database),
  }
  const target = {
    name: database,
    ownerUrl: urls.owner,
    owner: { connectionString: urls.owner },
    serviceUrl: urls.service,
    service: { connectionString: urls.service },
    drop: async () => {},
  }
  const app = await appOn(target, { config: { events: { allowPrivate: [] } } })
  try {
    const integration = await makeIntegration(app)
    const token = integration.tenant.owner
    const url = 'https://hooks.example.com/lanewise'
    await call(app, 'POST', '/api/event-endpoints', { token, body: { url } })
    const { lane_ref } = await makeQuote(app, integration.tenant, { outcome: 'won' })
    await pushUpdate(app, integration, { lane_ref, customer_rate: 1900, truck_cost: 1700 })
    const answer = await fetch(`${app.url}/api/imports`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/csv' },
      body: quotesFile({ seed: 1, quotes, until: app.now, hours: 0.5 }),
    })
    if (answer.status !== 202) {
      throw new Error(`import returned ${answer.status}, expected 202: ${await answer.text()}`)
    }
    const { import_id } = (await answer.json()) as { import_id: number }
    for (let status = 'running'; status === 'running'; await delay(20)) {
      status = (await call(app, 'GET', `/api/imports/${import_id}`, { token })).body.status
      if (status !== 'running' && status !== 'done') throw new Error(`The import is ${status}.`)
    }
  } finally {
    await app.close()
  }
}

const currentTime = (server: DrillServer) =>
  withClient(server, database, async (client) => {
    const { rows } = await client.query<{ now: string }>('select clock_timestamp()::text as now')
    return rows[0]?.now ?? ''
  })

/**
 * Deletes every row of a database, and restores it from a base backup and the archived log: to the second before the deletion,
 * and, as a control, to a moment after it, which the comparison must detect.
 */
export async function restoreDrill(
  programs: DrillPrograms,
  quotes: number,
  onProgress: (line: string) => void,
): Promise<Drilled> {
  const clusters: DrillCluster[] = []
  const servers: DrillServer[] = []
  const newCluster = () => {
    const cluster = drillCluster()
    clusters.push(cluster)
    return cluster
  }
  const started = async (cluster: DrillCluster, settings: Readonly<Record<string, string>> = {}) => {
    const server = await programs.start(cluster, settings)
    servers.push(server)
    return server
  }
  try {
    const source = newCluster()
    programs.init(source)
    const server = await started(source, {
      archive_mode: 'on',
      archive_command: `test ! -f ${source.archive}/%f && cp %p ${source.archive}/%f`,
    })
    await withClient(server, 'postgres', async (maker) => {
      await makeRoles(maker, { owner: 'x', service: 'x' })
      await makeDatabase(maker, database)
    })
    await migrate({ connectionString: server.url('lanewise_owner', database) })
    await fill(server, Math.ceil(quotes / 2))
    onProgress('the base backup')
    const kept = newCluster()
    const beganBase = performance.now()
    const base = await programs.baseBackup(server, source, kept)
    const baseMs = performance.now() - beganBase
    // These rows are only in the archived log.
    await fill(server, Math.floor(quotes / 2))
    const sums = await sumsOf(server)
    const secondBefore = await currentTime(server)
    onProgress('the accident')
    await delay(1_000)
    await deleteEveryRow(server)
    const momentAfter = await currentTime(server)
    const bytes = await archiveLog(server)
    await server.lose()
    const restoredTo = async (time: string) => {
      const target = newCluster()
      prepareRecovery(kept, target, { archive: source.archive, time })
      const began = performance.now()
      const restored = await started(target)
      const restoreMs = performance.now() - began
      const version = await withClient(restored, database, versionOf)
      const faults = [...differences(sums, await sumsOf(restored)), ...(await brokenAudits(restored))]
      await restored.lose()
      return { restoreMs, version, faults }
    }
    onProgress('the restore to the second before')
    const { restoreMs, version, faults: before } = await restoredTo(secondBefore)
    onProgress('a restore to the moment after')
    const { faults: after } = await restoredTo(momentAfter)
    const rows = sums.reduce((sum, table) => sum + table.rows, 0)
    return { version, base, baseMs, restoreMs, bytes, rows, sums, faults: { before, after } }
  } finally {
    for (const server of servers) await server.lose()
    for (const { folder, place } of clusters) {
      rmSync(place.folder, { recursive: true, force: true })
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** The accident: a superuser runs DELETE without WHERE on every table. */
function deleteEveryRow(server: DrillServer): Promise<void> {
  return withClient(server, database, async (client) => {
    const { rows } = await client.query<{ table: string }>(
      `select oid::regclass::text as table from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'`,
    )
    await client.query('set session_replication_role = replica')
    await client.query(rows.map(({ table }) => `delete from ${table}`).join(';'))
  })
}

/**
 * Waits until the log up to now is archived, and returns the size of the database in bytes. It first adds one more transaction,
 * because recovery needs one after its target time.
 */
function archiveLog(server: DrillServer): Promise<number> {
  return withClient(server, database, async (client) => {
    await client.query('create table after_it_all ()')
    const { rows } = await client.query<{ segment: string }>(
      'select pg_walfile_name(pg_switch_wal()) as segment',
    )
    for (;;) {
      const { rows: archived } = await client.query<{ done: boolean; failed: string | null; bytes: string }>(
        `select last_archived_wal >= $1 as done, last_failed_wal as failed, pg_database_size($2) as bytes
         from pg_stat_archiver`,
        [rows[0]?.segment, database],
      )
      if (archived[0]?.done === true) return Number(archived[0].bytes)
      if (archived[0]?.failed != null) throw new Error(`${archived[0].failed} could not be archived.`)
      await delay(20)
    }
  })
}

/** Copies the base backup to a new cluster, and configures recovery from the archive up to a time. */
function prepareRecovery(
  kept: DrillCluster,
  { place }: DrillCluster,
  { archive, time }: { archive: string; time: string },
): void {
  const { status, stderr } = spawnSync('cp', ['-a', kept.place.cluster, place.cluster], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The base backup could not be copied: ${stderr}`)
  appendFileSync(
    join(place.cluster, 'postgresql.auto.conf'),
    [
      '',
      `restore_command = 'cp ${archive}/%f %p'`,
      `recovery_target_time = '${time}'`,
      `recovery_target_action = 'promote'`,
      '',
    ].join('\n'),
  )
  const signal = join(place.cluster, 'recovery.signal')
  writeFileSync(signal, '', { mode: 0o600 })
  giveTo(place.account, signal)
}

function differences(before: readonly Sum[], after: readonly Sum[]): string[] {
  return before.flatMap(({ table, rows, sum }) => {
    const found = after.find((one) => one.table === table)
    return found?.sum === sum
      ? []
      : [`${table}: ${found?.rows ?? 0} rows instead of ${rows}, or with other values`]
  })
}

async function brokenAudits(server: DrillServer): Promise<string[]> {
  const logs = await verifyAuditLogs(
    {
      config: {
        databaseUrl: server.url('lanewise_service', database),
        migrationDatabaseUrl: server.url('lanewise_owner', database),
        dataDirectory: '',
        deadlineFactor: 1,
      },
      remark: () => {},
    },
    { named: undefined, heads: new Map() },
  )
  return [
    ...(logs.length === 2 ? [] : [`${logs.length} audit logs instead of 2`]),
    ...logs.filter(({ unbroken }) => !unbroken).map(({ line }) => line),
  ]
}

async function versionOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ server_version: string }>('show server_version')
  return `PostgreSQL ${rows[0]?.server_version}`
}

export function drillFigure({ version, rows, bytes, base, baseMs, restoreMs }: Drilled): string {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
  return `${version}: ${rows.toLocaleString('en-US')} rows (${Math.round(bytes / 1e6)} MB); base backup (${base}) ${seconds(baseMs)}; restored in ${seconds(restoreMs)}`
}

export const pointInTime: Proof = {
  name: 'point-in-time-restore',
  claim:
    'A base backup and the archived log restore the second before every row was deleted, with equal checksums',
  fault: 'a restore to the moment after',
  async run({ share, onProgress }) {
    const drilled = await restoreDrill(
      drillPrograms(null, { durable: true }),
      shareOf(200_000, share, 100),
      onProgress,
    )
    return { figure: drillFigure(drilled), faults: firstFaults(drilled.faults.before) }
  },
  async control({ onProgress }) {
    const drilled = await restoreDrill(drillPrograms(null, { durable: true }), 100, onProgress)
    return { figure: drillFigure(drilled), faults: firstFaults(drilled.faults.after) }
  },
}

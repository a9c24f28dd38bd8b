import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '#server/database/schema/index.ts'
import { makeDatabase, makeRoles } from '#server/embedded-postgres/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import { run } from '../checks/page.ts'
import { root } from '../checks/repository.ts'
import { type DrillCluster, type DrillServer, drillCluster, drillPrograms } from './drill-server.ts'
import { seededTenants } from './seeded-tenants.ts'

/**
 * Promise: deploy/backup/backup.sh makes a backup that restores, with every row of every brokerage, or fails and keeps the older ones.
 *
 * How: it runs on a PostgreSQL of the machine whose programs are there (LANEWISE_BACKUP_BIN, else those of Debian), as the role that
 * docs/backup.md creates. The planted fault is a pg_restore that loses one row.
 */

const debian = '/usr/lib/postgresql'
const bin =
  process.env.LANEWISE_BACKUP_BIN ??
  (existsSync(debian)
    ? readdirSync(debian)
        .toSorted((one, other) => Number(other) - Number(one))
        .map((version) => join(debian, version, 'bin'))
        .find((folder) => existsSync(join(folder, 'pg_dump')) && existsSync(join(folder, 'initdb')))
    : undefined)
if (bin === undefined)
  process.stderr.write('NOT TESTED: backup.sh needs the programs of a PostgreSQL 15 or newer\n')

describe.skipIf(bin === undefined)('backup.sh', { tags: 'long', timeout: 120_000 }, () => {
  let cluster: DrillCluster
  let server: DrillServer
  let folder: string
  let programs: string

  beforeAll(async () => {
    const postgres = drillPrograms(bin ?? null, { durable: false })
    cluster = drillCluster()
    postgres.init(cluster)
    server = await postgres.start(cluster, {})
    await asSuperuser('postgres', async (maker) => {
      await makeRoles(maker, { owner: 'x', service: 'x' })
      await makeDatabase(maker, 'lanewise')
    })
    await migrate({ connectionString: server.url('lanewise_owner', 'lanewise') })
    const ownerUrl = server.url('lanewise_owner', 'lanewise')
    const serviceUrl = server.url('lanewise_service', 'lanewise')
    const app = await appOn({
      name: 'lanewise',
      ownerUrl,
      owner: { connectionString: ownerUrl },
      serviceUrl,
      service: { connectionString: serviceUrl },
      drop: async () => {},
    })
    const seeded = await seededTenants(app)
    for (const label of ['A', 'B'] as const) await seeded.seed(label)
    await seeded.close()
    await app.close()
    await asSuperuser('lanewise', async (client) => {
      await client.query(`create role lanewise_backup login password 'x' bypassrls createdb`)
      await client.query('grant pg_read_all_data to lanewise_backup')
      await client.query('grant connect on database lanewise to lanewise_backup')
    })
  }, 120_000)
  afterAll(async () => {
    await server?.lose()
    if (cluster === undefined) return
    for (const path of [cluster.place.folder, cluster.folder]) rmSync(path, { recursive: true, force: true })
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lanewise-backups-'))
    programs = mkdtempSync(join(tmpdir(), 'lanewise-programs-'))
    return () => {
      for (const path of [folder, programs]) rmSync(path, { recursive: true, force: true })
    }
  })

  async function asSuperuser(database: string, work: (client: pg.Client) => Promise<unknown>) {
    const client = new pg.Client({ connectionString: server.url('postgres', database) })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }

  const backUp = (env: Readonly<Record<string, string>> = {}) =>
    run('bash', [join(root, 'deploy/backup/backup.sh')], {
      env: {
        PATH: `${programs}:${bin}:${process.env.PATH}`,
        BACKUP_FOLDER: folder,
        PGHOST: server.socket,
        PGUSER: 'lanewise_backup',
        ...env,
      },
    })
  const dumps = () => readdirSync(folder).filter((name) => name.startsWith('lanewise-'))

  test('restores what it wrote, and says how many rows', async () => {
    const { code, output, complaint } = await backUp()
    expect([code, complaint]).toEqual([0, ''])
    const [, tables = '', rows = ''] =
      /: (\d+) tables, (\d+) rows, restored and compared\.$/m.exec(output) ?? []
    expect(Number(tables)).toBeGreaterThan(40)
    expect(Number(rows)).toBeGreaterThan(100)
    expect(dumps()).toHaveLength(1)
    expect(readdirSync(folder)).toContain('last-verified')
    await asSuperuser('postgres', async (client) => {
      const { rows: left } = await client.query(`select 1 from pg_database where datname like '%check%'`)
      expect(left).toEqual([])
    })
  })

  test('keeps the newest ones, as many as it is told', async () => {
    for (const day of ['01', '02', '03'])
      writeFileSync(join(folder, `lanewise-202601${day}T033000Z.dump`), '')
    expect((await backUp({ BACKUP_KEEP: '2' })).code).toBe(0)
    expect(dumps().toSorted()[0]).toBe('lanewise-20260103T033000Z.dump')
    expect(dumps()).toHaveLength(2)
    expect(await backUp({ BACKUP_KEEP: '0' })).toMatchObject({
      code: 2,
      complaint: expect.stringContaining('BACKUP_KEEP is 0'),
    })
  })

  test('refuses a backup that lost a row, and keeps the older ones', async () => {
    writeFileSync(join(folder, 'lanewise-20260101T033000Z.dump'), '')
    const loses = `#!/usr/bin/env bash
"${bin}/pg_restore" "$@" && "${bin}/psql" -qd lanewise_restore_check -c 'delete from lane_versions where ctid = (select ctid from lane_versions limit 1)'
`
    writeFileSync(join(programs, 'pg_restore'), loses, { mode: 0o755 })
    const { code, complaint } = await backUp({ BACKUP_KEEP: '1' })
    expect(code).toBe(1)
    expect(complaint).toMatch(/other numbers of rows[\s\S]*< lane_versions\|\d+\n/)
    expect(dumps().filter((name) => name.endsWith('.dump'))).toEqual(['lanewise-20260101T033000Z.dump'])
    expect(readdirSync(folder)).not.toContain('last-verified')
  })

  test('fails if the role does not see the rows of all brokerages, or the server is away', async () => {
    const owner = await backUp({ PGUSER: 'lanewise_owner' })
    expect(owner.code).not.toBe(0)
    expect(owner.complaint).toMatch(/row-level security|pg_dump failed|permission denied/)
    expect((await backUp({ PGHOST: '/nowhere' })).code).not.toBe(0)
    expect(dumps().filter((name) => name.endsWith('.dump'))).toEqual([])
  })
})

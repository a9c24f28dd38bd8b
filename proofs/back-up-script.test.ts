import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '#server/database/schema/index.ts'
import { makeDatabase, makeRoles } from '#server/embedded-postgres/index.ts'
import { has, run } from '../checks/page.ts'
import { root } from '../checks/repository.ts'
import {
  type DrillCluster,
  type DrillServer,
  drillCluster,
  drillPrograms,
  withClient,
} from './drill-server.ts'

/** The embedded PostgreSQL has no pg_dump, so the tests run only where the programs of another one are installed. */
const hasPrograms = has('pg_config', 'pg_dump', 'pg_restore', 'psql')
const database = 'lanewise'
const script = `${root}/deploy/kubernetes/backup/back-up.sh`

describe.skipIf(!hasPrograms)('the backup script', { tags: 'long' }, () => {
  let cluster: DrillCluster
  let server: DrillServer
  let folder: string

  beforeAll(async () => {
    const { output } = await run('pg_config', ['--bindir'])
    const programs = drillPrograms(output.trim(), { durable: false })
    cluster = drillCluster()
    programs.init(cluster)
    server = await programs.start(cluster, {})
    await withClient(server, 'postgres', async (maker) => {
      await makeRoles(maker, { owner: 'x', service: 'x' })
      await makeDatabase(maker, database)
      await maker.query('create role lanewise_backup login createdb bypassrls in role lanewise_owner')
    })
    await migrate({ connectionString: server.url('lanewise_owner', database) })
    await ask(
      `insert into tenants (tenant_id, name, created_at) values (7, 'Blue Mesa', now()), (8, 'Harvest', now())`,
    )
    folder = mkdtempSync(join(tmpdir(), 'lanewise-back-up-script-'))
  })
  afterAll(async () => {
    await server?.lose()
    for (const left of [folder, cluster?.folder]) if (left !== undefined) rmSync(left, { recursive: true })
  })

  const ask = (statement: string) =>
    withClient(
      server,
      database,
      async (client) => (await client.query<Record<string, unknown>>(statement)).rows,
    )

  const copies = () => readdirSync(folder).filter((name) => name !== 'bin')

  const backUp = (env: Readonly<Record<string, string>> = {}) =>
    run('sh', [script], {
      env: {
        PGHOST: server.socket,
        PGPORT: '5432',
        PGUSER: 'lanewise_backup',
        PGDATABASE: database,
        BACKUP_FOLDER: folder,
        ...env,
      },
    })

  const verifiedAt = async () =>
    (await ask(`select obj_description('installation'::regclass, 'pg_class') as remark`))[0]?.remark

  /** A folder for PATH in which pg_restore restores, and then runs a statement in the restored database. */
  function withFault(statement: string): Record<string, string> {
    const bin = join(folder, 'bin')
    mkdirSync(bin, { recursive: true })
    const path = process.env.PATH ?? ''
    writeFileSync(
      join(bin, 'pg_restore'),
      `#!/bin/sh\nPATH='${path}' pg_restore "$@" && PATH='${path}' psql -q -d ${database}_backup_check -c "${statement}"\n`,
    )
    chmodSync(join(bin, 'pg_restore'), 0o755)
    return { PATH: `${bin}:${path}` }
  }

  test('keeps no copy, records nothing and fails if the restored database has fewer rows', async () => {
    const { code, output, complaint } = await backUp(withFault('delete from tenants where tenant_id = 8'))
    expect([code, output]).toEqual([1, ''])
    expect(complaint).toMatch(/the copy has[\s\S]*tenants\|2[\s\S]*the restored database[\s\S]*tenants\|1/)
    expect(complaint).toContain('backup: FAILED: there is no verified copy of lanewise')
    expect([copies(), await verifiedAt()]).toEqual([[], null])
  })

  test('keeps a restored and compared copy while others write, records its time, and removes the scratch database', async () => {
    let number = 100
    let over = false
    const writing = withClient(server, database, async (client) => {
      while (!over)
        await client.query(`insert into tenants (tenant_id, name, created_at) values ($1, 'x', now())`, [
          number++,
        ])
    })
    const { code, output, complaint } = await backUp()
    over = true
    await writing
    expect([code, complaint]).toEqual([0, ''])
    expect(output).toMatch(
      /^backup: .*lanewise-\d{8}T\d{6}Z\.dump was restored and compared: \d+ tables, \d+ rows\n$/,
    )
    expect(number).toBeGreaterThan(101)
    expect(copies()).toHaveLength(1)
    expect(await verifiedAt()).toMatch(/^backup verified \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const names = await ask('select datname from pg_database where datname like $$lanewise%$$')
    expect(names).toEqual([{ datname: database }])
  })

  test('keeps as many copies as asked for, the newest, and all of other databases', async () => {
    const ofOthers = ['lanewise-staging-20200101T021700Z.dump', 'lanewise-staging-20300101T021700Z.dump']
    for (const name of [...ofOthers, 'lanewise-20200101T021700Z.dump', 'lanewise-20200102T021700Z.dump'])
      writeFileSync(join(folder, name), 'old')
    const kept = copies().filter((name) => !name.startsWith('lanewise-2020'))
    const { code } = await backUp({ BACKUP_KEEP: '2' })
    expect(code).toBe(0)
    expect(copies()).toEqual(expect.arrayContaining(kept))
    expect(copies()).toHaveLength(2 + ofOthers.length)
  })

  test('refuses to keep no copy', async () => {
    const before = [copies(), await verifiedAt()]
    for (const keep of ['0', '-1', 'all']) {
      const { code, complaint } = await backUp({ BACKUP_KEEP: keep })
      expect([code, copies(), await verifiedAt()]).toEqual([1, ...before])
      expect(complaint).toContain('BACKUP_KEEP must be a number of copies above 0')
    }
  })

  test('leaves a database alone that somebody restored', async () => {
    await withClient(server, 'postgres', (maker) => maker.query(`create database ${database}_restored`))
    const { code } = await backUp({ PGUSER: 'postgres' })
    expect(code).toBe(0)
    expect(await ask(`select datname from pg_database where datname like '${database}%' order by 1`)).toEqual(
      [{ datname: database }, { datname: `${database}_restored` }],
    )
    await withClient(server, 'postgres', (maker) => maker.query(`drop database ${database}_restored`))
  })

  test('fails as a role that cannot see the rows of all brokerages', async () => {
    const before = copies()
    const { code, complaint } = await backUp({ PGUSER: 'lanewise_owner' })
    expect([code, copies()]).toEqual([1, before])
    expect(complaint).toContain('row-level security')
  })
})

import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { expect, test } from 'vitest'
import { citusUrl, distributedDatabase } from '#testing/citus-database.ts'
import type { RunningService } from '#testing/running-service.ts'
import { serviceProcesses } from './service-process.ts'
import { acknowledgedCount, lossesIn, makeWriters, write, writersLog } from './signed-writers.ts'

/**
 * Promise: an upgrade with a new table, one instance after the other, needs no stop and loses no acknowledged update.
 *
 * How: the steps of docs/deploying.md, under load. The next version is a copy of this one with one more migration: a table of
 * brokerages, and book_shipment, which also writes it. Instances of both versions call that function. At the end, every
 * acknowledged update is compared with the database, row by row.
 */

const root = fileURLToPath(new URL('..', import.meta.url))

const isolated = `(tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)`
const newTable = `
create table update_counts (
  tenant_id integer not null, lane_id bigint not null, updates integer not null,
  primary key (tenant_id, lane_id), foreign key (tenant_id, lane_id) references quotes
);
alter table update_counts enable row level security;
alter table update_counts force row level security;
create policy tenant_isolation on update_counts using ${isolated} with check ${isolated};
grant select, insert, update on update_counts to lanewise_service;
`
const newStatement = `
    insert into public.update_counts as known values (tenant, quote, 1)
    on conflict (tenant_id, lane_id) do update set updates = known.updates + 1;`

/** Makes the next version: a copy of this one with one more migration. Returns its folder. */
async function nextVersion(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lanewise-next-'))
  await cp(join(root, 'server'), join(folder, 'server'), { recursive: true })
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  for (const name of ['node_modules', 'contract', 'engine', 'geography', 'dashboard'])
    await symlink(join(root, name), join(folder, name))
  const migrations = join(folder, 'server/src/database/schema/migrations')
  const schema = await readFile(join(folder, 'server/src/database/schema/schema.sql'), 'utf8')
  const begin = schema.indexOf('CREATE OR REPLACE FUNCTION public.book_shipment(')
  const end = schema.indexOf('end $function$;', begin)
  const last = schema.lastIndexOf("    return json_build_object('booked'", end)
  const changed = `${schema.slice(begin, last)}${newStatement}\n${schema.slice(last, end)}end $function$;`
  await writeFile(join(migrations, '9001-update-counts.sql'), newTable + changed)
  return folder
}

test.skipIf(citusUrl === undefined)(
  'an upgrade with a new table, one instance after the other under load, loses nothing acknowledged',
  async () => {
    const database = await distributedDatabase(citusUrl ?? '')
    const next = await nextVersion()
    const services = serviceProcesses({
      url: (role) => (role === 'owner' ? database.ownerUrl : database.serviceUrl),
    })
    const superuserUrl = new URL(citusUrl ?? '')
    superuserUrl.pathname = `/${database.name}`
    const superuser = new pg.Client({ connectionString: superuserUrl.href })
    await superuser.connect()
    const ask = async <Row extends object>(question: string) => (await superuser.query<Row>(question)).rows
    // The instances do not migrate.
    const env = { MIGRATION_DATABASE_URL: '' }
    const log = writersLog()
    let over = false
    let turn = 0
    let instances: RunningService[] = []
    const url = () => instances[turn++ % instances.length]?.url ?? ''
    const countedAfter = async (more: number) => {
      const wanted = acknowledgedCount(log) + more
      await expect.poll(() => acknowledgedCount(log), { timeout: 60_000 }).toBeGreaterThan(wanted)
    }
    try {
      const [a, b] = [await services.start({ env }), await services.start({ env })]
      instances = [a, b]
      const writers = await makeWriters(a.url, 6)
      const writing = write(writers, log, url, () => over)
      await countedAfter(30)

      // Step 2 is the migration, from the folder of the new version.
      const before = acknowledgedCount(log)
      await promisify(execFile)(process.execPath, ['server/src/operations/migrate-main.ts'], {
        cwd: next,
        env: { ...process.env, MIGRATION_DATABASE_URL: database.ownerUrl },
      })
      const migrated = acknowledgedCount(log)
      // Instances of the old version also write the new table.
      await countedAfter(30)
      expect((await ask('select from update_counts')).length).toBe(writers.length)

      // Step 3 replaces one instance after the other. The balancer sends nothing to an instance that stops.
      for (const old of [a, b]) {
        instances = instances.filter((one) => one !== old)
        await old.end('SIGTERM')
        instances.push(await services.start({ env, main: join(next, 'server/src/main.ts') }))
        await countedAfter(30)
      }
      over = true
      await writing

      // On a busy machine, updates get 503 while the migration holds its locks, and the writers send them again.
      const expected = [200, 429, 503]
      expect([...log.statuses.keys()].filter((status) => !expected.includes(status))).toEqual([])
      expect(await lossesIn({ ask }, log)).toEqual([])
      const [{ counted } = { counted: 0 }] = await ask<{ counted: number }>(
        'select sum(updates)::int as counted from update_counts',
      )
      const all = acknowledgedCount(log)
      // Updates during the migration, at most one per writer, may be counted or not.
      expect(counted).toBeLessThanOrEqual(all - before + writers.length)
      expect(counted).toBeGreaterThanOrEqual(all - migrated - writers.length)
    } finally {
      over = true
      await services.remove()
      await superuser.end()
      await database.drop()
      await rm(next, { recursive: true, force: true })
    }
  },
)

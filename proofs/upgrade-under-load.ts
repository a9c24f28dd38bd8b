import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { RunningService } from '#testing/running-service.ts'
import { insights, makeKnownBrokerage } from './insight-readers.ts'
import type { ProofDatabase } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import { acknowledgedCount, lossesIn, makeWriters, write, writersLog } from './signed-writers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const isolated = `(tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)`
const newTable = `
create table update_counts (
  tenant_id integer not null, lane_id bigint not null, updates integer not null,
  primary key (tenant_id, lane_id), foreign key (tenant_id, lane_id) references lanes
);
alter table update_counts enable row level security;
alter table update_counts force row level security;
create policy tenant_isolation on update_counts using ${isolated} with check ${isolated};
grant select, insert, update on update_counts to lanewise_service;
`
const newStatement = `
    insert into public.update_counts as known values (tenant, lane, 1)
    on conflict (tenant_id, lane_id) do update set updates = known.updates + 1;`

/** Makes a copy of this version with a migration of a later one, and returns its folder. */
async function nextVersion(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lanewise-next-'))
  await cp(join(root, 'server'), join(folder, 'server'), { recursive: true })
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  for (const name of ['node_modules', 'contract', 'engine', 'geography', 'dashboard'])
    await symlink(join(root, name), join(folder, name))
  const migrations = join(folder, 'server/src/database/schema/migrations')
  const bookings = await readFile(join(migrations, '0007-bookings.sql'), 'utf8')
  const begin = bookings.indexOf('create function book_shipment(')
  const end = bookings.indexOf('end $$;', begin)
  const last = bookings.lastIndexOf("    return json_build_object('booked'", end)
  const changed = `${bookings.slice(begin, last)}${newStatement}\n${bookings.slice(last, end)}end $$;`
  await writeFile(
    join(migrations, '9001-update-counts.sql'),
    newTable + changed.replace('create function', 'create or replace function'),
  )
  return folder
}

/**
 * Follows the steps of docs/deploying.md under load: two instances, the migration, one instance of the next version after the other,
 * and back to this version on the new schema. Instances of both versions call the function that the migration changed. At the end,
 * every acknowledged update is compared with the database, row by row, and the answers about another brokerage with those before.
 */
export async function upgradeUnderLoad({
  url: urlOf,
  ask,
}: Pick<ProofDatabase, 'url' | 'ask'>): Promise<void> {
  const next = await nextVersion()
  const services = serviceProcesses({ url: urlOf })
  // The instances do not migrate.
  const env = { MIGRATION_DATABASE_URL: '' }
  const log = writersLog()
  let over = false
  let turn = 0
  let instances: RunningService[] = []
  let writing: Promise<void> = Promise.resolve()
  const url = () => instances[turn++ % instances.length]?.url ?? ''
  const countedAfter = async (more: number) => {
    const wanted = acknowledgedCount(log) + more
    await expect.poll(() => acknowledgedCount(log), { timeout: 60_000 }).toBeGreaterThan(wanted)
  }
  /** The balancer sends nothing to an instance that stops. */
  const replaceAll = async (options: { main?: string }) => {
    for (const old of [...instances]) {
      instances = instances.filter((one) => one !== old)
      expect(await old.end('SIGTERM')).toMatchObject({ code: 0 })
      instances.push(await services.start({ env, ...options }))
      await countedAfter(30)
    }
  }
  try {
    instances = [await services.start({ env }), await services.start({ env })]
    const known = await makeKnownBrokerage(url())
    const writers = await makeWriters(url(), 6)
    const answersOf = (service: RunningService | undefined) =>
      Promise.all(
        insights.map(async (path) => {
          const answer = await fetch(`${service?.url}${path}`, {
            headers: { Authorization: `Bearer ${known.token}` },
          })
          return `${answer.status} ${await answer.text()}`
        }),
      )
    const first = await answersOf(instances[0])
    expect(first.map((text) => text.slice(0, 3))).toEqual(['200', '200'])
    writing = write(writers, log, url, () => over)
    await countedAfter(30)

    // Step 2: the migration, from the folder of the next version.
    const before = acknowledgedCount(log)
    await promisify(execFile)(process.execPath, ['server/src/operations/migrate-main.ts'], {
      cwd: next,
      env: { ...process.env, MIGRATION_DATABASE_URL: urlOf('owner') },
    })
    const migrated = acknowledgedCount(log)
    // Instances of the version before write the new table.
    await countedAfter(30)
    expect((await ask('select from update_counts')).length).toBe(writers.length)

    // Step 3, and back.
    await replaceAll({ main: join(next, 'server/src/main.ts') })
    for (const instance of instances) expect(await answersOf(instance)).toEqual(first)
    await replaceAll({})
    for (const instance of instances) expect(await answersOf(instance)).toEqual(first)
    over = true
    await writing

    // A busy machine answers 503 while the migration holds its locks, and the writer sends the update again.
    const expected = [200, 429, 503]
    expect([...log.statuses.keys()].filter((status) => !expected.includes(status))).toEqual([])
    expect(await lossesIn({ ask }, log)).toEqual([])
    const [{ counted } = { counted: 0 }] = await ask<{ counted: number }>(
      'select sum(updates)::int as counted from update_counts',
    )
    const all = acknowledgedCount(log)
    // An update that ran while the migration was committed is counted or not.
    expect(counted).toBeLessThanOrEqual(all - before + writers.length)
    expect(counted).toBeGreaterThanOrEqual(all - migrated - writers.length)
  } finally {
    over = true
    await services.remove()
    await writing.catch(() => {})
    await rm(next, { recursive: true, force: true })
  }
}

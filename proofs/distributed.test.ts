import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { takePermit } from '#server/database/queries/index.ts'
import {
  DistributionRefused,
  distribute,
  migrate,
  notSpread,
  readMigrations,
  tablesOnCoordinator,
} from '#server/database/schema/index.ts'
import { databaseSafetyFaults, openDatabase, tenantId } from '#server/database/session/index.ts'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { citusDatabase, citusUrl } from '#testing/citus-database.ts'
import { call, makeIntegration, makePerson, makeQuote, pushUpdate } from '#testing/make.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { idsOf } from './seeded-ids.ts'
import { type SeededTenants, seededTenants } from './seeded-tenants.ts'

const quiet = { shards: 4, onTable: () => {}, stopped: () => false }

test('a database without the extension is refused, and the error says what to do', async () => {
  const plain = await testDatabase()
  try {
    await expect(distribute(plain.owner, quiet)).rejects.toThrow(DistributionRefused)
    await expect(distribute(plain.owner, quiet)).rejects.toThrow('has no extension "citus"')
  } finally {
    await plain.drop()
  }
})

describe.skipIf(citusUrl === undefined)('on the Citus cluster of LANEWISE_TEST_CITUS_URL', () => {
  const [a, b] = [idsOf('A'), idsOf('B')]
  let database: TestDatabase
  let tenants: SeededTenants
  let app: TestApp
  let other: TestApp

  /** Returns a checksum of a tenant's rows per table. enter_tenant() also sets the tenant on the workers. */
  async function checksumsOf(tenant: number): Promise<Record<string, string>> {
    const owner = new pg.Client(database.owner)
    await owner.connect()
    try {
      await owner.query(`begin; select enter_tenant('${tenant}', 0, 0, 0)`)
      const found: Record<string, string> = {}
      for (const table of tenants.tables) {
        const { rows } = await owner.query<{ sum: string }>(
          `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) || count(*) as sum
           from (select * from ${table} where tenant_id = $1 offset 0) t`,
          [tenant],
        )
        found[table] = rows[0]?.sum ?? ''
      }
      return found
    } finally {
      await owner.end()
    }
  }

  beforeAll(async () => {
    database = await citusDatabase(citusUrl ?? '')
    const filling = await appOn(database)
    tenants = await seededTenants(filling)
    await tenants.seed('A')
    await tenants.seed('B')
    await tenants.close()
    await filling.close()
  })
  afterAll(async () => {
    await app?.close()
    await other?.close()
    await database?.drop()
  })

  test('distribution can be stopped and resumed, keeps every row, and does nothing for tables that are distributed', async () => {
    const before = { A: await checksumsOf(a.tenant), B: await checksumsOf(b.tenant) }
    const distributed = tenants.tables.filter(
      (table) => !(tablesOnCoordinator as readonly string[]).includes(table),
    )
    const moved: unknown[] = []
    const stopping = distribute(database.owner, {
      ...quiet,
      onTable: (progress) => moved.push(progress.moved),
      stopped: () => moved.length === 3,
    })
    await expect(stopping).rejects.toThrow('Stopped')
    const service = await openDatabase({ connection: database.service })
    expect((await service.outsideTenants(notSpread))?.length).toBe(distributed.length - 3)
    expect((await databaseSafetyFaults(service)).join('\n')).toContain(
      'The table quotes is not distributed over the workers',
    )
    await service.close()

    moved.length = 0
    const done = await distribute(database.owner, {
      ...quiet,
      onTable: ({ moved: rows }) => moved.push(rows),
    })
    expect(done).toMatchObject({ shards: 4, tables: distributed.length })
    expect(moved.slice(0, 4)).toEqual(['before', 'before', 'before', expect.any(Number)])
    expect({ A: await checksumsOf(a.tenant), B: await checksumsOf(b.tenant) }).toEqual(before)

    moved.length = 0
    await distribute(database.owner, { ...quiet, onTable: ({ moved: rows }) => moved.push(rows) })
    expect(new Set(moved)).toEqual(new Set(['before']))
  })

  test('the service starts: tenant isolation passes all checks, and a tenant sees only its own rows', async () => {
    app = await appOn(database)
    other = await appOn(database, { secretKeys: [app.secretKey] })
    expect(await databaseSafetyFaults(app.database)).toEqual([])
    const seen = (tenant: number) =>
      app.database.inTenant(tenantId(tenant), (transaction) =>
        transaction
          .selectFrom('quotes')
          .select('tenant_id')
          .distinct()
          .where('tenant_id', 'in', [a.tenant, b.tenant])
          .execute(),
      )
    expect(await seen(a.tenant)).toEqual([{ tenant_id: a.tenant }])
    expect(await seen(b.tenant)).toEqual([{ tenant_id: b.tenant }])
  })

  test('faults on one worker are reported with its address: a shard without row-level security, rights, the role', async () => {
    const url = new URL(citusUrl ?? '')
    url.pathname = `/${database.name}`
    const coordinator = new pg.Client({ connectionString: url.href })
    await coordinator.connect()
    const { rows: shards } = await coordinator.query<{ shard: string; host: string; port: number }>(
      `select shard_name as shard, nodename as host, nodeport as port from citus_shards
       where table_name::text = 'audit_log' limit 1`,
    )
    await coordinator.end()
    const { shard, host, port } = shards[0] ?? { shard: '', host: '', port: 0 }
    url.hostname = host
    url.port = String(port)
    const worker = new pg.Client({ connectionString: url.href })
    await worker.connect()
    const planted = [
      ['alter table SHARD disable row level security', 'alter table SHARD enable row level security'],
      ['grant update on SHARD to lanewise_service', 'revoke update on SHARD from lanewise_service'],
      ['alter role lanewise_service superuser', 'alter role lanewise_service nosuperuser'],
      ['alter role lanewise_service bypassrls', 'alter role lanewise_service nobypassrls'],
    ]
    try {
      await worker.query(
        'set citus.enable_ddl_propagation = off; set citus.enable_manual_changes_to_shards = on',
      )
      for (const [fault = '', undo = ''] of planted) {
        await worker.query(fault.replace('SHARD', shard))
        try {
          expect((await databaseSafetyFaults(app.database)).join('\n')).toContain(
            `The worker ${host}:${port}: `,
          )
        } finally {
          await worker.query(undo.replace('SHARD', shard))
        }
      }
      expect(await databaseSafetyFaults(app.database)).toEqual([])
    } finally {
      await worker.end()
    }
  })

  test('append-only tables are append-only on every shard, too', async () => {
    const owner = new pg.Client(database.owner)
    await owner.connect()
    try {
      for (const table of ['audit_log', 'quote_changes', 'shipment_updates']) {
        const { rows } = await owner.query<{ rights: string }>(
          `select distinct result as rights from run_command_on_placements($1, $$
             select string_agg(name, ' ' order by name)
             from unnest('{delete,insert,select,truncate,update}'::text[]) as name
             where has_table_privilege('lanewise_service', '%s', name)
           $$)`,
          [table],
        )
        expect(rows).toEqual([{ rights: 'insert select' }])
      }
    } finally {
      await owner.end()
    }
  })

  test('sign-up, quotes and signed updates work, and one instance returns what another has committed', async () => {
    const acme = await makeIntegration(app)
    const { lane_ref: ref } = await makeQuote(app, acme.tenant)
    const read = async () =>
      (await call(other, 'GET', `/api/lanes/${ref}`, { token: acme.tenant.owner })).body
    expect((await read()).customer_rate).toBeNull()
    const { next } = await other.database.changedTenants(null)
    const update = { lane_ref: ref, customer_rate: 2150.25, truck_cost: 1800 }
    const seconds = Math.floor(app.now / 1000)
    const first = await pushUpdate(app, acme, update, seconds)
    expect([first.status, first.body.updated]).toEqual([200, true])
    expect((await other.database.changedTenants(next)).tenants.map(([tenant]) => tenant)).toEqual([
      acme.tenant.id,
    ])
    // The same request at another instance returns the same response and changes nothing.
    expect((await pushUpdate(other, acme, update, seconds)).body).toEqual(first.body)
    // A newer request with the same values is acknowledged, and changes nothing.
    expect(await pushUpdate(app, acme, update, seconds + 1)).toMatchObject({ status: 200 })
    expect(await read()).toMatchObject({ customer_rate: 2150.25, truck_cost: 1800, outcome: 'won' })
    const { body } = await call(other, 'GET', `/api/lanes/${ref}/changes`, { token: acme.tenant.owner })
    expect(body.changes).toHaveLength(1)
  })

  test('a customer of a team is hidden from other members, by the policies on the workers, too', async () => {
    const acme = await makeIntegration(app)
    const outside = await makePerson(app, acme.tenant, 'member')
    const token = acme.tenant.owner
    for (const customer of ['Secret Shipper', 'Open Shipper']) await makeQuote(app, acme.tenant, { customer })
    const made = await call(app, 'POST', '/api/teams', {
      token,
      body: { name: 'Produce', members: [], customers: ['Secret Shipper'] },
    })
    expect(made.status).toBe(201)
    const listed = async (as: string) => {
      const { body } = await call(other, 'GET', '/api/lanes', { token: as })
      return body.lanes.map((quote: { customer_name: string }) => quote.customer_name).sort()
    }
    expect(await listed(outside.token)).toEqual(['Open Shipper'])
    expect(await listed(token)).toEqual(['Open Shipper', 'Secret Shipper'])
    // These queries have no conditions of their own, so only the policies hide the customer.
    const service = new pg.Client(database.service)
    await service.connect()
    try {
      for (const [person, keys] of [
        [outside.id, ['open shipper']],
        [null, ['open shipper', 'secret shipper']],
      ] as const) {
        await service.query('begin')
        await service.query(`select enter_tenant('${acme.tenant.id}', 2000, 1500, 10000)`)
        if (person !== null) await service.query('select enter_person($1)', [person])
        const { rows } = await service.query('select customer_key as key from quotes order by 1')
        await service.query('rollback')
        expect(rows.map(({ key }) => key)).toEqual(keys)
      }
    } finally {
      await service.end()
    }
  })

  test('a migration distributes the table that it creates, while instances of the version before answer', async () => {
    const planted = {
      name: '9999-planted.sql',
      sql: `
        create table planted (
          tenant_id integer not null references tenants, note text not null, primary key (tenant_id, note)
        );
        alter table planted enable row level security;
        alter table planted force row level security;
        create policy tenant_isolation on planted
          using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)
          with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer);
        grant select on planted to lanewise_service`,
    }
    const acme = await makeIntegration(app)
    const answers: number[] = []
    let over = false
    const asking = (async () => {
      while (!over) answers.push((await call(app, 'GET', '/api/lanes', { token: acme.tenant.owner })).status)
    })()
    await migrate(database.owner, () => {}, [...(await readMigrations()), planted])
    over = true
    await asking
    expect(new Set(answers)).toEqual(new Set([200]))
    expect(await app.database.outsideTenants(notSpread)).toEqual([])
    expect(await databaseSafetyFaults(app.database)).toEqual([])
  })

  test('the workers are asked, and their brokerages counted, in time with 20,000 brokerages', async () => {
    const { href } = Object.assign(new URL(citusUrl ?? ''), { pathname: `/${database.name}` })
    const superuser = new pg.Client({ connectionString: href })
    await superuser.connect()
    try {
      await superuser.query(
        `insert into sign_in_emails (email_folded, tenant_id, user_id)
         select format('person-%s@example.com', nth), 900000000 + nth, 1 from generate_series(1, 20000) as nth`,
      )
      const workers = await app.database.workers()
      expect(workers.map(({ up }) => up)).toEqual([true, true])
      const counted = workers.reduce((sum, { brokerages }) => sum + brokerages, 0)
      expect(counted).toBeGreaterThan(20_000)
    } finally {
      await superuser.query(
        'delete from sign_in_emails where tenant_id > 900000000 and tenant_id <= 900020000',
      )
      await superuser.end()
    }
  })

  test('the rate limit is exact across connections', async () => {
    const permits = await Promise.all(
      Array.from({ length: 25 }, () =>
        takePermit(app.database, tenantId(b.tenant), { max: 10, windowMs: 60_000, alreadyAdmitted: false }),
      ),
    )
    expect(permits.filter(({ admitted }) => admitted).length).toBe(10)
  })
})

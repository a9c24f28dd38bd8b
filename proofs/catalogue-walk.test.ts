import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  type Database,
  databaseSafety,
  databaseSafetyFaults,
  openDatabase,
  rowLevelSecurityGaps,
} from '#server/database/session/index.ts'
import { asMaker, databaseUrl } from '#testing/database-cluster.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'

let database: TestDatabase
let owner: pg.Client
let asService: Database

beforeAll(async () => {
  database = await testDatabase()
  owner = new pg.Client(database.owner)
  await owner.connect()
  asService = await openDatabase({ connection: database.service, deadlines: testDeadlines })
})
afterAll(async () => {
  await asService.close()
  await owner.end()
  await database.drop()
})

/** The findings of the check that runs when the service starts. */
const found = () => asService.outsideTenants(rowLevelSecurityGaps)

test('a migrated database passes all checks of tenant isolation, and the service may start on it', async () => {
  expect(await found()).toEqual([])
  expect(await databaseSafetyFaults(asService)).toEqual([])
})

/** Mistakes that a migration could make, the statement that reverts each, and the finding that must report it. */
const planted: readonly (readonly [mistake: string, undo: string, finding: RegExp])[] = [
  [
    'create table drivers (tenant_id integer not null, driver_id integer not null, primary key (tenant_id, driver_id))',
    'drop table drivers',
    /security is not enabled.* drivers/,
  ],
  [
    'alter table quotes disable row level security',
    'alter table quotes enable row level security',
    /security is not enabled.* quotes/,
  ],
  [
    'alter table quotes no force row level security',
    'alter table quotes force row level security',
    /security is not enabled.* quotes/,
  ],
  [
    'alter policy tenant_isolation on users using (true)',
    `alter policy tenant_isolation on users
       using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)`,
    /security is not enabled.* users/,
  ],
  [
    'alter policy tenant_isolation on users with check (true)',
    `alter policy tenant_isolation on users
       with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer)`,
    /security is not enabled.* users/,
  ],
  [
    `alter policy tenant_isolation on customers
       using ((tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer and is_seen(customer_key(name))) or true)`,
    `alter policy tenant_isolation on customers
       using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::integer and is_seen(customer_key(name)))`,
    /security is not enabled.* customers/,
  ],
  [
    'create policy everybody on quotes for select using (true)',
    'drop policy everybody on quotes',
    /policy everybody opens the table quotes/,
  ],
  [
    'create policy for_service on quotes for select to lanewise_service using (true)',
    'drop policy for_service on quotes',
    /policy for_service opens the table quotes/,
  ],
  ['create view all_lanes as select * from quotes', 'drop view all_lanes', /view all_lanes runs with/],
  [
    'create materialized view lane_counts as select 1 as count; grant select on lane_counts to lanewise_service',
    'drop materialized view lane_counts',
    /materialized view lane_counts/,
  ],
  [
    'create materialized view lane_counts as select 1 as count; grant select (count) on lane_counts to lanewise_service',
    'drop materialized view lane_counts',
    /materialized view lane_counts/,
  ],
  [
    'grant truncate on quotes to lanewise_service',
    'revoke truncate on quotes from lanewise_service',
    /empty \(TRUNCATE\) quotes/,
  ],
  [
    'grant references on users to lanewise_service',
    'revoke references on users from lanewise_service',
    /triggers or foreign keys on users/,
  ],
  [
    'grant references (user_id) on users to lanewise_service',
    'revoke references (user_id) on users from lanewise_service',
    /triggers or foreign keys on users/,
  ],
  [
    'grant select on sign_in_emails to lanewise_service',
    'revoke select on sign_in_emails from lanewise_service',
    /read or change sign_in_emails/,
  ],
  [
    'grant select (email_folded) on sign_in_emails to lanewise_service',
    'revoke select (email_folded) on sign_in_emails from lanewise_service',
    /read or change sign_in_emails/,
  ],
  [
    'grant update on audit_log to lanewise_service',
    'revoke update on audit_log from lanewise_service',
    /change audit_log/,
  ],
  [
    'grant delete on quote_changes to lanewise_service',
    'revoke delete on quote_changes from lanewise_service',
    /change quote_changes/,
  ],
  [
    'grant update (before) on quote_changes to lanewise_service',
    'revoke update (before) on quote_changes from lanewise_service',
    /change quote_changes/,
  ],
  [
    'grant update (id_key) on installation to lanewise_service',
    'revoke update (id_key) on installation from lanewise_service',
    /column id_key of installation/,
  ],
  [
    'grant select on quotes to public',
    'revoke select on quotes from public',
    /Everybody may use the table quotes/,
  ],
  [
    'grant select (name) on users to public',
    'revoke select (name) on users from public',
    /Everybody may use the column name of users/,
  ],
  ['create unique index lane_refs on quotes (lane_ref)', 'drop index lane_refs', /unique index lane_refs/],
  [
    'alter table tenant_counters drop constraint tenant_counters_pkey',
    'alter table tenant_counters add primary key (tenant_id, counter)',
    /table tenant_counters has no primary key/,
  ],
  [
    `create unique index on users (user_id, tenant_id);
     create unique index only_users on users (user_id);
     alter table sessions add constraint one_user foreign key (user_id) references users (user_id)`,
    'alter table sessions drop constraint one_user; drop index only_users; drop index users_user_id_tenant_id_idx',
    /foreign key one_user of sessions/,
  ],
  [
    `create function all_lanes() returns bigint language sql security definer set search_path = pg_catalog, public
       as 'select count(*) from public.quotes'`,
    'drop function all_lanes()',
    /function all_lanes bypasses row-level security, and has not been reviewed/,
  ],
  [
    'grant execute on function sign_in_of(text) to public',
    'revoke execute on function sign_in_of(text) from public',
    /sign_in_of bypasses row-level security .* for everybody/,
  ],
  [
    'alter function sign_in_of(text) reset search_path',
    'alter function sign_in_of(text) set search_path = pg_catalog, public',
    /sign_in_of bypasses row-level security without a fixed/,
  ],
]

test('migrations and functions of a newer version prevent no start of this one, and are named', async () => {
  await owner.query(`insert into schema_migrations (name) values ('9999-later.sql')`)
  const newer = ['9999-later.sql']
  expect(await databaseSafety(asService)).toEqual({ faults: [], unchecked: [], newer, unreviewed: [] })
  await owner.query(`create function all_lanes() returns bigint language sql security definer
    set search_path = pg_catalog, public as 'select count(*) from public.quotes'`)
  await owner.query('revoke execute on function all_lanes() from public')
  try {
    expect(await databaseSafety(asService)).toEqual({
      faults: [],
      unchecked: [],
      newer,
      unreviewed: ['The function all_lanes bypasses row-level security, and has not been reviewed.'],
    })
    await owner.query('grant truncate on quotes to lanewise_service')
    expect((await databaseSafety(asService)).faults).toEqual([expect.stringContaining('TRUNCATE')])
    await owner.query('revoke truncate on quotes from lanewise_service')
    await owner.query('grant execute on function all_lanes() to public')
    expect((await databaseSafety(asService)).faults).toEqual([
      expect.stringMatching(/^The function all_lanes bypasses .* for everybody\.$/),
    ])
  } finally {
    await owner.query('revoke truncate on quotes from lanewise_service; drop function all_lanes()')
    await owner.query(`delete from schema_migrations where name = '9999-later.sql'`)
  }
})

describe('each planted fault is found, and prevents the service from starting', () => {
  test.each(planted)('%s', async (mistake, undo, finding) => {
    await owner.query(mistake)
    try {
      expect((await found()).join('\n')).toMatch(finding)
      expect((await databaseSafetyFaults(asService)).join('\n')).toMatch(finding)
    } finally {
      await owner.query(undo)
    }
    expect(await found()).toEqual([])
  })
})

describe('a service role without session timeouts prevents the service from starting', () => {
  const timeouts: readonly [name: string, value: string, finding: RegExp][] = [
    ['statement_timeout', '0', /have no statement_timeout.* set statement_timeout = '2s'/],
    ['statement_timeout', '61s', /too long a statement_timeout/],
    [
      'idle_in_transaction_session_timeout',
      '0',
      /have no idle_in.* set idle_in_transaction_session_timeout = '10s'/,
    ],
  ]
  test.each(timeouts.slice(0, 2))('%s = %s', isFound)
  test.each(timeouts.slice(2))('%s = %s', { tags: 'long' }, isFound)

  async function isFound(name: string, value: string, finding: RegExp): Promise<void> {
    const { makerUrl } = inject('databaseCluster')
    const role = `alter role lanewise_service in database ${database.name}`
    await asMaker(makerUrl, (maker) => maker.query(`${role} set ${name} = '${value}'`))
    const asNewSession = await openDatabase({ connection: database.service, deadlines: testDeadlines })
    try {
      expect(await databaseSafetyFaults(asNewSession)).toEqual([expect.stringMatching(finding)])
    } finally {
      await asNewSession.close()
      await asMaker(makerUrl, (maker) => maker.query(`${role} reset ${name}`))
    }
    expect(await databaseSafetyFaults(asService)).toEqual([])
  }
})

test('a view with security_invoker is accepted', async () => {
  await owner.query('create view own_lanes with (security_invoker = true) as select * from quotes')
  try {
    expect(await found()).toEqual([])
  } finally {
    await owner.query('drop view own_lanes')
  }
})

test('for the owner of the tables, the only finding is that row-level security does not apply to owners', async () => {
  const asOwner = await openDatabase({ connection: database.owner, deadlines: testDeadlines })
  try {
    expect(await databaseSafetyFaults(asOwner)).toEqual([expect.stringContaining('owns the tables')])
  } finally {
    await asOwner.close()
  }
})

test('for a superuser, the only finding is that row-level security does not restrict it', async () => {
  const makerUrl = databaseUrl(inject('databaseCluster').makerUrl, database.name)
  await asMaker(makerUrl, (maker) =>
    maker.query(`create role test_superuser superuser nobypassrls login password 'test'`),
  )
  await owner.query('create view all_lanes as select * from quotes')
  const superuserUrl = Object.assign(new URL(makerUrl), { username: 'test_superuser', password: 'test' })
  const asSuperuser = await openDatabase({
    connection: { connectionString: superuserUrl.href },
    deadlines: testDeadlines,
  })
  try {
    expect(await databaseSafetyFaults(asSuperuser)).toEqual([expect.stringContaining('is a superuser')])
  } finally {
    await asSuperuser.close()
    await owner.query('drop view all_lanes')
    await asMaker(makerUrl, (maker) => maker.query('drop role test_superuser'))
  }
})

test('a role that owns only what belongs to another program may serve', async () => {
  await owner.query('create schema other; create table other.things (id integer)')
  await asMaker(databaseUrl(inject('databaseCluster').makerUrl, database.name), (maker) =>
    maker.query(
      'grant usage, create on schema other to lanewise_service; alter table other.things owner to lanewise_service',
    ),
  )
  try {
    expect(await databaseSafetyFaults(asService)).toEqual([])
  } finally {
    await owner.query('drop schema other cascade')
  }
})

import { describe, expect, test } from 'vitest'
import {
  longTables,
  migrationFaults,
  migrationTexts,
  readReleased,
  releasedFile,
} from './released-migrations.ts'
import { textOf } from './repository.ts'

const here = migrationTexts()
const released = readReleased(textOf(releasedFile))
const version = { ...released, versions: ['1.0.0'] }

test('every migration that databases have run is unchanged, and a new one is safe', () => {
  expect(released.digests.size).toBeGreaterThan(15)
  expect(migrationFaults(released, here)).toEqual([])
})

test.each([
  ['changed', new Map([...here, ['0003-people.sql', 'select 1;']])],
  ['removed', new Map([...here].filter(([name]) => name !== '0003-people.sql'))],
])('a released migration that was %s is named', (what, migrations) => {
  expect(migrationFaults(released, migrations)).toEqual([
    `0003-people.sql was ${what}. Databases have run it: restore it, and write a new migration.`,
  ])
})

test('every long table exists', () => {
  const schema = textOf('server/src/database/schema/schema.sql')
  for (const table of longTables) expect(schema).toContain(`create table ${table} (`)
})

describe('after a release, a new migration', () => {
  const faultsOf = (sql: string, name = '9000-new.sql') => {
    const inRelease = new Map([...here].filter(([known]) => version.digests.has(known)))
    return migrationFaults(version, new Map([...inRelease, [name, sql]]))
  }

  test('with a number before a released one is refused', () => {
    expect(faultsOf('select 1;', '0011-new.sql')).toEqual([
      expect.stringMatching(/^0011-new\.sql sorts before /),
    ])
  })

  test.each([
    ['drops a column', 'alter table quotes drop column miles;'],
    ['drops a table in a block', 'do $$ begin drop table quotes; end $$;'],
    ['drops a function', 'drop function announce(integer);'],
    ['renames a column', 'alter table quotes rename column miles to distance;'],
    ['renames a column without the word', 'alter table quotes rename miles to distance;'],
    ['renames a table', 'alter table quotes rename to prices;'],
    ['changes a type', 'alter table quotes alter column miles type numeric;'],
    ['forbids null', 'alter table quotes alter column miles set not null;'],
    ['adds a required column', 'alter table quotes add column a text, add column b text not null;'],
    [
      'adds a required column first',
      "alter table quotes add column b text not null, add column a text default '';",
    ],
    ['adds a checked constraint', 'alter table quotes add constraint a check (miles > 0);'],
    ['takes a right', 'revoke update on quotes from lanewise_service;'],
    ['indexes a long table', 'create index by_miles on quotes (miles);'],
    ['indexes a long table in a block', 'do $$ begin create unique index a on events (a); end $$;'],
    ['changes all rows', 'update quotes set miles = 1;'],
    ['deletes rows in a condition', 'do $$ begin if true then delete from audit_log; end if; end $$;'],
    ['changes rows in a query', 'with a as (update quotes set miles = 1 returning 1) select from a;'],
    ['adds a unique constraint', 'alter table users add constraint a unique (email);'],
    ['adds a column with another value in each row', 'alter table users add column a uuid default uuidv4();'],
    [
      'adds a computed column',
      'alter table quotes add column a text generated always as (lower(origin)) stored;',
    ],
    ['executes a removal', "do $$ begin execute 'drop table quotes'; end $$;"],
    [
      'executes a removal by name',
      "do $$ begin execute format('alter table %I drop column %I', t, c); end $$;",
    ],
    ['executes a new name', "do $$ begin execute format('alter table a rename %1$I to %2$I', b, c); end $$;"],
    [
      'executes a column without default',
      "do $$ begin execute format('alter table a add column %I text not null check (b <> '''')', b); end $$;",
    ],
    [
      'executes a text with other SQL in it',
      "do $$ begin execute format('alter table a %s', change); end $$;",
    ],
    ['executes two texts', "do $$ begin execute 'drop ' || 'table quotes'; end $$;"],
    ['executes a variable', 'do $$ begin execute known.definition; end $$;'],
  ])('that %s is refused', (_what, sql) => {
    expect(faultsOf(sql)).toEqual([expect.stringMatching(/^9000-new\.sql: ".*" is not safe: /)])
    expect(faultsOf(`-- Contract of 1.0.0: nothing uses it.\n${sql}`)).toEqual([])
    expect(faultsOf(`-- Contract of 1.1.0: nothing uses it.\n${sql}`)).toContain(
      '9000-new.sql names 1.1.0, and that is not a released version.',
    )
  })

  test.each([
    'alter table quotes add column a text, add column b integer not null default 0, add column c text default null;',
    "alter table quotes add column if not exists b jsonb not null default '[]';",
    'create table a (tenant_id integer not null, b text not null, check (b = b));',
    'alter table quotes drop constraint a, add constraint a check (miles > 0) not valid;',
    'create function a() returns void language plpgsql as $$ begin drop table quotes; end $$;\nrevoke all on function a() from public;',
    "-- Does not drop column miles.\ncomment on table quotes is 'drop table';",
    'drop index a;',
    'create index concurrently by_miles on quotes (miles);',
    'create table a (b integer); create index c on a (b); update tenants set name = name;',
    'alter table quotes add constraint a unique using index a;',
    'create policy a on quotes for update using (true); grant select, update on quotes to lanewise_service;',
    'alter table quotes add column a timestamptz default now(), add column b text;',
    'grant execute on function a(integer) to lanewise_service;',
    "do $$ begin execute format('alter table %I add column a text default %L', t, 'drop table'); end $$;",
  ])('that only adds is accepted: %s', (sql) => {
    expect(faultsOf(sql)).toEqual([])
  })
})

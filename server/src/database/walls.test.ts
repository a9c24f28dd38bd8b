import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { openDatabase } from './open-database.ts'
import { missingWalls } from './walls.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

async function asOwner(...statements: string[]): Promise<void> {
  const client = new pg.Client(database.owner)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

async function missing(connection: pg.ClientConfig = database.service): Promise<string[]> {
  const opened = await openDatabase({ connection })
  try {
    return await missingWalls(opened)
  } finally {
    await opened.close()
  }
}

test('a migrated database, as the service’s own role, lacks nothing', async () => {
  expect(await missing()).toEqual([])
})

test('the owner of the tables is refused, and is told that it could change what was recorded', async () => {
  const said = (await missing(database.owner)).join('\n')
  expect(said).toContain('owns the tables. Connect as lanewise_service')
  expect(said).toContain('What was recorded in audit_log could be changed')
})

describe('each wall that is down is named', () => {
  test.each([
    [
      'audit_log',
      'alter table audit_log no force row level security',
      'alter table audit_log force row level security',
    ],
    ['lanes', 'alter table lanes disable row level security', 'alter table lanes enable row level security'],
  ])('row-level security on %s', async (table, down, up) => {
    await asOwner(down)
    expect(await missing()).toEqual([
      `Row-level security is not enabled, forced and complete on the table ${table}.`,
    ])
    await asOwner(up)
  })

  test.each([
    ['audit_log', 'update'],
    ['audit_log', 'delete'],
    ['audit_log', 'truncate'],
    ['lane_changes', 'update'],
    ['shipment_updates', 'delete'],
  ])('%s could be changed by %s', async (table, power) => {
    await asOwner(`grant ${power} on ${table} to lanewise_service`)
    expect(await missing()).toEqual([
      `What was recorded in ${table} could be changed: revoke update, delete, truncate on ${table} from the service's role.`,
    ])
    await asOwner(`revoke ${power} on ${table} from lanewise_service`)
  })

  test('commits that do not wait for the disk', async () => {
    const connection = { ...database.service, options: '-c synchronous_commit=off' }
    expect(await missing(connection)).toEqual([
      'PostgreSQL runs with synchronous_commit = off: acknowledged changes could be lost. Set it to on.',
    ])
  })
})

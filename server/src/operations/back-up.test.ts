import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import { databaseName, startEmbeddedPostgres } from '#server/embedded-postgres/index.ts'
import { backUp, missingRows } from './back-up.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-back-up-'))
  if (process.getuid?.() === 0) chmodSync(folder, 0o711)
})
afterAll(() => rmSync(folder, { recursive: true }))

const back = (to: string) =>
  backUp({ dataDirectory: join(folder, 'data'), folder: join(folder, to), clock: Date.now, remark: () => {} })

test('a copy made during writes is complete and contains everything committed before it', {
  tags: 'long',
}, async () => {
  const postgres = await startEmbeddedPostgres({ directory: join(folder, 'data') })
  onTestFinished(() => postgres.stop())
  const began = await withDatabaseClient(postgres.connection(databaseName, 'superuser'), async (client) => {
    await client.query('create table written (number integer primary key, again integer not null)')
    let number = 0
    let over = false
    const write = async () => {
      while (!over) {
        number += 1
        await client.query('insert into written values ($1, $1)', [number])
      }
    }
    const writing = write()
    while (number < 50) await new Promise(setImmediate)
    const committed = number - 1
    await client.query('create table installation ()')
    await client.query('grant delete on installation to lanewise_service')
    await client.query('create table forgotten ()')
    await client.query(`create function forget() returns void language sql security definer
      as 'delete from public.forgotten'`)
    const copied = await back('copy')
    over = true
    await writing
    expect(copied.get('written')?.rows).toBeGreaterThanOrEqual(committed)
    // A function of the database deletes rows for the service, so a copy with fewer of them is complete.
    const onlyAdded = [...copied].filter(([, table]) => table.onlyAdded).map(([name]) => name)
    expect(onlyAdded).toEqual(['written'])
    const { rows } = await client.query<{ remark: string }>(
      `select obj_description('installation'::regclass, 'pg_class') as remark`,
    )
    expect(rows[0]?.remark).toMatch(/^backup verified \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    return committed
  })
  expect(existsSync(join(folder, 'copy', 'secret-key'))).toBe(false)
  const restored = await startEmbeddedPostgres({ directory: join(folder, 'copy') })
  try {
    const [row] = await withDatabaseClient(
      restored.connection(databaseName, 'superuser'),
      async (client) =>
        (
          await client.query<{ rows: number; last: number }>(
            'select count(*)::int as rows, max(number) as last from written where number = again',
          )
        ).rows,
    )
    expect(row?.rows).toBe(row?.last)
    expect(row?.last).toBeGreaterThanOrEqual(began)
  } finally {
    await restored.stop()
  }
})

test('an existing folder, and a data folder without a database, are rejected and left unchanged', async () => {
  mkdirSync(join(folder, 'here'))
  await expect(back('here')).rejects.toThrow(/already exists/)
  await expect(
    backUp({
      dataDirectory: join(folder, 'none'),
      folder: join(folder, 'new'),
      clock: Date.now,
      remark: () => {},
    }),
  ).rejects.toThrow(/no embedded database/)
  expect(existsSync(join(folder, 'new'))).toBe(false)
})

test('a copy that lacks a table, or rows of a table where none is removed, is not complete', () => {
  const rows = (count: number, onlyAdded = true) => ({ rows: count, onlyAdded })
  const before = new Map([
    ['audit_log', rows(8)],
    ['sessions', rows(5, false)],
  ])
  const copy = (audited: number, sessions = 5) =>
    new Map([
      ['audit_log', rows(audited)],
      ['sessions', rows(sessions, false)],
    ])
  const after = copy(10)
  for (const complete of [copy(8), copy(10), copy(9, 0)])
    expect(missingRows(before, complete, after)).toBeNull()
  expect(missingRows(before, copy(7), after)).toBe('audit_log has 7 rows, and had 8 before.')
  expect(missingRows(before, copy(11), after)).toBe('audit_log has 11 rows, and the database only 10.')
  expect(missingRows(before, new Map([['audit_log', rows(8)]]), after)).toBe('the table sessions is missing.')
})

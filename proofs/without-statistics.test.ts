/** @module-tag long */
import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import { appOn } from '#testing/app-on-database.ts'
import { type Integration, makeIntegration, pushSigned, pushUpdate, quoteToPush } from '#testing/make.ts'
import type { TestApp } from '#testing/test-app.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'

/**
 * Promise: a push into tables that have grown to 20,000 quotes reads no rows of other quotes, although PostgreSQL never analyzed them,
 * or analyzed them when they were tiny. A crash of PostgreSQL under load has the same effect, because it resets the counts after
 * which it analyzes a table.
 */

/** The number of items of a first push, and how often their rows are copied. */
const firstItems = 100
const copies = 200
/** The number of items of the measured push, which takes three transactions. */
const pushedItems = 300
/**
 * The most rows of one table that an item may read, over all its messages, policies and foreign keys: of `quotes`, it reads 19 to 29.
 * A plan that reads all rows of the brokerage once per hundred items reads two hundred per item.
 */
const rowsPerItemMax = 40

let database: TestDatabase
let owner: pg.Client
beforeEach(async () => {
  database = await testDatabase()
  owner = new pg.Client(database.owner)
  await owner.connect()
  return async () => {
    await owner.end()
    await database.drop()
  }
})

/** The tables whose rows grow with the quotes, and the values in which a copy differs, as SQL. */
const grown = {
  quote_requests: `'request_id', request_id + nth * 1000000000000`,
  quotes: `'lane_id', lane_id + nth * 1000000000000, 'request_id', request_id + nth * 1000000000000,
    'lane_ref', (request_id + nth * 1000000000000) || '-' || lane_number || '-' || quote_count,
    'external_id', external_id || '/' || nth`,
  quote_versions: `'lane_id', lane_id + nth * 1000000000000`,
  quote_changes: `'lane_id', lane_id + nth * 1000000000000`,
  shipment_updates: `'lane_id', lane_id + nth * 1000000000000, 'request_digest', sha256(request_digest || nth::text::bytea)`,
} as const

/** Copies the rows of a brokerage until it has 20,000 quotes, without the service. */
async function growTables(tenant: number): Promise<void> {
  await owner.query(`select set_config('app.tenant_id', $1, false)`, [String(tenant)])
  for (const [table, differs] of Object.entries(grown)) {
    const { rows } = await owner.query<{ column_name: string }>(
      `select column_name from information_schema.columns
       where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
      [table],
    )
    const columns = rows.map(({ column_name: name }) => `"${name}"`).join(', ')
    await owner.query(
      `insert into ${table} (${columns})
       select ${rows.map(({ column_name: name }) => `(copied.made)."${name}"`).join(', ')}
       from (select jsonb_populate_record(known, jsonb_build_object(${differs})) as made
             from ${table} as known cross join generate_series(1, ${copies}) as nth
             where tenant_id = ${tenant} offset 0) as copied`,
    )
  }
}

/** Returns how many rows of each table were read so far, by whichever scan. */
async function rowsRead(): Promise<Map<string, number>> {
  const { rows } = await owner.query<{ relname: string; read: string }>(
    `select relname, seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables`,
  )
  return new Map(rows.map(({ relname, read }) => [relname, Number(read)]))
}

const idsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, nth) => `N-${first + nth}`)

/** Sends quotes, then all other kinds of messages about them. */
async function pushAll(app: TestApp, ours: Integration, ids: readonly string[]): Promise<void> {
  const second = Math.floor(app.now / 1000)
  const send = async (...[endpoint, body, later]: [Parameters<typeof pushSigned>[2], object, number]) => {
    const answer = await pushSigned(app, ours, endpoint, body, second + later)
    expect(answer).toMatchObject({ status: 200, body: { failed: 0 } })
    return answer.body.results as { lane_ref: string }[]
  }
  const details = { rep_name: 'Dana Reyes', quoted_at: '2026-01-05T10:00:00Z' }
  const made = await send(pushQuotes, { quotes: ids.map((id) => quoteToPush(id, details)) }, 0)
  const corrected = { quoted_rate: 2200, customer_name: 'Blue Mesa Foods', quoted_at: '2026-01-04T10:00:00Z' }
  await send(pushQuotes, { quotes: ids.map((id) => ({ external_id: id, ...corrected })) }, 1)
  const lost = { outcome: 'lost', outcome_reason: 'price' }
  await send(pushOutcomes, { outcomes: ids.map((id) => ({ external_id: id, ...lost })) }, 2)
  const booked = { customer_rate: 2150, truck_cost: 1820, carrier_name: 'Blue Mesa Trucking' }
  // Each transaction of a hundred items gets quotes by lane_ref and by external_id.
  const named = made.map(({ lane_ref }, nth) => (nth % 2 === 0 ? { lane_ref } : { external_id: ids[nth] }))
  await send(pushShipmentUpdates, { updates: named.map((name) => ({ ...name, ...booked })) }, 3)
  await send(pushShipmentUpdates, { updates: ids.map((id) => ({ external_id: id, cancelled: true })) }, 4)
  for (const { lane_ref } of made.slice(0, 10)) {
    expect((await pushUpdate(app, ours, { lane_ref, ...booked }, second + 5)).status).toBe(200)
  }
}

describe('a push into 20,000 quotes reads its own rows only', () => {
  const analyzedWhen = async (analyzed: 'never' | 'while it was tiny') => {
    const tables = await owner.query<{ relname: string }>(
      `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
    for (const { relname } of tables.rows)
      await owner.query(`alter table ${relname} set (autovacuum_enabled = off)`)
    const first = await appOn(database)
    const ours = await makeIntegration(first, 'integrations:write quotes:write')
    await pushAll(first, ours, idsFrom(0, firstItems))
    await first.close()
    if (analyzed === 'while it was tiny') await owner.query('analyze')
    await growTables(ours.tenant.id)

    const readBy = async (from: number, count: number) => {
      const before = await rowsRead()
      // New connections have no plans from when the tables were smaller.
      const app = await appOn(database, { secretKeys: [first.secretKey], now: first.now + from * 1000 })
      await pushAll(app, ours, idsFrom(from, count))
      await app.settle()
      await app.close()
      // PostgreSQL counts the reads of a connection at the latest when it ends.
      await expect
        .poll(async () => {
          const others = 'datname = current_database() and pid <> pg_backend_pid()'
          return (await owner.query(`select 1 from pg_stat_activity where ${others}`)).rowCount
        })
        .toBe(0)
      await owner.query('select pg_stat_clear_snapshot()')
      const after = await rowsRead()
      return new Map([...after].map(([table, read]) => [table, read - (before.get(table) ?? 0)]))
    }
    // The difference of two pushes leaves out what a new process reads once, such as the settings of the brokerage.
    const [few, many] = [await readBy(1_000, 100), await readBy(2_000, 100 + pushedItems)]
    const perItem = [...many].map(
      ([table, read]) => [table, (read - (few.get(table) ?? 0)) / pushedItems] as const,
    )
    expect(perItem.filter(([, read]) => read > rowsPerItemMax)).toEqual([])
    const { rows } = await owner.query(`select count(*)::integer as quotes from quotes`)
    expect(rows).toEqual([{ quotes: firstItems * (copies + 1) + 500 }])
  }

  test('when no table was ever analyzed', () => analyzedWhen('never'))

  test('when each table was analyzed while it was tiny', { tags: 'long' }, () =>
    analyzedWhen('while it was tiny'),
  )
})

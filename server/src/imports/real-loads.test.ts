import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { insertImport } from '../database/queries/index.ts'
import { openDatabase, tenantId } from '../database/session/index.ts'
import { importFile } from './import-file.ts'
import { openImport } from './open-import.ts'

/** An optional folder of real data, which is not part of the project because it may not be published. */
const folder =
  process.env.LANEWISE_REAL_DATA ?? fileURLToPath(new URL('../../../../shared/data', import.meta.url))
const path = join(folder, 'loadsmart_truckloads_2017.csv.gz')

it.skipIf(!existsSync(path))(
  'takes every usable row of 5,357 real truckloads, without a map, in seconds',
  { tags: 'long' },
  async () => {
    const testing = await testDatabase()
    const database = await openDatabase({ connection: testing.service, deadlines: testDeadlines })
    const tenant = tenantId(1)
    const now = Date.now()
    const file = await openImport([readFileSync(path)], undefined)
    const importId = await database.inTenant(tenant, async (transaction) => {
      await transaction
        .insertInto('tenants')
        .values({ tenant_id: tenant, name: 'Real Brokers', created_at: new Date(now) })
        .execute()
      const row = await insertImport(transaction, tenant, {
        file_name: 'loads.csv.gz',
        dry_run: false,
        columns: file.columns.names,
        ignoredColumns: file.columns.ignored,
        bytes_total: file.csv.bytesTotal,
        created_by: null,
      })
      return row.import_id
    })
    const refusedFor = new Set<string | null>()
    const end = await importFile(database, {
      tenant,
      importId,
      createdBy: null,
      file,
      dryRun: false,
      isStopping: () => false,
      onRefused: ({ column }) => refusedFor.add(column),
    })
    // The other rows have a rate of zero: most of them were cancelled.
    expect(end).toMatchObject({ status: 'done', rowsRead: 5_357, rowsAdded: 4_828, rowsRefused: 529 })
    expect([...refusedFor]).toEqual(['book_price'])
    const { won, booked } = await database.inTenant(tenant, (transaction) =>
      transaction
        .selectFrom('quotes')
        .select((query) => [
          query.fn.countAll<number>().filterWhere('outcome', '=', 'won').as('won'),
          query.fn.count<number>('truck_cost_cents').as('booked'),
        ])
        .where('tenant_id', '=', tenant)
        .executeTakeFirstOrThrow(),
    )
    expect(won).toBe(4_828)
    // Seven loads have a truck cost of zero, which counts as unknown.
    expect(booked).toBe(4_821)
    await database.close()
    await testing.drop()
  },
)

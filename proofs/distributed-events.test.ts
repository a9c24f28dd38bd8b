import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { citusUrl, distributedDatabase } from '#testing/citus-database.ts'
import { killUnderEvents, makingAllDue } from './event-crashes.ts'

/**
 * Promise: on a distributed database, every committed change is delivered at least once and in order, and only committed
 * changes are, while the service is killed and the receiver fails.
 *
 * How: the same proof as on one PostgreSQL (event-delivery of `npm run prove`), on the Citus cluster of
 * LANEWISE_TEST_CITUS_URL. Its control, a planted fault, is part of that proof.
 */
describe.skipIf(citusUrl === undefined)('on the Citus cluster of LANEWISE_TEST_CITUS_URL', () => {
  test('events are delivered over five kills of the service', async () => {
    const database = await distributedDatabase(citusUrl ?? '')
    const superuser = new URL(citusUrl ?? '')
    superuser.pathname = `/${database.name}`
    const urls = { service: database.serviceUrl, owner: database.ownerUrl, superuser: superuser.href }
    const finding = await killUnderEvents(
      5,
      { seed: 1, onProgress: () => {}, signal: new AbortController().signal },
      {
        url: (role) => urls[role],
        target: { host: superuser.hostname, port: Number(superuser.port) },
        async ask<Row extends object>(question: string, values: readonly unknown[] = []) {
          const client = new pg.Client({ connectionString: superuser.href })
          await client.connect()
          try {
            return (await client.query<Row>(question, [...values])).rows
          } finally {
            await client.end()
          }
        },
        drop: database.drop,
        // Citus does not distribute a statement that skips locked rows, so each shard gets its own.
        makingAllDue: `select run_command_on_placements('event_deliveries', $$${makingAllDue('%1$s')}$$)`,
      },
    )
    expect(finding.faults).toEqual([])
  })
})

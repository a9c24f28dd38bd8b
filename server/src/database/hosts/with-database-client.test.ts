import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import { withDatabaseClient } from './index.ts'

async function processOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return Number(rows[0]?.pid)
}

test('a connection that is lost between two statements fails the second, and does not end the process', async () => {
  const { service, drop } = await testDatabase()
  onTestFinished(drop)
  await withDatabaseClient(service, async (client) => {
    const pid = await processOf(client)
    await withDatabaseClient(service, async (other) => {
      await other.query('select pg_terminate_backend($1)', [pid])
      const running = 'select from pg_stat_activity where pid = $1'
      while ((await other.query(running, [pid])).rowCount !== 0) await delay(10)
    })
    await expect(client.query('select 1')).rejects.toThrow(/not queryable|terminated|terminating/)
  })
})

test('the connection is closed after the work, and after work that fails', async () => {
  const { service, drop } = await testDatabase()
  onTestFinished(drop)
  let kept: pg.Client | undefined
  const failed = withDatabaseClient(service, async (client) => {
    kept = client
    throw new Error('the work failed')
  })
  await expect(failed).rejects.toThrow('the work failed')
  await expect(kept?.query('select 1')).rejects.toThrow('not queryable')
})

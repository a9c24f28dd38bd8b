import type pg from 'pg'
import { type Database, openDatabase } from '#server/database/session/index.ts'

/** Does a piece of work on a database as the service sees it, and closes its connections. */
export async function withDatabase<Result>(
  connection: pg.PoolConfig,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase({ connection })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

import type pg from 'pg'
import { type Database, openDatabase } from '#server/database/session/index.ts'

/** Opens a database like the service does, runs `work`, and closes the connections. */
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

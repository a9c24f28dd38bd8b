import type pg from 'pg'

/**
 * Runs `work` in a transaction of the owner of the tables, within one tenant. It is rolled back if `work` fails, so that later tests
 * can use the connection.
 *
 * @param owner a connection with `testDatabase.owner`
 */
export async function asTableOwner<Answer>(
  owner: pg.Client,
  tenant: number,
  work: () => Promise<Answer>,
): Promise<Answer> {
  await owner.query('begin')
  try {
    await owner.query("select set_config('app.tenant_id', $1, true)", [String(tenant)])
    const answer = await work()
    await owner.query('commit')
    return answer
  } catch (error) {
    await owner.query('rollback')
    throw error
  }
}

import pg from 'pg'
import { withDatabaseClient } from '#server/database/hosts/index.ts'
import type { TestDatabase } from '#testing/cloned-database.ts'

/** Removes one of the two layers of tenant isolation, so that calls of all routes show that the other layer is enough. */

/** Disables row-level security on every table, as their owner. The service would refuse to start on such a database. */
export async function disableRowLevelSecurity({ owner }: TestDatabase): Promise<void> {
  return withDatabaseClient(owner, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select c.relname as name from pg_class c
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relrowsecurity`,
    )
    for (const { name } of rows) {
      await client.query(
        `alter table "${name}" disable row level security; alter table "${name}" no force row level security`,
      )
    }
  })
}

/**
 * Returns a statement of the service without its tenant conditions. Their parameters stay, so that the parameter numbers are right.
 *
 * @example withoutTenantConditions('select * from "quotes" where "tenant_id" = $1') // 'select * from "quotes" where $1::integer is not null'
 */
export const withoutTenantConditions = (statement: string): string =>
  statement.replaceAll(/(?:"?\w+"?\.)?"?\btenant_id"? = (\$\d+)/g, '$1::integer is not null')

/** Changes a statement that the service sends on `connection`. */
export type Rewrite = (statement: string, connection: object) => string

/** Applies `rewrite` to every statement of this process. Returns the function that reverts this. */
export function rewriteStatements(rewrite: Rewrite | undefined): () => void {
  if (rewrite === undefined) return () => {}
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function rewritten(this: pg.Client, statement: unknown, ...rest: unknown[]) {
    const text = (statement as { text?: unknown }).text
    const changed =
      typeof statement === 'string'
        ? rewrite(statement, this)
        : typeof text === 'string'
          ? Object.assign(statement as object, { text: rewrite(text, this) })
          : statement
    return (query as (...given: unknown[]) => unknown).call(this, changed, ...rest)
  } as typeof query
  return () => {
    pg.Client.prototype.query = query
  }
}

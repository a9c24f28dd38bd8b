import { sql } from 'kysely'
import type { TenantTransaction } from '../schema/index.ts'

/** The database accepts no writes. Its message tells the operator why, and what to do. */
export class ReadOnlyDatabase extends Error {
  constructor(why: ReadOnly) {
    super(`${why.says} ${why.mend}`)
    this.name = 'ReadOnlyDatabase'
  }
}

export interface ReadOnly {
  readonly says: string
  readonly mend: string
}

/** A query for `standby` and `by_default`. It needs no table, and can be sent on any connection. */
export const readOnlyQuery = `pg_is_in_recovery() as standby,
  current_setting('default_transaction_read_only') = 'on' as by_default`

export interface ReadOnlyRow {
  readonly standby: boolean
  readonly by_default: boolean
}

/** Why the database accepts no writes, by its answer to `readOnlyQuery`; null if it accepts them. */
export function whyReadOnly({ standby, by_default }: ReadOnlyRow): ReadOnly | null {
  if (standby) {
    return {
      says: 'The database is read-only: it is a standby.',
      mend: 'Set DATABASE_URL to the primary, or promote this server.',
    }
  }
  if (!by_default) return null
  return {
    says: 'The database is read-only: default_transaction_read_only is on.',
    mend: 'Set it to off in the server, the database and the role, then restart the connections of any pooler.',
  }
}

/** @throws ReadOnlyDatabase */
export async function refuseReadOnly(transaction: TenantTransaction): Promise<void> {
  const { rows } = await sql<ReadOnlyRow>`select ${sql.raw(readOnlyQuery)}`.execute(transaction)
  const why = rows[0] === undefined ? null : whyReadOnly(rows[0])
  if (why !== null) throw new ReadOnlyDatabase(why)
}

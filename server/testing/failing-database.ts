import type { KyselyPlugin } from 'kysely'
import type { TenantTransaction } from '#server/database/schema/index.ts'
import type { Database } from '#server/database/session/index.ts'

/** A wrapper around a real database that makes one chosen use fail. */
export interface FailingDatabase {
  readonly wrapDatabase: (database: Database) => Database
  /** The wrapped database, where nothing fails. */
  real(): Database
  /** Makes the nth use from now on fail. A use is the start of a transaction, a statement, or a function call. */
  failAt(nth: number, error: () => Error): void
  /** Whether the failure occurred. Also disarms it. */
  hasFired(): boolean
}

export function failingDatabase(): FailingDatabase {
  const failure = { in: 0, fired: false, error: () => new Error() }
  let behind: Database | undefined

  function use(): void {
    if (failure.in === 0 || --failure.in > 0) return
    failure.fired = true
    throw failure.error()
  }

  const failing: KyselyPlugin = {
    transformQuery: ({ node }) => {
      use()
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const watched =
    <T>(work: (transaction: TenantTransaction) => Promise<T>) =>
    async (transaction: TenantTransaction) => {
      use()
      return work(transaction.withPlugin(failing))
    }
  return {
    wrapDatabase(database) {
      behind = database
      return {
        ...database,
        inTenant: (tenant, work) => database.inTenant(tenant, watched(work)),
        async callInTenant(tenant, name, values) {
          // Throw inside a transaction, so that the error is translated like any other database error.
          await database.inTenant(tenant, async () => use())
          return database.callInTenant(tenant, name, values)
        },
        outsideTenants: (work) => database.outsideTenants(watched(work)),
      }
    },
    real() {
      if (behind === undefined) throw new Error('No database was wrapped.')
      return behind
    },
    failAt: (nth, error) => Object.assign(failure, { in: nth, fired: false, error }),
    hasFired: () => {
      failure.in = 0
      return failure.fired
    },
  }
}

/** The error of a statement whose database connection is terminated. */
export const outage = () =>
  Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' })

/** The error of an invalid statement, which is a bug in the service. */
export const bug = () =>
  Object.assign(new Error('column "x" of relation "quotes" does not exist: select * from quotes'), {
    code: '42703',
  })

/** Internal details that no response may contain. */
export const inside =
  /\bpg\b|postgres|kysely|select |relation|column|node_modules|\bat \/|\.ts:|terminating|stack/i

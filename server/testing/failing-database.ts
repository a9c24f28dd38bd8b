import type { KyselyPlugin } from 'kysely'
import type { TenantTransaction } from '#server/database/schema/index.ts'
import type { Database } from '#server/database/session/index.ts'

/** Real transactions on the real database, but for the one use that is told to fail. */
export interface FailingDatabase {
  readonly wrapDatabase: (database: Database) => Database
  /** The database behind it, where nothing fails. */
  real(): Database
  /** The nth use from now on fails; a use is a transaction that opens, a statement in one, or a function that is called. */
  failAt(nth: number, error: () => Error): void
  /** Whether it came to that. From here on nothing fails. */
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
          // The error comes from within, so that it is told as any other of the database.
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

/** The database goes away under a statement. */
export const outage = () =>
  Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' })

/** A statement of ours that is wrong. */
export const bug = () =>
  Object.assign(new Error('column "x" of relation "lanes" does not exist: select * from lanes'), {
    code: '42703',
  })

/** What no answer may show of the inside. */
export const inside =
  /\bpg\b|postgres|kysely|select |relation|column|node_modules|\bat \/|\.ts:|terminating|stack/i

import { knownNetworkDays } from '#contract/limits.ts'
import {
  announceToSubscribers,
  approvals,
  quoteChanges as changes,
  type EndedQuote,
  lockEndedQuotes,
  people,
  signInNetworks,
  tenantsWithEndedQuotes,
} from '../database/queries/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import { approvalAnswer } from '../quotes/index.ts'
import type { Log } from '../runtime/index.ts'

const expireEveryMs = 60_000
/** How often old networks of sign-ins are looked for: they are deleted within an hour after their time. */
const networksEveryMs = 3_600_000
/** Quotes that expire in one transaction. It locks them, so other writes of the brokerage wait for its end. */
const quotesPerTransaction = 200

/** The values of a quote that expires. The end of its validity counts as the time of the decision. */
const expired = ({ ended_at }: EndedQuote) =>
  ({ outcome: 'expired', outcome_reason: null, outcome_source: 'lanewise', decided_at: ended_at }) as const

/**
 * Every minute, gives the outcome `expired` to pending quotes whose validity has ended: after their `valid_until`, or after
 * the brokerage's default; and expires requests for approval that nobody decided in time. Every hour, deletes the networks
 * that nobody has signed in from for `knownNetworkDays`. Several instances may run this at once: each quote and request
 * expires once, because it is locked meanwhile.
 *
 * `expireNow` does the same at once, and returns the number of quotes that expired. With `everyMs` null, as in tests, only that does.
 */
export function quoteExpirer(
  { database, log }: { database: Database; log: Log },
  { everyMs = expireEveryMs }: { everyMs?: number | null } = {},
) {
  let stopping = false
  let networksAt = Number.NEGATIVE_INFINITY
  let running: Promise<unknown> = Promise.resolve()
  const runAgain = () => {
    running = running.then(() =>
      expireNow().catch((error: unknown) => log.warn({ err: error }, 'quotes could not be expired')),
    )
  }
  const timer = everyMs === null ? undefined : setInterval(runAgain, everyMs).unref()

  async function expireNow(): Promise<number> {
    let count = 0
    for (const tenant of await runInBackground(() => database.acrossTenants(tenantsWithEndedQuotes))) {
      let some = quotesPerTransaction
      while (!stopping && some === quotesPerTransaction) {
        some = await runInBackground(() => expireSome(database, tenant))
        count += some
      }
    }
    for (const tenant of await runInBackground(() =>
      database.acrossTenants(approvals.tenantsWithEndedApprovals),
    )) {
      if (stopping) break
      await runInBackground(() => expireApprovals(database, tenant))
    }
    if (performance.now() - networksAt >= networksEveryMs) {
      networksAt = performance.now()
      await forgetOldNetworks()
    }
    return count
  }

  async function forgetOldNetworks(): Promise<void> {
    const { tenantsWithOldNetworks, deleteOldNetworks } = signInNetworks
    const tenants = await runInBackground(() =>
      database.acrossTenants((transaction) => tenantsWithOldNetworks(transaction, knownNetworkDays)),
    )
    for (const tenant of tenants) {
      if (stopping) return
      await runInBackground(() =>
        database.inTenant(tenant, (transaction) => deleteOldNetworks(transaction, tenant, knownNetworkDays)),
      )
    }
  }

  return {
    expireNow,
    async drain() {
      stopping = true
      clearInterval(timer)
      await running
    },
  }
}

async function expireApprovals(database: Database, tenant: TenantId): Promise<void> {
  await database.inTenant(tenant, async (transaction) => {
    const now = await changes.databaseNow(transaction)
    const ended = await approvals.expireApprovals(transaction, tenant, now)
    const names = await people.namesOfUsers(transaction, tenant)
    for (const row of ended) {
      const approval = approvalAnswer(row, names, now.getTime())
      await announceToSubscribers(transaction, tenant, { type: 'approval.changed', about: { approval } })
    }
  })
}

async function expireSome(database: Database, tenant: TenantId): Promise<number> {
  return database.inTenant(tenant, async (transaction) => {
    const ended = await lockEndedQuotes(transaction, tenant, quotesPerTransaction)
    await changes.changeQuotes(
      transaction,
      tenant,
      ended.map((quote) => ({
        quote,
        next: expired(quote),
        origin: { source: 'lanewise', rule: 'validity_ended' },
      })),
      await changes.databaseNow(transaction),
    )
    return ended.length
  })
}

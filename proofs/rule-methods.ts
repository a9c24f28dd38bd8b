import { approvals, pastQuotes, people, pricingRules } from '#server/database/queries/index.ts'
import { changesRows, type Method, returnsCanary } from './method.ts'

/** The database functions of pricing rules. */
export const ruleMethods: Readonly<Record<string, Method>> = {
  'pricing-rules.readRules': returnsCanary(({ transaction, tenant }) =>
    pricingRules.readRules(transaction, tenant),
  ),
  'pricing-rules.lockRules': returnsCanary(({ transaction, tenant }) =>
    pricingRules.lockRules(transaction, tenant),
  ),
  'pricing-rules.saveRules': changesRows(({ transaction, tenant }) =>
    pricingRules.saveRules(transaction, tenant, []),
  ),
  'approvals.listApprovals': returnsCanary(({ transaction, tenant }) =>
    approvals.listApprovals(transaction, tenant, { limit: 50, since: null }),
  ),
  'approvals.findApproval': returnsCanary(({ transaction, tenant, ids }) =>
    approvals.findApproval(transaction, tenant, ids.import, { lock: true }),
  ),
  'approvals.insertApproval': changesRows(({ transaction, tenant, user, now }) =>
    approvals.insertApproval(transaction, tenant, {
      approval_id: 900_000,
      asked: {},
      reasons: [],
      note: null,
      requested_by: user.user_id,
      requested_at: now,
      expires_at: now,
    }),
  ),
  'approvals.saveDecision': changesRows(({ transaction, tenant, ids, now }) =>
    approvals.saveDecision(transaction, tenant, ids.import, {
      state: 'rejected',
      decided_by: null,
      decided_at: now,
      decision_note: null,
    }),
  ),
  'approvals.expireApprovals': changesRows(({ transaction, tenant, now }) =>
    approvals.expireApprovals(transaction, tenant, new Date(now.getTime() + 9e12)),
  ),
  'people.namesOfUsers': returnsCanary(async ({ transaction, tenant }) => [
    ...(await people.namesOfUsers(transaction, tenant)),
  ]),
  'past-quotes.pastQuotes': returnsCanary(({ transaction, tenant }) =>
    pastQuotes(transaction, tenant, { since: new Date(0), limit: 50 }),
  ),
}

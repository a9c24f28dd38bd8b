import { approvals, pastQuotes, people, pricingRules } from '#server/database/queries/index.ts'
import { changesRows, type Method, returnsCanary, returnsResult } from './method.ts'

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
  'approvals.approvalsOfBid': returnsCanary(({ transaction, tenant, ids }) =>
    approvals.approvalsOfBid(transaction, tenant, ids.import),
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
      escalate_at: null,
    }),
  ),
  'approvals.openApprovals': returnsResult(({ transaction, tenant }) =>
    approvals.openApprovals(transaction, tenant, { now: new Date(0) }),
  ),
  'approvals.giveApproval': changesRows(({ transaction, tenant, ids }) =>
    approvals.giveApproval(transaction, tenant, ids.import, ids.admin),
  ),
  'approvals.saveDecision': changesRows(({ transaction, tenant, ids, now }) =>
    approvals.saveDecision(transaction, tenant, ids.import, {
      state: 'rejected',
      decided_by: null,
      decided_at: now,
      decision_note: null,
    }),
  ),
  'approvals.escalateApprovals': changesRows(({ transaction, tenant, now }) =>
    approvals.escalateApprovals(transaction, tenant, new Date(now.getTime() + 9e12)),
  ),
  'approvals.timeToDecision': returnsResult(({ transaction, tenant }) =>
    approvals.timeToDecision(transaction, tenant, new Date(0)),
  ),
  'approvals.expireApprovals': changesRows(({ transaction, tenant, now }) =>
    approvals.expireApprovals(transaction, tenant, new Date(now.getTime() + 9e12)),
  ),
  'people.namesOfUsers': returnsCanary(async ({ transaction, tenant }) => [
    ...(await people.namesOfUsers(transaction, tenant)),
  ]),
  'past-quotes.pastQuotes': returnsCanary(({ transaction, tenant }) =>
    pastQuotes(transaction, tenant, { since: new Date(0), before: null, limit: 50 }),
  ),
}

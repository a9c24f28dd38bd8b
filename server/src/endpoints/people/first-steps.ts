import { firstSteps } from '#contract/first-steps.ts'
import { firstSteps as database } from '../../database/queries/index.ts'
import { serve } from '../endpoint-call.ts'

/** The setup steps that a new brokerage has completed. */
export const firstStepsEndpoint = serve(firstSteps, async ({ caller, now }, parts) =>
  parts.database.inTenant(caller.tenant, (transaction) =>
    database.firstSteps(transaction, caller.tenant, { userId: caller.userId, now: new Date(now) }),
  ),
)

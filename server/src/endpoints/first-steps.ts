import { firstSteps } from '#contract/first-steps.ts'
import { firstSteps as database } from '../database/queries/index.ts'
import { serve } from './endpoint-call.ts'

/** What a new brokerage has done so far. */
export const firstStepsEndpoint = serve(firstSteps, async ({ caller, now }, parts) =>
  parts.database.inTenant(caller.tenant, (transaction) =>
    database.firstSteps(transaction, caller.tenant, { userId: caller.userId, now: new Date(now) }),
  ),
)

import { Page } from '../shared-ui/index.ts'
import { Approvals } from './rules-approvals.tsx'

/** The requests for approval of quotes outside the pricing rules. */
export function ApprovalsPage() {
  return (
    <Page title="Approvals" hint="Quotes outside the pricing rules wait here until an admin decides.">
      <Approvals />
    </Page>
  )
}

import { pagePaths } from '#contract/pages.ts'
import { Page, useAddress, ViewTabs } from '../shared-ui/index.ts'
import { Approvals } from './rules-approvals.tsx'
import { RulesList } from './rules-list.tsx'

const views = { rules: 'Pricing rules', approvals: 'Approvals' } as const

/** The pricing rules of the brokerage, and the requests for approval of quotes outside them. */
export default function Rules() {
  const { search, change } = useAddress(pagePaths.rules)
  const view = search.view === 'approvals' ? 'approvals' : 'rules'
  return (
    <Page
      title="Rules"
      hint="The most specific rule wins: a customer before a corridor, a tier, a person, a team, equipment, distance, spot or contract, and confidence."
    >
      <ViewTabs names={views} view={view} onView={(next) => change({ view: next })}>
        {view === 'approvals' ? <Approvals /> : <RulesList />}
      </ViewTabs>
    </Page>
  )
}

import { Page } from '../shared-ui/index.ts'
import { RulesList } from './rules-list.tsx'

/** The pricing rules of the brokerage. */
export function RulesPage() {
  return (
    <Page
      title="Pricing rules"
      hint="The most specific rule wins: a customer before a corridor, a tier, a person, a team, equipment, distance, spot or contract, and confidence."
    >
      <RulesList />
    </Page>
  )
}

import { Page } from '../shared-ui/index.ts'
import { RulesList } from './rules-list.tsx'

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

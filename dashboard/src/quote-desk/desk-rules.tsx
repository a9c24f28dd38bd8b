import { Paper, Text, Title } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { TextLink } from '../shared-ui/index.ts'

/** The rules that apply to the quote, and why. */
export function DeskRules({ rules }: { rules: readonly string[] }) {
  if (rules.length === 0) return null
  return (
    <Paper withBorder p="sm" component="section" aria-label="Rules that apply">
      <Title order={3} size="h6">
        Rules that apply
      </Title>
      <ul className="desk-list" style={{ overflowWrap: 'anywhere' }}>
        {rules.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <Text size="xs">
        <TextLink to={pagePaths.rules}>Rules</TextLink>
      </Text>
    </Paper>
  )
}

import { Button, Paper, Text, Title } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { dollars, TextLink } from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'

/** The rules that apply to the lane and the customer, and why. */
export function DeskRules({
  answer: { advice },
  onUse,
}: {
  answer: DeskAnswer
  onUse: (rate: number) => void
}) {
  const rules = advice?.rules
  if (rules === undefined || rules.explanation.length === 0) return null
  const rate = rules.rate === null ? null : Math.ceil(rules.rate)
  return (
    <Paper withBorder p="sm" component="section" aria-label="Rules that apply">
      <Title order={3} size="h6">
        Rules that apply
      </Title>
      <ul className="desk-list" style={{ overflowWrap: 'anywhere' }}>
        {rules.explanation.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {rate !== null && (
        <Button size="compact-sm" variant="default" onClick={() => onUse(rate)}>
          Use {dollars(rate)}, the rate by the rules
        </Button>
      )}{' '}
      <Text size="xs" span>
        <TextLink to={pagePaths.rules}>Rules</TextLink>
      </Text>
    </Paper>
  )
}

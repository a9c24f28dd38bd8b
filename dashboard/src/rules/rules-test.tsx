import { Stack, Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, type Body, useAnswer } from '../api/index.ts'
import { count, roundDollars, TextLink } from '../shared-ui/index.ts'

export type TestedRule = NonNullable<Body<'get-backtest'>['rule']>

/** Tests a rule, saved or not, on past quotes. Null requests nothing. */
export function useRuleTest(rule: TestedRule | null) {
  return useAnswer('get-backtest', { body: rule === null ? {} : { rule } }, { enabled: rule !== null })
}

/** The changes that a rule would have made on the tested days, in a sentence. */
export function RuleTest({ answer }: { answer: Answer<'get-backtest'> }) {
  const { rule } = answer
  if (rule === null) return null
  return (
    <Stack gap={4} component="section" aria-label="Test on past quotes">
      <Text size="sm" role="status">
        {rule.sentence}
      </Text>
      <Text size="sm" c="dimmed">
        {rule.estimate === null
          ? ''
          : `80% range of the margin: ${roundDollars(rule.estimate.range_80.low)} to ${roundDollars(rule.estimate.range_80.high)}. `}
        Compared on the newest {count(rule.quotes)} quotes of{' '}
        <TextLink to={pagePaths.results} query={{ view: 'calibration' }}>
          the test on past quotes
        </TextLink>
        .
      </Text>
    </Stack>
  )
}

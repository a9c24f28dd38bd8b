import { Stack, Text, Title } from '@mantine/core'
import type { Answer } from '../api/index.ts'
import {
  type Column,
  count,
  DataTable,
  dollars,
  laneName,
  roundDollars,
  TextLink,
} from '../shared-ui/index.ts'

type Result = Answer<'test-pricing-rule'>
type Example = Result['examples'][number]

const columns: readonly Column<Example>[] = [
  {
    key: 'quote',
    header: 'Quote',
    wraps: true,
    cell: ({ lane_ref, origin, destination }) => (
      <TextLink to={`/quotes/${lane_ref}`}>{laneName(origin, destination)}</TextLink>
    ),
  },
  {
    key: 'customer',
    header: 'Customer',
    wraps: true,
    from: 'sm',
    cell: ({ customer_name }) => customer_name,
  },
  { key: 'outcome', header: 'Outcome', cell: ({ outcome }) => outcome },
  { key: 'rate', header: 'Quoted', align: 'right', cell: ({ quoted_rate }) => dollars(quoted_rate) },
  { key: 'allowed', header: 'Allowed', align: 'right', cell: ({ allowed_rate }) => dollars(allowed_rate) },
]

/** What a rule would have changed in the past, and what the estimate says about it. */
export function RuleTestResult({ result }: { result: Result }) {
  const { estimate, examples } = result
  return (
    <Stack gap="xs" component="section" aria-label="Test on past quotes">
      <Title order={3} size="h6">
        On {count(result.quotes)} past quotes
      </Title>
      <Text size="sm" role="status">
        {result.sentence}
      </Text>
      {estimate !== null && (
        <Text size="sm" c="dimmed">
          Expected margin of these {count(estimate.quotes)} quotes: {roundDollars(estimate.margin_before)} as
          quoted, {roundDollars(estimate.margin_after)} within the rules; 80% range of the difference{' '}
          {roundDollars(estimate.range_80.low)} to {roundDollars(estimate.range_80.high)}.
        </Text>
      )}
      {examples.length < result.changed && (
        <Text size="sm" c="dimmed">
          The table shows the newest {count(examples.length)} of {count(result.changed)} changed quotes.
        </Text>
      )}
      {examples.length > 0 && (
        <DataTable
          caption="Quotes that the rule would have changed, newest first"
          columns={columns}
          rows={examples}
          rowKey={({ lane_ref }) => lane_ref}
        />
      )}
    </Stack>
  )
}

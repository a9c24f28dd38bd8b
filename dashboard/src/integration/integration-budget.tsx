import { Group, Paper, Stack, Text } from '@mantine/core'
import { useAnswer } from '../api/index.ts'
import { count, counted, Failed, Loading } from '../shared-ui/index.ts'

const pollEveryMs = 1_000

/** The calls left in this second under the rate limit, and the calls of the last minute. */
export function IntegrationBudget() {
  const budget = useAnswer('get-rate-limit', {}, { everyMs: pollEveryMs })
  if (budget.data === undefined) {
    return budget.error === null ? (
      <Loading label="Loading the rate limit" rows={1} height={92} />
    ) : (
      <Failed
        error={budget.error}
        retry={() => void budget.refetch()}
        title="The rate limit could not be loaded"
      />
    )
  }
  const { limit, window_seconds, remaining, requests_last_minute, refused_last_minute } = budget.data
  const left = `${remaining} of ${limit} left`
  return (
    <Paper withBorder p="md" component="section" aria-label="Rate limit">
      <Group justify="space-between" align="flex-start" gap="lg">
        <Stack gap={6} w={{ base: '100%', xs: 300 }}>
          <Text size="sm" fw={600}>
            {left} in this {window_seconds === 1 ? 'second' : `window of ${window_seconds} seconds`}
          </Text>
          <meter
            aria-label="Calls left under the rate limit"
            min={0}
            max={limit}
            value={remaining}
            className="budget"
          >
            {left}
          </meter>
          <Text size="xs" c="dimmed">
            {limit} calls {window_seconds === 1 ? 'per second' : `in ${window_seconds} seconds`} for all
            tokens together
          </Text>
        </Stack>
        <Figure name="Calls in the last minute" value={count(requests_last_minute)} />
        <Figure
          name="Rejected by the rate limit (429)"
          value={count(refused_last_minute)}
          note={
            refused_last_minute > 0
              ? `${counted(refused_last_minute, 'call')} must be retried after Retry-After seconds`
              : 'no calls rejected'
          }
        />
        <Text size="xs" c="dimmed" maw={240}>
          {budget.error === null
            ? 'Counted by the server process that answers this page. Each process counts its own calls, and a restart resets the counts.'
            : 'Out of date: the service does not respond. Retrying.'}
        </Text>
      </Group>
    </Paper>
  )
}

function Figure({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="xl" fw={650} lh={1.2}>
        {value}
      </Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  )
}

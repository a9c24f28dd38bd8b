import { Group, Paper, Stack, Text } from '@mantine/core'
import { useAnswer } from '../api/index.ts'
import { count, counted, Failed, Loading } from '../shared-ui/index.ts'

const lookEveryMs = 1_000

/** What is left of the rate limit in this second, and how much of it the last minute took. */
export function IntegrationBudget() {
  const budget = useAnswer('get-rate-limit', {}, { everyMs: lookEveryMs })
  if (budget.data === undefined) {
    return budget.error === null ? (
      <Loading label="Loading the rate limit" rows={1} height={92} />
    ) : (
      <Failed
        error={budget.error}
        retry={() => void budget.refetch()}
        title="The rate limit could not be read"
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
            aria-label="Calls left of the rate limit"
            min={0}
            max={limit}
            value={remaining}
            className="budget"
          >
            {left}
          </meter>
          <Text size="xs" c="dimmed">
            {limit} calls {window_seconds === 1 ? 'a second' : `in ${window_seconds} seconds`}, over all
            tokens
          </Text>
        </Stack>
        <Figure name="Calls in the last minute" value={count(requests_last_minute)} />
        <Figure
          name="Refused for the limit (429)"
          value={count(refused_last_minute)}
          note={
            refused_last_minute > 0
              ? `${counted(refused_last_minute, 'call')} must be sent again after Retry-After seconds`
              : 'none had to wait'
          }
        />
        <Text size="xs" c="dimmed" maw={240}>
          {budget.error === null
            ? 'Counted by the process that answers this page. A service of several processes counts in each; a restart starts from zero.'
            : 'Not up to date: the service does not answer. Looking again.'}
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

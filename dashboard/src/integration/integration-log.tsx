import { Anchor, Button, Group, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import { operations } from '#client/operations.ts'
import { callsKeptDaysMax, callsKeptPerTenantMax, pageSizeDefault } from '#contract/limits.ts'
import { type Answer, useAnswer } from '../api/index.ts'
import {
  type Column,
  CopyButton,
  count,
  DataTable,
  exactMoment,
  Failed,
  IntegrationSection,
  Loading,
  Nothing,
} from '../shared-ui/index.ts'
import { useIntegrationAddress } from './integration-address.ts'
import { IntegrationBudget } from './integration-budget.tsx'

type Call = Answer<'list-integration-calls'>['calls'][number]

const lookEveryMs = 2_000

/** What the log can be asked for: the operations under the rate limit, by their names, and the messages of agents. */
const loggedOperations = [
  ...Object.entries(operations).flatMap(([name, { path }]) =>
    path.startsWith('/api/integrations/') ? [name] : [],
  ),
  'mcp',
]

/** The last calls to the integration interface, as they come in, with why some were refused. */
export function IntegrationLog() {
  const { words, go } = useIntegrationAddress()
  const [paused, setPaused] = useState(false)
  const outcome = words.outcome === 'refused' || words.outcome === 'ok' ? words.outcome : undefined
  const operation = loggedOperations.find((name) => name === words.operation)
  const tokenId = /^[1-9]\d{0,8}$/.test(words.token ?? '') ? Number(words.token) : undefined
  const before = words.before
  const calls = useAnswer(
    'list-integration-calls',
    {
      query: {
        ...(outcome === undefined ? {} : { outcome }),
        ...(operation === undefined ? {} : { operation }),
        ...(tokenId === undefined ? {} : { token_id: tokenId }),
        ...(before === undefined ? {} : { cursor: before }),
        limit: pageSizeDefault,
      },
    },
    // Older pages do not change any more.
    { keeps: true, everyMs: paused || before !== undefined ? false : lookEveryMs },
  )
  return (
    <IntegrationSection
      title="Request log"
      hint={`The last ${count(callsKeptPerTenantMax)} calls of ${callsKeptDaysMax} days that came with a token of your brokerage, newest first. A call is listed about a second after it was answered. Neither headers nor bodies are kept.`}
    >
      <IntegrationBudget />
      <Group gap="sm" align="flex-end">
        <Filters outcome={outcome} operation={operation} tokenId={tokenId} go={go} />
        <Button
          variant="default"
          disabled={before !== undefined}
          leftSection={
            paused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />
          }
          onClick={() => setPaused(!paused)}
        >
          {paused ? 'Go on' : 'Pause'}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {before !== undefined
            ? 'Older calls'
            : calls.error !== null && calls.data !== undefined
              ? 'Not up to date: the service does not answer. Looking again.'
              : paused
                ? 'Paused'
                : 'Looking every 2 seconds'}
        </Text>
      </Group>
      <Calls answer={calls} isFiltered={Boolean(outcome ?? operation ?? tokenId)} go={go} before={before} />
    </IntegrationSection>
  )
}

type Go = ReturnType<typeof useIntegrationAddress>['go']

function Filters({
  outcome,
  operation,
  tokenId,
  go,
}: {
  outcome: 'refused' | 'ok' | undefined
  operation: string | undefined
  tokenId: number | undefined
  go: Go
}) {
  const tokens = useAnswer('list-service-tokens', {}, { staleMs: 60_000 })
  // Another selection begins with its newest call.
  const filter = (change: Record<string, string | undefined>) => go({ ...change, before: undefined })
  return (
    <>
      <SegmentedControl
        aria-label="Outcome"
        data={[
          { value: '', label: 'All' },
          { value: 'refused', label: 'Refused' },
          { value: 'ok', label: 'OK' },
        ]}
        value={outcome ?? ''}
        onChange={(next) => filter({ outcome: next })}
      />
      <NativeSelect
        label="Operation"
        data={[{ value: '', label: 'All operations' }, ...loggedOperations]}
        value={operation ?? ''}
        onChange={(event) => filter({ operation: event.currentTarget.value })}
      />
      <NativeSelect
        label="Token"
        maw={260}
        data={[
          { value: '', label: 'All tokens' },
          ...(tokens.data?.tokens.map(({ id, name }) => ({
            value: String(id),
            label: `${name} (id ${id})`,
          })) ?? []),
        ]}
        value={tokenId === undefined ? '' : String(tokenId)}
        onChange={(event) => filter({ token: event.currentTarget.value })}
      />
    </>
  )
}

function Calls({
  answer,
  isFiltered,
  before,
  go,
}: {
  answer: ReturnType<typeof useAnswer<'list-integration-calls'>>
  isFiltered: boolean
  before: string | undefined
  go: Go
}) {
  if (answer.data === undefined) {
    return answer.error === null ? (
      <Loading label="Loading the calls" rows={10} />
    ) : (
      <Failed error={answer.error} retry={() => void answer.refetch()} title="The log could not be read" />
    )
  }
  const { calls, next_cursor: next } = answer.data
  return (
    <Stack gap="sm">
      {calls.length === 0 ? (
        <NoCalls isFiltered={isFiltered} go={go} />
      ) : (
        <div className="request-log">
          <DataTable
            caption="Calls to the integration interface, newest first"
            columns={columns}
            rows={calls}
            rowKey={({ call_id }) => String(call_id)}
          />
        </div>
      )}
      {(before !== undefined || next !== null) && (
        <Group gap="sm">
          <Button variant="default" disabled={before === undefined} onClick={() => go({ before: undefined })}>
            Newest calls
          </Button>
          <Button
            variant="default"
            disabled={next === null}
            onClick={() => go({ before: next ?? undefined })}
          >
            Older calls
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function NoCalls({ isFiltered, go }: { isFiltered: boolean; go: Go }) {
  return isFiltered ? (
    <Nothing
      title="No such calls"
      actions={
        <Button variant="default" onClick={() => go({ tab: 'log' }, { afresh: true })}>
          Show all calls
        </Button>
      }
    >
      None of the calls kept fits these filters.
    </Nothing>
  ) : (
    <Nothing
      title="Nothing has called yet"
      actions={<Button onClick={() => go({ tab: 'code' }, { afresh: true })}>Show code to paste</Button>}
    >
      Make a first call with the code to paste: it appears here within seconds. A call that never appears did
      not reach this service, or came without a token of your brokerage.
    </Nothing>
  )
}

const columns: Column<Call>[] = [
  { key: 'at', header: 'Time', cell: ({ at }) => <Time at={at} /> },
  {
    key: 'call',
    header: 'Call',
    cell: ({ operation, method, path }) => (
      <>
        {operation}
        <Text size="xs" c="dimmed">
          {method} {path.replace('/api/integrations/', '…/')}
        </Text>
      </>
    ),
  },
  { key: 'status', header: 'Status, ms', cell: (call) => <Status call={call} /> },
  { key: 'why', header: 'Why refused', cell: (call) => <Why call={call} />, wraps: true },
  { key: 'query', header: 'Query', cell: ({ query }) => readable(query), wraps: true },
  {
    key: 'token',
    header: 'Token, network',
    cell: ({ token, network }) => (
      <>
        {token?.name ?? 'dashboard sign-in'}
        <Text size="xs" c="dimmed">
          {network}
        </Text>
      </>
    ),
  },
  {
    key: 'request',
    header: 'Request id',
    cell: ({ request_id }) => (
      <Group gap={6} wrap="nowrap">
        <code title={request_id}>{request_id.slice(0, 8)}</code>
        <CopyButton text={request_id} what={`request id ${request_id.slice(0, 8)}`} compact />
      </Group>
    ),
  },
]

function Time({ at }: { at: string }) {
  const [date, time] = exactMoment(at).split(', ')
  return (
    <>
      {time}
      <Text size="xs" c="dimmed">
        {date}
      </Text>
    </>
  )
}

function Status({ call }: { call: Call }) {
  const refused = call.status >= 400
  return (
    <>
      <span style={{ color: refused ? 'var(--lost)' : 'var(--won)', fontWeight: 600 }}>
        {refused ? '✕' : '✓'} {call.status} {refused ? 'refused' : 'ok'}
      </span>
      <Text size="xs" c="dimmed">
        {call.ms.toFixed(1)} ms
      </Text>
    </>
  )
}

function Why({ call }: { call: Call }) {
  return (
    <>
      {call.problem !== null && (
        <Anchor size="sm" href={`/problems/${call.problem}`} target="_blank" rel="noreferrer">
          {call.problem}
        </Anchor>
      )}
      {call.detail !== null && (
        <Text size="xs" c="dimmed">
          {call.detail}
        </Text>
      )}
      {call.not_kept > 0 && <Text size="xs">{count(call.not_kept)} more like it</Text>}
      {call.problem === null && call.detail === null && call.not_kept === 0 && '–'}
    </>
  )
}

/** A query as people read it. @example readable('origin=Dallas%2C+TX&equipment=V') // 'origin Dallas, TX · equipment V' */
function readable(query: string | null): string {
  if (query === null) return '–'
  return [...new URLSearchParams(query)].map(([name, value]) => `${name} ${value}`).join(' · ')
}

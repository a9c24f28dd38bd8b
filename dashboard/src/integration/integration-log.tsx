import { IconPlayerPause, IconPlayerPlay } from 'virtual:tabler-icons'
import { Anchor, Button, Group, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core'
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
  Loading,
  Nothing,
  Section,
} from '../shared-ui/index.ts'
import { useIntegrationAddress } from './integration-address.ts'
import { IntegrationBudget } from './integration-budget.tsx'

type Call = Answer<'list-integration-calls'>['calls'][number]

const pollEveryMs = 2_000

/** The operations in the log: all operations of the integration API, and `mcp` for the messages of agents. */
const loggedOperations = [
  ...Object.entries(operations).flatMap(([name, { path }]) =>
    path.startsWith('/api/integrations/') ? [name] : [],
  ),
  'mcp',
]

const outcomes = ['refused', 'ok', 'not_applied'] as const

/** The latest calls to the integration API, updated live, with the reason of each rejection. */
export function IntegrationLog() {
  const { params, go } = useIntegrationAddress()
  const [paused, setPaused] = useState(false)
  const outcome = outcomes.find((one) => one === params.outcome)
  const operation = loggedOperations.find((name) => name === params.operation)
  const tokenId = /^[1-9]\d{0,8}$/.test(params.token ?? '') ? Number(params.token) : undefined
  const before = params.before
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
    // Older pages do not change, so they are not polled.
    { keeps: true, everyMs: paused || before !== undefined ? false : pollEveryMs },
  )
  return (
    <Section
      title="Request log"
      hint={`Calls with a token of your brokerage, newest first: up to ${count(callsKeptPerTenantMax)} calls of the last ${callsKeptDaysMax} days. A call appears about one second after its response. Headers and bodies are not saved.`}
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
          {paused ? 'Resume' : 'Pause'}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {before !== undefined
            ? 'Older calls'
            : calls.error !== null && calls.data !== undefined
              ? 'Out of date: the service does not respond. Retrying.'
              : paused
                ? 'Paused'
                : 'Updates every 2 seconds'}
        </Text>
      </Group>
      {calls.data !== undefined && calls.data.updates_not_applied > 0 && (
        <Text size="sm">
          Calls with shipment updates that were accepted and not applied:{' '}
          {count(calls.data.updates_not_applied)}. Often a clock was ahead when an earlier update was signed.
        </Text>
      )}
      <Calls answer={calls} isFiltered={Boolean(outcome ?? operation ?? tokenId)} go={go} before={before} />
    </Section>
  )
}

type Go = ReturnType<typeof useIntegrationAddress>['go']

function Filters({
  outcome,
  operation,
  tokenId,
  go,
}: {
  outcome: (typeof outcomes)[number] | undefined
  operation: string | undefined
  tokenId: number | undefined
  go: Go
}) {
  const tokens = useAnswer('list-service-tokens', {}, { staleMs: 60_000 })
  // A new filter starts at the newest call.
  const filter = (change: Record<string, string | undefined>) => go({ ...change, before: undefined })
  return (
    <>
      <SegmentedControl
        aria-label="Outcome"
        data={[
          { value: '', label: 'All' },
          { value: 'refused', label: 'Rejected' },
          { value: 'ok', label: 'OK' },
          { value: 'not_applied', label: 'Not applied' },
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
            label: `${name} (ID ${id})`,
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
      <Failed
        error={answer.error}
        retry={() => void answer.refetch()}
        title="The request log could not be loaded"
      />
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
            caption="Calls to the integration API, newest first"
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
      title="No matching calls"
      actions={
        <Button variant="default" onClick={() => go({ tab: 'log' }, { afresh: true })}>
          Show all calls
        </Button>
      }
    >
      No calls match these filters.
    </Nothing>
  ) : (
    <Nothing
      title="No calls yet"
      actions={<Button onClick={() => go({ tab: 'code' }, { afresh: true })}>Show example code</Button>}
    >
      Run one of the example programs. Its call appears here within seconds. A call that does not appear did
      not reach this service, or had no token of your brokerage.
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
  { key: 'why', header: 'Why rejected or not applied', cell: (call) => <Why call={call} />, wraps: true },
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
    header: 'Request ID',
    cell: ({ request_id }) => (
      <Group gap={6} wrap="nowrap">
        <code title={request_id}>{request_id.slice(0, 8)}</code>
        <CopyButton text={request_id} what={`request ID ${request_id.slice(0, 8)}`} compact />
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
  // Only an update that was accepted and not applied has a detail without a refusal.
  const notApplied = !refused && call.detail !== null
  return (
    <>
      <span style={{ color: refused || notApplied ? 'var(--lost)' : 'var(--won)', fontWeight: 600 }}>
        {refused ? '✕' : notApplied ? '!' : '✓'} {call.status}{' '}
        {refused ? 'rejected' : notApplied ? 'not applied' : 'OK'}
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
      {call.not_kept > 0 && <Text size="xs">{count(call.not_kept)} similar calls not listed</Text>}
      {call.problem === null && call.detail === null && call.not_kept === 0 && '–'}
    </>
  )
}

/** A query string in readable form. @example readable('origin=Dallas%2C+TX&equipment=V') // 'origin Dallas, TX · equipment V' */
function readable(query: string | null): string {
  if (query === null) return '–'
  return [...new URLSearchParams(query)].map(([name, value]) => `${name} ${value}`).join(' · ')
}

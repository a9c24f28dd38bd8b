import { Button, Group, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { eventsKeptDaysMax, pageSizeDefault } from '#contract/limits.ts'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  type Column,
  counted,
  DataTable,
  exactMoment,
  Failed,
  Loading,
  Nothing,
  Section,
  since,
  useNotice,
} from '../shared-ui/index.ts'
import type { EventEndpoint } from './event-endpoint.ts'
import { useIntegrationAddress } from './integration-address.ts'

type Delivery = Answer<'list-event-deliveries'>['deliveries'][number]
type DeliveryState = Delivery['state']

const pollEveryMs = 3_000
const states = ['due', 'delivered', 'dead'] as const satisfies readonly DeliveryState[]

/** The deliveries of events to endpoints, with the last attempt of each and a button to send it again. */
export function EventDeliveries({
  endpoints,
  changed,
}: {
  endpoints: readonly EventEndpoint[]
  changed: () => void
}) {
  const { params, go } = useIntegrationAddress()
  const state = states.find((name) => name === params.state)
  const endpoint = endpoints.find(({ id }) => String(id) === params.endpoint)
  const before = params.before
  const deliveries = useAnswer(
    'list-event-deliveries',
    {
      query: {
        ...(state === undefined ? {} : { state }),
        ...(endpoint === undefined ? {} : { endpoint_id: endpoint.id }),
        ...(before === undefined ? {} : { cursor: before }),
        limit: pageSizeDefault,
      },
    },
    { keeps: true, everyMs: before === undefined ? pollEveryMs : false },
  )
  const filter = (change: Record<string, string | undefined>) => go({ ...change, before: undefined })
  return (
    <Section
      title="Deliveries"
      hint={`Event deliveries of the last ${eventsKeptDaysMax} days, newest first. Every attempt to deliver an event has the same event ID.`}
    >
      <Group gap="sm" align="flex-end">
        <SegmentedControl
          aria-label="State"
          data={[
            { value: '', label: 'All' },
            { value: 'due', label: 'Waiting' },
            { value: 'delivered', label: 'Delivered' },
            { value: 'dead', label: 'Failed' },
          ]}
          value={state ?? ''}
          onChange={(next) => filter({ state: next })}
        />
        <NativeSelect
          label="Address"
          maw={320}
          data={[
            { value: '', label: 'All addresses' },
            ...endpoints.map(({ id, url }) => ({ value: String(id), label: url })),
          ]}
          value={endpoint === undefined ? '' : String(endpoint.id)}
          onChange={(event) => filter({ endpoint: event.currentTarget.value })}
        />
        {endpoints
          .filter(({ id, dead, state: is }) => dead > 0 && is === 'active' && (endpoint?.id ?? id) === id)
          .map((one) => (
            <ReplayDead key={one.id} endpoint={one} changed={changed} />
          ))}
      </Group>
      <DeliveryList
        answer={deliveries}
        endpoints={endpoints}
        changed={changed}
        before={before}
        isFiltered={state !== undefined || endpoint !== undefined}
        go={go}
      />
    </Section>
  )
}

const dayMs = 86_400_000

/** Sends all failed events of an endpoint again. */
function ReplayDead({ endpoint, changed }: { endpoint: EventEndpoint; changed: () => void }) {
  const replay = useChange('replay-events')
  const notify = useNotice()
  const again = () =>
    replay.mutate(
      {
        params: { id: endpoint.id },
        body: { since: new Date(Date.now() - eventsKeptDaysMax * dayMs).toISOString(), only_dead: true },
      },
      {
        onSuccess: ({ replayed }) => {
          notify(`${counted(replayed, 'event')} queued to be sent again`)
          changed()
        },
      },
    )
  return (
    <Stack gap="xs">
      <Button variant="default" loading={replay.isPending} onClick={again}>
        Resend failed events: address {endpoint.id}
      </Button>
      {replay.error !== null && <Failed error={replay.error} title="Events not resent" />}
    </Stack>
  )
}

function DeliveryList({
  answer,
  endpoints,
  changed,
  before,
  isFiltered,
  go,
}: {
  answer: ReturnType<typeof useAnswer<'list-event-deliveries'>>
  endpoints: readonly EventEndpoint[]
  changed: () => void
  before: string | undefined
  isFiltered: boolean
  go: ReturnType<typeof useIntegrationAddress>['go']
}) {
  const [failed, setFailed] = useState<Error | null>(null)
  const replay = useChange('replay-events')
  const notify = useNotice()
  if (answer.data === undefined) {
    return answer.error === null ? (
      <Loading label="Loading the deliveries" rows={6} />
    ) : (
      <Failed
        error={answer.error}
        retry={() => void answer.refetch()}
        title="The deliveries could not be loaded"
      />
    )
  }
  const { deliveries, next_cursor: next } = answer.data
  if (deliveries.length === 0 && before === undefined) {
    return (
      <Nothing title={isFiltered ? 'No matching deliveries' : 'No events sent yet'}>
        {isFiltered
          ? 'No deliveries match these filters.'
          : 'Send a test event, or wait until a rate is quoted, a load is booked or an outcome changes.'}
      </Nothing>
    )
  }
  const again = (delivery: Delivery) => {
    setFailed(null)
    replay.mutate(
      { params: { id: delivery.endpoint_id }, body: { event_id: delivery.event_id } },
      {
        onSuccess: () => {
          notify('Event queued to be sent again')
          changed()
        },
        onError: setFailed,
      },
    )
  }
  return (
    <Stack gap="sm">
      {failed !== null && <Failed error={failed} title="Event not resent" />}
      <DataTable
        caption="Deliveries of events, newest first"
        columns={columns(endpoints, again)}
        rows={deliveries}
        rowKey={({ event_id, endpoint_id }) => `${event_id}/${endpoint_id}`}
      />
      {(before !== undefined || next !== null) && (
        <Group gap="sm">
          <Button variant="default" disabled={before === undefined} onClick={() => go({ before: undefined })}>
            Newest deliveries
          </Button>
          <Button
            variant="default"
            disabled={next === null}
            onClick={() => go({ before: next ?? undefined })}
          >
            Older deliveries
          </Button>
        </Group>
      )}
    </Stack>
  )
}

const columns = (
  endpoints: readonly EventEndpoint[],
  again: (delivery: Delivery) => void,
): Column<Delivery>[] => [
  {
    key: 'at',
    header: 'Time',
    cell: ({ occurred_at: at }) => <span title={exactMoment(at)}>{since(at)}</span>,
  },
  {
    key: 'event',
    header: 'Event',
    cell: ({ type, lane_ref: lane, event_id: id }) => (
      <>
        {type}
        <Text size="xs" c="dimmed">
          {lane ?? 'no quote'} · <code title={id}>{id.slice(0, 8)}</code>
        </Text>
      </>
    ),
  },
  {
    key: 'to',
    header: 'Address',
    wraps: true,
    cell: ({ endpoint_id: id }) => (
      <span style={{ overflowWrap: 'anywhere' }}>
        {endpoints.find((one) => one.id === id)?.url ?? `${id} (removed)`}
      </span>
    ),
  },
  { key: 'state', header: 'State', cell: (delivery) => <DeliveryWord delivery={delivery} /> },
  {
    key: 'answer',
    header: 'Last response',
    wraps: true,
    cell: ({ status, answer, failure, ms }) => (
      <>
        {status ?? '–'}
        {ms !== null && status !== null && ` in ${Math.round(ms)} ms`}
        {[failure, answer].map((text) =>
          text === null || text === '' ? null : (
            <Text key={text} size="xs" c="dimmed" lineClamp={3} style={{ overflowWrap: 'anywhere' }}>
              {text}
            </Text>
          ),
        )}
      </>
    ),
  },
  {
    key: 'again',
    header: 'Actions',
    cell: (delivery) =>
      delivery.state === 'due' ||
      endpoints.find(({ id }) => id === delivery.endpoint_id)?.state !== 'active' ? null : (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Resend event ${delivery.event_id.slice(0, 8)}`}
          onClick={() => again(delivery)}
        >
          Resend
        </Button>
      ),
  },
]

function DeliveryWord({ delivery }: { delivery: Delivery }) {
  const { state, attempts, next_at: next } = delivery
  const [word, color] = {
    due: ['… Waiting', 'var(--pending)'],
    delivered: ['✓ Delivered', 'var(--won)'],
    dead: ['✕ Failed', 'var(--lost)'],
  }[state] as [string, string]
  return (
    <>
      <span style={{ color, fontWeight: 600 }}>{word}</span>
      <Text size="xs" c="dimmed">
        {counted(attempts, 'attempt')}
        {state === 'due' && next !== null && attempts > 0 ? `, next at ${exactMoment(next)}` : ''}
      </Text>
    </>
  )
}

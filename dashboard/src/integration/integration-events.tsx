import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type EventType, eventTypes } from '#contract/event-types.ts'
import { eventEndpointsMax, secretOverlapHoursDefault } from '#contract/limits.ts'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  type Column,
  ConfirmChange,
  counted,
  DataTable,
  Failed,
  Heed,
  Loading,
  moment,
  Nothing,
  Section,
  useNotice,
  useSentForm,
} from '../shared-ui/index.ts'
import type { EventEndpoint } from './event-endpoint.ts'
import { EventDeliveries } from './integration-deliveries.tsx'
import { type ShownOnce, ShownOnceDialog } from './integration-shown-once.tsx'

const pollEveryMs = 3_000

/** Webhook events about quotes and bookings: the endpoints, their secrets, and the deliveries. */
export function IntegrationEvents() {
  const endpoints = useAnswer('list-event-endpoints', {}, { everyMs: pollEveryMs })
  const queries = useQueryClient()
  const [shown, setShown] = useState<ShownOnce | null>(null)
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['list-event-endpoints'] })
    void queries.invalidateQueries({ queryKey: ['list-event-deliveries'] })
  }
  const show = ({ endpoint, secret, warning }: Answer<'add-event-endpoint'>, note?: string) => {
    const { url } = endpoint
    setShown({
      what: 'event secret',
      name: url,
      plaintext: secret,
      warning,
      ...(note === undefined ? {} : { note }),
    })
    changed()
  }
  if (endpoints.data === undefined) {
    return endpoints.error === null ? (
      <Loading label="Loading the addresses" rows={4} />
    ) : (
      <Failed
        error={endpoints.error}
        retry={() => void endpoints.refetch()}
        title="The addresses could not be loaded"
      />
    )
  }
  const { events_on: isOn, endpoints: all } = endpoints.data
  return (
    <Stack>
      <Section
        title="Events"
        hint="When a rate is quoted, a load is booked or an outcome changes, Lanewise sends an event to your systems within seconds, signed according to Standard Webhooks. Failed deliveries are retried for three days."
      >
        {isOn ? (
          all.length < eventEndpointsMax ? (
            <AddEndpoint added={(answer) => show(answer)} />
          ) : (
            <Text size="sm">You have {eventEndpointsMax} addresses, which is the maximum.</Text>
          )
        ) : (
          <Heed title="Events are turned off">
            No events are sent until the operator of this service sets EVENTS=on.
          </Heed>
        )}
        <Endpoints all={all} isOn={isOn} changed={changed} rotated={show} />
        <ShownOnceDialog shown={shown} close={() => setShown(null)} />
      </Section>
      <EventDeliveries endpoints={all} changed={changed} />
    </Stack>
  )
}

const typeWords: Readonly<Record<EventType, string>> = {
  'quote.created': 'a rate is quoted',
  'quote.updated': 'a quote changes',
  'lane.booked': 'a load is booked',
  'lane.booking_cancelled': 'a booking is cancelled',
  'lane.update_not_applied': 'a signed update is accepted and not applied',
  'lane.outcome_changed': 'an outcome changes',
  'quote.expired': 'a quote expires',
  'approval.changed': 'approval of a quote is requested, decided or expires',
  'credential.expiring': 'a service token or signing secret expires soon',
}

function AddEndpoint({ added }: { added: (answer: Answer<'add-event-endpoint'>) => void }) {
  const { input, submit, isPending, failed } = useSentForm(useChange('add-event-endpoint'), {
    initial: { url: '', event_types: [...eventTypes] as string[] },
    check: ({ event_types: types }) => (types.length === 0 ? { event_types: 'Choose at least one.' } : {}),
    sent: ({ url, event_types: types }) => ({
      body: { url: url.trim(), event_types: eventTypes.filter((type) => types.includes(type)) },
    }),
    clears: ['url'],
    onSuccess: added,
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Group align="flex-end" gap="sm">
          <TextInput
            label="Endpoint URL"
            placeholder="https://hooks.example.com/lanewise"
            autoComplete="off"
            inputMode="url"
            w={{ base: '100%', xs: 420 }}
            required
            withAsterisk={false}
            {...input('url')}
          />
          <Button type="submit" loading={isPending}>
            Add address
          </Button>
        </Group>
        <Checkbox.Group label="Send an event when" {...input('event_types')}>
          <Group gap="md" mt={4}>
            {eventTypes.map((type) => (
              <Checkbox key={type} value={type} label={typeWords[type]} />
            ))}
          </Group>
        </Checkbox.Group>
        {failed && <Failed error={failed} title="Address not added" />}
      </Stack>
    </form>
  )
}

type Asked = { readonly what: 'rotate' | 'remove'; readonly endpoint: EventEndpoint }

function Endpoints({
  all,
  isOn,
  changed,
  rotated,
}: {
  all: readonly EventEndpoint[]
  isOn: boolean
  changed: () => void
  rotated: (answer: Answer<'rotate-event-secret'>, note: string) => void
}) {
  const [asked, setAsked] = useState<Asked | null>(null)
  const change = useChange('change-event-endpoint')
  const test = useChange('test-event-endpoint')
  const notify = useNotice()
  if (all.length === 0) {
    return <Nothing title="No addresses yet">Add an address above to send events to it.</Nothing>
  }
  const failed = change.error ?? test.error
  const switched = (endpoint: EventEndpoint) =>
    change.mutate(
      {
        params: { id: endpoint.id },
        body: { state: endpoint.state === 'active' ? ('paused' as const) : ('active' as const) },
      },
      { onSuccess: changed },
    )
  const tested = (endpoint: EventEndpoint) =>
    test.mutate(
      { params: { id: endpoint.id } },
      {
        onSuccess: () => {
          notify('Test event sent. See the result under Deliveries.')
          changed()
        },
      },
    )
  return (
    <Stack gap="xs">
      <DataTable
        caption="Addresses that events are sent to, newest first"
        columns={columns({
          isOn,
          switched,
          tested,
          rotate: (endpoint) => setAsked({ what: 'rotate', endpoint }),
          remove: (endpoint) => setAsked({ what: 'remove', endpoint }),
        })}
        rows={all}
        rowKey={({ id }) => String(id)}
      />
      {failed !== null && <Failed error={failed} title="Nothing was changed" />}
      <RotateEventSecret
        endpoint={asked?.what === 'rotate' ? asked.endpoint : null}
        close={() => setAsked(null)}
        rotated={(answer, note) => {
          setAsked(null)
          rotated(answer, note)
        }}
      />
      <RemoveEndpoint
        endpoint={asked?.what === 'remove' ? asked.endpoint : null}
        close={() => setAsked(null)}
      />
    </Stack>
  )
}

const columns = (doing: {
  isOn: boolean
  switched: (endpoint: EventEndpoint) => void
  tested: (endpoint: EventEndpoint) => void
  rotate: (endpoint: EventEndpoint) => void
  remove: (endpoint: EventEndpoint) => void
}): Column<EventEndpoint>[] => [
  {
    key: 'address',
    header: 'Address',
    wraps: true,
    cell: ({ url, event_types: types }) => (
      <>
        <span style={{ overflowWrap: 'anywhere' }}>{url}</span>
        <Text size="xs" c="dimmed">
          {types.map((type) => typeWords[type]).join(', ')}
        </Text>
      </>
    ),
  },
  { key: 'state', header: 'State', wraps: true, cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
  {
    key: 'queue',
    header: 'Waiting, failed',
    cell: ({ waiting, dead }) => `${atMost(waiting)}, ${atMost(dead)}`,
  },
  {
    key: 'change',
    header: 'Actions',
    cell: (endpoint) => (
      <Group gap={6} wrap="nowrap">
        {(
          [
            ['Test', doing.tested, endpoint.state !== 'active' || !doing.isOn],
            [endpoint.state === 'active' ? 'Pause' : 'Resume', doing.switched, false],
            ['Rotate secret', doing.rotate, false],
            ['Remove', doing.remove, false],
          ] as const
        ).map(([word, act, disabled]) => (
          <Button
            key={word}
            size="compact-sm"
            variant="default"
            disabled={disabled}
            aria-label={`${word}: address ${endpoint.id}`}
            onClick={() => act(endpoint)}
          >
            {word}
          </Button>
        ))}
      </Group>
    ),
  },
]

/** A count up to the service's maximum. @example atMost(1000) // '1,000 or more' */
function atMost(count: number): string {
  return count >= 1_000 ? '1,000 or more' : String(count)
}

const stateWords = { active: '✓ Active', paused: '– Paused', disabled: '✕ Turned off' } as const
const reasonWords = {
  gone: 'The endpoint responded with 410 Gone.',
  failing: 'All deliveries failed for three days.',
} as const

function EndpointState({ endpoint }: { endpoint: EventEndpoint }) {
  const { state, disabled_reason: reason, secrets } = endpoint
  const ending = secrets.find(({ expires_at }) => expires_at !== null)
  return (
    <>
      <span
        style={{
          color: state === 'active' ? 'var(--won)' : state === 'disabled' ? 'var(--lost)' : 'var(--pending)',
          fontWeight: 600,
        }}
      >
        {stateWords[state]}
      </span>
      {reason !== null && (
        <Text size="xs" c="dimmed">
          {reasonWords[reason]}
        </Text>
      )}
      {ending !== undefined && (
        <Text size="xs" c="dimmed">
          Two secrets are valid until {moment(ending.expires_at)}
        </Text>
      )}
    </>
  )
}

function RotateEventSecret({
  endpoint,
  close,
  rotated,
}: {
  endpoint: EventEndpoint | null
  close: () => void
  rotated: (answer: Answer<'rotate-event-secret'>, note: string) => void
}) {
  return (
    <ConfirmChange
      call={useChange('rotate-event-secret')}
      sent={endpoint && { params: { id: endpoint.id }, body: { overlap_hours: secretOverlapHoursDefault } }}
      onDone={(answer) => {
        const end = answer.endpoint.secrets.find(({ expires_at }) => expires_at !== null)
        const until = moment(end?.expires_at ?? null)
        rotated(answer, `Both secrets are valid until ${until}. After that, only the new secret is valid.`)
      }}
      close={close}
      title="Rotate the secret of this address?"
      action="Rotate secret"
    >
      <Text size="sm">
        This creates a new secret. For {secretOverlapHoursDefault} hours, each request has two signatures, so
        that the receiver can use either secret while you change it.
      </Text>
    </ConfirmChange>
  )
}

function RemoveEndpoint({ endpoint, close }: { endpoint: EventEndpoint | null; close: () => void }) {
  return (
    <ConfirmChange
      call={useChange('remove-event-endpoint')}
      sent={endpoint && { params: { id: endpoint.id } }}
      said={() => 'Address removed'}
      close={close}
      title="Remove this address?"
      action="Remove address"
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        No more events are sent to <strong>{endpoint?.url}</strong>
        {endpoint === null || endpoint.waiting === 0
          ? ''
          : `, and ${counted(endpoint.waiting, 'waiting event')} ${endpoint.waiting === 1 ? 'is' : 'are'} discarded`}
        . The secret of the address is deleted. To stop events temporarily, pause the address instead.
      </Text>
    </ConfirmChange>
  )
}

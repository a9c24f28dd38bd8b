import './audit.css'
import { IconBan } from 'virtual:tabler-icons'
import { Badge, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import {
  type AddressParams,
  type Column,
  CopyButton,
  count,
  DataTable,
  TextLink,
  zonedMoment,
} from '../shared-ui/index.ts'
import { type AuditEvent, isRefusal, kindName, personName, type Sentence, sentenceOf } from './audit-words.ts'

/** The events with time, sentence and network address. Further details are collapsed. */
export function AuditTable({ events, search }: { events: readonly AuditEvent[]; search: AddressParams }) {
  const columns: Column<AuditEvent>[] = [
    { key: 'at', header: 'When', cell: ({ at }) => <Time at={at} /> },
    {
      key: 'what',
      header: 'What happened',
      wraps: true,
      cell: (event) => (
        <>
          <EventSentence event={event} />
          <Details event={event} search={search} />
        </>
      ),
    },
    { key: 'from', header: 'Network address', from: 'sm', cell: ({ network }) => network ?? '–' },
    { key: 'number', header: 'Event', from: 'sm', align: 'right', cell: ({ event_id }) => count(event_id) },
  ]
  return (
    <div className="audit-log">
      <DataTable
        caption="Events, newest first"
        columns={columns}
        rows={events}
        rowKey={({ event_id }) => String(event_id)}
      />
    </div>
  )
}

/** Date and time in the brokerage's time zone. Seconds and the time zone appear on hover. */
function Time({ at }: { at: string }) {
  const exact = zonedMoment(at)
  const [day, year, time] = exact.split(', ')
  return (
    <time dateTime={at} title={exact}>
      {time?.replace(/:\d\d (.M) .*$/, ' $1')}
      <Text size="xs" c="dimmed">
        {day}, {year}
      </Text>
    </time>
  )
}

function EventSentence({ event }: { event: AuditEvent }) {
  return (
    <div className="audit-sentence">
      {isRefusal(event) && (
        <span className="audit-refused">
          <IconBan size={14} aria-hidden /> Rejected{' '}
        </span>
      )}
      {event.count > 1 && (
        <Badge variant="default" tt="none" mr={6}>
          {count(event.count)} times
        </Badge>
      )}
      <Words sentence={sentenceOf(event)} />
    </div>
  )
}

function Words({ sentence }: { sentence: Sentence }) {
  return sentence.map(({ text, given }, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence are identified by their position
    given ? <strong key={place}>{text}</strong> : <span key={place}>{text}</span>,
  )
}

function Details({ event, search }: { event: AuditEvent; search: AddressParams }) {
  const { event_id: number, at, kind, done_by, done_to, token, network, request_id, about, hash } = event
  const people = [done_by, done_to].filter((person) => person !== null)
  const further = Object.keys(about).length === 0 ? null : JSON.stringify(about)
  return (
    <details>
      <summary aria-label={`Details of event ${number}`}>Details</summary>
      <dl>
        <Fact name="Exact time">
          {zonedMoment(at)} ({at})
        </Fact>
        <Fact name="Event">
          {count(number)}, {kindName(kind)}
        </Fact>
        {people.map((person, place) => (
          <Fact key={place === 0 ? 'first' : 'second'} name={person === done_by ? 'Done by' : 'Done to'}>
            {personName(person)} ·{' '}
            <TextLink
              to={pagePaths.audit}
              query={{ ...search, cursor: undefined, page: undefined, who: String(person.id) }}
              label={`show only their events: ${personName(person)}`}
            >
              show only their events
            </TextLink>
          </Fact>
        ))}
        {token !== null && (
          <Fact name="Token">
            service token {token.name ?? ''} (ID {token.id})
          </Fact>
        )}
        <Fact name="Network address">{network ?? 'local'}</Fact>
        {further !== null && (
          <Fact name="Data">
            <code>{further}</code>
          </Fact>
        )}
        {request_id !== null && (
          <Fact name="Request ID">
            <code>{request_id}</code>{' '}
            <CopyButton text={request_id} what={`the request ID of event ${number}`} compact />
          </Fact>
        )}
        <Fact name="Hash">
          <code>{hash}</code> <CopyButton text={hash} what={`the hash of event ${number}`} compact />
        </Fact>
      </dl>
    </details>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

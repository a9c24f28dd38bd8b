import { Badge, Button, Text } from '@mantine/core'
import type { Answer } from '../api/index.ts'
import { type Column, DataTable } from './data-table.tsx'
import { moment } from './formats.ts'

type SignedInSession = Answer<'list-sessions'>['sessions'][number]

/** @example deviceOf({ device: 'Chrome on Windows', network: '203.0.113.9', ... }) // 'Chrome on Windows, from 203.0.113.9' */
export function deviceOf({ device, network }: SignedInSession): string {
  return `${device ?? 'Unknown device'}${network === null ? '' : `, from ${network}`}`
}

/** The sessions of a person. With `end`, each one but the current one has a button. */
export function SessionsTable({
  sessions,
  end,
  pending,
}: {
  sessions: readonly SignedInSession[]
  end?: (session: SignedInSession) => void
  pending?: boolean
}) {
  const columns: Column<SignedInSession>[] = [
    {
      key: 'device',
      header: 'Device and network',
      wraps: true,
      cell: (session) => (
        <>
          <span style={{ overflowWrap: 'anywhere' }}>{deviceOf(session)}</span>{' '}
          {session.assistant !== null && (
            <Badge variant="default" miw="max-content">
              only reads
            </Badge>
          )}
          {session.current && (
            <Badge variant="default" miw="max-content">
              this session
            </Badge>
          )}
          <Text hiddenFrom="sm" size="xs" c="dimmed">
            Signed in {moment(session.created_at)}
          </Text>
        </>
      ),
    },
    {
      key: 'used',
      header: 'Last used',
      cell: ({ last_used_at, created_at }) => moment(last_used_at ?? created_at),
    },
    { key: 'since', header: 'Signed in', from: 'sm', cell: ({ created_at }) => moment(created_at) },
  ]
  const actions: Column<SignedInSession> = {
    key: 'end',
    header: 'Actions',
    cell: (session) =>
      !session.current && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`End the session of ${deviceOf(session)}`}
          disabled={pending === true}
          onClick={() => end?.(session)}
        >
          End
        </Button>
      ),
  }
  return (
    <DataTable
      caption="Sessions"
      rows={sessions}
      rowKey={({ id }) => id}
      columns={end === undefined ? columns : [...columns, actions]}
    />
  )
}

import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { mailsKeptDays } from '#contract/limits.ts'
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
  sentNumber,
  since,
  useSentForm,
} from '../shared-ui/index.ts'
import { RemoveSetting } from './settings-remove.tsx'

type Mail = Answer<'get-mail'>
type Sent = Mail['mails'][number]

const pollEveryMs = 3_000
const usualPort = '587'

/** Who sends mail to the people of the brokerage, and what became of the newest mails. For admins. */
export function MailSettings() {
  const { data, error, refetch } = useAnswer('get-mail', {}, { everyMs: pollEveryMs })
  if (error !== null && data === undefined) {
    return <Failed error={error} title="The mail settings could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the mail settings" rows={4} />
  return (
    <>
      <Section title="Mail server" hint={senderWords[data.sends]}>
        <Server mail={data} />
      </Section>
      <Section
        title="Newest mails"
        hint={`Mails of the last ${mailsKeptDays} days, newest first. A mail that waits is tried again, with longer and longer pauses.`}
      >
        <Mails mail={data} />
      </Section>
    </>
  )
}

const senderWords: Readonly<Record<Mail['sends'], string>> = {
  brokerage: "The brokerage's own mail server sends.",
  operator: 'The mail server of this installation sends.',
  nobody: 'There is no mail server, so no mail is sent. Everything is shown in Lanewise.',
}

function Server({ mail: { server, sends, may_set } }: { mail: Mail }) {
  return (
    <Stack>
      {server !== null && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {server.host}, port {server.port}, {server.user === null ? 'without sign-in' : `as ${server.user}`},
          from {server.from}. Set {since(server.set_at)}.
        </Text>
      )}
      {may_set ? (
        <ServerForm key={server?.set_at} server={server} />
      ) : (
        <Text size="sm">
          The operator of this installation does not permit brokerages to set a mail server of their own.
        </Text>
      )}
      <Group>
        {sends !== 'nobody' && <SendTest />}
        {server !== null && (
          <RemoveSetting operation="remove-mail-server" what="the mail server">
            Its password is deleted, too. Mails that wait are sent by the next mail server.
          </RemoveSetting>
        )}
      </Group>
    </Stack>
  )
}

function ServerForm({ server }: { server: Mail['server'] }) {
  const { submit, input, pending, failure } = useSentForm(useChange('set-mail-server'), {
    fields: {
      host: server?.host ?? '',
      port: server === null ? usualPort : String(server.port),
      user: server?.user ?? '',
      password: '',
      from: server?.from ?? '',
    },
    send: ({ host, port, user, password, from }) => ({
      body: {
        host: host.trim(),
        port: sentNumber(port),
        from: from.trim(),
        ...(user === '' ? {} : { user }),
        ...(password === '' ? {} : { password }),
      },
    }),
    said: 'The mail server is set. Send yourself a test message.',
  })
  return (
    <form onSubmit={submit} aria-label="Mail server">
      <Stack maw={720}>
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <TextInput
            label="Host"
            placeholder="mail.example.com"
            required
            autoComplete="off"
            {...input('host')}
          />
          <TextInput
            label="Port"
            description="465: TLS at once. Others: STARTTLS."
            required
            inputMode="numeric"
            {...input('port')}
          />
        </Group>
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <TextInput label="User" autoComplete="off" {...input('user')} />
          <PasswordInput
            label="Password"
            description="Stored encrypted, and entered again with every change."
            autoComplete="new-password"
            {...input('password')}
          />
        </Group>
        <TextInput
          label="Sender"
          placeholder="quotes@example.com"
          required
          autoComplete="off"
          {...input('from')}
        />
        {failure('The mail server was not set')}
        <Button type="submit" loading={pending} style={{ alignSelf: 'flex-start' }}>
          {server === null ? 'Set the mail server' : 'Replace the mail server'}
        </Button>
      </Stack>
    </form>
  )
}

function SendTest() {
  const send = useChange('test-mail')
  const queries = useQueryClient()
  return (
    <Stack gap="xs">
      <Button
        variant="default"
        loading={send.isPending}
        onClick={() => send.mutate({}, { onSuccess: () => void queries.invalidateQueries() })}
      >
        Send me a test message
      </Button>
      {send.error !== null && <Failed error={send.error} title="No test message sent" />}
    </Stack>
  )
}

function Mails({ mail: { mails, waiting, failed } }: { mail: Mail }) {
  const retry = useChange('retry-mail')
  const queries = useQueryClient()
  if (mails.length === 0) return <Nothing title="No mail yet">Send yourself a test message.</Nothing>
  const isRetryable = failed > 0 || mails.some(({ state, failure }) => state === 'due' && failure !== null)
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        {counted(waiting, 'mail')} waiting, {counted(failed, 'mail')} not sent.
      </Text>
      {retry.error !== null && <Failed error={retry.error} title="Not tried again" />}
      {isRetryable && (
        <Button
          variant="default"
          loading={retry.isPending}
          onClick={() => retry.mutate({}, { onSuccess: () => void queries.invalidateQueries() })}
          style={{ alignSelf: 'flex-start' }}
        >
          Try again now
        </Button>
      )}
      <DataTable caption="Mails, newest first" columns={columns} rows={mails} rowKey={({ id }) => id} />
    </Stack>
  )
}

const stateWords: Readonly<Record<Sent['state'], readonly [word: string, color: string]>> = {
  due: ['… Waiting', 'var(--pending)'],
  sent: ['✓ Sent', 'var(--won)'],
  failed: ['✕ Not sent', 'var(--lost)'],
  dropped: ['– Not sent any more', 'var(--mantine-color-dimmed)'],
}

const columns: Column<Sent>[] = [
  {
    key: 'at',
    header: 'Written',
    cell: ({ created_at: at }) => <span title={exactMoment(at)}>{since(at)}</span>,
  },
  { key: 'to', header: 'To', cell: ({ to, to_address: address }) => address ?? to.name },
  { key: 'subject', header: 'Subject', wraps: true, cell: ({ subject }) => subject },
  {
    key: 'state',
    header: 'State',
    wraps: true,
    cell: ({ state, failure, attempts, next_at: next }) => {
      const [word, color] = stateWords[state]
      return (
        <>
          <span style={{ color, fontWeight: 600 }}>{word}</span>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {counted(attempts, 'attempt')}
            {next !== null && attempts > 0 ? `, next ${exactMoment(next)}` : ''}
            {failure === null ? '' : `. ${failure}`}
          </Text>
        </>
      )
    },
  },
]

import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { mailTextDaysDefault, mailTextDaysMax } from '#contract/limits.ts'
import { type Answer, type Body, useAnswer, useChange } from '../api/index.ts'
import { exactMoment, Failed, Loading, Section, sentNumber, since, useSentForm } from '../shared-ui/index.ts'
import { RemoveSetting } from './settings-remove.tsx'

type Answered = Answer<'get-mailbox'>
type Mailbox = NonNullable<Answered['mailbox']>

const pollEveryMs = 3_000
const usualPort = '993'

/** The mailbox whose mails are listed on the page Mail, and whether it can be read. For admins. */
export function MailboxSettings() {
  const { data, error, refetch } = useAnswer('get-mailbox', {}, { everyMs: pollEveryMs })
  if (error !== null && data === undefined) {
    return <Failed error={error} title="The mailbox could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the mailbox" rows={3} />
  return (
    <Section
      title="Mailbox"
      hint="Mails that arrive there are listed under Mail, with their lanes. Nothing in the mailbox changes: no mail is moved, deleted or marked as read."
    >
      <Stack>
        {data.mailbox !== null && <State mailbox={data.mailbox} />}
        {data.may_set ? (
          <MailboxForm key={data.mailbox?.set_at} mailbox={data.mailbox} />
        ) : (
          <Text size="sm">
            The operator of this installation does not permit brokerages to have a mailbox read.
          </Text>
        )}
        {data.mailbox !== null && (
          <Group>
            <RemoveSetting operation="remove-mailbox" what="the mailbox">
              Its password is deleted, too. Mails that were read stay until their time is over.
            </RemoveSetting>
          </Group>
        )}
      </Stack>
    </Section>
  )
}

function State({ mailbox }: { mailbox: Mailbox }) {
  const { host, port, user, state, read_at: readAt, failing_since: failing, failure, next_at: next } = mailbox
  return (
    <Stack gap={2} style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">
        {user} at {host}, port {port}. Set {since(mailbox.set_at)}.
      </Text>
      <Text size="sm" role="status">
        {state === 'failing' && failing !== null ? (
          <span style={{ color: 'var(--lost)', fontWeight: 600 }}>
            ✕ Not read since {exactMoment(failing)}. {failure}
            {next !== null && ` Next attempt ${exactMoment(next)}.`}
          </span>
        ) : readAt === null ? (
          '… It is being opened.'
        ) : (
          <span style={{ color: 'var(--won)', fontWeight: 600 }}>✓ Read {since(readAt)}</span>
        )}
      </Text>
    </Stack>
  )
}

const fieldsOf = (mailbox: Mailbox | null) => ({
  host: mailbox?.host ?? '',
  port: mailbox === null ? usualPort : String(mailbox.port),
  user: mailbox?.user ?? '',
  password: '',
  checking_server: mailbox?.checking_server ?? '',
  kept_days: String(mailbox?.kept_days ?? mailTextDaysDefault),
})

function bodyOf(fields: ReturnType<typeof fieldsOf>): Body<'set-mailbox'> {
  const checking = fields.checking_server.trim()
  return {
    host: fields.host.trim(),
    port: sentNumber(fields.port),
    user: fields.user.trim(),
    password: fields.password,
    kept_days: sentNumber(fields.kept_days),
    ...(checking === '' ? {} : { checking_server: checking }),
  }
}

function MailboxForm({ mailbox }: { mailbox: Mailbox | null }) {
  const { submit, input, pending, failure } = useSentForm(useChange('set-mailbox'), {
    fields: fieldsOf(mailbox),
    send: (fields) => ({ body: bodyOf(fields) }),
    said: 'The mailbox is set. It is read from now on.',
  })
  return (
    <form onSubmit={submit} aria-label="Mailbox">
      <Stack maw={720}>
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <TextInput
            label="IMAP host"
            placeholder="imap.example.com"
            required
            autoComplete="off"
            {...input('host')}
          />
          <TextInput
            label="Port"
            description="993: TLS at once. Others: STARTTLS."
            required
            inputMode="numeric"
            autoComplete="off"
            {...input('port')}
          />
        </Group>
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <TextInput
            label="User"
            placeholder="quotes@example.com"
            required
            autoComplete="off"
            {...input('user')}
          />
          <PasswordInput
            label="Password"
            description="Stored encrypted, and entered again with every change."
            required
            autoComplete="new-password"
            {...input('password')}
          />
        </Group>
        <TextInput
          label="Server whose checks of senders are trusted"
          description="The name with which your mail provider begins the header Authentication-Results, such as mx.google.com. Without it, nobody knows whether a sender is who it says."
          autoComplete="off"
          {...input('checking_server')}
        />
        <TextInput
          label="Days for which the text of a mail is kept"
          description={`1 to ${mailTextDaysMax}. Sender, subject and number of lanes stay.`}
          required
          inputMode="numeric"
          maw={360}
          autoComplete="off"
          {...input('kept_days')}
        />
        {failure('The mailbox was not set')}
        <Button type="submit" loading={pending} style={{ alignSelf: 'flex-start' }}>
          {mailbox === null ? 'Set the mailbox' : 'Replace the mailbox'}
        </Button>
      </Stack>
    </form>
  )
}

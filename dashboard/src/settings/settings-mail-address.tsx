import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { mailTextDaysMax } from '#contract/limits.ts'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import {
  CopyButton,
  Failed,
  Loading,
  Section,
  sentNumber,
  since,
  useNotice,
  useSentForm,
} from '../shared-ui/index.ts'
import { RemoveSetting } from './settings-remove.tsx'

type Forwarding = NonNullable<Answer<'get-mail-address'>['forwarding']>

const pollEveryMs = 5_000

/** The address to which a brokerage forwards mails. For admins. Nothing where the installation takes no mails. */
export function MailAddressSettings() {
  const { data, error, refetch } = useAnswer('get-mail-address', {}, { everyMs: pollEveryMs })
  if (error !== null && data === undefined) {
    return <Failed error={error} title="The address could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the address" rows={2} />
  if (!data.may_have) return null
  return (
    <Section
      title="Forward mails to Lanewise"
      hint="Have your mail program or provider forward requests to an address of your own. They are listed under Mail, with their lanes."
    >
      {data.forwarding === null ? (
        <MakeAddress />
      ) : (
        <Address key={data.forwarding.made_at} forwarding={data.forwarding} />
      )}
    </Section>
  )
}

function useSetAddress(said: string) {
  const set = useChange('set-mail-address')
  const queries = useQueryClient()
  const notify = useNotice()
  const submit = (body: Parameters<typeof set.mutate>[0]['body']) =>
    set.mutate(
      { body },
      {
        onSuccess: () => {
          notify(said)
          void queries.invalidateQueries()
        },
      },
    )
  return { set, submit }
}

function MakeAddress() {
  const { set, submit } = useSetAddress('The address is made.')
  return (
    <Stack align="flex-start">
      {set.error !== null && <Failed error={set.error} title="The address was not made" />}
      <Button onClick={() => submit({})} loading={set.isPending}>
        Make an address
      </Button>
    </Stack>
  )
}

function Address({ forwarding }: { forwarding: Forwarding }) {
  const { address, received_at: receivedAt, made_at: madeAt } = forwarding
  const renew = useSetAddress('The address is a new one. Mails to the former one are refused.')
  return (
    <Stack>
      <Group>
        <Code style={{ overflowWrap: 'anywhere' }}>{address}</Code>
        <CopyButton text={address} what="the address" compact />
      </Group>
      <Text size="sm" role="status">
        Made {since(madeAt)}.{' '}
        {receivedAt === null ? 'No mail has arrived yet.' : `The last mail arrived ${since(receivedAt)}.`}
      </Text>
      <Text size="sm">
        Anyone who knows the address can send you mail. If your provider asks you to confirm the forwarding,
        its mail with the link or code appears under Mail.
      </Text>
      <KeptDays forwarding={forwarding} />
      {renew.set.error !== null && <Failed error={renew.set.error} title="The address was not replaced" />}
      <Group>
        <Button
          variant="default"
          onClick={() => renew.submit({ new_address: true })}
          loading={renew.set.isPending}
        >
          Replace the address
        </Button>
        <RemoveSetting operation="remove-mail-address" what="the address">
          Mails to it are refused from now on. Mails that arrived stay until their time is over.
        </RemoveSetting>
      </Group>
    </Stack>
  )
}

function KeptDays({ forwarding }: { forwarding: Forwarding }) {
  const { submit, input, pending, failure } = useSentForm(useChange('set-mail-address'), {
    fields: { kept_days: String(forwarding.kept_days) },
    send: ({ kept_days: days }) => ({ body: { kept_days: sentNumber(days) } }),
    said: 'The days are saved.',
  })
  return (
    <form onSubmit={submit} aria-label="Days of forwarded mails">
      <Group align="flex-end">
        <TextInput
          label="Days for which the text of a forwarded mail is kept"
          description={`1 to ${mailTextDaysMax}. Sender, subject and number of lanes stay.`}
          required
          inputMode="numeric"
          maw={420}
          {...input('kept_days')}
        />
        <Button type="submit" variant="default" loading={pending}>
          Save the days
        </Button>
      </Group>
      {failure('The days were not saved')}
    </form>
  )
}

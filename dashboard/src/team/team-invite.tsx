import { Alert, Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invitationLifetimeDays } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import type { Role } from '#contract/roles.ts'
import { type Answer, useChange, useSession } from '../api/index.ts'
import { CopyButton, Failed, useSentForm, zonedMoment } from '../shared-ui/index.ts'
import { roleChoices } from './team-roles.ts'

/** Invites a person. Lanewise sends no email, so the dialog shows the invitation once, as a message to copy and send. */
export function InviteDialog({
  opened,
  onClose,
  mayMakeOwners,
}: {
  opened: boolean
  onClose: () => void
  mayMakeOwners: boolean
}) {
  const [made, setMade] = useState<Invitation | null>(null)
  const close = () => {
    onClose()
    setMade(null)
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={made === null ? 'Invite a person' : `Invitation for ${made.user.name}`}
      closeOnClickOutside={made === null}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {made === null ? (
        <InviteForm mayMakeOwners={mayMakeOwners} onMade={setMade} />
      ) : (
        <HandOver made={made} onClose={close} />
      )}
    </Modal>
  )
}

type Invitation = Answer<'invite-user'>

function InviteForm({
  mayMakeOwners,
  onMade,
}: {
  mayMakeOwners: boolean
  onMade: (made: Invitation) => void
}) {
  const queries = useQueryClient()
  const { input, set, submit, failed, isPending } = useSentForm(useChange('invite-user'), {
    initial: { name: '', email: '', role: 'member' as Role },
    sent: (body) => ({ body }),
    onSuccess: (made) => {
      onMade(made)
      void queries.invalidateQueries({ queryKey: ['list-users'] })
    },
  })
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput label="Name" data-autofocus required {...input('name')} />
        <TextInput label="Email" type="email" autoComplete="off" required {...input('email')} />
        <Select
          label="Role"
          data={roleChoices(mayMakeOwners)}
          allowDeselect={false}
          {...input('role')}
          onChange={(role) => set('role', (role ?? 'member') as Role)}
        />
        {failed && <Failed error={failed} title="Not invited" />}
        <Button type="submit" loading={isPending}>
          Create the invitation
        </Button>
      </Stack>
    </form>
  )
}

/** The invitation as a message that can be sent as it is. */
function invitationMessage({ user, expires_at }: Invitation, link: string, from: Answer<'me'>): string {
  return [
    `Hello ${user.name},`,
    `${from.user.name} invites you to the brokerage ${from.tenant.name} on Lanewise. Your role is ${user.role}.`,
    `Open this link and choose a password. It works once, until ${zonedMoment(expires_at)}:\n${link}`,
    `After that, sign in with ${user.email} at ${window.location.origin}${pagePaths.signIn}`,
  ].join('\n\n')
}

function HandOver({ made, onClose }: { made: Invitation; onClose: () => void }) {
  const link = `${window.location.origin}${pagePaths.invitation}#${encodeURIComponent(made.invitation)}`
  const message = invitationMessage(made, link, useSession())
  return (
    <Stack>
      <Alert color="yellow" variant="outline" title="This message is shown only once">
        Lanewise sends no email. Send this message to {made.user.email} yourself. Anyone with the link can set
        the password. It works once, for {invitationLifetimeDays} days.
      </Alert>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {message}
      </Code>
      <Group justify="space-between">
        <Group gap="xs">
          <CopyButton text={message} what="the message" />
          <CopyButton text={link} what="the link" />
        </Group>
        <Button variant="default" onClick={onClose}>
          Done
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        Lost it? Invite the same address again: the new invitation replaces this one.
      </Text>
    </Stack>
  )
}

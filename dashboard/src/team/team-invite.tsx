import { Alert, Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { invitationLifetimeDays } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import type { Role } from '#contract/roles.ts'
import { type Answer, useChange } from '../api/index.ts'
import { CopyButton, Failed, moment } from '../shared-ui/index.ts'
import { roleChoices } from './team-roles.ts'

/** Invites a person. Lanewise sends no email, so the dialog shows the invitation link once, to copy and hand over. */
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
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const queries = useQueryClient()
  const invite = useChange('invite-user')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate(
      { body: { name, email, role } },
      {
        onSuccess: (made) => {
          onMade(made)
          void queries.invalidateQueries({ queryKey: ['list-users'] })
        },
      },
    )
  }
  const wrong = (field: string) => invite.error?.fieldError(`/${field}`)
  const isFieldError = ['name', 'email', 'role'].some((field) => wrong(field) !== undefined)
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Name"
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={wrong('name')}
          required
        />
        <TextInput
          label="Email"
          type="email"
          autoComplete="off"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={wrong('email')}
          required
        />
        <Select
          label="Role"
          data={roleChoices(mayMakeOwners)}
          value={role}
          onChange={(value) => setRole((value ?? 'member') as Role)}
          allowDeselect={false}
          error={wrong('role')}
        />
        {invite.error !== null && !isFieldError && <Failed error={invite.error} title="Not invited" />}
        <Button type="submit" loading={invite.isPending}>
          Create the invitation
        </Button>
      </Stack>
    </form>
  )
}

function HandOver({ made, onClose }: { made: Invitation; onClose: () => void }) {
  const link = `${window.location.origin}${pagePaths.invitation}#${encodeURIComponent(made.invitation)}`
  return (
    <Stack>
      <Alert color="yellow" variant="outline" title="This link is shown only once">
        Lanewise sends no email. Send this link to {made.user.name} yourself. Anyone with the link can set the
        password. It works once, for {invitationLifetimeDays} days, until {moment(made.expires_at)}.
      </Alert>
      <Code block style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }}>
        {link}
      </Code>
      <Group justify="space-between">
        <CopyButton text={link} what="the link" />
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

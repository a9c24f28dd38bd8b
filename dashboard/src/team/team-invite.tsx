import { Alert, Button, Code, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Role } from '#contract/endpoint.ts'
import { invitationLifetimeDays } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { useChange } from '../api/index.ts'
import { CopyButton, Failed, moment } from '../shared-ui/index.ts'
import { roleChoices } from './team-roles.ts'

/** Invites a person, and hands the invitation over: no e-mail is sent, so it is copied from here, once. */
export function InviteDialog({
  opened,
  onClose,
  mayMakeOwners,
}: {
  opened: boolean
  onClose: () => void
  mayMakeOwners: boolean
}) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const queries = useQueryClient()
  const invite = useChange('invite-user')
  const close = () => {
    onClose()
    invite.reset()
    setName('')
    setEmail('')
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate(
      { body: { name, email, role } },
      { onSuccess: () => void queries.invalidateQueries({ queryKey: ['list-users'] }) },
    )
  }
  const made = invite.data
  const link =
    made === undefined
      ? ''
      : `${window.location.origin}${pagePaths.invitation}#${encodeURIComponent(made.invitation)}`
  const wrong = (field: string) => invite.error?.fieldError(`/${field}`)
  const isOfAField = ['name', 'email', 'role'].some((field) => wrong(field) !== undefined)
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={made === undefined ? 'Invite a person' : `Invitation for ${made.user.name}`}
      closeOnClickOutside={made === undefined}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {made === undefined ? (
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
              label="E-mail"
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
            {invite.error !== null && !isOfAField && <Failed error={invite.error} title="Not invited" />}
            <Button type="submit" loading={invite.isPending}>
              Make the invitation
            </Button>
          </Stack>
        </form>
      ) : (
        <Stack>
          <Alert color="yellow" variant="outline" title="Shown this once">
            Lanewise sends no e-mail. Hand this link to {made.user.name} yourself: whoever has it can set the
            password. It works once, for {invitationLifetimeDays} days, until {moment(made.expires_at)}.
          </Alert>
          <Code block style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }}>
            {link}
          </Code>
          <Group justify="space-between">
            <CopyButton text={link} what="the link" />
            <Button variant="default" onClick={close}>
              I have handed it over
            </Button>
          </Group>
          <Text size="xs" c="dimmed">
            Lost it? Invite the same address again: the new invitation replaces this one.
          </Text>
        </Stack>
      )}
    </Modal>
  )
}

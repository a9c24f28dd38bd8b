import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { invitationLifetimeDays, passwordLengthMin } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer, useSignIn } from '../api/index.ts'
import { Failed, moment, useSentForm } from '../shared-ui/index.ts'
import { Doorstep } from './doorstep.tsx'

/** The form of a whole invitation. A shorter text is not sent to the service. */
const wholeInvitation = /^lwinv_\d+_\d+_[\w-]{32}$/

/** An invited person sets a password. The invitation is in the URL fragment, which browsers do not send to servers. */
export default function InvitationPage() {
  const navigate = useNavigate()
  const accept = useSignIn('accept-invitation')
  const { values, input, submit, failed, isPending } = useSentForm(accept, {
    initial: { invitation: decodeURIComponent(window.location.hash.slice(1)), password: '' },
    sent: ({ invitation, password }) => ({ invitation: invitation.trim(), password }),
    onSuccess: () => void navigate({ to: pagePaths.desk }),
  })
  const invitation = values.invitation.trim()
  const found = useAnswer(
    'read-invitation',
    { body: { invitation } },
    { enabled: wholeInvitation.test(invitation), staleMs: Number.POSITIVE_INFINITY },
  )
  const known = found.data
  return (
    <Doorstep title={known === undefined ? 'Accept an invitation' : `Join ${known.brokerage}`}>
      <form onSubmit={submit}>
        <Stack>
          {known === undefined ? (
            <TextInput
              label="Invitation"
              description={`The invitation that you received. It works once, for ${invitationLifetimeDays} days.`}
              required
              {...input('invitation')}
            />
          ) : (
            <InvitationWords invitation={known} />
          )}
          {found.error !== null && accept.error === null && (
            <Failed
              error={found.error}
              title="The invitation could not be read"
              {...(found.error.isTemporary ? { retry: () => void found.refetch() } : {})}
            />
          )}
          <PasswordInput
            label="Choose a password"
            description={`At least ${passwordLengthMin} characters, for example four or five words`}
            autoComplete="new-password"
            required
            {...input('password')}
          />
          {failed && <Failed error={failed} title="The invitation was not accepted" />}
          <Button type="submit" loading={isPending}>
            Join
          </Button>
        </Stack>
      </form>
    </Doorstep>
  )
}

/** Who invites whom to which brokerage, and the address to sign in with. */
function InvitationWords({ invitation }: { invitation: Answer<'read-invitation'> }) {
  const { brokerage, invited_by, name, email, role, expires_at } = invitation
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">
        Hello {name}. {invited_by ?? 'An admin'} invites you to the brokerage <strong>{brokerage}</strong>.
        Your role is {role}.
      </Text>
      <Text size="sm" mt="xs">
        You sign in with <strong>{email}</strong>.
      </Text>
      <Text size="xs" c="dimmed" mt="xs">
        The invitation works once, until {moment(expires_at)}. If you do not know who sent it, do not accept
        it.
      </Text>
    </div>
  )
}

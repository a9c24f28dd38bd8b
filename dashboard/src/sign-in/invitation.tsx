import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { passwordLengthMin } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { useSignIn } from '../api/index.ts'
import { Failed } from '../shared-ui/index.ts'
import { Doorstep } from './doorstep.tsx'

/** An invited person sets a password. The invitation is in the URL fragment, which browsers do not send to servers. */
export default function InvitationPage() {
  const [invitation, setInvitation] = useState(() => decodeURIComponent(window.location.hash.slice(1)))
  const [password, setPassword] = useState('')
  const navigate = useNavigate()
  const accept = useSignIn('accept-invitation')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    accept.mutate(
      { invitation: invitation.trim(), password },
      {
        onSuccess: () => {
          void navigate({ to: pagePaths.desk })
        },
      },
    )
  }
  const wrongPassword = accept.error?.fieldError('/password')
  return (
    <Doorstep title="Accept an invitation">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Invitation"
            description="The invitation that you received. It works once, for 7 days."
            value={invitation}
            onChange={(event) => setInvitation(event.currentTarget.value)}
            required
          />
          <PasswordInput
            label="Choose a password"
            description={`At least ${passwordLengthMin} characters, for example four or five words`}
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={wrongPassword}
            required
          />
          {accept.error !== null && wrongPassword === undefined && (
            <Failed error={accept.error} title="The invitation was not accepted" />
          )}
          <Button type="submit" loading={accept.isPending}>
            Join
          </Button>
        </Stack>
      </form>
    </Doorstep>
  )
}

import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { passwordLengthMin } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { timeZoneNamed } from '#contract/time-zone.ts'
import { useSignIn } from '../api/index.ts'
import { Failed, focusFirst, useSentForm, viewerZone } from '../shared-ui/index.ts'
import { Doorstep } from './doorstep.tsx'

const fields = [
  { name: 'company', label: 'Brokerage name', autoComplete: 'organization', type: 'text' },
  { name: 'name', label: 'Your name', autoComplete: 'name', type: 'text' },
  { name: 'email', label: 'Your email', autoComplete: 'username', type: 'email' },
] as const

export default function SignUpPage() {
  const navigate = useNavigate()
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => focusFirst(first.current), [])
  const { input, submit, failed, isPending } = useSentForm(useSignIn('sign-up'), {
    initial: { company: '', name: '', email: '', password: '' },
    sent: (entered) => {
      const zone = timeZoneNamed(viewerZone())
      return { ...entered, ...(zone === null ? {} : { time_zone: zone }) }
    },
    onSuccess: () => void navigate({ to: pagePaths.start }),
  })
  return (
    <Doorstep
      title="Create a brokerage"
      other={
        <>
          Already have one?{' '}
          <Anchor component={Link} to={pagePaths.signIn}>
            Sign in
          </Anchor>
        </>
      }
    >
      <form onSubmit={submit}>
        <Stack>
          {fields.map(({ name, ...field }, at) => (
            <TextInput key={name} ref={at === 0 ? first : null} required {...field} {...input(name)} />
          ))}
          <PasswordInput
            label="Password"
            description={`At least ${passwordLengthMin} characters, for example four or five words`}
            autoComplete="new-password"
            required
            {...input('password')}
          />
          {failed && <Failed error={failed} title="Brokerage not created" />}
          <Button type="submit" loading={isPending}>
            Create brokerage
          </Button>
        </Stack>
      </form>
    </Doorstep>
  )
}

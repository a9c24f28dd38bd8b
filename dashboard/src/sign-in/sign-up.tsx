import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { passwordLengthMin } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { timeZoneNamed } from '#contract/time-zone.ts'
import { useSignIn } from '../api/index.ts'
import { useSentForm, viewerZone } from '../shared-ui/index.ts'
import { Doorstep } from './doorstep.tsx'

const fields = [
  { name: 'company', label: 'Brokerage name', autoComplete: 'organization', type: 'text' },
  { name: 'name', label: 'Your name', autoComplete: 'name', type: 'text' },
  { name: 'email', label: 'Your email', autoComplete: 'username', type: 'email' },
] as const

export default function SignUpPage() {
  const navigate = useNavigate()
  const { submit, input, pending, failure } = useSentForm(useSignIn('sign-up'), {
    fields: { company: '', name: '', email: '', password: '' },
    send: (entered) => {
      const zone = timeZoneNamed(viewerZone())
      return { ...entered, ...(zone === null ? {} : { time_zone: zone }) }
    },
    done: () => void navigate({ to: pagePaths.start }),
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
          {fields.map(({ name, label, autoComplete, type }) => (
            <TextInput
              key={name}
              label={label}
              type={type}
              autoComplete={autoComplete}
              required
              {...input(name)}
            />
          ))}
          <PasswordInput
            label="Password"
            description={`At least ${passwordLengthMin} characters, for example four or five words`}
            autoComplete="new-password"
            required
            {...input('password')}
          />
          {failure('Brokerage not created')}
          <Button type="submit" loading={pending}>
            Create brokerage
          </Button>
        </Stack>
      </form>
    </Doorstep>
  )
}

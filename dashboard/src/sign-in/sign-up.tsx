import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { passwordLengthMin } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { timeZoneNamed } from '#contract/time-zone.ts'
import { useSignIn } from '../api/index.ts'
import { Failed, viewerZone } from '../shared-ui/index.ts'
import { Doorstep } from './doorstep.tsx'

const fields = [
  { name: 'company', label: 'Brokerage name', autoComplete: 'organization', type: 'text' },
  { name: 'name', label: 'Your name', autoComplete: 'name', type: 'text' },
  { name: 'email', label: 'Your email', autoComplete: 'username', type: 'email' },
] as const

export default function SignUpPage() {
  const [entered, setEntered] = useState({ company: '', name: '', email: '', password: '' })
  const navigate = useNavigate()
  const signUp = useSignIn('sign-up')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const zone = timeZoneNamed(viewerZone())
    signUp.mutate(
      { ...entered, ...(zone === null ? {} : { time_zone: zone }) },
      {
        onSuccess: () => {
          void navigate({ to: pagePaths.start })
        },
      },
    )
  }
  const change = (name: keyof typeof entered, value: string) =>
    setEntered((all) => ({ ...all, [name]: value }))
  const wrong = (name: string) => signUp.error?.fieldError(`/${name}`)
  const isOfAField = Object.keys(entered).some((name) => wrong(name) !== undefined)
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
              value={entered[name]}
              onChange={(event) => change(name, event.currentTarget.value)}
              error={wrong(name)}
              required
            />
          ))}
          <PasswordInput
            label="Password"
            description={`At least ${passwordLengthMin} characters, for example four or five words`}
            autoComplete="new-password"
            value={entered.password}
            onChange={(event) => change('password', event.currentTarget.value)}
            error={wrong('password')}
            required
          />
          {signUp.error !== null && !isOfAField && (
            <Failed error={signUp.error} title="Brokerage not created" />
          )}
          <Button type="submit" loading={signUp.isPending}>
            Create brokerage
          </Button>
        </Stack>
      </form>
    </Doorstep>
  )
}

import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { useSignIn } from '../api/index.ts'
import { Failed, useSentForm } from '../shared-ui/index.ts'
import { Doorstep } from './doorstep.tsx'

/** The path to open after sign-in. Rejects other sites, because anyone can craft the link to this page. */
function pathAfter(next: string | undefined): string {
  return next?.startsWith('/') === true && !/^\/[/\\]/.test(next) ? next : pagePaths.desk
}

export default function SignInPage() {
  const { next } = useSearch({ strict: false })
  const navigate = useNavigate()
  const { input, submit, failed, isPending } = useSentForm(useSignIn('sign-in'), {
    initial: { email: '', password: '' },
    sent: (body) => body,
    onSuccess: () => void navigate({ href: pathAfter(next) }),
  })
  return (
    <Doorstep
      title="Sign in"
      other={
        <>
          New here?{' '}
          <Anchor component={Link} to={pagePaths.signUp}>
            Create a brokerage
          </Anchor>
        </>
      }
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput label="Email" type="email" autoComplete="username" required {...input('email')} />
          <PasswordInput label="Password" autoComplete="current-password" required {...input('password')} />
          {failed && <Failed error={failed} title="Not signed in" />}
          <Button type="submit" loading={isPending}>
            Sign in
          </Button>
          <Text size="xs" c="dimmed">
            Forgot your password? The operator of this service can set a new one.
          </Text>
        </Stack>
      </form>
    </Doorstep>
  )
}

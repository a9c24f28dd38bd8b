import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type CallFailed, passkeysWork, usePasskeyAtSignIn, useSignIn } from '../api/index.ts'
import { CodeInput, Failed } from '../shared-ui/index.ts'
import { CompanyChoice, pathAfter } from './company.tsx'
import { Doorstep } from './doorstep.tsx'

interface Brokerage {
  readonly id: number
  readonly name: string
}

/** The brokerages of a failed sign-in that has to choose one. */
function brokeragesOf(failed: CallFailed): readonly Brokerage[] {
  const named = failed.problem as { brokerages?: readonly Brokerage[] } | null
  return named?.brokerages ?? []
}

/** Failures that the form answers by asking for more. */
const asked: ReadonlySet<string | undefined> = new Set(['second-factor-required', 'brokerage-required'])

/** Signs in with the password and a second factor, or with a passkey alone. */
function useSigningIn({ email, password, code }: { email: string; password: string; code: string }) {
  const { next } = useSearch({ strict: false })
  const [asksCode, setAsksCode] = useState(false)
  // The choice is one of an address and a password: it is forgotten when either changes.
  const typed = JSON.stringify([email, password])
  const [choice, setChoice] = useState<{ of: string; from: readonly Brokerage[]; id?: number }>()
  const chosen = choice?.of === typed ? choice : undefined
  const navigate = useNavigate()
  const signIn = useSignIn('sign-in')
  const passkey = usePasskeyAtSignIn()
  const alone = useSignIn('passkey-sign-in')
  const onSuccess = () => {
    void navigate({ href: pathAfter(next) })
  }
  const onError = (failed: CallFailed) => {
    if (failed.code === 'second-factor-required') setAsksCode(true)
    if (failed.code === 'brokerage-required') setChoice({ of: typed, from: brokeragesOf(failed) })
  }
  const inBrokerage = (id = chosen?.id) => (id === undefined ? {} : { brokerage_id: id })
  const forget = () => {
    for (const tried of [signIn, passkey, alone]) tried.reset()
  }
  const byPassword = (id?: number) => {
    forget()
    const given = asksCode && code !== '' ? { code } : {}
    signIn.mutate({ email, password, ...inBrokerage(id), ...given }, { onError, onSuccess })
  }
  const choose = (id: number) => {
    if (chosen !== undefined) setChoice({ ...chosen, id })
    byPassword(id)
  }
  // After the password, a passkey is the second factor. Before it, a passkey signs in alone.
  const byPasskey = () => {
    forget()
    passkey.mutate(asksCode ? { email, password, ...inBrokerage() } : {}, {
      onSuccess: (given) =>
        asksCode
          ? signIn.mutate({ email, password, ...inBrokerage(), passkey: given }, { onError, onSuccess })
          : alone.mutate({ passkey: given }, { onSuccess }),
    })
  }
  const failure = passkey.error ?? alone.error ?? signIn.error
  return {
    ...{ asksCode, byPassword, byPasskey, choose },
    brokerages: chosen?.id === undefined ? (chosen?.from ?? []) : [],
    failure: asked.has(failure?.code) ? null : failure,
    isPasswordPending: signIn.isPending,
    isPasskeyPending: passkey.isPending || alone.isPending,
  }
}

export default function SignInPage() {
  const { next } = useSearch({ strict: false })
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const { asksCode, byPassword, byPasskey, choose, brokerages, failure, ...pending } = useSigningIn({
    email,
    password,
    code,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    byPassword()
  }
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
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            required
          />
          <CompanyChoice email={email} next={next} />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            required
          />
          {brokerages.length > 0 && <BrokerageChoice brokerages={brokerages} choose={choose} />}
          {asksCode && <CodeInput value={code} onChange={(event) => setCode(event.currentTarget.value)} />}
          {failure !== null && <Failed error={failure} title="Not signed in" />}
          {brokerages.length === 0 && (
            <Button type="submit" loading={pending.isPasswordPending}>
              Sign in
            </Button>
          )}
          {passkeysWork && (
            <Button variant="default" loading={pending.isPasskeyPending} onClick={byPasskey}>
              {asksCode ? 'Use a passkey' : 'Use a passkey instead'}
            </Button>
          )}
          <Text size="xs" c="dimmed">
            Forgot your password? The operator of this service can set a new one.
          </Text>
        </Stack>
      </form>
    </Doorstep>
  )
}

/** A button for each brokerage that the address and the password fit. */
function BrokerageChoice({
  brokerages,
  choose,
}: {
  brokerages: readonly Brokerage[]
  choose: (id: number) => void
}) {
  return (
    <Stack gap="xs" role="group" aria-labelledby="brokerage-choice">
      <Text size="sm" id="brokerage-choice" role="status">
        You sign in to several brokerages. Choose one.
      </Text>
      {brokerages.map(({ id, name }) => (
        <Button key={id} variant="light" onClick={() => choose(id)} style={{ height: 'auto' }}>
          <span style={{ whiteSpace: 'normal', overflowWrap: 'anywhere', padding: '0.4em 0' }}>{name}</span>
        </Button>
      ))}
    </Stack>
  )
}

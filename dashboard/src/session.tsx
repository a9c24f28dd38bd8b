import { Button, Modal, PasswordInput, Stack, Text } from '@mantine/core'
import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import type { Role } from '#contract/endpoint.ts'
import { useChange } from './answers.ts'
import { type Answer, type CallFailed, call, forgetSession, whenSessionEnds } from './call.ts'
import { Failed } from './parts/states.tsx'

/** Who is signed in, and where. Kept for the whole visit; a change of role is in force with the next request anyway. */
export const sessionQuery = queryOptions<Answer<'me'>, CallFailed>({
  queryKey: ['me', {}],
  queryFn: ({ signal }) => call('me', { signal }),
  staleTime: 60_000,
})

/** The signed-in person and their brokerage. Only below the pages that need a session. */
export function useSession(): Answer<'me'> {
  const { data } = useQuery(sessionQuery)
  if (data === undefined) throw new Error('Nobody is signed in.')
  return data
}

const strength: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Whether the signed-in person may do what a role may. The service decides; this only leaves out what it would refuse. */
export function useMay(needed: Role): boolean {
  return strength[useSession().user.role] >= strength[needed]
}

/** After a sign-in or sign-up: the session is known without another question, and nothing of a former one is left. */
export function begin(
  queries: QueryClient,
  session: Pick<Answer<'sign-in'>, 'user' | 'tenant' | 'expires_at'>,
): void {
  forgetSession()
  queries.clear()
  const { user, tenant, expires_at } = session
  queries.setQueryData(sessionQuery.queryKey, { user, tenant, expires_at })
}

/**
 * Asks for the password again where the page stands, when the session has ended under it: what was typed stays. Someone
 * who was removed finds a way out.
 */
export function SessionKeeper({ children }: { children: ReactNode }) {
  const { user } = useSession()
  const [ended, setEnded] = useState(false)
  const [password, setPassword] = useState('')
  const queries = useQueryClient()
  const signIn = useChange('sign-in')
  useEffect(() => {
    whenSessionEnds(() => setEnded(true))
    return () => whenSessionEnds(() => {})
  }, [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate(
      { body: { email: user.email, password } },
      {
        onSuccess: (session) => {
          setPassword('')
          forgetSession()
          const { user: again, tenant, expires_at } = session
          queries.setQueryData(sessionQuery.queryKey, { user: again, tenant, expires_at })
          setEnded(false)
          void queries.invalidateQueries()
        },
      },
    )
  }
  return (
    <>
      {children}
      <Modal
        opened={ended}
        onClose={() => {}}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title="Your session has ended"
      >
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm">Sign in again to go on where you are. Nothing you have entered is lost.</Text>
            <Text size="sm">
              Signing in as <strong>{user.email}</strong>
            </Text>
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              data-autofocus
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              required
            />
            {signIn.error !== null && <Failed error={signIn.error} title="Not signed in" />}
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
            <Button component="a" href="/sign-in" variant="subtle">
              Sign in as someone else
            </Button>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

import { Button, getDefaultZIndex, Modal, PasswordInput, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import {
  beginSession,
  forgetSession,
  sessionQuery,
  useChange,
  useSession,
  whenSessionEnds,
} from '../api/index.ts'
import { Failed, useSentForm } from '../shared-ui/index.ts'

/**
 * Asks for the password in a dialog when the session ends while a page is open, so that typed text is not lost. A person
 * who was removed from the brokerage can sign in as someone else.
 */
export function SessionKeeper({ children }: { children: ReactNode }) {
  const before = useSession()
  const { user } = before
  const [ended, setEnded] = useState(false)
  const queries = useQueryClient()
  const { error } = useQuery(sessionQuery)
  useEffect(() => {
    // The saved session may have been ended elsewhere.
    if (error?.status === 401) setEnded(true)
  }, [error])
  useEffect(() => {
    whenSessionEnds(() => setEnded(true))
    return () => whenSessionEnds(() => {})
  }, [])
  const { input, submit, failed, isPending } = useSentForm(useChange('sign-in'), {
    initial: { password: '' },
    sent: ({ password }) => ({ body: { email: user.email, password } }),
    clears: ['password'],
    onSuccess: ({ user: signedIn, tenant, expires_at }) => {
      forgetSession()
      // The e-mail address signs in to the real brokerage, even from the test brokerage, whose data must not remain. A request
      // of the ended session may still be on its way: its 401 would open this dialog again.
      void queries.cancelQueries()
      const now = { ...before, user: signedIn, tenant, expires_at }
      if (tenant.id === before.tenant.id) queries.setQueryData(sessionQuery.queryKey, now)
      else beginSession(queries, { ...now, expiring_tokens: [] })
      setEnded(false)
      void queries.invalidateQueries()
    },
  })
  return (
    <>
      {children}
      <Modal
        opened={ended}
        // The session can end while a dialog of the page is open. This dialog must cover it.
        zIndex={getDefaultZIndex('overlay')}
        onClose={() => {}}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title="Your session has ended"
      >
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm">Sign in again to continue. Nothing you entered is lost.</Text>
            <Text size="sm">
              Signing in as <strong>{user.email}</strong>
            </Text>
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              data-autofocus
              required
              {...input('password')}
            />
            {failed && <Failed error={failed} title="Not signed in" />}
            <Button type="submit" loading={isPending}>
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

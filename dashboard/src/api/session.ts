import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Role, roleAtLeast } from '#contract/roles.ts'
import { type Answer, type Body, CallFailed, call, forgetSession } from './call.ts'

/** The signed-in person and their brokerage. The service checks the role on every request, so a stale role is safe. */
export const sessionQuery = queryOptions<Answer<'me'>, CallFailed>({
  queryKey: ['me', {}],
  queryFn: ({ signal }) => call('me', { signal }),
  staleTime: 60_000,
})

/** The signed-in person and their brokerage. @throws outside of the pages that need a session */
export function useSession(): Answer<'me'> {
  const { data } = useQuery(sessionQuery)
  if (data === undefined) throw new Error('There is no session.')
  return data
}

/**
 * True when the signed-in person has at least the needed role. The service enforces roles; pages use this only to hide
 * actions that the service would refuse.
 */
export function useMay(needed: Role): boolean {
  return roleAtLeast(useSession().user.role, needed)
}

/**
 * Signs in, signs up, accepts an invitation or enters the test brokerage, then checks that the browser kept the session cookie. Over plain HTTP from
 * another machine, browsers drop the cookie, and every page would redirect to sign-in without an explanation.
 */
export function useSignIn<Name extends 'sign-in' | 'sign-up' | 'accept-invitation' | 'enter-sandbox'>(
  name: Name,
) {
  const queries = useQueryClient()
  return useMutation<Answer<'me'>, CallFailed, Body<Name>>({
    mutationFn: async (body) => {
      await call(name, { body } as never)
      forgetSession()
      try {
        return await call('me')
      } catch (error) {
        throw error instanceof CallFailed && error.status === 401 ? notKept() : error
      }
    },
    onSuccess: (session) => {
      // Removes all data of an earlier session.
      queries.clear()
      queries.setQueryData(sessionQuery.queryKey, session)
    },
  })
}

function notKept(): CallFailed {
  return new CallFailed(
    'session-not-kept',
    'The password was correct, but your browser did not keep the session. Over plain HTTP, sessions work only on the machine that runs Lanewise. Use HTTPS, or allow cookies for this site.',
  )
}

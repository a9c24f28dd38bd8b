import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Role, roleAtLeast } from '#contract/roles.ts'
import { type Answer, type Body, CallFailed, call, forgetSession } from './call.ts'

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

/**
 * True when the signed-in person has at least the needed role. The service enforces roles; pages use this only to hide
 * actions that the service would refuse.
 */
export function useMay(needed: Role): boolean {
  return roleAtLeast(useSession().user.role, needed)
}

/**
 * A way through the door: the call, and a look whether the browser has kept the session that it made. Over plain HTTP
 * from another machine it does not, and every page would send back to the door without a word.
 */
export function useArrival<Name extends 'sign-in' | 'sign-up' | 'accept-invitation'>(name: Name) {
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
      // Nothing of a former session is left.
      queries.clear()
      queries.setQueryData(sessionQuery.queryKey, session)
    },
  })
}

function notKept(): CallFailed {
  return new CallFailed(
    'session-not-kept',
    'The password was right, but your browser did not keep the session. Over plain HTTP it does so only on the machine that runs Lanewise: use HTTPS, or allow cookies for this site.',
  )
}

import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Role, roleAtLeast } from '#contract/roles.ts'
import { type Answer, type Body, CallFailed, call, forgetSession } from './call.ts'

const storedUnder = 'lanewise-session'

interface StoredSession {
  /** The URL of this file, with a digest. A session that another build saved is not used, because its fields may differ. */
  readonly build: string
  readonly session: Answer<'me'>
}

/** The session that this browser saved, until it expires. It lets a page draw its frame before the service answers. */
function storedSession(): Answer<'me'> | undefined {
  try {
    const stored: StoredSession | null = JSON.parse(localStorage.getItem(storedUnder) ?? 'null')
    const isUsable = stored?.build === import.meta.url && Date.parse(stored.session.expires_at) > Date.now()
    return isUsable ? stored.session : undefined
  } catch {
    // The browser forbids storage, or the text is not from the dashboard.
    return undefined
  }
}

/** The signed-in person and their brokerage. The service checks the role on every request, so a stale role is safe. */
export const sessionQuery = queryOptions<Answer<'me'>, CallFailed>({
  queryKey: ['me', {}],
  queryFn: ({ signal }) => call('me', { signal }),
  staleTime: 60_000,
  initialData: storedSession,
  // The saved session is stale from the start, so that the service is always asked.
  initialDataUpdatedAt: 0,
})

/** Saves each answer about the session in this browser, and removes it at sign-out. The session itself is in a cookie. */
export function storeSession(queries: QueryClient): void {
  queries.getQueryCache().subscribe(({ type, query }) => {
    if (query.queryKey[0] !== sessionQuery.queryKey[0]) return
    try {
      if (type === 'removed') localStorage.removeItem(storedUnder)
      else if (type === 'updated' && query.state.status === 'success' && query.state.dataUpdatedAt > 0) {
        const stored: StoredSession = { build: import.meta.url, session: query.state.data }
        localStorage.setItem(storedUnder, JSON.stringify(stored))
      }
    } catch {
      // Without storage, each visit waits for the service.
    }
  })
}

/** The signed-in person and their brokerage. @throws outside of the pages that need a session */
export function useSession(): Answer<'me'> {
  const { data } = useQuery(sessionQuery)
  if (data === undefined) throw new Error('There is no session.')
  return data
}

/**
 * Whether the service has confirmed the session. Until then the page has the session that the browser saved, whose settings may be
 * old. `failure` says why the service did not answer; `again` asks it again.
 */
export function useSessionCheck(): {
  readonly isCurrent: boolean
  readonly failure: CallFailed | null
  readonly again: () => void
} {
  const { dataUpdatedAt, error, refetch } = useQuery(sessionQuery)
  return { isCurrent: dataUpdatedAt > 0, failure: error, again: () => void refetch() }
}

/**
 * True when the signed-in person has at least the needed role. The service enforces roles; pages use this only to hide
 * actions that the service would refuse.
 */
export function useMay(needed: Role): boolean {
  return roleAtLeast(useSession().user.role, needed)
}

/**
 * Signs in, signs up, accepts an invitation or enters the test brokerage, then checks that the browser saved the session cookie.
 * Over plain HTTP from another machine, browsers drop the cookie, and every page would redirect to sign-in without an
 * explanation.
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
      beginSession(queries, session)
    },
  })
}

/** Starts a session, and removes the cached data of the earlier session. */
export function beginSession(queries: QueryClient, session: Answer<'me'>): void {
  // The session is replaced, not removed, so that the frame of the page shows the new one.
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] })
  queries.setQueryData(sessionQuery.queryKey, session)
}

function notKept(): CallFailed {
  return new CallFailed(
    'session-not-kept',
    'The password was correct, but your browser did not save the session. Over plain HTTP, sessions work only on the machine that runs Lanewise. Use HTTPS, or allow cookies for this site.',
  )
}

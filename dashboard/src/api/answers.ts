import {
  keepPreviousData,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
} from '@tanstack/react-query'
import { type Answer, type CallFailed, call, type OperationName, type Sent } from './call.ts'

type Arguments<Name extends OperationName> = Omit<Sent<Name>, 'signal'>

/**
 * The answer of a read operation, cached by operation and arguments.
 *
 * @param options.keeps keeps the previous answer on screen until the next one arrives, which avoids layout shifts
 * @param options.everyMs polls at this interval while the page is visible; a function computes it from the last answer
 * @param options.comesBack after a temporary failure, asks again until the service answers
 * @example const lanes = useAnswer('list-quotes', { query: { outcome: 'pending' } })
 */
export function useAnswer<Name extends OperationName>(
  name: Name,
  asked: Arguments<Name>,
  options: {
    enabled?: boolean
    keeps?: boolean
    comesBack?: boolean
    everyMs?: number | false | ((answer: Answer<Name> | undefined) => number | false)
    staleMs?: number
  } = {},
): UseQueryResult<Answer<Name>, CallFailed> {
  const { everyMs } = options
  return useQuery<Answer<Name>, CallFailed>({
    queryKey: [name, asked],
    queryFn: ({ signal }) => call(name, { ...asked, signal } as unknown as Sent<Name>),
    enabled: options.enabled ?? true,
    ...(options.keeps === true ? { placeholderData: keepPreviousData } : {}),
    ...(everyMs === undefined
      ? {}
      : {
          refetchInterval: (query) => (typeof everyMs === 'function' ? everyMs(query.state.data) : everyMs),
        }),
    ...(options.comesBack === true
      ? { refetchInterval: ({ state }) => (state.status === 'error' ? askAgainMs(state.error) : false) }
      : {}),
    ...(options.staleMs === undefined ? {} : { staleTime: options.staleMs }),
  })
}

const askAgainUsuallyMs = 4_000

/** The wait before asking again after a failure; false when the same call would fail again. */
function askAgainMs(error: CallFailed | null): number | false {
  if (error === null || !error.isTemporary) return false
  return Math.max(askAgainUsuallyMs, (error.retryAfterSeconds ?? 0) * 1000)
}

/**
 * A call that changes data. The caller invalidates the affected queries (`queries.invalidateQueries`).
 *
 * @example const invite = useChange('invite-user'); invite.mutate({ body: { name, email, role: 'member' } })
 */
export function useChange<Name extends OperationName>(
  name: Name,
): UseMutationResult<Answer<Name>, CallFailed, Arguments<Name>> {
  return useMutation<Answer<Name>, CallFailed, Arguments<Name>>({
    mutationFn: (asked) => call(name, asked as unknown as Sent<Name>),
  })
}

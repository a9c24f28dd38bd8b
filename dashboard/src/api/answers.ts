import {
  keepPreviousData,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
} from '@tanstack/react-query'
import { type Answer, type CallFailed, call, type OperationName, type Sent } from './call.ts'

type Asked<Name extends OperationName> = Omit<Sent<Name>, 'signal'>

/**
 * The answer of a read, kept and shared by its name and what was asked.
 *
 * @param options.keeps the answer before stays on screen while the next is on its way: no layout shift
 * @param options.everyMs asks again after this time, as long as the page is looked at; a function says so of each answer
 * @example const lanes = useAnswer('list-lanes', { query: { outcome: 'pending' } })
 */
export function useAnswer<Name extends OperationName>(
  name: Name,
  asked: Asked<Name>,
  options: {
    enabled?: boolean
    keeps?: boolean
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
    ...(options.staleMs === undefined ? {} : { staleTime: options.staleMs }),
  })
}

/**
 * A call that changes something. What changed is asked for anew by whoever calls it (`queries.invalidateQueries`).
 *
 * @example const outcome = useChange('set-outcome'); outcome.mutate({ params: { lane_ref }, body: { outcome: 'won' } })
 */
export function useChange<Name extends OperationName>(
  name: Name,
): UseMutationResult<Answer<Name>, CallFailed, Asked<Name>> {
  return useMutation<Answer<Name>, CallFailed, Asked<Name>>({
    mutationFn: (asked) => call(name, asked as unknown as Sent<Name>),
  })
}

import type { Query, QueryClient } from '@tanstack/react-query'
import type { Quote } from '#contract/quote.ts'
import type { Answer } from './call.ts'

/** Operations whose answers contain `lanes`. */
const listsOfQuotes = ['list-quotes', 'list-shipments', 'get-quote-request'] as const

const answersWithQuotes: readonly unknown[] = [...listsOfQuotes, 'get-quote']
const hasQuotes = ({ queryKey: [name] }: Query) => answersWithQuotes.includes(name)

/** Stops what loads quotes that are already shown. Its answer may be from before the change, and would overwrite it on screen. */
export function stopReloadingQuotes(queries: QueryClient): Promise<void> {
  return queries.cancelQueries({ predicate: (query) => hasQuotes(query) && query.state.data !== undefined })
}

/**
 * Updates a quote in all cached answers without a new request. Lists keep their order and length, so that the row that
 * the user works on stays in place.
 */
export function showQuote(queries: QueryClient, quote: Quote): void {
  for (const name of listsOfQuotes) {
    queries.setQueriesData<{ lanes: readonly Quote[] }>({ queryKey: [name] }, (answer) =>
      answer?.lanes.some(({ lane_ref }) => lane_ref === quote.lane_ref)
        ? { ...answer, lanes: answer.lanes.map((one) => (one.lane_ref === quote.lane_ref ? quote : one)) }
        : answer,
    )
  }
  queries.setQueriesData<Answer<'get-quote'>>({ queryKey: ['get-quote'] }, (answer) =>
    answer?.lane_ref === quote.lane_ref ? quote : answer,
  )
}

/**
 * Marks all answers as stale after quotes changed. Reloads the history of these quotes at once, and the lists and quotes that
 * were being loaded: the service may have read them before the change. The rest loads again on next use.
 */
export async function quotesHaveChanged(queries: QueryClient, laneRefs: readonly string[]): Promise<void> {
  await queries.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== 'me' && queryKey[0] !== 'list-changes',
    refetchType: 'none',
  })
  const loading = queries.getQueryCache().findAll({ fetchStatus: 'fetching', predicate: hasQuotes })
  const wasLoading = { predicate: (query: Query) => loading.includes(query) }
  await queries.cancelQueries(wasLoading)
  await Promise.all([
    queries.refetchQueries({ ...wasLoading, type: 'active' }),
    ...laneRefs.map((lane_ref) =>
      queries.invalidateQueries({ queryKey: ['list-changes', { params: { lane_ref } }] }),
    ),
  ])
}

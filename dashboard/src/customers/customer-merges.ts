import { useQueryClient } from '@tanstack/react-query'
import { useChange } from '../api/index.ts'
import { useNotice } from '../shared-ui/index.ts'

/** Merging and unmerging customers. Each says what happened in a notice, and a merge can be undone there. */
export function useMerges() {
  const merge = useChange('merge-customers')
  const unmerge = useChange('unmerge-customer')
  const queries = useQueryClient()
  const notify = useNotice()
  // As a promise: the callbacks of `mutate` are not called once the page of the merged customer is left.
  const takeBack = (name: string, onDone: () => void = () => {}) =>
    void unmerge.mutateAsync({ query: { name } }).then(
      (restored) => {
        notify(`${restored.name} is a customer of its own again.`)
        void queries.invalidateQueries()
        onDone()
      },
      (error: Error) => notify(`Not undone: ${error.message}`, { failed: true }),
    )
  const mergeInto = (
    from: string,
    into: string,
    { onDone, onUndone }: { onDone?: (into: string) => void; onUndone?: () => void } = {},
  ) =>
    merge.mutate(
      { body: { from, into } },
      {
        onSuccess: (after) => {
          notify(`${from} is merged into ${after.name}.`, {
            action: { label: 'Undo', run: () => takeBack(from, onUndone) },
          })
          void queries.invalidateQueries()
          onDone?.(after.name)
        },
      },
    )
  return { mergeInto, takeBack, error: merge.error, isPending: merge.isPending || unmerge.isPending }
}

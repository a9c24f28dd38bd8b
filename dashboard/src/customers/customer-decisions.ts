import { useQueryClient } from '@tanstack/react-query'
import { type Body, useChange } from '../api/index.ts'
import { useNotice } from '../shared-ui/index.ts'

type Pair = Pick<Body<'decide-customers'>, 'name' | 'other'>

/** Saves or reopens the decision whether two customers are the same. A notice states the decision and offers to undo it. */
export function useDecisions() {
  const { mutateAsync, error, isPending } = useChange('decide-customers')
  const queries = useQueryClient()
  const notify = useNotice()
  // Promises, because `mutate` does not call its callbacks after the user has left the page of the merged customer.
  const reopen = (pair: Pair, onDone: () => void = () => {}) =>
    void mutateAsync({ body: { ...pair, decision: 'open' } }).then(
      () => {
        notify(`${pair.name} and ${pair.other} are undecided again.`)
        void queries.invalidateQueries()
        onDone()
      },
      (failure: Error) => notify(`Not undone: ${failure.message}`, { failed: true }),
    )
  const decide = (pair: Pair, decision: 'same' | 'different') =>
    void mutateAsync({ body: { ...pair, decision } }).then(
      ({ name }) => {
        notify(
          decision === 'same'
            ? `${pair.name} is merged into ${name}.`
            : `${pair.name} and ${pair.other} stay two customers.`,
          { action: { label: 'Undo', run: () => reopen(pair) } },
        )
        void queries.invalidateQueries()
      },
      // The component that asked for the decision shows the failure.
      () => {},
    )
  return { decide, reopen, error, isPending }
}

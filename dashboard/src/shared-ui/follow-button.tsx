import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { useNotice } from './notices.tsx'

type Watch = Answer<'list-watches'>['watches'][number]

/** What can be followed. */
type Followed =
  | { readonly kind: 'customer'; readonly customer_name: string }
  | {
      readonly kind: 'lane' | 'market'
      readonly origin: string
      readonly destination: string
      readonly equipment?: string
    }

function isOf({ kind, label }: Watch, followed: Followed): boolean {
  if (kind !== followed.kind) return false
  if (followed.kind === 'customer') return label === followed.customer_name
  const of = followed.equipment === undefined ? '' : `, ${followed.equipment}`
  const names = `${followed.origin} to ${followed.destination}${of}`
  return label === (kind === 'market' ? `Market of ${names}` : names)
}

/** Follows a lane, a customer or a market, or stops following it. */
export function FollowButton({ followed, what }: { followed: Followed; what: string }) {
  const { data } = useAnswer('list-watches', {})
  const follow = useChange('follow')
  const stop = useChange('stop-following')
  const queries = useQueryClient()
  const notify = useNotice()
  const own = data?.watches.find((watch) => isOf(watch, followed))
  const done = (words: string) => ({
    onSuccess: () => {
      notify(words)
      void queries.invalidateQueries({ queryKey: ['list-watches'] })
    },
    onError: (error: Error) => notify(error.message),
  })
  const change = () =>
    own === undefined
      ? follow.mutate(
          { body: followed },
          done(`You follow ${what}. You are told in the inbox when it moves.`),
        )
      : stop.mutate({ params: { id: own.id } }, done(`You no longer follow ${what}.`))
  return (
    <Button
      variant="default"
      size="sm"
      aria-pressed={own !== undefined}
      disabled={data === undefined}
      loading={follow.isPending || stop.isPending}
      onClick={change}
    >
      {own === undefined ? `Follow ${what}` : `Following ${what}`}
    </Button>
  )
}

import { Badge } from '@mantine/core'
import { counted } from '../shared-ui/index.ts'
import { useMyApprovals, useToDecide } from './use-approvals.ts'

/** In the menu, for admins and owners: the requests that wait for them. It asks every few seconds, for all pages. */
export function ToDecideBadge() {
  const count = useToDecide({ polls: true })
  return <CountBadge count={count} label={`${counted(count, 'request')} for approval`} />
}

/** In the menu, for the person who asked: the answers that they have not dismissed. */
export function AnswersBadge() {
  const count = useMyApprovals().mine.filter(({ state }) => state !== 'waiting').length
  return <CountBadge count={count} label={`${counted(count, 'answer')} about an approval`} />
}

function CountBadge({ count, label }: { count: number; label: string }) {
  if (count === 0) return null
  return (
    <Badge size="sm" variant="filled" aria-label={label}>
      {count}
    </Badge>
  )
}

import { Badge } from '@mantine/core'
import { counted } from '../shared-ui/index.ts'
import { useMyApprovals, useToDecide } from './use-approvals.ts'

/** The badge for admins and owners: the number of requests that they can decide. It polls for all pages. */
export function ToDecideBadge() {
  const count = useToDecide({ polls: true })
  return <CountBadge count={count} label={`${counted(count, 'request')} for approval`} />
}

/** The badge for the requester: the number of answers that they have not dismissed. */
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

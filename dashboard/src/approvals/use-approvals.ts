import { useLocalStorage } from '@mantine/hooks'
import { type Answer, useAnswer, useMay, useSession } from '../api/index.ts'

export type Approval = Answer<'list-approvals'>['approvals'][number]

/** The polling interval: with it, a badge is at most five seconds late. */
const everyMs = 4_000

/**
 * Requests for approval that wait, or that were decided within a day, newest first.
 *
 * @param polls asks again every few seconds. Only the frame around all pages polls; the pages read its cached answer
 */
export function useRecentApprovals({ polls = false }: { polls?: boolean } = {}): readonly Approval[] {
  const mayAsk = useMay('member')
  const { data } = useAnswer(
    'list-approvals',
    { query: { recent: 'true' } },
    { enabled: mayAsk, staleMs: everyMs, ...(polls ? { everyMs } : {}) },
  )
  return data?.approvals ?? []
}

/** The number of requests that the signed-in person can decide. Nobody decides their own requests. */
export function useToDecide({ polls = false }: { polls?: boolean } = {}): number {
  const { user } = useSession()
  const isApprover = useMay('admin')
  const recent = useRecentApprovals({ polls })
  if (!isApprover) return 0
  return recent.filter(({ state, requested_by }) => state === 'waiting' && requested_by.user_id !== user.id)
    .length
}

/** The number of saved dismissals: more answers than one person reads in a day. */
const dismissedMax = 200
const keyOf = ({ approval_id, state }: Approval) => `${approval_id} ${state}`

/** The recent requests of the signed-in person, except withdrawn ones and answers that they dismissed in this browser. */
export function useMyApprovals(): {
  readonly mine: readonly Approval[]
  readonly dismiss: (approval: Approval) => void
} {
  const { tenant, user } = useSession()
  const [dismissed, setDismissed] = useLocalStorage<readonly string[]>({
    key: `lanewise-approvals-${tenant.id}-${user.id}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  const recent = useRecentApprovals()
  return {
    mine: recent.filter(
      (one) =>
        one.requested_by.user_id === user.id && one.state !== 'withdrawn' && !dismissed.includes(keyOf(one)),
    ),
    dismiss: (one) => setDismissed([...dismissed.slice(1 - dismissedMax), keyOf(one)]),
  }
}

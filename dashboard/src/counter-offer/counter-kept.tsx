import { Stack, Text } from '@mantine/core'
import type { Lane } from '#contract/lane.ts'
import { pagePaths } from '#contract/pages.ts'
import type { Answer } from '../api/index.ts'
import { DoneButtons, dollars, NewQuote, reasonNames, TextLink } from '../shared-ui/index.ts'

/** What was kept of a counter-offer. */
export type Kept =
  | { readonly kind: 'quoted'; readonly lane: Answer<'requote'> }
  | { readonly kind: 'asked'; readonly approvalId: number; readonly rate: number }
  | { readonly kind: 'lost'; readonly lane: Lane; readonly counterRate: number }

/** Says what was kept, and where it is. */
export function CounterKept({ kept, onClose }: { kept: Kept; onClose: () => void }) {
  return (
    <Stack role="status">
      <KeptWords kept={kept} />
      <DoneButtons newRef={kept.kind === 'quoted' ? kept.lane.lane_ref : null} onClose={onClose} />
    </Stack>
  )
}

function KeptWords({ kept }: { kept: Kept }) {
  if (kept.kind === 'lost') {
    const { outcome_reason } = kept.lane
    return (
      <Text>
        {kept.lane.lane_ref} is lost
        {outcome_reason === null ? '' : ` (${reasonNames[outcome_reason].toLowerCase()})`}, with the
        counter-offer of <b>{dollars(kept.counterRate)}</b> in its history.
      </Text>
    )
  }
  if (kept.kind === 'asked') {
    return (
      <Text>
        Approval {kept.approvalId} is requested for <b>{dollars(kept.rate)}</b>. The quote is made when
        somebody approves it. <TextLink to={pagePaths.approvals}>Approvals</TextLink>
      </Text>
    )
  }
  const { lane } = kept
  return (
    <>
      <Text>
        {lane.outcome === 'won' ? (
          <>
            Accepted: the new quote at <b>{dollars(lane.quoted_rate)}</b> is won.
          </>
        ) : (
          <>
            Countered with <b>{dollars(lane.quoted_rate)}</b>: the new quote is pending.
          </>
        )}{' '}
        The earlier offer keeps the counter-offer in its history and is superseded.
      </Text>
      <NewQuote lane={lane} />
    </>
  )
}

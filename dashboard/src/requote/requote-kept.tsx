import { Stack, Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { DoneButtons, dollarsIn, laneName, NewQuote, reasonNames, TextLink } from '../shared-ui/index.ts'
import type { Kept } from './use-requote.ts'

/** Confirms the saved requote, request for approval, or loss. */
export function RequoteSaved({ kept, onClose }: { kept: Kept; onClose: () => void }) {
  return (
    <Stack role="status">
      <SavedWords kept={kept} />
      <DoneButtons newRef={kept.kind === 'quoted' ? kept.lane.lane_ref : null} onClose={onClose} />
    </Stack>
  )
}

function SavedWords({ kept }: { kept: Kept }) {
  if (kept.kind === 'declined') {
    const { outcome_reason } = kept.lane
    return (
      <Text>
        {kept.lane.lane_ref} is lost
        {outcome_reason === null ? '' : ` (${reasonNames[outcome_reason].toLowerCase()})`}, with the
        counter-offer of <b>{dollarsIn(kept.counterRate, kept.lane.quoted_currency)}</b> in its history.
      </Text>
    )
  }
  if (kept.kind === 'asked') {
    return (
      <Text>
        Approval {kept.approvalId} is requested for <b>{dollarsIn(kept.rate, kept.currency)}</b>. The quote is
        made when somebody approves it. <TextLink to={pagePaths.approvals}>Approvals</TextLink>
      </Text>
    )
  }
  const { lane: quote, isAnswer } = kept
  return (
    <>
      <Text>
        {laneName(quote.origin, quote.destination)} was requoted at{' '}
        <b>{dollarsIn(quote.quoted_rate, quote.quoted_currency)}</b>
        {quote.outcome === 'won' ? ', which the customer named: it is won.' : '.'} The earlier offer is
        superseded: a load is won once, by the last one.
        {isAnswer && ' The counter-offer is in the history of the earlier offer.'}
      </Text>
      <NewQuote quote={quote} />
    </>
  )
}

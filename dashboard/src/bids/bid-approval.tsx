import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { noteLengthMax } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { useChange, useMay } from '../api/index.ts'
import { counted, Heed, TextLink, useSentForm } from '../shared-ui/index.ts'
import type { Bid } from './bid-words.ts'

type Latest = NonNullable<Bid['approval']['latest']>

const stateWords: Readonly<Record<Latest['state'], string>> = {
  waiting: 'waits for a decision.',
  approved: 'was approved.',
  rejected: 'was rejected.',
  countered: 'was countered.',
  accepted: 'was accepted.',
  withdrawn: 'was withdrawn.',
  expired: 'expired without a decision.',
}

/** What the pricing rules demand before the rates of a bid are sent, and the request for it. Nothing if they demand nothing. */
export function BidApproval({ bid }: { bid: Bid }) {
  const { needed, blocked, approved, latest } = bid.approval
  const mayAsk = useMay('member')
  if (needed + blocked + approved === 0) return null
  const isWaiting = latest?.state === 'waiting'
  return (
    <Heed title={titleOf(bid.approval)}>
      <Stack gap="xs">
        {blocked > 0 && (
          <Text size="sm">
            Your rules do not allow {counted(blocked, 'rate')} below the minimum. Raise{' '}
            {blocked === 1 ? 'it' : 'them'}.
          </Text>
        )}
        {needed > 0 && (
          <Text size="sm">
            {counted(needed, 'rate is', 'rates are')} below a minimum that needs an approval.
          </Text>
        )}
        {latest !== null && (
          <Text size="sm">
            <TextLink to={pagePaths.approvals}>Request {latest.approval_id}</TextLink>{' '}
            {stateWords[latest.state]}
            {latest.decision_note !== null && ` ${latest.decision_note}`}
          </Text>
        )}
        {mayAsk && needed > 0 && blocked === 0 && !isWaiting && <Ask bidId={bid.bid_id} needed={needed} />}
      </Stack>
    </Heed>
  )
}

function titleOf({ needed, blocked, approved }: Bid['approval']): string {
  return needed + blocked > 0
    ? 'The file cannot be sent yet'
    : `${counted(approved, 'rate below the minimum is', 'rates below the minimum are')} approved`
}

function Ask({ bidId, needed }: { bidId: number; needed: number }) {
  const queries = useQueryClient()
  const { submit, input, pending, failure } = useSentForm(useChange('ask-bid-approval'), {
    fields: { note: '' },
    send: ({ note }) => ({
      params: { bid_id: bidId },
      body: note.trim() === '' ? {} : { note: note.trim() },
    }),
    settled: () => void queries.invalidateQueries(),
  })
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end">
        <TextInput label="Note (optional)" size="xs" maxLength={noteLengthMax} {...input('note')} />
        <Button type="submit" size="xs" loading={pending}>
          Ask for approval of {counted(needed, 'rate')}
        </Button>
      </Group>
      {failure('Nothing was asked for')}
    </form>
  )
}

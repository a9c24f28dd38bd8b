import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type Answer, type Body, useAnswer, useChange, useSession } from '../api/index.ts'
import { type Approval, useMyApprovals } from '../approvals/index.ts'
import { CustomerText, counted, dollarsIn, emailText, Failed, laneName } from '../shared-ui/index.ts'

/**
 * The signed-in person's requests for approval, with their answers, and after an approval the text for the customer. Screen readers
 * announce a new request and an answer.
 */
export function MyApprovals({ isFormBlank }: { isFormBlank: boolean }) {
  const { mine, dismiss } = useMyApprovals()
  return (
    <Stack gap="xs" role="status" aria-label="Your requests for approval" className="desk-approvals">
      {mine.map((approval) => (
        <MyApproval
          key={approval.approval_id}
          approval={approval}
          isTextOpen={isFormBlank}
          onDone={() => dismiss(approval)}
        />
      ))}
    </Stack>
  )
}

const made = (state: Approval['state']) => state === 'approved' || state === 'accepted'

function MyApproval({
  approval,
  isTextOpen,
  onDone,
}: {
  approval: Approval
  isTextOpen: boolean
  onDone: () => void
}) {
  const { state, customer_name, lanes: quotes, decided_by, decision_note } = approval
  const [first] = quotes
  const open = state === 'waiting' || state === 'countered'
  return (
    <Paper withBorder p="xs" data-state={state} className="desk-approval">
      <Group gap="xs" justify="space-between">
        <Text size="sm" style={{ overflowWrap: 'anywhere', flex: '1 1 18rem' }}>
          <b>{stateWords(approval)}</b> {customer_name}
          {first === undefined ? '' : `, ${laneName(first.origin, first.destination)}`}
          {quotes.length > 1 ? ` and ${counted(quotes.length - 1, 'more quote')}` : ''} at{' '}
          {quotes
            .map(({ rate, counter_rate, quoted_currency }) =>
              dollarsIn(made(state) ? (counter_rate ?? rate) : rate, quoted_currency),
            )
            .join(', ')}
          {decided_by !== null && `, ${decided_by.name}`}
          {decision_note !== null && `: ${decision_note}`}
        </Text>
        {open ? (
          <Answers approval={approval} />
        ) : (
          <Button size="compact-sm" variant="default" onClick={onDone}>
            Done
          </Button>
        )}
      </Group>
      {made(state) && <ApprovedText approval={approval} isOpen={isTextOpen} />}
    </Paper>
  )
}

/** The rates that would be approved, in words. */
const counterOf = (quotes: Approval['lanes']) =>
  quotes
    .flatMap(({ counter_rate: rate, quoted_currency }) =>
      rate === null ? [] : [dollarsIn(rate, quoted_currency)],
    )
    .join(', ')

function stateWords({ state, lanes: quotes }: Approval): string {
  switch (state) {
    case 'waiting':
      return 'Waiting for approval:'
    case 'countered':
      return `Would be approved at ${counterOf(quotes)}:`
    case 'approved':
    case 'accepted':
      return 'Approved: send this.'
    case 'rejected':
      return 'Rejected:'
    case 'expired':
      return 'Nobody decided within a day:'
    case 'withdrawn':
      return 'Withdrawn:'
  }
}

/** The requester's actions on an open request: accept the other rates, or withdraw. */
function Answers({ approval: { approval_id, state, lanes: quotes } }: { approval: Approval }) {
  const change = useChange('decide-approval')
  const queries = useQueryClient()
  const decide = (body: Body<'decide-approval'>) =>
    change.mutate({ params: { approval_id }, body }, { onSettled: () => void queries.invalidateQueries() })
  const counter = quotes.flatMap(({ counter_rate }) => counter_rate ?? [])
  return (
    <>
      <Group gap="xs">
        {state === 'countered' && (
          <Button
            size="compact-sm"
            loading={change.isPending}
            onClick={() => decide({ decision: 'accept', rates: counter })}
          >
            Accept {counterOf(quotes)}
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={() => decide({ decision: 'withdraw' })}>
          Withdraw
        </Button>
      </Group>
      {change.error !== null && <Failed error={change.error} title="Nothing was changed" />}
    </>
  )
}

/** The text for the customer about approved quotes. It is closed while somebody types the next quote, so that nothing moves. */
function ApprovedText({ approval: { lane_refs }, isOpen }: { approval: Approval; isOpen: boolean }) {
  const session = useSession()
  const [requestId = ''] = (lane_refs[0] ?? '').split('-')
  const { data, error, refetch } = useAnswer(
    'get-quote-request',
    { params: { request_id: Number(requestId) } },
    { staleMs: 60_000, enabled: requestId !== '' },
  )
  if (error !== null) {
    return <Failed error={error} title="The text could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return null
  return <CustomerText text={emailText(ofRefs(data, lane_refs), session)} isOpen={isOpen} />
}

/** The approved quotes of a request, which also has earlier quotes if a requote was approved. */
function ofRefs(request: Answer<'get-quote-request'>, refs: readonly string[]) {
  return { ...request, lanes: request.lanes.filter(({ lane_ref }) => refs.includes(lane_ref)) }
}

import { Badge, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { termsBehind } from '#engine/rate-basis.ts'
import { type Answer, type Body, useAnswer, useChange, useMay, useSession } from '../api/index.ts'
import {
  CopyButton,
  dollars,
  equipmentName,
  Failed,
  Loading,
  laneName,
  moment,
  readDollars,
  TextLink,
  useNotice,
} from '../shared-ui/index.ts'

type Approval = Answer<'list-approvals'>['approvals'][number]
type ApprovalLane = Approval['lanes'][number]
type Decision = Body<'decide-approval'>['decision']

const termsOf = ({ quoted_basis, quoted_currency }: ApprovalLane) =>
  termsBehind({ basis: quoted_basis, currency: quoted_currency })

/** Requests for approval, newest first. */
export function Approvals() {
  const mayAsk = useMay('member')
  const { data, error, refetch } = useAnswer('list-approvals', {}, { enabled: mayAsk })
  if (error !== null) {
    return <Failed error={error} title="The approvals could not be loaded" retry={() => void refetch()} />
  }
  return (
    <Stack gap="sm" mt="sm">
      {!mayAsk && <Text size="sm">Members, admins and owners see requests for approval.</Text>}
      {mayAsk && data === undefined && <Loading rows={3} height={64} label="Loading the approvals" />}
      {data !== undefined && data.approvals.length === 0 && (
        <Text size="sm">No requests. The quote desk asks for approval when a rule needs it.</Text>
      )}
      {data?.approvals.map((approval) => (
        <ApprovalCard key={approval.approval_id} approval={approval} />
      ))}
    </Stack>
  )
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const { approval_id, state, customer_name, lanes, reasons, lane_refs, email } = approval
  return (
    <Paper withBorder p="sm" component="section" aria-label={`Approval ${approval_id}`}>
      <Stack gap={4} style={{ overflowWrap: 'anywhere' }}>
        <Group gap="xs">
          <Text fw={600}>
            {approval_id}. {customer_name}
          </Text>
          <Badge variant="default" tt="none">
            {state}
          </Badge>
        </Group>
        {lanes.map((lane, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two lanes can be equal
          <Text size="sm" key={at}>
            {laneName(lane.origin, lane.destination)}, {equipmentName(lane.equipment)}:{' '}
            <b>
              {dollars(lane.rate)}
              {termsOf(lane)}
            </b>
            {lane.counter_rate !== null && (
              <>
                , countered with{' '}
                <b>
                  {dollars(lane.counter_rate)}
                  {termsOf(lane)}
                </b>
              </>
            )}
          </Text>
        ))}
        <Text size="sm" c="dimmed">
          {lanes.some(({ quoted_currency }) => quoted_currency === 'CAD') && 'In US dollars: '}
          {reasons.join(' ')}
        </Text>
        <Text size="sm">
          {approval.requested_by.name} asked {moment(approval.requested_at)}
          {approval.note === null ? '.' : `: ${approval.note}`}
        </Text>
        {approval.decided_by !== null && (
          <Text size="sm">
            {approval.decided_by.name} decided
            {approval.decision_note === null ? '.' : `: ${approval.decision_note}`}
          </Text>
        )}
        {lane_refs.map((ref) => (
          <TextLink key={ref} to={`/quotes/${ref}`}>
            Quote {ref}
          </TextLink>
        ))}
        <Actions approval={approval} />
        <div>
          <CopyButton
            text={`${email.subject}\n\n${email.text}`}
            what={`the e-mail about approval ${approval_id}`}
          />
        </div>
      </Stack>
    </Paper>
  )
}

function Actions({ approval: { approval_id, state, lanes, requested_by } }: { approval: Approval }) {
  const { user } = useSession()
  const isApprover = useMay('admin')
  const isOwn = requested_by.user_id === user.id
  const [note, setNote] = useState('')
  const change = useChange('decide-approval')
  const queries = useQueryClient()
  const notify = useNotice()
  if (state !== 'waiting' && state !== 'countered') return null
  const decide = (decision: Decision, rates?: number[]) =>
    change.mutate(
      {
        params: { approval_id },
        body: {
          decision,
          ...(rates === undefined ? {} : { rates }),
          // The note belongs to the decision of an approver, beside whose buttons it is.
          ...(decision === 'accept' || decision === 'withdraw' || note.trim() === ''
            ? {}
            : { note: note.trim() }),
        },
      },
      {
        onSuccess: (after) => {
          void queries.invalidateQueries()
          notify(`Approval ${approval_id} is ${after.state}.`)
        },
      },
    )
  const [onlyLane] = lanes.length === 1 ? lanes : []
  return (
    <Stack gap="xs">
      {isApprover && (
        <Group gap="xs" align="flex-end">
          <Button size="compact-md" onClick={() => decide('approve')} loading={change.isPending}>
            Approve
          </Button>
          <Button size="compact-md" variant="default" onClick={() => decide('reject')}>
            Reject
          </Button>
          {onlyLane !== undefined && (
            <OtherRate lane={onlyLane} counter={(rate) => decide('counter', [rate])} />
          )}
          <TextInput
            label="Note (optional)"
            size="xs"
            maxLength={500}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
        </Group>
      )}
      {(isOwn || isApprover) && (
        <RequesterActions
          counter={state === 'countered' ? lanes.flatMap(({ counter_rate }) => counter_rate ?? []) : null}
          isPending={change.isPending}
          decide={decide}
        />
      )}
      {change.error !== null && <Failed error={change.error} title="Nothing was changed" />}
    </Stack>
  )
}

/** The field for another rate, in the currency and on the basis of the lane. */
function OtherRate({ lane, counter }: { lane: ApprovalLane; counter: (rate: number) => void }) {
  const [text, setText] = useState('')
  const rate = readDollars(text)
  const terms = termsOf(lane)
  return (
    <>
      <TextInput
        label={`Other rate, $${terms}`}
        size="xs"
        w={terms === '' ? 110 : 180}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button
        size="compact-md"
        variant="default"
        disabled={rate === null}
        onClick={() => rate !== null && counter(rate)}
      >
        Counter
      </Button>
    </>
  )
}

/** What the person who asked can do. `counter`: the rates that they see, or null without a counter. */
function RequesterActions({
  counter,
  isPending,
  decide,
}: {
  counter: number[] | null
  isPending: boolean
  decide: (decision: Decision, rates?: number[]) => void
}) {
  return (
    <Group gap="xs">
      {counter !== null && (
        <Button size="compact-md" onClick={() => decide('accept', counter)} loading={isPending}>
          Accept the other rate
        </Button>
      )}
      <Button size="compact-md" variant="subtle" onClick={() => decide('withdraw')}>
        Withdraw
      </Button>
    </Group>
  )
}

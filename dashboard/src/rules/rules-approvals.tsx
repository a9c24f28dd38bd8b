import { Badge, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type RefObject, useRef, useState } from 'react'
import { termsBehind } from '#engine/rate-basis.ts'
import { type Body, useAnswer, useChange, useMay, useSession } from '../api/index.ts'
import { type Approval, useRecentApprovals } from '../approvals/index.ts'
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
  useShortcuts,
} from '../shared-ui/index.ts'
import { ApprovalFacts } from './rules-approval-facts.tsx'

type ApprovalQuote = Approval['lanes'][number]
type Decision = Body<'decide-approval'>['decision']

const termsOf = ({ quoted_basis, quoted_currency }: ApprovalQuote) =>
  termsBehind({ basis: quoted_basis, currency: quoted_currency })

const isOpen = ({ state }: Approval) => state === 'waiting' || state === 'countered'

/** The request that the keyboard decides, and a function that chooses another. At the start, it is the first request. */
function useChosen(approvals: readonly Approval[]) {
  const isApprover = useMay('admin')
  const { user } = useSession()
  const others = isApprover
    ? approvals.filter((one) => isOpen(one) && one.requested_by.user_id !== user.id)
    : []
  const [chosenId, choose] = useState<number | null>(null)
  const at = Math.max(
    0,
    others.findIndex(({ approval_id }) => approval_id === chosenId),
  )
  const chosen = others[at] ?? null
  const move = (step: 1 | -1) => () => {
    const next = others[Math.min(others.length - 1, Math.max(0, at + step))]
    if (next === undefined) return false
    choose(next.approval_id)
    document.getElementById(cardId(next))?.focus()
    return true
  }
  useShortcuts('Approvals', [
    { keys: ['↓'], does: 'Next request', on: ['ArrowDown', 'j'], run: move(1) },
    { keys: ['↑'], does: 'Previous request', on: ['ArrowUp', 'k'], run: move(-1) },
  ])
  return { chosenId: chosen?.approval_id ?? null, choose }
}

const cardId = ({ approval_id }: Pick<Approval, 'approval_id'>) => `approval-${approval_id}`

/** All requests for approval, newest first. Those of the last day are from the frame's polling, which is more recent. */
function useAllApprovals() {
  const mayAsk = useMay('member')
  const { data, error, refetch } = useAnswer('list-approvals', {}, { enabled: mayAsk })
  const recent = useRecentApprovals()
  const older = data?.approvals.filter(
    ({ approval_id }) => !recent.some((one) => one.approval_id === approval_id),
  )
  const all =
    older === undefined
      ? undefined
      : [...recent, ...older].toSorted((one, other) => other.approval_id - one.approval_id)
  return { mayAsk, data: all === undefined ? undefined : { approvals: all }, error, refetch }
}

/** Requests for approval, newest first. */
export function Approvals() {
  const { mayAsk, data, error, refetch } = useAllApprovals()
  const { chosenId, choose } = useChosen(data?.approvals ?? [])
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
        <ApprovalCard
          key={approval.approval_id}
          approval={approval}
          isChosen={approval.approval_id === chosenId}
          onChoose={() => choose(approval.approval_id)}
        />
      ))}
      {chosenId !== null && (
        <Text size="xs" c="dimmed" visibleFrom="sm">
          Up and Down choose a request. A: approve. R: reject. O: another rate.
        </Text>
      )}
    </Stack>
  )
}

/** The quotes of a request with their rates. */
function QuotesToApprove({ lanes: quotes }: { lanes: readonly ApprovalQuote[] }) {
  return quotes.map((quote, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two quotes can be equal
    <Text size="sm" key={at}>
      {laneName(quote.origin, quote.destination)}, {equipmentName(quote.equipment)}:{' '}
      <b>
        {dollars(quote.rate)}
        {termsOf(quote)}
      </b>
      {quote.counter_rate !== null && (
        <>
          , countered with{' '}
          <b>
            {dollars(quote.counter_rate)}
            {termsOf(quote)}
          </b>
        </>
      )}
    </Text>
  ))
}

function ApprovalCard({
  approval,
  isChosen,
  onChoose,
}: {
  approval: Approval
  isChosen: boolean
  onChoose: () => void
}) {
  const isApprover = useMay('admin')
  const { approval_id, state, customer_name, lanes: quotes, reasons, lane_refs, email } = approval
  return (
    <Paper
      withBorder
      p="sm"
      component="section"
      id={cardId(approval)}
      tabIndex={-1}
      className="approval-card"
      data-chosen={isChosen || undefined}
      aria-label={`Approval ${approval_id}`}
      onFocus={onChoose}
    >
      <Stack gap={4} style={{ overflowWrap: 'anywhere' }}>
        <Group gap="xs">
          <Text fw={600}>
            {approval_id}. {customer_name}
          </Text>
          <Badge variant="default" tt="none">
            {state}
          </Badge>
        </Group>
        <QuotesToApprove lanes={quotes} />
        <Text size="sm" c="dimmed">
          {quotes.some(({ quoted_currency }) => quoted_currency === 'CAD') && 'In US dollars: '}
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
        {isApprover && isOpen(approval) && <ApprovalFacts approval={approval} />}
        <Actions approval={approval} isChosen={isChosen} />
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

/** A approves, R rejects and O goes to the field for another rate, for the chosen request. */
function useDecisionKeys(
  isOn: boolean,
  decide: (decision: Decision) => void,
  otherRate: RefObject<HTMLInputElement | null>,
) {
  useShortcuts(
    'Chosen request',
    isOn
      ? [
          { keys: ['A'], does: 'Approve', on: ['a'], run: () => decide('approve') },
          { keys: ['R'], does: 'Reject', on: ['r'], run: () => decide('reject') },
          {
            keys: ['O'],
            does: 'Another rate',
            on: ['o'],
            run: () => (otherRate.current === null ? false : otherRate.current.focus()),
          },
        ]
      : [],
  )
}

function Actions({ approval, isChosen }: { approval: Approval; isChosen: boolean }) {
  const { approval_id, state, lanes: quotes, requested_by } = approval
  const { user } = useSession()
  const isApprover = useMay('admin')
  const isOwn = requested_by.user_id === user.id
  const [note, setNote] = useState('')
  const change = useChange('decide-approval')
  const queries = useQueryClient()
  const notify = useNotice()
  const otherRate = useRef<HTMLInputElement>(null)
  const decide = (decision: Decision, rates?: number[]) =>
    change.mutate(
      {
        params: { approval_id },
        body: {
          decision,
          ...(rates === undefined ? {} : { rates }),
          // Only an approver's decision has a note, because the field is beside the approver's buttons.
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
  const [onlyQuote] = quotes.length === 1 ? quotes : []
  useDecisionKeys(isChosen && !change.isPending, decide, otherRate)
  if (!isOpen(approval)) return null
  return (
    <Stack gap="xs">
      {isApprover && (
        <Group gap="xs" align="flex-end">
          <Button size="compact-sm" onClick={() => decide('approve')} loading={change.isPending}>
            Approve
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => decide('reject')}>
            Reject
          </Button>
          {onlyQuote !== undefined && (
            <OtherRate quote={onlyQuote} field={otherRate} counter={(rate) => decide('counter', [rate])} />
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
      {isOwn && (
        <RequesterActions
          counter={state === 'countered' ? quotes.flatMap(({ counter_rate }) => counter_rate ?? []) : null}
          isPending={change.isPending}
          decide={decide}
        />
      )}
      {change.error !== null && <Failed error={change.error} title="Nothing was changed" />}
    </Stack>
  )
}

/** The field for another rate, in the currency and on the basis of the quote. */
function OtherRate({
  quote,
  field,
  counter,
}: {
  quote: ApprovalQuote
  field: RefObject<HTMLInputElement | null>
  counter: (rate: number) => void
}) {
  const [text, setText] = useState('')
  const rate = readDollars(text)
  const terms = termsOf(quote)
  return (
    <>
      <TextInput
        ref={field}
        label={`Other rate, $${terms}`}
        size="xs"
        w={terms === '' ? 110 : 180}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && rate !== null) counter(rate)
        }}
      />
      <Button
        size="compact-sm"
        variant="default"
        disabled={rate === null}
        onClick={() => rate !== null && counter(rate)}
      >
        Counter
      </Button>
    </>
  )
}

/** The requester's actions. `counter` has the approver's other rates, or is null without them. */
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
        <Button size="compact-sm" onClick={() => decide('accept', counter)} loading={isPending}>
          Accept the other rate
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={() => decide('withdraw')}>
        Withdraw
      </Button>
    </Group>
  )
}

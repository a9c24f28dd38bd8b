import { Alert, Button, Group, Modal, NativeSelect, Radio, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type Answer, useAnswer, useChange, useSession } from '../api/index.ts'
import { counted, Failed, Loading, since, useNotice } from '../shared-ui/index.ts'

type Person = Answer<'list-users'>['users'][number]
type Left = Answer<'get-leaving'>
export interface Leave {
  readonly person: Person
  readonly how: 'suspend' | 'remove'
}

type Tokens = 'stop' | 'revoke' | 'hand-over'
type Quotes = 'to-admins' | 'hand-over'
type Approvals = 'keep' | 'withdraw' | 'hand-over'
interface Choice {
  readonly tokens: Tokens
  readonly quotes: Quotes
  readonly approvals: Approvals
  readonly to: number
}

/** Suspends or removes a person after it has shown what they leave, and asked what should happen to it. */
export function LeaveDialog({ leave, onClose }: { leave: Leave | null; onClose: () => void }) {
  if (leave === null) return null
  const { person, how } = leave
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${how === 'suspend' ? 'Suspend' : 'Remove'} ${person.name}?`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <LeaveOf leave={leave} onClose={onClose} />
    </Modal>
  )
}

function LeaveOf({ leave, onClose }: { leave: Leave; onClose: () => void }) {
  const { person } = leave
  const { data: left, error, refetch } = useAnswer('get-leaving', { params: { id: person.id } })
  const { data: people } = useAnswer('list-users', {})
  const { user } = useSession()
  if (error !== null) {
    return (
      <Failed error={error} title="What the person leaves could not be loaded" retry={() => void refetch()} />
    )
  }
  if (left === undefined || people === undefined) {
    return <Loading label="Loading what the person leaves" rows={2} height={40} />
  }
  const others = people.users.filter(
    ({ id, role, status }) => id !== person.id && status === 'active' && role !== 'viewer',
  )
  const usual = left.quotes.given_to?.user_id ?? user.id
  const first = others.find(({ id }) => id === usual) ?? others.find(({ role }) => role !== 'member')
  return <LeaveForm leave={leave} left={left} others={others} first={first?.id ?? 0} onClose={onClose} />
}

interface FormProps {
  leave: Leave
  left: Left
  /** Who can take over. */
  others: readonly Person[]
  first: number
  onClose: () => void
}

function LeaveForm({ leave: { person, how }, left, others, first, onClose }: FormProps) {
  const [choice, setChoice] = useState<Choice>({
    tokens: how === 'suspend' ? 'stop' : 'hand-over',
    quotes: left.quotes.given_to === null ? 'to-admins' : 'hand-over',
    approvals: 'hand-over',
    to: first,
  })
  const { leave, isPending, error } = useLeave(person, how, onClose)
  // Only what the person leaves is asked for and sent.
  const tokens = left.tokens.length === 0 ? undefined : choice.tokens
  const quotes = left.quotes.pending === 0 ? undefined : choice.quotes
  const approvals = left.approvals.asked === 0 ? undefined : choice.approvals
  const isHandedOver = [tokens, quotes, approvals].includes('hand-over')
  const receivers = others.filter(({ role }) => tokens !== 'hand-over' || role !== 'member')
  const to = receivers.find(({ id }) => id === choice.to)?.id ?? receivers[0]?.id
  const verb = how === 'suspend' ? 'Suspend' : 'Remove'
  return (
    <Stack>
      <Text size="sm">{whatHappens(person, how)}</Text>
      <Choices left={left} how={how} choice={choice} onChange={setChoice} />
      {isHandedOver && (
        <NativeSelect
          label="Hand over to"
          value={String(to ?? '')}
          data={receivers.map(({ id, name, role }) => ({ value: String(id), label: `${name}, ${role}` }))}
          onChange={(event) => setChoice({ ...choice, to: Number(event.currentTarget.value) })}
        />
      )}
      <Staying left={left} />
      {error !== null && (
        <Failed error={error} title={`Not ${how === 'suspend' ? 'suspended' : 'removed'}`} />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          color="red.9"
          loading={isPending}
          onClick={() => leave({ tokens, quotes, approvals, to: isHandedOver ? to : undefined })}
        >
          {verb}
        </Button>
      </Group>
    </Stack>
  )
}

function whatHappens({ status, name }: Person, how: Leave['how']): string {
  if (status === 'invited') return 'The invitation stops working at once.'
  if (how === 'suspend') {
    return `${name} is signed out everywhere at once, and cannot sign in until you restore them.`
  }
  return 'Their sessions end at once. Their quotes and changes stay under their name.'
}

type Sent = { readonly [Key in keyof Choice]: Choice[Key] | undefined }

function useLeave(person: Person, how: Leave['how'], onClose: () => void) {
  const suspend = useChange('suspend-user')
  const remove = useChange('remove-user')
  const queries = useQueryClient()
  const notify = useNotice()
  const onSuccess = () => {
    notify(`${person.name} was ${how === 'suspend' ? 'suspended' : 'removed'}.`)
    void queries.invalidateQueries()
    onClose()
  }
  const params = { id: person.id }
  const leave = ({ tokens, quotes, approvals, to }: Sent) => {
    const named = to === undefined ? {} : { to }
    if (how === 'suspend') {
      const body = {
        tokens: tokens ?? 'stop',
        quotes: quotes ?? 'to-admins',
        approvals: approvals ?? 'keep',
        ...named,
      } as const
      suspend.mutate({ params, body }, { onSuccess })
      return
    }
    const query = {
      ...(tokens === undefined || tokens === 'stop' ? {} : { tokens }),
      ...(quotes === undefined ? {} : { quotes }),
      ...(approvals === undefined ? {} : { approvals }),
      ...named,
    }
    remove.mutate({ params, query }, { onSuccess })
  }
  return {
    leave,
    isPending: suspend.isPending || remove.isPending,
    error: suspend.error ?? remove.error,
  }
}

function Choices({
  left,
  how,
  choice,
  onChange,
}: {
  left: Left
  how: Leave['how']
  choice: Choice
  onChange: (choice: Choice) => void
}) {
  const { tokens, quotes, approvals } = left
  const due = quotes.follow_ups_due === 0 ? '' : `, ${quotes.follow_ups_due} due for a follow-up`
  return (
    <>
      {tokens.length > 0 && (
        <Asked
          label={counted(tokens.length, 'service token')}
          hint={tokens
            .map(({ name, scope, last_used_at: at }) => `${name} (${scope}), ${usedWords(at)}`)
            .join('; ')}
          value={choice.tokens}
          onChange={(value) => onChange({ ...choice, tokens: value })}
        >
          {how === 'suspend' && <Radio value="stop" label="Stop them until the person is restored" />}
          <Radio value="hand-over" label="Hand them over. Everything keeps working." />
          <Radio value="revoke" label="Revoke them. Systems that use them lose access at once." />
        </Asked>
      )}
      {quotes.pending > 0 && (
        <Asked
          label={`${counted(quotes.pending, 'pending quote')}${due}`}
          hint={`The newest was made ${since(quotes.last_quoted_at)}.${quotes.given_to === null ? '' : ` ${quotes.given_to.name} follows them up.`}`}
          value={choice.quotes}
          onChange={(value) => onChange({ ...choice, quotes: value })}
        >
          <Radio value="to-admins" label="Leave them to all admins and owners" />
          <Radio value="hand-over" label="Hand them over" />
        </Asked>
      )}
      {approvals.asked > 0 && (
        <Asked
          label={`${counted(approvals.asked, 'open request')} for approval`}
          hint={`The newest was made ${since(approvals.last_asked_at)}.`}
          value={choice.approvals}
          onChange={(value) => onChange({ ...choice, approvals: value })}
        >
          <Radio value="hand-over" label="Hand them over" />
          <Radio value="withdraw" label="Withdraw them" />
          <Radio value="keep" label="Keep them. Nobody can approve them; they can be rejected, and expire." />
        </Asked>
      )}
    </>
  )
}

const usedWords = (at: string | null) => (at === null ? 'never used' : `last used ${since(at)}`)

function Asked<Value extends string>({
  label,
  hint,
  value,
  onChange,
  children,
}: {
  label: string
  hint: string
  value: Value
  onChange: (value: Value) => void
  children: ReactNode
}) {
  return (
    <Radio.Group
      label={label}
      description={hint}
      value={value}
      onChange={(chosen) => onChange(chosen as Value)}
    >
      <Stack gap="xs" mt="xs">
        {children}
      </Stack>
    </Radio.Group>
  )
}

/** What stays without the person, and what an admin must know of it. */
function Staying({ left }: { left: Left }) {
  const { signing_secrets: secrets, event_endpoints: endpoints, approvals, sessions } = left
  const lines = [
    ...(sessions.count > 0
      ? [`${counted(sessions.count, 'session')}, ${usedWords(sessions.last_used_at)}: ended at once.`]
      : []),
    ...secrets.map(
      ({ name, last_used_at: at }) =>
        `Signing secret ${name}, ${usedWords(at)}: keeps working. Rotate it if the person knows it.`,
    ),
    ...endpoints.map(({ url }) => `Event endpoint ${url}: keeps working.`),
    ...(approvals.to_decide > 0
      ? [
          `${counted(approvals.to_decide, 'request')} to decide: ${approvals.other_deciders === 0 ? 'nobody else can decide' : `${counted(approvals.other_deciders, 'other admin or owner', 'other admins and owners')} can decide`}.`,
        ]
      : []),
  ]
  if (lines.length === 0) return null
  return (
    <Alert variant="default" title="Also theirs">
      <ul style={{ margin: 0, paddingInlineStart: 20, overflowWrap: 'anywhere' }}>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </Alert>
  )
}

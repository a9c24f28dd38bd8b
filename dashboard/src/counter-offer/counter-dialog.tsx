import './counter-offer.css'
import { Modal, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import type { Lane } from '#contract/lane.ts'
import { type Answer, useAnswer, useChange, useSession } from '../api/index.ts'
import {
  basedOn,
  basisNames,
  count,
  currencyNames,
  dollars,
  Failed,
  laneName,
  type Reason,
  readDollars,
  reasonNames,
  reasons,
  ValidFor,
  validityChoices,
} from '../shared-ui/index.ts'
import { ChoiceCard } from './counter-card.tsx'
import { type ChoiceName, choicesAt } from './counter-choices.ts'
import { CounterKept, type Kept } from './counter-kept.tsx'
import { quotesOfLaneHaveChanged, useRequote } from './use-requote.ts'

/** Whether a customer can still name a rate for a quote: it is the offer that counts, nobody accepted it, and it is not void. */
export function mayCounter(lane: Pick<Lane, 'outcome' | 'voided_at' | 'superseded_by'>): boolean {
  return mayRequote(lane) && lane.voided_at === null
}

/** Whether a quote can be followed by a further offer for its load: the load is not won, and no other offer counts. */
export function mayRequote({ outcome, superseded_by }: Pick<Lane, 'outcome' | 'superseded_by'>): boolean {
  return outcome !== 'won' && superseded_by === null
}

/** Answers a counter-offer: accept it, counter with a rate in between, or walk away. */
export function CounterDialog({ lane, onClose }: { lane: Lane | null; onClose: () => void }) {
  return (
    <Modal
      opened={lane !== null}
      onClose={onClose}
      title="Counter-offer"
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {lane !== null && <CounterOffer lane={lane} onClose={onClose} />}
    </Modal>
  )
}

function CounterOffer({ lane, onClose }: { lane: Lane; onClose: () => void }) {
  const [kept, setKept] = useState<Kept | null>(null)
  return kept === null ? (
    <CounterForm lane={lane} onKept={setKept} />
  ) : (
    <CounterKept kept={kept} onClose={onClose} />
  )
}

/** What was typed, and what it means. */
function useTyped(lane: Lane) {
  const [named, setNamed] = useState('')
  const [cost, setCost] = useState('')
  const [between, setBetween] = useState<string | null>(null)
  const [counterRate, typedCost] = [readDollars(named), readDollars(cost)]
  const isBelow = counterRate !== null && counterRate < lane.quoted_rate
  return {
    named,
    cost,
    /** The rate in between as typed; null while it is the suggested one. */
    between,
    counterRate: isBelow ? counterRate : null,
    typedCost,
    setNamed: (text: string) => {
      setNamed(text)
      setBetween(null)
    },
    setCost,
    setBetween,
    errors: {
      named:
        named.trim() === '' || isBelow
          ? undefined
          : counterRate === null
            ? 'Enter an amount in dollars, such as 2,050'
            : `Not below your ${dollars(lane.quoted_rate)}: then the quote is won`,
      cost: cost.trim() === '' || typedCost !== null ? undefined : 'Enter an amount in dollars',
    },
  }
}

type Typed = ReturnType<typeof useTyped>

/** The advice for what is typed; null while it is loading. */
function useCounterAdvice({ lane_ref, quoted_rate }: Lane, { counterRate, typedCost, between }: Typed) {
  const sent = between === null ? null : readDollars(between)
  const isBetween = sent !== null && counterRate !== null && sent > counterRate && sent < quoted_rate
  const asked = JSON.stringify({
    ...(counterRate === null ? {} : { counter_rate: counterRate }),
    ...(typedCost === null || typedCost <= 0 ? {} : { estimated_cost: typedCost }),
  })
  const [settled] = useDebouncedValue(asked, typingPauseMs)
  const [rate] = useDebouncedValue(isBetween ? sent : null, typingPauseMs)
  const query = JSON.parse(settled) as { counter_rate?: number; estimated_cost?: number }
  const isAsked = query.counter_rate !== undefined
  const ask = (more: { rate?: number }, enabled: boolean) => ({
    asked: { params: { lane_ref }, query: { counter_rate: 0, ...query, ...more } },
    enabled: enabled && isAsked,
  })
  const [first, second] = [ask({}, true), ask(rate === null ? {} : { rate }, rate !== null)]
  const suggested = useAnswer('counter-advice', first.asked, { enabled: first.enabled, comesBack: true })
  // The same answer for a typed rate, for what the rules say about it.
  const forRate = useAnswer('counter-advice', second.asked, { enabled: second.enabled })
  const isCurrent = asked === settled && isAsked
  return {
    advice: isCurrent ? (suggested.data ?? null) : null,
    ofRate: isCurrent && rate !== null && rate === sent ? (forRate.data?.counter ?? null) : null,
    error: isCurrent ? suggested.error : null,
    retry: () => void suggested.refetch(),
  }
}

function CounterForm({ lane, onKept }: { lane: Lane; onKept: (kept: Kept) => void }) {
  const typed = useTyped(lane)
  const { counterRate, typedCost } = typed
  const { advice, ofRate, error, retry } = useCounterAdvice(lane, typed)
  const { usual } = validityChoices(useSession().tenant.quote_expiry.valid_days)
  const [validHours, setValidHours] = useState(usual)
  return (
    <Stack gap="sm">
      <div>
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {laneName(lane.origin, lane.destination)} · {lane.equipment} · {lane.customer_name}
        </Text>
        <Text size="sm" c="dimmed">
          {lane.lane_ref}: you quoted {dollars(lane.quoted_rate)}
          {advice === null ? '' : `, ${basisNames[advice.basis]}, ${currencyNames[advice.currency]}`}
        </Text>
      </div>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <TextInput
          label="The customer says"
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          data-autofocus
          value={typed.named}
          error={typed.errors.named}
          onChange={(event) => typed.setNamed(event.currentTarget.value)}
        />
        <TextInput
          label="Truck cost (optional)"
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          placeholder={advice?.cost == null ? '' : `${count(advice.cost.amount)} ${advice.cost.source}`}
          value={typed.cost}
          error={typed.errors.cost}
          onChange={(event) => typed.setCost(event.currentTarget.value)}
        />
        <ValidFor hours={validHours} onHours={setValidHours} />
      </SimpleGrid>
      {error !== null && <Failed error={error} title="No advice right now" retry={retry} />}
      <ChoiceCards
        key={counterRate}
        lane={lane}
        typed={typed}
        advice={advice}
        ofRate={ofRate}
        cost={typedCost}
        validHours={validHours}
        onKept={onKept}
      />
      {advice !== null && counterRate !== null && <Basis advice={advice} />}
    </Stack>
  )
}

/** What the chances are based on. */
function Basis({ advice }: { advice: Answer<'counter-advice'> }) {
  const { trust, estimate, quoted_rate, counter_rate, comparable } = advice
  return (
    <Text size="xs" c="dimmed">
      {!comparable
        ? 'There are no chances: the fuel charge of the quote, or the exchange rate of today, is not known, so it cannot be compared with your other quotes.'
        : estimate === null
          ? 'There are no chances: you have no quotes to learn from yet.'
          : `The customer would pay ${dollars(counter_rate)} and refused ${dollars(quoted_rate)}. Between the two, the chance follows the curve of this lane${estimate.customer === undefined ? '' : ' for this customer'}: ${basedOn(estimate)}. Trust: ${trust ?? 'none'}. One in four customers is taken to refuse any increase. A customer who is only bargaining would pay more than this estimate assumes.`}
    </Text>
  )
}

interface CardsProps {
  readonly lane: Lane
  readonly typed: Typed
  readonly advice: Answer<'counter-advice'> | null
  /** The choice for a typed rate in between, once the service has checked it. */
  readonly ofRate: Answer<'counter-advice'>['counter']
  readonly cost: number | null
  /** For how many hours a counter is valid. */
  readonly validHours: number
  readonly onKept: (kept: Kept) => void
}

/** What is written when a choice is kept. */
function useKeeping({
  lane,
  cost,
  validHours,
  onKept,
}: Pick<CardsProps, 'lane' | 'cost' | 'validHours' | 'onKept'>) {
  const [sent, setSent] = useState<ChoiceName | null>(null)
  const queries = useQueryClient()
  const { requote, send } = useRequote(lane, (made) => onKept({ kind: 'quoted', lane: made }))
  const lose = useChange('set-outcome')
  const ask = useChange('ask-requote-approval')
  const params = { lane_ref: lane.lane_ref }
  const bodyOf = (counter_rate: number, quoted_rate: number) => ({
    quoted_rate,
    counter_rate,
    ...(cost === null || cost <= 0 ? {} : { estimated_cost: cost }),
    valid_hours: validHours,
  })
  return {
    sent,
    isPending: requote.isPending || lose.isPending || ask.isPending,
    error: sent === 'walk_away' ? lose.error : (ask.error ?? requote.error),
    needsApproval:
      requote.error?.code === 'outside-rules' && !requote.error.errors.some(({ code }) => code === 'blocked'),
    quote: (choice: 'accept' | 'counter', counterRate: number, rate: number) => {
      setSent(choice)
      ask.reset()
      send(bodyOf(counterRate, rate))
    },
    askApproval: (choice: 'accept' | 'counter', counterRate: number, rate: number) => {
      setSent(choice)
      ask.mutate(
        { params, body: bodyOf(counterRate, rate) },
        {
          onSuccess: ({ approval_id }) => {
            onKept({ kind: 'asked', approvalId: approval_id, rate })
            void queries.invalidateQueries({ queryKey: ['list-approvals'] })
          },
        },
      )
    },
    walkAway: (counterRate: number, reason: Reason) => {
      setSent('walk_away')
      lose.mutate(
        { params, body: { outcome: 'lost', reason, counter_rate: counterRate } },
        {
          onSuccess: (lost) => {
            onKept({ kind: 'lost', lane: lost, counterRate })
            quotesOfLaneHaveChanged(queries, lane)
          },
        },
      )
    },
  }
}

function ChoiceCards({ lane, typed, advice, ofRate, cost, validHours, onKept }: CardsProps) {
  const [reason, setReason] = useState<Reason>('price')
  const keeping = useKeeping({ lane, cost, validHours, onKept })
  const { counterRate, between, setBetween } = typed
  const suggested = advice?.suggested_rate ?? null
  const sent = between === null ? suggested : readDollars(between)
  const rate =
    sent !== null && counterRate !== null && sent > counterRate && sent < lane.quoted_rate ? sent : null
  const choices = advice === null ? null : choicesAt({ ...advice, counter: ofRate ?? advice.counter }, rate)
  const rulesAt = (choice: Answer<'counter-advice'>['counter'] | undefined, at: number | null) =>
    choice != null && choice.rate === at ? choice.outside_rules : []
  const card = (choice: 'accept' | 'counter', at: number | null, rules: ReturnType<typeof rulesAt>) => ({
    isBest: choices?.best === choice,
    isPending: keeping.isPending && keeping.sent === choice,
    isOff: counterRate === null || at === null || keeping.isPending,
    rules,
    error: keeping.sent === choice ? keeping.error : null,
    needsApproval:
      (keeping.sent === choice && keeping.needsApproval) ||
      rules.some(({ code }) => code === 'needs-approval'),
    onKeep: () => counterRate !== null && at !== null && keeping.quote(choice, counterRate, at),
    onAsk: () => counterRate !== null && at !== null && keeping.askApproval(choice, counterRate, at),
  })
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
      <ChoiceCard
        title="Accept"
        choice={choices?.accept ?? null}
        {...card('accept', counterRate, rulesAt(advice?.accept, counterRate))}
        chanceWords="they named it"
        action={counterRate === null ? 'Accept' : `Accept ${dollars(counterRate)}`}
      >
        <Text fw={700} fz="xl">
          {counterRate === null ? '–' : dollars(counterRate)}
        </Text>
      </ChoiceCard>
      <ChoiceCard
        title="Counter"
        choice={choices?.counter ?? null}
        {...card('counter', rate, rulesAt(ofRate ?? advice?.counter, rate))}
        action={rate === null ? 'Counter' : `Counter with ${dollars(rate)}`}
      >
        <TextInput
          aria-label="The rate to counter with"
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          disabled={counterRate === null}
          value={between ?? (suggested === null ? '' : String(suggested))}
          error={
            counterRate !== null && between !== null && between.trim() !== '' && rate === null
              ? `Between ${dollars(counterRate)} and ${dollars(lane.quoted_rate)}`
              : undefined
          }
          onChange={(event) => setBetween(event.currentTarget.value)}
        />
      </ChoiceCard>
      <ChoiceCard
        title="Walk away"
        choice={{ rate: 0, chance: 0, interval80: null, margin: 0, marginPct: null, worth: 0 }}
        isBest={choices?.best === 'walk_away'}
        isPending={keeping.isPending && keeping.sent === 'walk_away'}
        isOff={counterRate === null || keeping.isPending}
        rules={[]}
        error={keeping.sent === 'walk_away' ? keeping.error : null}
        needsApproval={false}
        onKeep={() => counterRate !== null && keeping.walkAway(counterRate, reason)}
        onAsk={() => {}}
        action="Walk away"
      >
        <NativeSelect
          aria-label="Why it is lost"
          value={reason}
          data={reasons.map((one) => ({ value: one, label: reasonNames[one] }))}
          onChange={(event) => setReason(event.currentTarget.value as Reason)}
        />
      </ChoiceCard>
    </SimpleGrid>
  )
}

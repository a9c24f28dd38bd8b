import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import type { Lane } from '#contract/lane.ts'
import { type Answer, useAnswer } from '../api/index.ts'
import { useRequote } from '../counter-offer/index.ts'
import {
  asLinkToQuote,
  CopyButton,
  dollars,
  Failed,
  InRed,
  laneName,
  percent,
  ratePerMile,
  readDollars,
  signedDollars,
} from '../shared-ui/index.ts'
import { RateAdvice } from './quotes-advice.tsx'
import { quotedMargin, rpm } from './quotes-margin.ts'

/** Quotes a lane again at a new rate. The old quote does not change. */
export function RequoteDialog({ lane, onClose }: { lane: Lane | null; onClose: () => void }) {
  return (
    <Modal
      opened={lane !== null}
      onClose={onClose}
      title="Requote"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {lane !== null && <Requote lane={lane} onClose={onClose} />}
    </Modal>
  )
}

function Requote({ lane, onClose }: { lane: Lane; onClose: () => void }) {
  const [made, setMade] = useState<Answer<'requote'> | null>(null)
  return made === null ? (
    <RequoteForm lane={lane} onMade={setMade} onClose={onClose} />
  ) : (
    <Requoted lane={made} onClose={onClose} />
  )
}

function RequoteForm({
  lane,
  onMade,
  onClose,
}: {
  lane: Lane
  onMade: (made: Answer<'requote'>) => void
  onClose: () => void
}) {
  const [rate, setRate] = useState('')
  const [cost, setCost] = useState('')
  const [isAsked, setIsAsked] = useState(false)
  const { requote, send } = useRequote(lane, onMade)
  const [quotedRate, estimatedCost] = [readDollars(rate), cost.trim() === '' ? null : readDollars(cost)]
  const wrongCost = cost.trim() !== '' && estimatedCost === null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setIsAsked(true)
    if (quotedRate === null || wrongCost) return
    send({
      quoted_rate: quotedRate,
      ...(estimatedCost === null ? {} : { estimated_cost: estimatedCost }),
    })
  }
  const lastQuote = quotedMargin(lane)
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <LastQuote lane={lane} />
        <Group align="flex-start" grow>
          <TextInput
            label="New rate"
            inputMode="decimal"
            autoComplete="off"
            data-autofocus
            required
            value={rate}
            onChange={(event) => setRate(event.currentTarget.value)}
            error={
              isAsked && quotedRate === null
                ? 'Enter an amount in dollars, such as 2,075'
                : requote.error?.fieldError('/quoted_rate')
            }
          />
          <TextInput
            label="Expected truck cost"
            inputMode="decimal"
            autoComplete="off"
            placeholder={lastQuote === null ? '' : 'unchanged'}
            value={cost}
            onChange={(event) => setCost(event.currentTarget.value)}
            error={
              wrongCost
                ? 'Enter an amount in dollars, or leave the field empty'
                : requote.error?.fieldError('/estimated_cost')
            }
          />
        </Group>
        <NewMargin lane={lane} rate={quotedRate} cost={estimatedCost ?? lastQuote?.cost ?? null} />
        <Advice lane={lane} rate={quotedRate} />
        {requote.error !== null && <Failed error={requote.error} title="Not requoted" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={requote.isPending}>
            Requote
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function LastQuote({ lane }: { lane: Lane }) {
  const margin = quotedMargin(lane)
  return (
    <div>
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {laneName(lane.origin, lane.destination)} · {lane.equipment}
      </Text>
      <Text size="sm" c="dimmed">
        {lane.lane_ref}: quoted {dollars(lane.quoted_rate)}
        {lane.miles !== null && ` (${ratePerMile(rpm(lane.quoted_rate, lane.miles))})`}
        {margin !== null && `, expected cost ${dollars(margin.cost)}`}
      </Text>
    </div>
  )
}

function NewMargin({ lane, rate, cost }: { lane: Lane; rate: number | null; cost: number | null }) {
  const margin = rate === null || cost === null ? null : rate - cost
  return (
    <Text size="sm" mih="1.4rem">
      {rate === null ? (
        'Margin and advice appear as you type.'
      ) : (
        <>
          {signedDollars(rate - lane.quoted_rate)} vs the last quote
          {lane.miles !== null && ` · ${ratePerMile(rpm(rate, lane.miles))}`}
          {margin !== null && (
            <InRed when={margin < 0}>
              {` · margin ${dollars(margin)} (${percent((margin / rate) * 100)})`}
              {margin < 0 && <b>, below the expected cost</b>}
            </InRed>
          )}
        </>
      )}
    </Text>
  )
}

/** The advice on the new rate, requested after a pause in typing. */
function Advice({ lane, rate }: { lane: Lane; rate: number | null }) {
  const [asked] = useDebouncedValue(rate, typingPauseMs)
  const answer = useAnswer(
    'quote-advice',
    {
      query: {
        origin: lane.origin,
        destination: lane.destination,
        equipment: lane.equipment,
        proposed_rate: asked ?? 0,
        include: 'estimate',
      },
    },
    { enabled: asked !== null, keeps: true },
  )
  const isOld = rate !== asked || answer.isPlaceholderData
  return (
    <section
      aria-label="Advice"
      aria-live="polite"
      aria-busy={isOld || answer.isFetching}
      style={{ minHeight: '9.5rem' }}
    >
      {rate === null ? null : answer.error !== null && answer.data === undefined ? (
        <Text size="sm">Advice is not available: {answer.error.message} You can requote without advice.</Text>
      ) : answer.data === undefined ? (
        <Text size="sm" c="dimmed">
          Loading the advice…
        </Text>
      ) : (
        <>
          <Text size="xs" c="dimmed">
            {isOld ? `Loading the advice for ${dollars(rate)}…` : `At ${dollars(rate)}`}
          </Text>
          <RateAdvice advice={answer.data} />
        </>
      )}
    </section>
  )
}

function Requoted({ lane, onClose }: { lane: Answer<'requote'>; onClose: () => void }) {
  return (
    <Stack role="status">
      <Text>
        {laneName(lane.origin, lane.destination)} was requoted at <b>{dollars(lane.quoted_rate)}</b>. The
        earlier quote did not change.
      </Text>
      {lane.warnings.map(({ code, detail }) => (
        <Text key={code} size="sm" fw={600} className="loss">
          Check the rate: {detail}
        </Text>
      ))}
      <Group gap="xs">
        <Text fw={600}>{lane.lane_ref}</Text>
        <CopyButton text={lane.lane_ref} what="lane_ref" />
      </Group>
      <Group justify="flex-end">
        <Button variant="default" renderRoot={asLinkToQuote(lane.lane_ref)} onClick={onClose}>
          Open the new quote
        </Button>
        <Button onClick={onClose} data-autofocus>
          Done
        </Button>
      </Group>
    </Stack>
  )
}

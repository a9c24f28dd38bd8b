import { Button, Group, Modal, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import type { Lane } from '#contract/lane.ts'
import { sameTerms, termsBehind } from '#engine/rate-basis.ts'
import { type Answer, type Body, useAnswer, useSession } from '../api/index.ts'
import { useRequote } from '../counter-offer/index.ts'
import {
  converted,
  DoneButtons,
  dollars,
  Failed,
  InRed,
  type KeptTerms,
  laneName,
  NewQuote,
  noTerms,
  percent,
  type RateTerms,
  RateTermsFields,
  ratePerMile,
  readDollars,
  saysTerms,
  signedDollars,
  termsAfter,
  termsBody,
  termsErrors,
  termsInWords,
  useRateConversion,
  ValidFor,
  validityChoices,
} from '../shared-ui/index.ts'
import { RateAdvice } from './quotes-advice.tsx'
import { quotedMargin, rpm } from './quotes-margin.ts'
import { useRequoteCheck, useSuggestedRate } from './requote-check.ts'

/** Makes a further offer for the load of a quote, which supersedes the earlier ones. */
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

/** What was typed for a requote, what it means, and its save. */
function useRequoteForm(lane: Lane, onMade: (made: Answer<'requote'>) => void) {
  const [rate, setRate] = useState('')
  const [cost, setCost] = useState('')
  const [isAsked, setIsAsked] = useState(false)
  const [terms, setTerms] = useState(noTerms)
  const { usual } = validityChoices(useSession().tenant.quote_expiry.valid_days)
  const [validHours, setValidHours] = useState(usual)
  const termsWrong = termsErrors(terms)
  const { requote, send } = useRequote(lane, onMade)
  const check = useRequoteCheck()
  const [quotedRate, estimatedCost] = [readDollars(rate), cost.trim() === '' ? null : readDollars(cost)]
  const wrongCost = cost.trim() !== '' && estimatedCost === null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setIsAsked(true)
    if (quotedRate === null || wrongCost || Object.keys(termsWrong).length > 0) return
    const body: Body<'requote'> = {
      quoted_rate: quotedRate,
      ...(estimatedCost === null ? {} : { estimated_cost: estimatedCost }),
      ...termsBody(terms),
      valid_hours: validHours,
    }
    void check.before(asked, () => send(body))
  }
  const lastQuote = quotedMargin(lane)
  const keptCost = saysTerms(terms) ? null : (lastQuote?.cost ?? null)
  const asked = { lane, rate: quotedRate, cost: estimatedCost ?? keptCost, terms: termsAfter(lane, terms) }
  return {
    ...{ rate, setRate, cost, setCost, terms, setTerms, validHours, setValidHours },
    ...{ quotedRate, termsWrong, wrongCost, isAsked, asked, requote, check, submit },
  }
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
  const form = useRequoteForm(lane, onMade)
  const { quotedRate, asked, terms, requote, check } = form
  const suggested = useSuggestedRate(asked)
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack gap="sm">
        <LastQuote lane={lane} />
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
          <TextInput
            label="New rate"
            inputMode="decimal"
            autoComplete="off"
            data-autofocus
            required
            value={form.rate}
            onChange={(event) => form.setRate(event.currentTarget.value)}
            error={
              form.isAsked && quotedRate === null
                ? 'Enter an amount in dollars, such as 2,075'
                : requote.error?.fieldError('/quoted_rate')
            }
          />
          <TextInput
            label="Expected truck cost"
            inputMode="decimal"
            autoComplete="off"
            placeholder={quotedMargin(lane) === null ? '' : 'unchanged'}
            value={form.cost}
            onChange={(event) => form.setCost(event.currentTarget.value)}
            error={
              form.wrongCost
                ? 'Enter an amount in dollars, or leave the field empty'
                : requote.error?.fieldError('/estimated_cost')
            }
          />
          <ValidFor hours={form.validHours} onHours={form.setValidHours} />
        </SimpleGrid>
        {suggested !== null && <RateToQuote rate={suggested} onUse={form.setRate} />}
        <RequoteTerms lane={lane} terms={terms} errors={form.termsWrong} onTerms={form.setTerms} />
        <NewMargin lane={lane} rate={quotedRate} cost={asked.cost} terms={terms} />
        <Advice lane={lane} rate={quotedRate} terms={asked.terms} />
        {check.isAsking(asked) && <ToCheck reasons={check.reasons} />}
        {requote.error !== null && <Failed error={requote.error} title="Not requoted" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={requote.isPending || check.isRunning}>
            {check.isAsking(asked) ? 'Requote as typed' : 'Requote'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function RateToQuote({ rate, onUse }: { rate: number; onUse: (rate: string) => void }) {
  return (
    <Group gap="xs">
      <Text size="sm">Rate to quote: {dollars(rate)}</Text>
      <Button size="compact-xs" variant="default" onClick={() => onUse(String(rate))}>
        Use {dollars(rate)}
      </Button>
    </Group>
  )
}

/** Why to check the rate, before it is saved. The next press of the button saves it as typed. */
function ToCheck({ reasons }: { reasons: readonly string[] }) {
  return (
    <Text size="sm" fw={600} className="loss" role="alert">
      Is this rate right? {reasons.join(' ')}
    </Text>
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
        {termsBehind({ basis: lane.quoted_basis, currency: lane.quoted_currency })}
        {lane.miles !== null && ` (${ratePerMile(rpm(lane.quoted_rate, lane.miles))})`}
        {margin !== null && `, expected cost ${dollars(margin.cost)}`}
      </Text>
    </div>
  )
}

function NewMargin({
  lane,
  rate,
  cost,
  terms,
}: {
  lane: Lane
  rate: number | null
  cost: number | null
  terms: RateTerms
}) {
  const { default_basis } = useSession().tenant
  const last = { basis: lane.quoted_basis, currency: lane.quoted_currency }
  // A rate on other terms differs from the last quote by more than its price.
  const isComparable = sameTerms(
    { basis: terms.basis || last.basis, currency: terms.currency || last.currency },
    last,
    default_basis,
  )
  const margin = rate === null || cost === null ? null : rate - cost
  return (
    <Text size="sm" mih="1.4rem">
      {rate === null ? (
        'Margin and advice appear as you type.'
      ) : (
        <>
          {isComparable
            ? `${signedDollars(rate - lane.quoted_rate)} vs the last quote`
            : 'The last quote was on other terms'}
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

/** A small control for what the new rate includes, its charges and its currency. */
function RequoteTerms({
  lane,
  terms,
  errors,
  onTerms,
}: {
  lane: Lane
  terms: RateTerms
  errors: ReturnType<typeof termsErrors>
  onTerms: (terms: RateTerms) => void
}) {
  const { default_basis } = useSession().tenant
  const [isOpen, setIsOpen] = useState(false)
  const assumed = lane.quoted_basis ?? default_basis
  const currency = lane.quoted_currency ?? 'USD'
  const shown = termsInWords(
    { basis: terms.basis, currency: terms.currency === '' ? currency : terms.currency },
    assumed,
  )
  return (
    <div>
      <Button size="compact-sm" variant="subtle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        The rate is {shown}
      </Button>
      {isOpen && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <RateTermsFields
            terms={terms}
            assumed={assumed}
            assumedCurrency={currency}
            why="as before"
            errors={errors}
            nameOf={(field) => `requote-${field}`}
            onChange={(field, text) => onTerms({ ...terms, [field]: text })}
          />
        </SimpleGrid>
      )}
    </div>
  )
}

/** The advice on the new rate, on the basis of the brokerage, requested after a pause in typing. */
function Advice({ lane, rate: typed, terms }: { lane: Lane; rate: number | null; terms: KeptTerms }) {
  const conversion = useRateConversion({ ...lane, customer: lane.quoted_customer_name }, terms)
  const rate = typed === null || conversion == null ? null : converted(conversion, typed)
  const [asked] = useDebouncedValue(rate, typingPauseMs)
  const answer = useAnswer(
    'quote-advice',
    {
      query: {
        origin: lane.origin,
        destination: lane.destination,
        equipment: lane.equipment,
        ...(lane.rate_type === null ? {} : { rate_type: lane.rate_type }),
        proposed_rate: asked ?? 0,
        include: 'basis,estimate',
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
      {typed !== null && conversion === null && (
        <Text size="sm">
          There is no advice: the fuel charge or the exchange rate of today is not known, so this rate cannot
          be compared with your other quotes.
        </Text>
      )}
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
        earlier offer is superseded: a load is won once, by the last one.
      </Text>
      <NewQuote lane={lane} />
      <DoneButtons newRef={lane.lane_ref} onClose={onClose} />
    </Stack>
  )
}

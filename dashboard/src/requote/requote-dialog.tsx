import './requote.css'
import { Modal, NativeSelect, SimpleGrid, Stack } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type FormEvent, type ReactNode, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import type { Quote } from '#contract/quote.ts'
import { type Body, type CallFailed, useAnswer, useSession } from '../api/index.ts'
import {
  dollarsIn,
  Failed,
  type QuoteAdvice,
  QuoteInput,
  quotedMargin,
  type Reason,
  readDollars,
  reasonNames,
  reasons,
  termsFields,
  typedFields,
  unreadable,
  ValidFor,
  validityChoices,
} from '../shared-ui/index.ts'
import { ChoiceCard, needsApproval } from './requote-card.tsx'
import { bestOf, type Choice, choiceAt, expectedCost, withRefusal } from './requote-choices.ts'
import {
  nothingTyped,
  type ReadRequote,
  readRequote,
  requoteAdvice,
  requoteBody,
  type TypedRequote,
} from './requote-facts.ts'
import { RequoteSaved } from './requote-kept.tsx'
import { currencyOf, Ground, LastQuote, NewRate, RateToQuote, RequoteTerms } from './requote-parts.tsx'
import { type Kept, type Saving, useRequote } from './use-requote.ts'

/** Whether a quote can be followed by a further offer for its load: the load is not won, and no other offer counts. */
export function mayRequote({ outcome, superseded_by }: Pick<Quote, 'outcome' | 'superseded_by'>): boolean {
  return outcome !== 'won' && superseded_by === null
}

/**
 * Makes a further offer for the load of a quote, which supersedes the earlier ones: at our rate, or in answer to a rate that the
 * customer named, which can also be accepted or declined.
 */
export function RequoteDialog({ quote, onClose }: { quote: Quote | null; onClose: () => void }) {
  return (
    <Modal
      opened={quote !== null}
      onClose={onClose}
      title="Requote"
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {quote !== null && <Requote quote={quote} onClose={onClose} />}
    </Modal>
  )
}

function Requote({ quote, onClose }: { quote: Quote; onClose: () => void }) {
  const [kept, setSaved] = useState<Kept | null>(null)
  return kept === null ? (
    <RequoteForm quote={quote} onSaved={setSaved} />
  ) : (
    <RequoteSaved kept={kept} onClose={onClose} />
  )
}

/** The advice on a requote, requested after a pause in typing. */
interface RequoteAdvice {
  readonly body: Body<'advise-quotes'>
  /** The advice at the new rate; null while it is loading. */
  readonly ofRate: QuoteAdvice | null
  /** The advice at the rate that the customer named; null without one. */
  readonly ofNamed: QuoteAdvice | null
  /** The newest advice, perhaps for an earlier rate. */
  readonly newest: QuoteAdvice | null
  /** The failure of the last request; null while newer advice is requested. */
  readonly failure: CallFailed | null
  readonly retry: () => void
}

function useRequoteAdvice(quote: Quote, read: ReadRequote): RequoteAdvice {
  const { default_basis } = useSession().tenant
  const body = requoteAdvice(quote, read, default_basis)
  const asked = JSON.stringify(body)
  const [settled] = useDebouncedValue(asked, typingPauseMs)
  const { data, error, isPlaceholderData, refetch } = useAnswer(
    'advise-quotes',
    { body: JSON.parse(settled) },
    { staleMs: 60_000, keeps: true, comesBack: true },
  )
  const isCurrent = asked === settled
  const found = (at: number, isShown: boolean) => {
    const result = data?.results[at]
    return isShown && result?.status === 200 ? result : null
  }
  return {
    body,
    ofRate: found(0, isCurrent && !isPlaceholderData),
    ofNamed: found(1, isCurrent && !isPlaceholderData),
    newest: found(0, true),
    failure: isCurrent ? error : null,
    retry: () => void refetch(),
  }
}

/** The errors of the typed values, by field. */
function errorsOf({ quoted_rate, quoted_currency }: Quote, typed: TypedRequote, read: ReadRequote) {
  const { counterRate } = read
  const last = dollarsIn(quoted_rate, quoted_currency)
  const isOutside = counterRate !== null && read.rate === null && readDollars(typed.rate) !== null
  return {
    named:
      unreadable('rate', typed.named) ??
      (counterRate === null && readDollars(typed.named) !== null
        ? `Not below your ${last}: then the quote is won`
        : undefined),
    rate:
      unreadable('rate', typed.rate) ??
      (isOutside ? `Between ${dollarsIn(counterRate, quoted_currency)} and ${last}` : undefined),
    cost: unreadable('cost', typed.cost) ?? undefined,
    terms: termsFields.filter((field) => unreadable(field, read.terms[field]) !== null),
  }
}

/** The props of a card, and the action of its button. */
interface CardOfChoice
  extends Pick<
    Parameters<typeof ChoiceCard>[0],
    'choice' | 'error' | 'isBest' | 'isPending' | 'isOff' | 'toConfirm'
  > {
  readonly keep: () => void
}

function RequoteForm({ quote, onSaved }: { quote: Quote; onSaved: (kept: Kept) => void }) {
  const [typed, setTyped] = useState(nothingTyped)
  const [isPressed, setPressed] = useState(false)
  const { usual } = validityChoices(useSession().tenant.quote_expiry.valid_days)
  const { validHours = usual } = typed
  const type = (changed: Partial<TypedRequote>) => setTyped((before) => ({ ...before, ...changed }))
  const read = readRequote(quote, typed)
  const errors = errorsOf(quote, typed, read)
  const advice = useRequoteAdvice(quote, read)
  const saving = useRequote(quote, onSaved)
  const choices = choicesOf(read, advice)
  const isWrong = errors.named !== undefined || errors.cost !== undefined || errors.terms.length > 0
  const cardOf = (name: 'accept' | 'requote'): CardOfChoice => {
    const error = saving.choice === name ? saving.error : null
    const choice = withRefusal(choices[name], error)
    const asked =
      choice === null
        ? null
        : {
            body: requoteBody(read, choice.rate, validHours),
            advice: advice.body,
            index: name === 'accept' ? 1 : 0,
            seen: (name === 'accept' ? advice.ofNamed : advice.ofRate)?.advice ?? null,
          }
    return {
      choice,
      error,
      isBest: bestOf(choices.accept, choices.requote) === name,
      isPending: saving.isPending && saving.choice === name,
      isOff: saving.isPending,
      toConfirm: asked === null ? [] : saving.toConfirm(name, asked),
      keep: () => {
        if (choice === null || asked === null || isWrong) return
        if (needsApproval(choice)) saving.askApproval(name, asked)
        else void saving.save(name, asked)
      },
    }
  }
  const [accept, requote] = [cardOf('accept'), cardOf('requote')]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setPressed(true)
    requote.keep()
  }
  const needsRate = isPressed && typed.rate.trim() === '' && requote.choice === null
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <LastQuote quote={quote} />
        <TypedFields
          quote={quote}
          typed={typed}
          errors={needsRate ? { ...errors, rate: typedFields.rate.wrong } : errors}
          onType={type}
        >
          <ValidFor hours={validHours} onHours={(hours) => type({ validHours: hours })} />
        </TypedFields>
        <RateToQuote
          advice={advice.newest}
          currency={currencyOf(quote, read)}
          onUse={(rate) => type({ rate: String(rate) })}
        />
        {typed.named.trim() === '' && <RequoteTerms quote={quote} terms={typed} onType={type} />}
        {advice.failure !== null && (
          <Failed error={advice.failure} title="No advice right now" retry={advice.retry} />
        )}
        <Choices
          quote={quote}
          read={read}
          accept={accept}
          requote={requote}
          saving={saving}
          reason={typed.reason}
          onReason={(reason) => type({ reason })}
        />
        <Ground advice={advice.ofRate} quote={quote} counterRate={read.counterRate} />
      </Stack>
    </form>
  )
}

/** The fields of a requote, without its terms. */
function TypedFields({
  quote,
  typed,
  errors,
  onType,
  children,
}: {
  quote: Quote
  typed: TypedRequote
  errors: Pick<ReturnType<typeof errorsOf>, 'named' | 'rate' | 'cost'>
  onType: (changed: Partial<TypedRequote>) => void
  children: ReactNode
}) {
  const input = (name: 'named' | 'rate' | 'cost') => ({
    field: name === 'named' ? ('rate' as const) : name,
    value: typed[name],
    error: errors[name],
    onType: (text: string) => onType({ [name]: text }),
  })
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, sm: 4 }} spacing="sm">
      <QuoteInput
        {...input('named')}
        label="The customer says"
        placeholder="optional"
        disabled={quote.voided_at !== null}
      />
      <QuoteInput {...input('rate')} label="New rate" data-autofocus />
      <QuoteInput {...input('cost')} placeholder={quotedMargin(quote) === null ? '' : 'unchanged'} />
      {children}
    </SimpleGrid>
  )
}

/** The choices with their margins over the typed cost, else over the earlier quote's cost, else over the expected cost. */
function choicesOf(read: ReadRequote, { body, ofRate, ofNamed }: RequoteAdvice) {
  const { counterRate } = read
  // All quotes of the request have the same cost.
  const [{ estimated_cost: own = null } = {}] = body.lanes
  const costOf = (advice: QuoteAdvice | null) => own ?? expectedCost(advice)
  // Only the answer to a counter-offer needs no typed rate, because its button names the suggested rate.
  const suggested = counterRate === null ? null : (ofRate?.counter_offer?.suggested_rate ?? null)
  const rate = read.isRateTyped ? read.rate : suggested
  return {
    accept: counterRate === null ? null : choiceAt(counterRate, costOf(ofNamed), ofNamed),
    requote: rate === null ? null : choiceAt(rate, costOf(ofRate), ofRate),
  }
}

/** The choices that can be saved: the requote, and for a counter-offer also its acceptance or refusal. */
function Choices({
  quote,
  read,
  accept,
  requote,
  saving,
  reason,
  onReason,
}: {
  quote: Quote
  read: ReadRequote
  accept: CardOfChoice
  requote: CardOfChoice
  saving: Saving
  reason: Reason
  onReason: (reason: Reason) => void
}) {
  const { counterRate } = read
  const rate = requote.choice?.rate ?? null
  const currency = currencyOf(quote, read)
  const requoteCard = (
    <ChoiceCard
      {...requote}
      currency={currency}
      title={counterRate === null ? 'Our rate' : 'Another rate'}
      action={counterRate === null || rate === null ? 'Requote' : `Requote at ${dollarsIn(rate, currency)}`}
    >
      <NewRate quote={quote} read={read} rate={rate} />
    </ChoiceCard>
  )
  if (counterRate === null) return requoteCard
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
      <ChoiceCard
        {...accept}
        currency={currency}
        title="Accept"
        chanceWords="they named it"
        action={`Accept ${dollarsIn(counterRate, quote.quoted_currency)}`}
        onKeep={accept.keep}
      >
        <NewRate quote={quote} read={read} rate={counterRate} />
      </ChoiceCard>
      {requoteCard}
      <ChoiceCard
        title="Decline"
        currency={currency}
        choice={nothingEarned}
        error={saving.choice === 'decline' ? saving.error : null}
        isBest={bestOf(accept.choice, requote.choice) === 'decline'}
        isPending={saving.isPending && saving.choice === 'decline'}
        isOff={saving.isPending}
        toConfirm={[]}
        action="Decline"
        onKeep={() => saving.decline(counterRate, reason)}
      >
        <NativeSelect
          aria-label="Why it is lost"
          value={reason}
          data={reasons.map((one) => ({ value: one, label: reasonNames[one] }))}
          onChange={(event) => onReason(event.currentTarget.value as Reason)}
        />
      </ChoiceCard>
    </SimpleGrid>
  )
}

const nothingEarned: Choice = {
  rate: 0,
  chance: 0,
  interval80: null,
  margin: 0,
  marginPct: null,
  worth: 0,
  rules: [],
}

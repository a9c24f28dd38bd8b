import { IconChevronDown, IconChevronUp, IconCopyPlus, IconTrash } from 'virtual:tabler-icons'
import { ActionIcon, Button, Text, TextInput, UnstyledButton } from '@mantine/core'
import { type ClipboardEvent, type KeyboardEvent, memo, type ReactNode, useEffect, useState } from 'react'
import { basisWords } from '#engine/rate-basis.ts'
import { useAnswer, useSession } from '../api/index.ts'
import {
  calendarDay,
  dollars,
  EquipmentInput,
  InRed,
  ModeChoice,
  noTerms,
  onOwnTerms,
  PlaceInput,
  percent,
  probability,
  type QuoteAdvice,
  RateTermsFields,
  RateTypeChoice,
  range,
  readDollars,
  readEquipment,
  saysTerms,
  termsInWords,
} from '../shared-ui/index.ts'
import { type DeskError, type DeskField, type DeskQuote, hasState } from './desk-draft.ts'
import { bestRateOf, marginOf } from './desk-quotes-advice.ts'

const offeredMax = 8
const suggestedMax = 3

export interface RowProps {
  readonly quote: DeskQuote
  readonly number: number
  readonly active: boolean
  readonly only: boolean
  readonly errors: readonly DeskError[]
  readonly unknown: { readonly origin: boolean; readonly destination: boolean }
  /** The advice for the row; null for a single quote, whose advice is below, and while it is loading. */
  readonly advice: QuoteAdvice | null
  /** Identical for every row and every render, so that typing in one row re-renders only that row. */
  readonly on: RowEvents
}

export interface RowEvents {
  readonly change: (quote: DeskQuote, field: DeskField, text: string) => void
  readonly activate: (quote: DeskQuote) => void
  /** Enter in the last field. */
  readonly enter: (quote: DeskQuote) => void
  readonly duplicate: (quote: DeskQuote) => void
  readonly remove: (quote: DeskQuote) => void
  /** Returns true when the pasted text contains rows of quotes. The field then ignores the paste. */
  readonly paste: (text: string) => boolean
}

const moreFields = ['cost', 'market', 'pickup', 'miles', 'rateType', 'mode', 'stops'] as const

/** One quote of the request: a row on a wide screen, a card on a narrow one. */
export const DeskRow = memo(function DeskRow(props: RowProps) {
  const { quote, number, active, only, errors, unknown, advice, on } = props
  const onChange = (field: DeskField, text: string) => on.change(quote, field, text)
  const filled = moreFields.filter((field) => quote[field] !== '')
  const [opened, setOpened] = useState(only && filled.length > 0)
  const errorAt = (field: DeskField) => errors.find((error) => error.field === field)
  const [termsOpened, setTermsOpened] = useState(false)
  const { default_basis: assumed } = useSession().tenant
  const hasTerms = termsOpened || saysTerms(quote) || errors.some(({ field }) => field in noTerms)
  const hasMore = opened || moreFields.some((field) => errorAt(field) !== undefined)
  const paste = (event: ClipboardEvent) => {
    if (on.paste(event.clipboardData.getData('text'))) event.preventDefault()
  }
  const enter = onPlainEnter(() => on.enter(quote))
  const input = (field: DeskField) => ({
    value: quote[field],
    error: errorAt(field)?.text,
    'data-field': `${quote.id}-${field}`,
  })
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a grid everywhere
    <div
      role="group"
      aria-label={`Quote ${number}`}
      className="desk-row"
      data-active={active || undefined}
      onFocus={() => on.activate(quote)}
      onPaste={paste}
    >
      <PlaceField
        label="Origin"
        {...input('origin')}
        problem={errorAt('origin')}
        isUnknown={unknown.origin}
        onChange={(text) => onChange('origin', text)}
      />
      <PlaceField
        label="Destination"
        {...input('destination')}
        problem={errorAt('destination')}
        isUnknown={unknown.destination}
        onChange={(text) => onChange('destination', text)}
      />
      <EquipmentField {...input('equipment')} onChange={(text) => onChange('equipment', text)} />
      <RateField
        {...input('rate')}
        quote={quote}
        number={number}
        assumed={assumed}
        hasTerms={hasTerms}
        onTerms={() => setTermsOpened(!termsOpened)}
        onChange={(text) => onChange('rate', text)}
        onKeyDown={hasMore || hasTerms ? undefined : enter}
      />
      <RowActions {...props} hasMore={hasMore} onMore={() => setOpened(!hasMore)} />
      {hasTerms && (
        // biome-ignore lint/a11y/noStaticElementInteractions: one shortcut for all fields inside
        <div className="desk-more desk-terms" onKeyDown={hasMore ? undefined : enter}>
          <RateTermsFields
            terms={quote}
            assumed={assumed}
            errors={termsErrorsOf(errors)}
            nameOf={(field) => `${quote.id}-${field}`}
            onChange={onChange}
          />
        </div>
      )}
      {hasMore && <MoreFields input={input} onChange={onChange} onLastKey={enter} />}
      <RowLine
        quote={quote}
        advice={advice}
        shown={hasMore ? [] : filled}
        onUse={(rate) => onChange('rate', String(rate))}
      />
    </div>
  )
})

/** The equipment, which becomes its code when the field is left. */
function EquipmentField(props: {
  value: string
  error: ReactNode
  'data-field': string
  onChange: (text: string) => void
}) {
  return (
    <EquipmentInput
      label="Equipment"
      openOnFocus={false}
      {...props}
      onDone={(text) => {
        const read = readEquipment(text)
        if (read !== text) props.onChange(read)
      }}
    />
  )
}

/** The line below a row: the fields behind "More" while it is closed, and the advice. */
function RowLine({
  quote,
  advice,
  shown,
  onUse,
}: Pick<RowProps, 'quote' | 'advice'> & {
  shown: readonly (typeof moreFields)[number][]
  onUse: (rate: number) => void
}) {
  if (advice === null && shown.length === 0) return null
  return (
    <Text size="sm" component="div" className="desk-row-advice desk-figures">
      {shown.map((field) => (
        <span key={field}>{moreInWords(quote, field)}</span>
      ))}
      {advice !== null && <RowAdviceLine quote={quote} advice={advice} onUse={onUse} />}
    </Text>
  )
}

/** A field behind "More" in words, for the line below a closed row. @example moreInWords(lane, 'cost') // 'cost $1,800' */
function moreInWords(quote: DeskQuote, field: (typeof moreFields)[number]): string {
  if (field === 'pickup') return `pickup ${calendarDay(quote.pickup)}`
  if (field === 'rateType' || field === 'mode') return quote[field]
  if (field === 'stops') return `via ${quote.stops}`
  if (field === 'miles') return `${quote.miles} miles`
  const amount = readDollars(quote[field])
  return `${field} ${amount === null ? quote[field] : dollars(amount)}`
}

const onPlainEnter = (run: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  run()
}

function termsErrorsOf(errors: readonly DeskError[]) {
  return Object.fromEntries(errors.map(({ field, text }) => [field, text]))
}

/** The rate, with a small button that states its terms and opens their fields. */
function RateField({
  quote,
  number,
  assumed,
  hasTerms,
  onTerms,
  onChange,
  ...input
}: {
  quote: DeskQuote
  number: number
  assumed: 'linehaul' | 'all_in'
  hasTerms: boolean
  onTerms: () => void
  value: string
  error: string | undefined
  'data-field': string
  onChange: (text: string) => void
  onKeyDown: ((event: KeyboardEvent) => void) | undefined
}) {
  const words = termsInWords(quote, assumed)
  return (
    <TextInput
      label="Rate"
      leftSection="$"
      inputMode="decimal"
      autoComplete="off"
      {...input}
      onChange={(event) => onChange(event.currentTarget.value)}
      rightSectionWidth={quote.currency === 'CAD' ? 92 : 68}
      rightSection={
        <UnstyledButton
          className="desk-terms-button"
          aria-expanded={hasTerms}
          aria-label={`Quote ${number} is ${words}: change`}
          title={words}
          onClick={onTerms}
        >
          {basisWords[quote.basis === '' ? assumed : quote.basis]}
          {quote.currency === 'CAD' ? ' CAD' : ''}
        </UnstyledButton>
      }
    />
  )
}

/** The chance, the margin and the best rate of a row, and the warnings about its rate. */
function RowAdviceLine({
  quote,
  advice,
  onUse,
}: {
  quote: DeskQuote
  advice: QuoteAdvice
  onUse: (rate: number) => void
}) {
  const { estimate, rate, warnings } = advice
  const best = bestRateOf(quote, advice)
  const margin = marginOf(quote, advice)
  const isTyped = quote.rate.trim() !== '' && advice.conversion !== null
  const own = best === null || advice.conversion === null ? null : onOwnTerms(advice.conversion, best.rate)
  return (
    <>
      {estimate?.probability != null && isTyped && (
        <span>
          win <b>{probability(estimate.probability)}</b>
          {estimate.interval_80 === null ? '' : ` (${range(estimate.interval_80)})`}
        </span>
      )}
      {margin !== null && rate !== null && isTyped && (
        <span>
          <InRed when={margin < 0}>
            margin <b>{dollars(margin)}</b> ({percent((margin / rate) * 100)})
          </InRed>
        </span>
      )}
      {best === null ? (
        <span>{advice.not_priced === undefined ? 'no advice yet' : 'saved, not priced'}</span>
      ) : (
        <span>
          best <b>{dollars(best.rate)}</b>
          {best.changed === '' ? '' : ` (${best.changed})`}{' '}
          {own !== null && (
            <UnstyledButton
              className="desk-suggestion"
              // No Tab stop, because it appears while the person types on. Alt + U does the same for the quote with the focus.
              tabIndex={-1}
              aria-label={`Use ${dollars(own)}`}
              onClick={() => onUse(own)}
            >
              Use{own === best.rate ? '' : ` ${dollars(own)}`}
            </UnstyledButton>
          )}
        </span>
      )}
      {advice.conversion === null && (
        <span className="desk-flag">cannot be compared: the fuel charge or exchange rate is not known</span>
      )}
      {warnings.map(({ code, detail }) => (
        <span key={code} className="desk-flag">
          ⚠ {detail}
        </span>
      ))}
    </>
  )
}

function MoreFields({
  input,
  onChange,
  onLastKey,
}: {
  input: (field: DeskField) => { value: string; error: string | undefined; 'data-field': string }
  onChange: (field: DeskField, text: string) => void
  onLastKey: (event: KeyboardEvent) => void
}) {
  const { default_rate_type: assumed } = useSession().tenant
  return (
    <div className="desk-more">
      <RateTypeChoice
        {...input('rateType')}
        assumed={assumed}
        onChange={(text) => onChange('rateType', text)}
      />
      <ModeChoice {...input('mode')} onChange={(text) => onChange('mode', text)} />
      <TextInput
        label="Stops (optional)"
        placeholder="Memphis, TN; Nashville, TN"
        autoComplete="off"
        {...input('stops')}
        onChange={(event) => onChange('stops', event.currentTarget.value)}
      />
      {(['cost', 'market'] as const).map((field) => (
        <TextInput
          key={field}
          label={field === 'cost' ? 'Estimated cost (optional)' : 'Market rate (optional)'}
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          {...input(field)}
          onChange={(event) => onChange(field, event.currentTarget.value)}
        />
      ))}
      <TextInput
        label="Miles (optional)"
        inputMode="decimal"
        autoComplete="off"
        {...input('miles')}
        onChange={(event) => onChange('miles', event.currentTarget.value)}
      />
      <TextInput
        label="Pickup date (optional)"
        type="date"
        {...input('pickup')}
        onChange={(event) => onChange('pickup', event.currentTarget.value)}
        onKeyDown={onLastKey}
      />
    </div>
  )
}

function RowActions({
  quote,
  number,
  only,
  hasMore,
  onMore,
  on,
}: RowProps & { hasMore: boolean; onMore: () => void }) {
  return (
    <div className="desk-actions">
      <Button
        variant="subtle"
        size="compact-sm"
        aria-expanded={hasMore}
        aria-label={`More fields of quote ${number}: rate type, cost, market rate, miles, pickup date`}
        rightSection={
          hasMore ? <IconChevronUp size={14} aria-hidden /> : <IconChevronDown size={14} aria-hidden />
        }
        onClick={onMore}
      >
        More
      </Button>
      <ActionIcon
        variant="subtle"
        aria-label={`Duplicate quote ${number}`}
        title="Duplicate"
        onClick={() => on.duplicate(quote)}
      >
        <IconCopyPlus size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        aria-label={only ? 'Clear the form' : `Remove quote ${number}`}
        title={only ? 'Clear' : 'Remove'}
        onClick={() => on.remove(quote)}
      >
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </div>
  )
}

function PlaceField({
  label,
  value,
  error,
  problem,
  isUnknown,
  onChange,
  ...more
}: {
  label: string
  value: string
  error: string | undefined
  problem: DeskError | undefined
  isUnknown: boolean
  onChange: (text: string) => void
}) {
  const [isDone, setDone] = useState(false)
  const typed = value.trim()
  const incomplete = isDone && typed !== '' && !hasState(typed)
  const offered = useAnswer(
    'suggest-places',
    { query: { q: typed, limit: offeredMax } },
    { enabled: incomplete || isUnknown, staleMs: 300_000 },
  )
  const readsAs = incomplete ? (offered.data?.reads_as ?? null) : null
  useEffect(() => {
    // The service read the text as a known place, for example 75201, DFW or "Dallas TX".
    if (readsAs !== null) onChange(readsAs)
  })
  const near = (offered.data?.places ?? []).map(({ place }) => place).slice(0, suggestedMax)
  const shown = notice()
  function notice(): { text: string; suggestions: readonly string[] } | null {
    if (problem !== undefined) return { text: error ?? problem.text, suggestions: problem.suggestions }
    if (incomplete) return { text: near.length > 0 ? 'Which one?' : 'Add the state', suggestions: near }
    if (isUnknown) {
      return {
        text: near.length > 0 ? 'Unknown place. Did you mean' : 'Unknown place.',
        suggestions: near,
      }
    }
    return null
  }
  return (
    <PlaceInput
      {...more}
      label={label}
      openOnFocus={false}
      value={value}
      error={shown === null ? undefined : <Suggested {...shown} onUse={onChange} />}
      onChange={(text) => {
        setDone(false)
        onChange(text)
      }}
      onFocus={() => setDone(false)}
      onDone={() => setDone(true)}
    />
  )
}

/**
 * A text with suggestions, each a button that uses it. They appear while the person types on, so they take no Tab stop: the list
 * of the field has the same suggestions for the keyboard.
 */
export function Suggested({
  text,
  suggestions,
  onUse,
}: {
  text: string
  suggestions: readonly string[]
  onUse: (place: string) => void
}): ReactNode {
  return (
    <>
      {text}{' '}
      {suggestions.map((place) => (
        <UnstyledButton key={place} className="desk-suggestion" tabIndex={-1} onClick={() => onUse(place)}>
          {place}
        </UnstyledButton>
      ))}
    </>
  )
}

export function KeyboardHint() {
  return (
    <Text size="xs" c="dimmed" visibleFrom="sm">
      Nothing is quoted until you save. Enter after the rate: next quote. Ctrl or ⌘ + Enter: save. Alt + U:
      use the rate to quote. You can paste spreadsheet rows into any field.
    </Text>
  )
}

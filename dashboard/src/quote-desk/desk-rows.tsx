import { IconChevronDown, IconChevronUp, IconCopyPlus, IconTrash } from 'virtual:tabler-icons'
import { ActionIcon, UnstyledButton, VisuallyHidden } from '@mantine/core'
import {
  type ClipboardEvent,
  type ComponentProps,
  type KeyboardEvent,
  memo,
  type ReactNode,
  useState,
} from 'react'
import { basisWords } from '#engine/rate-basis.ts'
import { useSession } from '../api/index.ts'
import {
  dollars,
  dollarsIn,
  EquipmentInput,
  fieldsBehindMore,
  InRed,
  percent,
  probability,
  type QuoteAdvice,
  QuoteInput,
  readEquipment,
  roundDollars,
  type TypedField,
  termsInWords,
  typedFields,
} from '../shared-ui/index.ts'
import type { DeskError, DeskQuote } from './desk-draft.ts'
import { PlaceField } from './desk-place-field.tsx'
import { figuresOf, type RowFigures, warningsOf } from './desk-quotes-advice.ts'

export interface RowProps {
  readonly quote: DeskQuote
  readonly number: number
  readonly active: boolean
  readonly only: boolean
  readonly errors: readonly DeskError[]
  readonly unknown: { readonly origin: boolean; readonly destination: boolean }
  /** The figures of the card, for the row that the card is about; null for other rows, and while the card has none. */
  readonly ofCard: RowFigures | null
  /** The advice for the row; null while it is loading. */
  readonly advice: QuoteAdvice | null
  /** Identical for every row and every render, so that typing in one row re-renders only that row. */
  readonly on: RowEvents
}

export interface RowEvents {
  readonly change: (quote: DeskQuote, field: TypedField, text: string) => void
  readonly activate: (quote: DeskQuote) => void
  /** Enter in a field after the places. */
  readonly enter: (quote: DeskQuote) => void
  readonly duplicate: (quote: DeskQuote) => void
  readonly remove: (quote: DeskQuote) => void
  /** Returns true when the pasted text contains rows of quotes. The field then ignores the paste. */
  readonly paste: (text: string) => boolean
}

/** One quote of the request: a row of the grid, or a card where there is little room. */
export const DeskRow = memo(function DeskRow(props: RowProps) {
  const { quote, number, active, errors, unknown, ofCard, advice, on } = props
  const { default_basis: assumed } = useSession().tenant
  const [opened, setOpened] = useState(false)
  const errorAt = (field: TypedField) => errors.find((error) => error.field === field)
  const hasMore = opened || fieldsBehindMore.some((field) => errorAt(field) !== undefined)
  const onMore = () => setOpened(!hasMore)
  const paste = (event: ClipboardEvent) => {
    if (on.paste(event.clipboardData.getData('text'))) event.preventDefault()
  }
  const enter = onPlainEnter(() => on.enter(quote))
  const input = (field: TypedField) => ({
    field,
    value: quote[field],
    error: errorAt(field)?.text,
    'data-field': `${quote.id}-${field}`,
    onType: (text: string) => on.change(quote, field, text),
  })
  // The parts of a cell are items of the row's grid.
  const cell = (field: TypedField) => ({ ...input(field), className: `desk-cell desk-${field}` })
  /** A field with suggestions, which has an input of its own. */
  const suggesting = (field: 'origin' | 'destination' | 'equipment') => {
    const { field: _, onType: onChange, ...props } = cell(field)
    return { ...props, label: typedFields[field].label, onChange }
  }
  const place = (field: 'origin' | 'destination') => ({
    ...suggesting(field),
    problem: errorAt(field),
    isUnknown: unknown[field],
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
      <PlaceField {...place('origin')} />
      <PlaceField {...place('destination')} />
      <EquipmentField {...suggesting('equipment')} />
      <RateField
        {...cell('rate')}
        quote={quote}
        number={number}
        hasMore={hasMore}
        onMore={onMore}
        onKeyDown={enter}
      />
      <QuoteInput {...cell('cost')} onKeyDown={enter} />
      <Figures
        figures={advice === null ? ofCard : figuresOf(quote, advice)}
        isCad={quote.currency === 'CAD'}
        warnings={advice === null ? [] : warningsOf(quote, advice, assumed)}
        onUse={(rate) => on.change(quote, 'rate', String(rate))}
      />
      <RowActions {...props} hasMore={hasMore} onMore={onMore} />
      {hasMore && (
        // biome-ignore lint/a11y/noStaticElementInteractions: one shortcut for all fields inside
        <div className="desk-more" onKeyDown={enter}>
          {fieldsBehindMore.map((field) => (
            <QuoteInput key={field} {...input(field)} />
          ))}
        </div>
      )}
    </div>
  )
})

/**
 * The rate to quote, in the currency of the quote, and the chance and the margin of the typed rate, or else of the rate to quote. The
 * margin is in US dollars.
 */
function Figures({
  figures,
  isCad,
  warnings,
  onUse,
}: {
  figures: RowFigures | null
  isCad: boolean
  warnings: readonly string[]
  onUse: (rate: number) => void
}) {
  const { toQuote = null, chance = null, margin = null, rate = null, isTyped = false } = figures ?? {}
  return (
    <>
      <Figure name="Quote" className="desk-to-quote">
        {toQuote === null ? (
          '–'
        ) : (
          <UnstyledButton
            className="desk-suggestion"
            // No Tab stop, because it appears while the person types on. Alt + U does the same for the quote with the focus.
            tabIndex={-1}
            aria-label={`Use ${dollarsIn(toQuote, isCad ? 'CAD' : null)}`}
            onClick={() => onUse(toQuote)}
          >
            {roundDollars(toQuote, isCad ? 'CAD' : null)}
          </UnstyledButton>
        )}
      </Figure>
      <Figure name="Chance" className="desk-chance" isDimmed={!isTyped}>
        {warnings.length > 0 && (
          <span className="desk-flag" title={warnings.join(' ')}>
            <span aria-hidden>⚠ </span>
            <VisuallyHidden>{warnings.join(' ')}</VisuallyHidden>
          </span>
        )}
        <span>{probability(chance)}</span>
      </Figure>
      <Figure name="Margin" className="desk-margin" isDimmed={!isTyped}>
        <span
          {...(margin === null || rate === null
            ? {}
            : { title: `${dollars(margin)}${isCad ? ' USD' : ''} (${percent((margin / rate) * 100)})` })}
        >
          <InRed when={margin !== null && margin < 0}>{roundDollars(margin, isCad ? 'USD' : null)}</InRed>
        </span>
      </Figure>
    </>
  )
}

function Figure({
  name,
  className,
  isDimmed = false,
  children,
}: {
  name: string
  className: string
  isDimmed?: boolean
  children: ReactNode
}) {
  return (
    <div className={`desk-cell desk-figure ${className}`} data-dimmed={isDimmed || undefined}>
      <span>{name}</span>
      <span>{children}</span>
    </div>
  )
}

/** The equipment, which becomes its code when the field is left. */
function EquipmentField(props: ComponentProps<typeof EquipmentInput>) {
  return (
    <EquipmentInput
      openOnFocus={false}
      {...props}
      onDone={(text) => {
        const read = readEquipment(text)
        if (read !== text) props.onChange(read)
      }}
    />
  )
}

const onPlainEnter = (run: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  run()
}

/** The rate, with a small button that states its terms and opens their fields. */
function RateField({
  quote,
  number,
  hasMore,
  onMore,
  ...input
}: Pick<RowProps, 'quote' | 'number'> & {
  hasMore: boolean
  onMore: () => void
} & ComponentProps<typeof QuoteInput>) {
  const { default_basis: assumed } = useSession().tenant
  const words = termsInWords(quote, assumed)
  const basis = quote.basis === '' ? assumed : quote.basis
  return (
    <QuoteInput
      {...input}
      rightSectionWidth={44}
      rightSection={
        <UnstyledButton
          className="desk-terms-button"
          aria-expanded={hasMore}
          aria-label={`Quote ${number} is ${words}: change`}
          title={words}
          onClick={onMore}
        >
          {basis === 'linehaul' ? 'LH' : basisWords[basis]}
          {/* A line of its own: the row is narrow. */}
          {quote.currency === 'CAD' && <span>CAD</span>}
        </UnstyledButton>
      }
    />
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
  const action = { variant: 'subtle', size: 24 } as const
  return (
    <div className="desk-actions">
      <ActionIcon
        {...action}
        aria-expanded={hasMore}
        aria-label={`More fields of quote ${number}`}
        title="More"
        onClick={onMore}
      >
        {hasMore ? <IconChevronUp size={16} aria-hidden /> : <IconChevronDown size={16} aria-hidden />}
      </ActionIcon>
      <ActionIcon
        {...action}
        aria-label={`Duplicate quote ${number}`}
        title="Duplicate"
        onClick={() => on.duplicate(quote)}
      >
        <IconCopyPlus size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        {...action}
        aria-label={only ? 'Clear the form' : `Remove quote ${number}`}
        title={only ? 'Clear' : 'Remove'}
        onClick={() => on.remove(quote)}
      >
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </div>
  )
}

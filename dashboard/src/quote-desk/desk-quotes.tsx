import { Button, Group, Text } from '@mantine/core'
import { useLayoutEffect, useMemo, useRef } from 'react'
import { useMay } from '../api/index.ts'
import { counted, InRed, percent, type QuoteAdvice, roundDollars, ValidFor } from '../shared-ui/index.ts'
import { type DeskError, type DeskQuote, isBlank } from './desk-draft.ts'
import { figuresOf, type RowFigures, totalsOf } from './desk-quotes-advice.ts'
import { DeskRow, type RowEvents } from './desk-rows.tsx'

const noErrors: readonly DeskError[] = []
/** The rows that a laptop shows with the buttons below them; more rows scroll. */
const rowsShown = 10
const nothingUnknown = { origin: false, destination: false }

/** The rows of a request, each with its rate to quote, chance, margin and warnings. */
export function DeskRows({
  lanes: quotes,
  active,
  errors,
  unknown,
  ofActive,
  adviceOf,
  on,
}: {
  lanes: readonly DeskQuote[]
  active: DeskQuote
  errors: readonly DeskError[]
  unknown: typeof nothingUnknown
  /** The figures of the card, for the active row; null while the card has none. */
  ofActive: RowFigures | null
  adviceOf: (quote: DeskQuote) => QuoteAdvice | null
  on: RowEvents
}) {
  return (
    <div className="desk-rows" data-many={quotes.length > rowsShown || undefined}>
      {quotes.map((quote, index) => (
        <DeskRow
          key={quote.id}
          quote={quote}
          number={index + 1}
          active={quote.id === active.id}
          only={quotes.length === 1}
          errors={errorsOf(errors, quote)}
          unknown={quote.id === active.id ? unknown : nothingUnknown}
          ofCard={quote.id === active.id ? ofActive : null}
          advice={adviceOf(quote)}
          on={on}
        />
      ))}
    </div>
  )
}

function errorsOf(errors: readonly DeskError[], quote: DeskQuote): readonly DeskError[] {
  const own = errors.filter(({ quoteId }) => quoteId === quote.id)
  return own.length === 0 ? noErrors : own
}

/** The sums of several quotes, and a button that uses the best rate of each. */
export function QuotesTotals({
  lanes: quotes,
  adviceOf,
  onUseBest,
}: {
  lanes: readonly DeskQuote[]
  adviceOf: (quote: DeskQuote) => QuoteAdvice | null
  onUseBest: (rates: ReadonlyMap<number, number>) => void
}) {
  const filled = quotes.filter((quote) => !isBlank(quote))
  if (filled.length < 2) return null
  const rows = filled.map((quote) => ({ lane: quote, advice: adviceOf(quote) }))
  const totals = totalsOf(rows)
  const best = new Map(
    rows.flatMap(({ lane: quote, advice }) => {
      const rate = advice === null ? null : figuresOf(quote, advice).toQuote
      return rate === null ? [] : [[quote.id, rate] as const]
    }),
  )
  return (
    <Group justify="space-between" gap="xs" className="desk-totals" role="group" aria-label="All quotes">
      <Text size="sm" className="desk-figures">
        <span>
          <b>{counted(filled.length, 'quote')}</b>, {totals.rated} with a rate
        </span>
        <span>
          total <b>{roundDollars(totals.rated === 0 ? null : totals.rate)}</b>
        </span>
        {totals.margin !== null && (
          <span>
            <InRed when={totals.margin < 0}>
              margin <b>{roundDollars(totals.margin)}</b> ({percent(totals.marginPct)})
              {totals.withMargin < totals.rated && `, ${counted(totals.withMargin, 'quote')} with a cost`}
            </InRed>
          </span>
        )}
        {totals.worth !== null && (
          <span title="Each margin times its chance">
            <InRed when={totals.worth < 0}>
              expected profit <b>{roundDollars(totals.worth)}</b>
            </InRed>
          </span>
        )}
        {totals.toCheck > 0 && (
          <span className="desk-flag">⚠ {counted(totals.toCheck, 'rate')} to check</span>
        )}
      </Text>
      <Button size="compact-sm" variant="default" disabled={best.size === 0} onClick={() => onUseBest(best)}>
        Use best for all
      </Button>
    </Group>
  )
}

/** The buttons below the rows. */
export function DeskButtons({
  laneCount,
  isFull,
  isSaving,
  validHours,
  onValidHours,
  onAdd,
  hasPasted,
  onPaste,
  onSave,
}: {
  laneCount: number
  isFull: boolean
  isSaving: boolean
  /** The chosen validity; null while nobody chose. */
  validHours: number | null
  onValidHours: (hours: number) => void
  onAdd: () => void
  /** Whether pasted rows wait to be added. */
  hasPasted: boolean
  onPaste: () => void
  onSave: () => void
}) {
  const mayQuote = useMay('member')
  return (
    <>
      <div className="desk-buttons">
        <Button variant="default" size="sm" disabled={isFull} onClick={onAdd}>
          Add a quote
        </Button>
        <Button variant="default" size="sm" onClick={onPaste}>
          {hasPasted ? 'Go on with pasted rows' : 'Paste rows'}
        </Button>
        {/* Below the quotes, so that nobody has to tab through this field on the way to the origin. */}
        <div className="desk-validity">
          <ValidFor hours={validHours} onHours={onValidHours} />
        </div>
        <Button
          disabled={!mayQuote}
          loading={isSaving}
          onClick={onSave}
          aria-keyshortcuts="Control+Enter Meta+Enter"
        >
          {laneCount > 1 ? `Save ${laneCount} quotes` : 'Save quote'}
        </Button>
      </div>
      {mayQuote ? (
        <Text size="xs" c="dimmed" visibleFrom="sm">
          Enter: next quote. Ctrl or ⌘ + Enter: save. Alt + U: use the rate to quote. Paste spreadsheet rows
          into any field.
        </Text>
      ) : (
        <Text size="sm">
          Your role, viewer, can get advice but cannot save quotes. An owner or admin can change your role on
          the page People and teams.
        </Text>
      )}
    </>
  )
}

/** Row events with a stable identity that call the handlers of the latest render. */
export function useRowEvents(events: RowEvents): RowEvents {
  const latest = useRef(events)
  useLayoutEffect(() => {
    latest.current = events
  })
  return useMemo(
    () => ({
      change: (...event) => latest.current.change(...event),
      activate: (quote) => latest.current.activate(quote),
      enter: (quote) => latest.current.enter(quote),
      duplicate: (quote) => latest.current.duplicate(quote),
      remove: (quote) => latest.current.remove(quote),
      paste: (text) => latest.current.paste(text),
    }),
    [],
  )
}

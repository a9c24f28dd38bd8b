import { Button, Group, Text } from '@mantine/core'
import { useLayoutEffect, useMemo, useRef } from 'react'
import { useMay } from '../api/index.ts'
import {
  counted,
  dollars,
  InRed,
  onOwnTerms,
  percent,
  type QuoteAdvice,
  roundDollars,
  ValidFor,
} from '../shared-ui/index.ts'
import { type DeskError, type DeskLane, isBlank } from './desk-draft.ts'
import { bestRateOf, totalsOf } from './desk-lanes-advice.ts'
import { DeskRow, KeyboardHint, type RowEvents } from './desk-rows.tsx'

const noErrors: readonly DeskError[] = []
const nothingUnknown = { origin: false, destination: false }

/** The rows of a request. With several quotes, each row shows its chance, margin, best rate and warnings. */
export function LaneRows({
  lanes,
  active,
  errors,
  unknown,
  adviceOf,
  on,
}: {
  lanes: readonly DeskLane[]
  active: DeskLane
  errors: readonly DeskError[]
  unknown: typeof nothingUnknown
  adviceOf: (lane: DeskLane) => QuoteAdvice | null
  on: RowEvents
}) {
  return (
    <div className="desk-rows" data-many={lanes.length > 7 || undefined}>
      {lanes.map((lane, index) => (
        <DeskRow
          key={lane.id}
          lane={lane}
          number={index + 1}
          active={lane.id === active.id}
          only={lanes.length === 1}
          errors={errorsOf(errors, lane)}
          unknown={lane.id === active.id ? unknown : nothingUnknown}
          advice={lanes.length === 1 ? null : adviceOf(lane)}
          on={on}
        />
      ))}
    </div>
  )
}

function errorsOf(errors: readonly DeskError[], lane: DeskLane): readonly DeskError[] {
  const own = errors.filter(({ laneId }) => laneId === lane.id)
  return own.length === 0 ? noErrors : own
}

/** The sums of several quotes, and a button that takes over the best rate of each. */
export function LanesTotals({
  lanes,
  adviceOf,
  onUseBest,
}: {
  lanes: readonly DeskLane[]
  adviceOf: (lane: DeskLane) => QuoteAdvice | null
  onUseBest: (rates: ReadonlyMap<number, number>) => void
}) {
  const filled = lanes.filter((lane) => !isBlank(lane))
  if (filled.length < 2) return null
  const rows = filled.map((lane) => ({ lane, advice: adviceOf(lane) }))
  const totals = totalsOf(rows)
  const best = new Map(
    rows.flatMap(({ lane, advice }) => {
      const best = advice === null ? null : bestRateOf(lane, advice)
      const rate =
        best === null || advice?.conversion == null ? null : onOwnTerms(advice.conversion, best.rate)
      return rate === null ? [] : [[lane.id, rate] as const]
    }),
  )
  return (
    <Group justify="space-between" gap="xs" px="xs" role="group" aria-label="All quotes">
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
              margin <b>{dollars(totals.margin)}</b> ({percent(totals.marginPct)})
              {totals.withMargin < totals.rated && `, ${counted(totals.withMargin, 'quote')} with a cost`}
            </InRed>
          </span>
        )}
        {totals.worth !== null && (
          <span>
            <InRed when={totals.worth < 0}>
              expected profit <b>{roundDollars(totals.worth)}</b> (each margin times its chance)
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
  onPaste,
  onSave,
}: {
  laneCount: number
  isFull: boolean
  isSaving: boolean
  /** Null while nobody chose. */
  validHours: number | null
  onValidHours: (hours: number) => void
  onAdd: () => void
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
          Paste rows
        </Button>
        <div className="desk-hint">{mayQuote && <KeyboardHint />}</div>
        {/* Here, and not between the reference and the quotes: nobody tabs through it to the origin. */}
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
      {!mayQuote && (
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
      activate: (lane) => latest.current.activate(lane),
      enter: (lane) => latest.current.enter(lane),
      duplicate: (lane) => latest.current.duplicate(lane),
      remove: (lane) => latest.current.remove(lane),
      paste: (text) => latest.current.paste(text),
    }),
    [],
  )
}

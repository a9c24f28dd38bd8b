import type { Quote } from '#contract/quote.ts'
import { moment } from './formats.ts'

type Outcome = Quote['outcome']
export type Reason = NonNullable<Quote['outcome_reason']>
type Source = NonNullable<Quote['outcome_source']>

/** An outcome as it is shown: a superseded offer is neither won nor lost, whatever its own outcome is. */
export type ShownOutcome = Outcome | 'superseded'

export const outcomeNames: Readonly<Record<ShownOutcome, string>> = {
  won: 'Won',
  lost: 'Lost',
  pending: 'Pending',
  expired: 'Expired',
  superseded: 'Superseded',
}

/** @example shownOutcome({ outcome: 'lost', superseded_by: '48211093754-1-2' }) // 'superseded' */
export function shownOutcome({
  outcome,
  superseded_by,
}: Pick<Quote, 'outcome' | 'superseded_by'>): ShownOutcome {
  return superseded_by === null ? outcome : 'superseded'
}

export const reasonNames: Readonly<Record<Reason, string>> = {
  price: 'Price',
  service: 'Service',
  capacity: 'Capacity',
  no_response: 'No response',
  withdrawn: 'Customer withdrew',
  other: 'Other',
}

export const reasons = Object.keys(reasonNames) as readonly Reason[]

export const sourceNames: Readonly<Record<Source, string>> = {
  dashboard: 'Dashboard',
  tms: 'TMS',
  import: 'Import',
  lanewise: 'Lanewise',
}

/** The source of a change within a sentence. @example `from ${sourcePhrases.tms}` // 'from the TMS' */
export const sourcePhrases: Readonly<Record<Source, string>> = {
  dashboard: 'the dashboard',
  tms: 'the TMS',
  import: 'an import',
  lanewise: 'Lanewise',
}

const signs: Readonly<Record<ShownOutcome, string>> = {
  won: '✓',
  lost: '✕',
  pending: '○',
  expired: '◌',
  superseded: '↷',
}

/** A quote's outcome as a word, an icon and a color. */
export function OutcomeMark({ outcome }: { outcome: ShownOutcome }) {
  const color = outcome === 'superseded' ? 'expired' : outcome
  return (
    <span
      style={{
        display: 'inline-flex',
        gap: '0.3em',
        padding: '0 0.45em',
        borderRadius: 'var(--mantine-radius-sm)',
        fontWeight: 600,
        color: `var(--${color})`,
        background: `var(--${color}-soft)`,
      }}
    >
      <span aria-hidden>{signs[outcome]}</span>
      {outcomeNames[outcome]}
    </span>
  )
}

/** A label for voided quotes; renders nothing for other quotes. */
export function VoidMark({ quote }: { quote: Pick<Quote, 'voided_at'> }) {
  return quote.voided_at === null ? null : (
    <span
      style={{
        padding: '0 0.45em',
        borderRadius: 'var(--mantine-radius-sm)',
        fontWeight: 600,
        color: 'var(--expired)',
        background: 'var(--expired-soft)',
      }}
    >
      Void
    </span>
  )
}

/** A label for quotes whose booking was cancelled; renders nothing for other quotes. */
export function CancelledMark({ quote }: { quote: Pick<Quote, 'cancelled_at'> }) {
  return quote.cancelled_at === null ? null : (
    <span
      style={{
        padding: '0 0.45em',
        borderRadius: 'var(--mantine-radius-sm)',
        fontWeight: 600,
        color: 'var(--lost)',
        background: 'var(--lost-soft)',
      }}
    >
      Booking cancelled
    </span>
  )
}

/** When and why a booking was cancelled, as one line of text. */
export function cancelledWords({ cancelled_at, cancel_reason }: Quote): string {
  return cancel_reason === null ? moment(cancelled_at) : `${moment(cancelled_at)}: ${cancel_reason}`
}

/** An outcome with its reason, as one line of text. @example outcomeWords('lost', 'no_response') // 'lost (no response)' */
export function outcomeWords(outcome: Outcome, reason: Reason | null): string {
  const name = outcomeNames[outcome].toLowerCase()
  return reason === null ? name : `${name} (${reasonNames[reason].toLowerCase()})`
}

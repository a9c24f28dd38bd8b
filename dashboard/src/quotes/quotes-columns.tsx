import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Quote } from '#contract/quote.ts'
import { useSession } from '../api/index.ts'
import {
  asLinkToQuote,
  type Column,
  CustomerLink,
  calendarDay,
  count,
  day,
  dollars,
  dollarsIn,
  equipmentName,
  laneName,
  loadMark,
  loadWords,
  Margin,
  MarginPct,
  moment,
  OutcomeMark,
  quotedMargin,
  ratePerMile,
  rateTypeNames,
  reasonNames,
  roundDollars,
  rpm,
  sentTerms,
  shownOutcome,
  VoidMark,
} from '../shared-ui/index.ts'

export type RowAction = 'open' | 'copy' | 'won' | 'lost' | 'pending' | 'requote' | 'menu'

interface RowParts {
  readonly quote: Quote
  /** The current row of the keyboard. Tab stops only at the controls of this row. */
  readonly isCurrent: boolean
  readonly mayMark: boolean
  readonly act: (action: RowAction, quote: Quote, from: HTMLElement) => void
}

interface QuotesColumn extends Omit<Column<Quote>, 'cell'> {
  /** 'always': shown in every choice of columns. 'extra': shown only when chosen. */
  readonly shown?: 'always' | 'extra'
  readonly cell: (parts: RowParts) => ReactNode
}

/** Spot or contract, as the quote states, else by the brokerage's default. */
export function RateTypeOf({ quote }: { quote: Pick<Quote, 'rate_type'> }) {
  const { default_rate_type: assumed } = useSession().tenant
  return rateTypeNames[quote.rate_type ?? assumed]
}

function RowButton({
  parts: { quote, isCurrent, act },
  action,
  label,
  look,
  children,
}: {
  parts: RowParts
  action: RowAction
  label: string
  look?: 'framed' | 'ref'
  children: ReactNode
}) {
  return (
    <button
      type="button"
      className="quotes-button"
      data-look={look}
      data-action={action}
      aria-label={label}
      title={label}
      aria-haspopup={action === 'menu' ? 'menu' : undefined}
      tabIndex={isCurrent ? 0 : -1}
      onClick={(event) => act(action, quote, event.currentTarget)}
    >
      {children}
    </button>
  )
}

/** Amounts from this one on have a small font: a part of an amount would be another amount. */
const longDollars = 100_000

/** An amount in whole dollars, in the width of a column. The title has the cents, and a note. */
function Amount({
  of,
  currency,
  note,
}: {
  of: number | null | undefined
  currency: Quote['quoted_currency']
  note: string | null | undefined
}) {
  const terms = sentTerms(null, currency)
  const isLong = terms !== null || Math.abs(of ?? 0) >= longDollars
  return (
    <span
      className={isLong ? 'quotes-long' : undefined}
      title={[dollars(of), terms, note].filter(Boolean).join(' · ')}
    >
      {roundDollars(of, terms === null ? null : currency)}
    </span>
  )
}

/** A value with a second one in small letters beside it; on a phone below it. */
function Pair({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <div className="quotes-pair">
      {first}
      <span className="quotes-second">{second}</span>
    </div>
  )
}

/** A place in one line. In a narrow column the city is cut, never the state. */
function PlaceName({ place }: { place: string }) {
  const state = place.lastIndexOf(',')
  return (
    <span className="quotes-place">
      <span className="quotes-city">{state < 0 ? place : place.slice(0, state)}</span>
      {state < 0 ? '' : place.slice(state)}
    </span>
  )
}

function LaneCell({ quote, isCurrent, act }: RowParts) {
  const name = laneName(quote.origin, quote.destination)
  return (
    <Pair
      first={
        // A plain anchor, because 200 router links on a page make it noticeably slow.
        <a
          href={`/quotes/${encodeURIComponent(quote.lane_ref)}`}
          className="quotes-lane"
          title={name}
          aria-label={name}
          data-row-link
          tabIndex={isCurrent ? 0 : -1}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
            event.preventDefault()
            act('open', quote, event.currentTarget)
          }}
        >
          <PlaceName place={quote.origin} />{' '}
          <span className="quotes-place">
            →&nbsp;
            <PlaceName place={quote.destination} />
          </span>
        </a>
      }
      second={
        <>
          {loadMark(quote)}
          <span className="quotes-phone">{quote.lane_ref}</span>
        </>
      }
    />
  )
}

function OutcomeCell(parts: RowParts) {
  const { quote, isCurrent, mayMark } = parts
  const reason = quote.outcome_reason === null ? null : reasonNames[quote.outcome_reason]
  if (quote.superseded_by !== null && quote.voided_at === null) {
    const by = `Superseded by ${quote.superseded_by}`
    return (
      <Anchor
        inherit
        renderRoot={asLinkToQuote(quote.superseded_by)}
        aria-label={by}
        title={by}
        tabIndex={isCurrent ? 0 : -1}
      >
        <OutcomeMark outcome="superseded" />
      </Anchor>
    )
  }
  return (
    <Pair
      first={
        quote.voided_at === null ? <OutcomeMark outcome={shownOutcome(quote)} /> : <VoidMark quote={quote} />
      }
      second={
        quote.outcome === 'pending' && quote.voided_at === null && mayMark ? (
          <>
            <RowButton parts={parts} action="won" label={`Mark ${quote.lane_ref} won`} look="framed">
              <span aria-hidden>✓</span>
            </RowButton>
            <RowButton parts={parts} action="lost" label={`Mark ${quote.lane_ref} lost`} look="framed">
              <span aria-hidden>✕</span>
            </RowButton>
          </>
        ) : (
          reason !== null && <span title={reason}>{reason}</span>
        )
      }
    />
  )
}

function BookedCell({ quote }: RowParts) {
  const { customer_rate: rate, customer_currency: currency, cancelled_at, booked_at } = quote
  return cancelled_at === null ? (
    <Amount of={rate} currency={currency} note={booked_at && day(booked_at)} />
  ) : (
    <span title={`${dollarsIn(rate, currency)}, booking cancelled`}>cancelled</span>
  )
}

/** The day, without the year in the current one, and the person. */
function QuotedAtCell({ quote }: RowParts) {
  const rep = quote.quoted_by?.name ?? quote.rep_name ?? 'imported'
  const thisYear = day(new Date().toISOString()).slice(-6)
  return (
    <span title={`${moment(quote.created_at)}, ${rep}`}>
      <Pair first={day(quote.created_at).replace(thisYear, '')} second={rep} />
    </span>
  )
}

const costSources = { estimate: 'estimate', history: 'AP history' } as const

const dayMs = 86_400_000

/** Whole days since a time. @example daysSince(lane.created_at) // 12 */
function daysSince(time: string): number {
  return Math.max(0, Math.floor((Date.now() - Date.parse(time)) / dayMs))
}

/** A column of text that is shown only when a person chooses it. */
function extra(key: string, header: string, cell: QuotesColumn['cell']): QuotesColumn {
  return { key, header, width: 6.6, shown: 'extra', cell }
}

const quotesColumns: readonly QuotesColumn[] = [
  { key: 'lane', header: 'Lane', shown: 'always', cell: LaneCell },
  {
    key: 'equipment',
    width: 3.4,
    header: 'Equip.',
    from: 'sm',
    cell: ({ quote }) => <span title={equipmentName(quote.equipment)}>{quote.equipment}</span>,
  },
  {
    key: 'customer',
    width: 7.5,
    header: 'Customer',
    from: 'sm',
    sorts: ['customer'],
    rises: true,
    cell: ({ quote, isCurrent }) => (
      <span title={quote.customer_name}>
        <CustomerLink name={quote.customer_name} tabIndex={isCurrent ? 0 : -1} />
      </span>
    ),
  },
  {
    key: 'quoted_rate',
    width: 7.1,
    header: 'Quoted',
    align: 'right',
    sorts: ['rate_high', 'rate_low'],
    cell: ({ quote }) => (
      <Pair
        first={dollars(quote.quoted_rate)}
        second={
          sentTerms(quote.quoted_basis, quote.quoted_currency) ??
          ratePerMile(rpm(quote.quoted_rate, quote.counted_miles))
        }
      />
    ),
  },
  {
    key: 'cost',
    width: 4,
    header: 'Cost',
    align: 'right',
    from: 'md',
    cell: ({ quote }) => {
      const quoted = quotedMargin(quote)
      return (
        <Amount
          of={quoted?.cost}
          currency={quote.quoted_currency}
          note={quoted && costSources[quoted.source]}
        />
      )
    },
  },
  {
    key: 'quoted_margin',
    width: 6.4,
    header: 'Margin',
    align: 'right',
    from: 'sm',
    cell: ({ quote }) => {
      const quoted = quotedMargin(quote)
      return (
        <Pair
          first={<Margin amount={quoted?.margin} isRounded />}
          second={
            quoted && (sentTerms(null, quote.quoted_currency) ?? <MarginPct share={quoted.marginPct} />)
          }
        />
      )
    },
  },
  { key: 'outcome', width: 9.8, header: 'Outcome', cell: OutcomeCell },
  { key: 'booked', width: 4.3, header: 'Booked', align: 'right', from: 'md', cell: BookedCell },
  {
    key: 'margin',
    width: 7.6,
    header: 'Booked margin',
    align: 'right',
    shown: 'extra',
    sorts: ['margin_high', 'margin_low'],
    cell: ({ quote }) => (
      <Pair
        first={<Margin amount={quote.margin} isRounded />}
        second={
          quote.margin_pct !== null &&
          (sentTerms(null, quote.margin_currency) ?? <MarginPct share={quote.margin_pct} />)
        }
      />
    ),
  },
  {
    key: 'quoted_at',
    width: 8,
    header: 'Quoted at',
    from: 'md',
    sorts: ['newest', 'oldest'],
    cell: QuotedAtCell,
  },
  {
    key: 'ref',
    width: 7.3,
    header: 'Ref',
    shown: 'extra',
    cell: (parts) => (
      <RowButton parts={parts} action="copy" label={`Copy quote number ${parts.quote.lane_ref}`} look="ref">
        {parts.quote.lane_ref}
      </RowButton>
    ),
  },
  extra('rate_type', 'Rate type', ({ quote }) => <RateTypeOf quote={quote} />),
  extra('mode', 'Mode', ({ quote }) => loadWords(quote) ?? 'Truckload'),
  extra('rep', 'Rep', ({ quote }) => quote.quoted_by?.name ?? quote.rep_name),
  extra('external_id', 'External id', ({ quote }) => quote.external_id),
  extra('reference', 'Reference', ({ quote }) => quote.reference),
  {
    ...extra('pending_days', 'Days pending', ({ quote }) =>
      quote.outcome === 'pending' ? count(daysSince(quote.created_at)) : null,
    ),
    width: 6.2,
    align: 'right',
    sorts: ['oldest', 'newest'],
  },
  {
    ...extra('miles', 'Miles', ({ quote }) => count(quote.miles)),
    width: 3.8,
    align: 'right',
  },
  extra('pickup', 'Pickup', ({ quote }) => calendarDay(quote.pickup_date)),
  extra('valid_until', 'Valid until', ({ quote }) =>
    quote.valid_until === null ? null : day(quote.valid_until),
  ),
  extra('carrier', 'Carrier', ({ quote }) => quote.carrier_name),
  {
    key: 'actions',
    width: 2.2,
    shown: 'always',
    header: 'Actions',
    hidesHeader: true,
    cell: (parts) => (
      <RowButton parts={parts} action="menu" label={`Actions for ${parts.quote.lane_ref}`}>
        <span aria-hidden>•••</span>
      </RowButton>
    ),
  },
]

/** The columns that a person can choose. */
export const choosableColumns = quotesColumns.filter(({ shown }) => shown !== 'always')
/** The names of the columns that the list has until a person chooses. */
export const usualColumns = choosableColumns.filter(({ shown }) => shown !== 'extra').map(({ key }) => key)

/** The chosen columns, in the order of the list; the usual ones if no name is known. */
export function columnsNamed(
  names: readonly string[],
  mayMark: boolean,
  act: RowParts['act'],
): readonly Column<Quote>[] {
  const known = names.filter((name) => choosableColumns.some(({ key }) => key === name))
  const wanted = new Set(known.length === 0 ? usualColumns : known)
  return quotesColumns
    .filter(({ key, shown }) => shown === 'always' || wanted.has(key))
    .map((column) => ({
      ...column,
      cell: (quote, isCurrent) => column.cell({ quote, isCurrent, mayMark, act }),
    }))
}

/** The names of the sort orders in the list of orders. */
export const sortNames: Readonly<Record<string, string>> = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  updated: 'Last changed first',
  rate_high: 'Rate, high first',
  rate_low: 'Rate, low first',
  margin_high: 'Margin, high first',
  margin_low: 'Margin, low first',
  customer: 'Customer, A to Z',
}

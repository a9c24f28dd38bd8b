import { IconCopy } from 'virtual:tabler-icons'
import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Quote } from '#contract/quote.ts'
import { useSession } from '../api/index.ts'
import {
  asLinkToQuote,
  CustomerLink,
  calendarDay,
  count,
  day,
  dollars,
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
  rpm,
  sentTerms,
  shownOutcome,
  VoidMark,
} from '../shared-ui/index.ts'

export type RowAction = 'open' | 'copy' | 'won' | 'lost' | 'pending' | 'requote' | 'menu'

export interface RowParts {
  readonly quote: Quote
  /** The current row of the keyboard. Tab stops only at the controls of this row. */
  readonly isCurrent: boolean
  readonly mayMark: boolean
  readonly act: (action: RowAction, quote: Quote, from: HTMLElement) => void
}

export interface QuotesColumn {
  readonly key: string
  readonly header: string
  /** The width in rem. Without one, the column takes the rest. */
  readonly width?: number
  readonly align?: 'right'
  readonly from?: 'sm' | 'md'
  readonly isText?: boolean
  /** 'always': shown in every choice of columns. 'extra': shown only when chosen. */
  readonly shown?: 'always' | 'extra'
  readonly hidesHeader?: boolean
  readonly sorts?: readonly [first: string, second?: string]
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
  framed = false,
  children,
}: {
  parts: RowParts
  action: RowAction
  label: string
  framed?: boolean
  children: ReactNode
}) {
  return (
    <button
      type="button"
      className="quotes-button"
      data-framed={framed ? true : undefined}
      data-action={action}
      aria-label={label}
      aria-haspopup={action === 'menu' ? 'menu' : undefined}
      tabIndex={isCurrent ? 0 : -1}
      onClick={(event) => act(action, quote, event.currentTarget)}
    >
      {children}
    </button>
  )
}

/** Amounts from this one on have a small font and no cents. Cents would cover the next column. */
const longDollars = 100_000

/** An amount in the width of a column. The title has its cents. */
function Amount({ of, isMargin = false }: { of: number | null | undefined; isMargin?: boolean }) {
  const shown = isMargin ? (amount: typeof of) => <Margin amount={amount} /> : dollars
  if (of === null || of === undefined || Math.abs(of) < longDollars) return shown(of)
  return (
    <span className="quotes-long" title={dollars(of)}>
      {shown(Math.round(of))}
    </span>
  )
}

function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <>
      <div>{first}</div>
      <div className="quotes-second">{second}</div>
    </>
  )
}

/** An amount or a percentage with its currency, if it is not US dollars. */
function withCurrency(shown: ReactNode, currency: Quote['quoted_currency']): ReactNode {
  const said = sentTerms(null, currency)
  return said === null ? (
    shown
  ) : (
    <>
      {shown} {said}
    </>
  )
}

/** Text truncated to one line. The title attribute has the full text. */
function Truncated({ text }: { text: string }) {
  return (
    <span className="quotes-cut" title={text}>
      {text}
    </span>
  )
}

function LaneCell(parts: RowParts) {
  const { quote, isCurrent, act } = parts
  return (
    <TwoLines
      first={
        // A plain anchor, because 200 router links on a page make it noticeably slow.
        <a
          href={`/quotes/${encodeURIComponent(quote.lane_ref)}`}
          className="quotes-lane"
          data-row-link
          tabIndex={isCurrent ? 0 : -1}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
            event.preventDefault()
            act('open', quote, event.currentTarget)
          }}
        >
          {laneName(quote.origin, quote.destination)}
        </a>
      }
      second={
        <>
          {loadMark(quote) !== null && `${loadMark(quote)} · `}
          {quote.lane_ref}
          <RowButton parts={parts} action="copy" label={`Copy lane_ref ${quote.lane_ref}`}>
            <IconCopy size={14} aria-hidden />
          </RowButton>
        </>
      }
    />
  )
}

function OutcomeCell(parts: RowParts) {
  const { quote, mayMark } = parts
  return (
    <TwoLines
      first={
        quote.voided_at === null ? <OutcomeMark outcome={shownOutcome(quote)} /> : <VoidMark quote={quote} />
      }
      second={
        quote.superseded_by !== null ? (
          <Anchor renderRoot={asLinkToQuote(quote.superseded_by)} size="sm">
            {quote.superseded_by}
          </Anchor>
        ) : quote.outcome === 'pending' && quote.voided_at === null && mayMark ? (
          <>
            <RowButton parts={parts} action="won" label={`Mark ${quote.lane_ref} won`} framed>
              Won
            </RowButton>
            <RowButton parts={parts} action="lost" label={`Mark ${quote.lane_ref} lost`} framed>
              Lost
            </RowButton>
          </>
        ) : quote.outcome_reason === null ? null : (
          reasonNames[quote.outcome_reason]
        )
      }
    />
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
  return { key, header, width: 6.6, shown: 'extra', isText: true, cell }
}

const quotesColumns: readonly QuotesColumn[] = [
  { key: 'lane', header: 'Lane', shown: 'always', isText: true, cell: LaneCell },
  {
    key: 'equipment',
    width: 3.4,
    header: 'Equip.',
    from: 'sm',
    isText: true,
    cell: ({ quote }) => <span title={equipmentName(quote.equipment)}>{quote.equipment}</span>,
  },
  {
    key: 'customer',
    width: 7.4,
    header: 'Customer',
    from: 'sm',
    isText: true,
    sorts: ['customer'],
    cell: ({ quote, isCurrent }) => (
      <span className="quotes-two-lines" title={quote.customer_name}>
        <CustomerLink name={quote.customer_name} tabIndex={isCurrent ? 0 : -1} />
      </span>
    ),
  },
  {
    key: 'quoted_rate',
    width: 4.5,
    header: 'Quoted',
    align: 'right',
    sorts: ['rate_high', 'rate_low'],
    cell: ({ quote }) => (
      <TwoLines
        first={<Amount of={quote.quoted_rate} />}
        second={
          sentTerms(quote.quoted_basis, quote.quoted_currency) ??
          ratePerMile(rpm(quote.quoted_rate, quote.counted_miles))
        }
      />
    ),
  },
  {
    key: 'cost',
    width: 4.8,
    header: 'Expected cost',
    align: 'right',
    from: 'md',
    cell: ({ quote }) => {
      const quoted = quotedMargin(quote)
      return (
        <TwoLines
          first={<Amount of={quoted?.cost} />}
          second={quoted && (sentTerms(null, quote.quoted_currency) ?? costSources[quoted.source])}
        />
      )
    },
  },
  {
    key: 'quoted_margin',
    width: 4.8,
    header: 'Quoted margin',
    align: 'right',
    from: 'md',
    cell: ({ quote }) => {
      const quoted = quotedMargin(quote)
      return (
        <TwoLines
          first={<Amount of={quoted?.margin} isMargin />}
          second={quoted && withCurrency(<MarginPct share={quoted.marginPct} />, quote.quoted_currency)}
        />
      )
    },
  },
  { key: 'outcome', width: 6.1, header: 'Outcome', cell: OutcomeCell },
  {
    key: 'margin',
    width: 4.6,
    header: 'Margin',
    align: 'right',
    from: 'sm',
    sorts: ['margin_high', 'margin_low'],
    cell: ({ quote }) => (
      <TwoLines
        first={<Amount of={quote.margin} isMargin />}
        second={
          quote.margin_pct === null
            ? null
            : withCurrency(<MarginPct share={quote.margin_pct} />, quote.margin_currency)
        }
      />
    ),
  },
  {
    key: 'booked',
    width: 6.3,
    header: 'Booked',
    align: 'right',
    from: 'md',
    cell: ({ quote }) => (
      <TwoLines
        first={withCurrency(<Amount of={quote.customer_rate} />, quote.customer_currency)}
        second={quote.cancelled_at === null ? quote.booked_at && day(quote.booked_at) : 'booking cancelled'}
      />
    ),
  },
  {
    key: 'quoted_at',
    width: 6.3,
    header: 'Quoted at',
    from: 'md',
    sorts: ['newest', 'oldest'],
    cell: ({ quote }) => (
      <TwoLines
        first={<span title={moment(quote.created_at)}>{day(quote.created_at)}</span>}
        second={<Truncated text={quote.quoted_by?.name ?? quote.rep_name ?? 'imported'} />}
      />
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
    isText: false,
    sorts: ['oldest', 'newest'],
  },
  {
    ...extra('miles', 'Miles', ({ quote }) => count(quote.miles)),
    width: 3.8,
    align: 'right',
    isText: false,
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
export function columnsNamed(names: readonly string[]): readonly QuotesColumn[] {
  const known = names.filter((name) => choosableColumns.some(({ key }) => key === name))
  const wanted = new Set(known.length === 0 ? usualColumns : known)
  return quotesColumns.filter(({ key, shown }) => shown === 'always' || wanted.has(key))
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

const risingSorts: ReadonlySet<string> = new Set(['oldest', 'rate_low', 'margin_low', 'customer'])

/** The value of a column's `aria-sort`. */
export function sortedAs(
  { sorts }: QuotesColumn,
  sort: string,
): 'ascending' | 'descending' | 'none' | undefined {
  if (sorts === undefined) return undefined
  if (!sorts.includes(sort)) return 'none'
  return risingSorts.has(sort) ? 'ascending' : 'descending'
}

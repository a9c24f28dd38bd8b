import { Text, UnstyledButton } from '@mantine/core'
import type { Quote } from '#contract/quote.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { useSession } from '../api/index.ts'
import {
  bookedAgainstQuoted,
  CancelledMark,
  type Column,
  CopyButton,
  DataTable,
  Difference,
  day,
  dollars,
  laneName,
  Margin,
  MarginPct,
  sentTerms,
} from '../shared-ui/index.ts'

const cut = { maxWidth: '8.75rem', overflow: 'hidden', textOverflow: 'ellipsis' } as const

/** Two lines of text. Long text is truncated, and the title attribute has the full text. */
function TwoLines({ first, second }: { first: string; second?: string | null }) {
  return (
    <>
      <div style={cut} title={first}>
        {first}
      </div>
      {second !== undefined && second !== null && (
        <Text size="xs" c="dimmed" style={cut} title={second}>
          {second}
        </Text>
      )}
    </>
  )
}

/** The landed margin, in dollars and as a percentage of the customer rate. */
export function LandedMargin({ quote: { margin, margin_pct, margin_currency } }: { quote: Quote }) {
  const terms = sentTerms(null, margin_currency)
  if (margin === null) return <span>–</span>
  return (
    <>
      <Margin amount={margin} />
      <br />
      <small>
        {terms !== null && `${terms} · `}
        <MarginPct share={margin_pct} />
      </small>
    </>
  )
}

function LaneCell({ quote, open }: { quote: Quote; open: (quote: Quote) => void }) {
  const name = laneName(quote.origin, quote.destination)
  return (
    <>
      <UnstyledButton
        fz="sm"
        style={{
          display: 'block',
          width: 'min(12.5rem, 45vw)',
          whiteSpace: 'normal',
          color: 'var(--mantine-color-anchor)',
          textDecoration: 'underline',
          minHeight: 24,
        }}
        aria-label={`${name}: details and changes of ${quote.lane_ref}`}
        onClick={() => open(quote)}
      >
        {name}
      </UnstyledButton>
      <Text size="xs" c="dimmed" component="div">
        {quote.equipment} · {quote.lane_ref}{' '}
        <CopyButton text={quote.lane_ref} what={`quote number ${quote.lane_ref}`} compact />
      </Text>
    </>
  )
}

function columnsOf(open: (quote: Quote) => void, assumed: RateBasis): readonly Column<Quote>[] {
  return [
    {
      key: 'lane',
      header: 'Lane',
      cell: (quote) => <LaneCell quote={quote} open={open} />,
    },
    {
      key: 'customer',
      header: 'Customer',
      from: 'sm',
      cell: (quote) => (
        <TwoLines
          first={quote.customer_name}
          second={
            quote.customer_name === quote.quoted_customer_name
              ? null
              : `quoted for ${quote.quoted_customer_name}`
          }
        />
      ),
    },
    {
      key: 'carrier',
      header: 'Carrier',
      from: 'sm',
      cell: (quote) => <TwoLines first={quote.carrier_name ?? '–'} second={quote.carrier_notes} />,
    },
    {
      key: 'ar',
      header: 'AR',
      align: 'right',
      sorts: ['rate_high', 'rate_low'],
      cell: (quote) => (
        <OnTerms
          amount={quote.customer_rate}
          terms={sentTerms(quote.customer_basis, quote.customer_currency)}
        />
      ),
    },
    {
      key: 'ap',
      header: 'AP',
      align: 'right',
      cell: (quote) => (
        <OnTerms amount={quote.truck_cost} terms={sentTerms(quote.truck_basis, quote.truck_currency)} />
      ),
    },
    {
      key: 'margin',
      header: 'Margin',
      align: 'right',
      sorts: ['margin_high', 'margin_low'],
      cell: (quote) =>
        quote.cancelled_at === null ? <LandedMargin quote={quote} /> : <CancelledMark quote={quote} />,
    },
    {
      key: 'quoted',
      header: 'AR vs quote',
      align: 'right',
      cell: (quote) => (
        <>
          <Difference amount={bookedAgainstQuoted(quote, assumed)} currency={quote.quoted_currency} />
          <Text size="xs" c="dimmed">
            quoted{' '}
            {[dollars(quote.quoted_rate), sentTerms(quote.quoted_basis, quote.quoted_currency)].join(' ')}
          </Text>
        </>
      ),
    },
    {
      key: 'booked',
      header: 'Booked, quoted',
      sorts: ['booked'],
      cell: (quote) => <TwoLines first={day(quote.booked_at)} second={day(quote.created_at)} />,
    },
  ]
}

/** One row per shipment with its rates, cost and margin. Opening a row shows the shipment's record. */
export function ShipmentsTable({
  lanes: quotes,
  sort,
  onSort,
  chosen,
  onOpen,
}: {
  lanes: readonly Quote[]
  sort: string
  onSort: (sort: string) => void
  chosen: string | null
  onOpen: (quote: Quote) => void
}) {
  const { default_basis: assumed } = useSession().tenant
  return (
    <DataTable
      caption="Shipments"
      columns={columnsOf(onOpen, assumed)}
      rows={quotes}
      rowKey={(quote) => quote.lane_ref}
      chosen={chosen}
      sort={sort}
      onSort={onSort}
    />
  )
}

/** An amount as it was sent, with its currency and basis if they were stated. */
function OnTerms({ amount, terms }: { amount: number | null; terms: string | null }) {
  return <TwoLines first={dollars(amount)} second={terms} />
}

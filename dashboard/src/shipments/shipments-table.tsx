import { Text, UnstyledButton } from '@mantine/core'
import type { Lane } from '#contract/lane.ts'
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
export function LandedMargin({ lane: { margin, margin_pct, margin_currency } }: { lane: Lane }) {
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

function LaneCell({ lane, open }: { lane: Lane; open: (lane: Lane) => void }) {
  const name = laneName(lane.origin, lane.destination)
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
        aria-label={`${name}: details and changes of ${lane.lane_ref}`}
        onClick={() => open(lane)}
      >
        {name}
      </UnstyledButton>
      <Text size="xs" c="dimmed" component="div">
        {lane.equipment} · {lane.lane_ref}{' '}
        <CopyButton text={lane.lane_ref} what={`lane_ref ${lane.lane_ref}`} compact />
      </Text>
    </>
  )
}

function columnsOf(open: (lane: Lane) => void, assumed: RateBasis): readonly Column<Lane>[] {
  return [
    {
      key: 'lane',
      header: 'Lane',
      cell: (lane) => <LaneCell lane={lane} open={open} />,
    },
    {
      key: 'customer',
      header: 'Customer',
      from: 'sm',
      cell: (lane) => (
        <TwoLines
          first={lane.customer_name}
          second={
            lane.customer_name === lane.quoted_customer_name
              ? null
              : `quoted for ${lane.quoted_customer_name}`
          }
        />
      ),
    },
    {
      key: 'carrier',
      header: 'Carrier',
      from: 'sm',
      cell: (lane) => <TwoLines first={lane.carrier_name ?? '–'} second={lane.carrier_notes} />,
    },
    {
      key: 'ar',
      header: 'AR',
      align: 'right',
      sorts: ['rate_high', 'rate_low'],
      cell: (lane) => (
        <OnTerms amount={lane.customer_rate} terms={sentTerms(lane.customer_basis, lane.customer_currency)} />
      ),
    },
    {
      key: 'ap',
      header: 'AP',
      align: 'right',
      cell: (lane) => (
        <OnTerms amount={lane.truck_cost} terms={sentTerms(lane.truck_basis, lane.truck_currency)} />
      ),
    },
    {
      key: 'margin',
      header: 'Margin',
      align: 'right',
      sorts: ['margin_high', 'margin_low'],
      cell: (lane) =>
        lane.cancelled_at === null ? <LandedMargin lane={lane} /> : <CancelledMark lane={lane} />,
    },
    {
      key: 'quoted',
      header: 'AR vs quote',
      align: 'right',
      cell: (lane) => (
        <>
          <Difference amount={bookedAgainstQuoted(lane, assumed)} />
          <Text size="xs" c="dimmed">
            quoted {[dollars(lane.quoted_rate), sentTerms(lane.quoted_basis, lane.quoted_currency)].join(' ')}
          </Text>
        </>
      ),
    },
    {
      key: 'booked',
      header: 'Booked, quoted',
      sorts: ['booked'],
      cell: (lane) => <TwoLines first={day(lane.booked_at)} second={day(lane.created_at)} />,
    },
  ]
}

/** One row per shipment with its rates, cost and margin. Opening a row shows the shipment's record. */
export function ShipmentsTable({
  lanes,
  sort,
  onSort,
  chosen,
  onOpen,
}: {
  lanes: readonly Lane[]
  sort: string
  onSort: (sort: string) => void
  chosen: string | null
  onOpen: (lane: Lane) => void
}) {
  const { default_basis: assumed } = useSession().tenant
  return (
    <DataTable
      caption="Shipments"
      columns={columnsOf(onOpen, assumed)}
      rows={lanes}
      rowKey={(lane) => lane.lane_ref}
      chosen={chosen}
      sort={sort}
      onSort={onSort}
    />
  )
}

/** An amount as it was sent, with its currency and what it includes if that was stated. */
function OnTerms({ amount, terms }: { amount: number | null; terms: string | null }) {
  return <TwoLines first={dollars(amount)} second={terms} />
}

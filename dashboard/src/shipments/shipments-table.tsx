import { Text, UnstyledButton } from '@mantine/core'
import type { Lane } from '#contract/lane.ts'
import {
  CancelledMark,
  type Column,
  CopyButton,
  DataTable,
  Difference,
  day,
  dollars,
  laneName,
  percent,
  signedDollars,
  signedPercent,
} from '../shared-ui/index.ts'
import { bookedAgainstQuoted } from './shipments-query.ts'

const cut = { maxWidth: '9.25rem', overflow: 'hidden', textOverflow: 'ellipsis' } as const

/** A text with a smaller one below it, both cut where they are too long, and whole in their titles. */
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

/** The margin that landed, in dollars and as a share of the customer rate. */
export function Margin({ lane: { margin, margin_pct } }: { lane: Lane }) {
  if (margin === null) return <span>–</span>
  const color = margin < 0 ? 'var(--lost)' : undefined
  return (
    <span style={{ color }}>
      {margin < 0 ? signedDollars(margin) : dollars(margin)}
      <br />
      <small>{margin < 0 ? signedPercent(margin_pct) : percent(margin_pct)}</small>
    </span>
  )
}

function columnsOf(open: (lane: Lane) => void): readonly Column<Lane>[] {
  return [
    {
      key: 'lane',
      header: 'Lane',
      cell: (lane) => (
        <>
          <UnstyledButton
            fz="sm"
            style={{
              ...cut,
              maxWidth: '12.5rem',
              display: 'block',
              color: 'var(--mantine-color-anchor)',
              textDecoration: 'underline',
              whiteSpace: 'nowrap',
              minHeight: 24,
            }}
            title={laneName(lane.origin, lane.destination)}
            aria-label={`${laneName(lane.origin, lane.destination)}: details and changes of ${lane.lane_ref}`}
            onClick={() => open(lane)}
          >
            {laneName(lane.origin, lane.destination)}
          </UnstyledButton>
          <Text size="xs" c="dimmed" component="div">
            {lane.equipment} · {lane.lane_ref}{' '}
            <CopyButton text={lane.lane_ref} what={`lane_ref ${lane.lane_ref}`} compact />
          </Text>
        </>
      ),
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
      cell: (lane) => dollars(lane.customer_rate),
    },
    { key: 'ap', header: 'AP', align: 'right', cell: (lane) => dollars(lane.truck_cost) },
    {
      key: 'margin',
      header: 'Margin',
      align: 'right',
      sorts: ['margin_high', 'margin_low'],
      cell: (lane) => (lane.cancelled_at === null ? <Margin lane={lane} /> : <CancelledMark lane={lane} />),
    },
    {
      key: 'quoted',
      header: 'AR vs quote',
      align: 'right',
      cell: (lane) => (
        <>
          <Difference amount={bookedAgainstQuoted(lane)} />
          <Text size="xs" c="dimmed">
            quoted {dollars(lane.quoted_rate)}
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

/** Shipments with their money, a row each; a row opens its record. */
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
  return (
    <DataTable
      caption="Shipments"
      columns={columnsOf(onOpen)}
      rows={lanes}
      rowKey={(lane) => lane.lane_ref}
      chosen={chosen}
      sort={sort}
      onSort={onSort}
    />
  )
}

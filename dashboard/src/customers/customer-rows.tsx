import { Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import {
  type AddressParams,
  type Column,
  count,
  countedQuotes,
  DataTable,
  daysOf,
  laneName,
  Margin,
  MarginPct,
  month,
  periodOf,
  TextLink,
  WinRate,
} from '../shared-ui/index.ts'
import type { CustomerRecord } from './customer-record.ts'

type Row = CustomerRecord['months'][number]

const rowName = ({ key, lane }: Row) => (lane === null ? month(key) : laneName(lane.origin, lane.destination))

/** The filters for a row's quotes. The Quotes page filters by first and last day, the Shipments page by named months. */
const quotesOf = (customer: string, { key, lane }: Row): AddressParams =>
  countedQuotes({ customer, ...(lane ?? daysOf(periodOf({ period: key }, 'all', new Date()))) })
const shipmentsOf = (customer: string, { key, lane }: Row): AddressParams => ({
  customer,
  period: lane === null ? key : 'all',
  ...lane,
})

function MarginOfRow({ customer, row }: { customer: string; row: Row }) {
  return (
    <>
      <Margin amount={row.margin} isRounded />
      {row.shipments > 0 && (
        <Text size="xs" c="dimmed" span display="block">
          <MarginPct share={row.margin_pct} /> of{' '}
          <TextLink
            to={pagePaths.shipments}
            query={shipmentsOf(customer, row)}
            label={`${count(row.shipments)} shipments of ${rowName(row)}`}
          >
            {count(row.shipments)} shipped
          </TextLink>
        </Text>
      )}
    </>
  )
}

function NameOfRow({ customer, row }: { customer: string; row: Row }) {
  return (
    <>
      {row.lane === null ? (
        rowName(row)
      ) : (
        <>
          <TextLink to={pagePaths.lane} query={row.lane}>
            {rowName(row)}
          </TextLink>
          <Text size="xs" c="dimmed">
            {row.lane.equipment}
          </Text>
        </>
      )}
      {/* The margin, because a phone has no room for its column. */}
      {row.shipments > 0 && (
        <Text size="xs" component="div" hiddenFrom="sm">
          <MarginOfRow customer={customer} row={row} />
        </Text>
      )}
    </>
  )
}

const columnsOf = (customer: string, header: 'Month' | 'Lane'): readonly Column<Row>[] => [
  {
    key: 'name',
    header,
    wraps: true,
    cell: (row) => <NameOfRow customer={customer} row={row} />,
  },
  {
    key: 'quotes',
    header: 'Quotes',
    align: 'right',
    cell: (row) => (
      <TextLink
        to={pagePaths.quotes}
        query={quotesOf(customer, row)}
        label={`${count(row.quotes)} quotes of ${rowName(row)}`}
      >
        {count(row.quotes)}
      </TextLink>
    ),
  },
  { key: 'win-rate', header: 'Win rate', wraps: true, cell: (row) => <WinRate figures={row} /> },
  {
    key: 'margin',
    header: 'Margin',
    align: 'right',
    from: 'sm',
    cell: (row) => <MarginOfRow customer={customer} row={row} />,
  },
]

/** The figures of a customer by month or by lane. Each row links to its quotes and shipments. */
export function CustomerRows({
  by,
  name,
  rows,
}: {
  by: 'month' | 'lane'
  name: string
  rows: readonly Row[]
}) {
  return (
    <DataTable
      caption={by === 'month' ? `Months of ${name}` : `Lanes of ${name}`}
      columns={columnsOf(name, by === 'month' ? 'Month' : 'Lane')}
      rows={rows}
      rowKey={({ key }) => key}
    />
  )
}

import { Group, Text } from '@mantine/core'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import {
  type AddressParams,
  type Column,
  count,
  DataTable,
  Difference,
  equipmentName,
  laneName,
  Margin,
  roundDollars,
  TextLink,
  WinRate,
} from '../shared-ui/index.ts'
import { MarginShare } from './performance-cells.tsx'
import {
  type Grouping,
  type GroupingView,
  type Order,
  type PerformanceRow,
  paramsOfRow,
  quotesParams,
} from './performance-query.ts'

const rowHeaders: Readonly<Record<GroupingView, string>> = {
  month: 'Month',
  lane: 'Lane',
  customer: 'Customer',
  rep: 'Rep',
  equipment: 'Equipment',
}

/** The name of a row as the page shows it. */
export function nameOfRow(by: Grouping, row: PerformanceRow): string {
  if (by === 'equipment') return equipmentName(row.label)
  return row.lane === null ? row.label : laneName(row.lane.origin, row.lane.destination)
}

function Links({ by, row, search }: { by: GroupingView; row: PerformanceRow; search: AddressParams }) {
  const [today] = useState(() => new Date())
  const params = paramsOfRow(by, row, search, today)
  if (params === null) return <Text size="xs">{row.lane?.equipment ?? 'imported'}</Text>
  const of = `of ${row.label}`
  return (
    <Group gap="xs" fz="xs">
      {row.lane !== null && <span>{row.lane.equipment}</span>}
      <TextLink to={pagePaths.quotes} query={quotesParams(params, today)} label={`Quotes ${of}`}>
        Quotes
      </TextLink>
      <TextLink to={pagePaths.shipments} query={params} label={`Shipments ${of}`}>
        Shipments
      </TextLink>
      {row.lane !== null && (
        <TextLink to={pagePaths.lane} query={row.lane} label={`Lane page ${of}`}>
          Lane
        </TextLink>
      )}
    </Group>
  )
}

function columnsOf(
  by: GroupingView,
  rows: readonly PerformanceRow[],
  search: AddressParams,
): readonly Column<PerformanceRow>[] {
  const longest = Math.max(...rows.map(({ margin_pct }) => Math.abs(margin_pct ?? 0)), 0)
  const sorts = (name: Order['sort']) => [name, `${name}.asc`] as const
  return [
    {
      key: 'name',
      header: rowHeaders[by],
      cell: (row) => (
        <>
          <div
            style={{ maxWidth: '12rem', overflow: 'hidden', textOverflow: 'ellipsis' }}
            title={nameOfRow(by, row)}
          >
            {nameOfRow(by, row)}
          </div>
          <Links by={by} row={row} search={search} />
        </>
      ),
    },
    {
      key: 'quotes',
      header: 'Quotes',
      align: 'right',
      sorts: sorts('quotes'),
      cell: (row) => count(row.quotes),
    },
    {
      key: 'win-rate',
      header: 'Win rate',
      sorts: sorts('win_rate'),
      cell: (row) => <WinRate figures={row} />,
    },
    { key: 'ar', header: 'AR', align: 'right', cell: (row) => roundDollars(row.customer_rate) },
    { key: 'ap', header: 'AP', align: 'right', cell: (row) => roundDollars(row.truck_cost) },
    {
      key: 'margin',
      header: 'Margin',
      align: 'right',
      sorts: sorts('margin'),
      cell: (row) => (
        <>
          <Margin amount={row.margin} isRounded />
          <Text size="xs" c="dimmed">
            {count(row.shipments)} shipped
          </Text>
        </>
      ),
    },
    {
      key: 'margin-pct',
      header: 'Margin %',
      align: 'right',
      sorts: sorts('margin_pct'),
      cell: (row) => <MarginShare share={row.margin_pct} longest={longest} />,
    },
    {
      key: 'landed',
      header: 'Landed vs quoted',
      align: 'right',
      sorts: sorts('landed_vs_quoted'),
      cell: (row) => (
        <>
          <Difference amount={row.landed_vs_quoted === null ? null : Math.round(row.landed_vs_quoted)} />
          <Text size="xs" c="dimmed">
            of <Margin amount={row.quoted_margin} isRounded /> quoted
          </Text>
        </>
      ),
    },
  ]
}

/** Win rate and margin, with one row per lane, customer, rep, equipment type or month. */
export function PerformanceTable({
  by,
  rows,
  search,
  order,
  onOrder,
}: {
  by: GroupingView
  rows: readonly PerformanceRow[]
  search: AddressParams
  order: Order | undefined
  onOrder: (order: Order) => void
}) {
  const inWords =
    order === undefined
      ? by === 'month'
        ? ''
        : 'quotes'
      : order.order === 'asc'
        ? `${order.sort}.asc`
        : order.sort
  return (
    <DataTable
      caption={`Win rate and margin by ${by}`}
      columns={columnsOf(by, rows, search)}
      rows={rows}
      rowKey={(row) => row.key}
      sort={inWords}
      onSort={(next) => {
        const [sort, direction] = next.split('.')
        onOrder({ sort: sort as Order['sort'], order: direction === 'asc' ? 'asc' : 'desc' })
      }}
    />
  )
}

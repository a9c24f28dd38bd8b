import { Button } from '@mantine/core'
import { useState } from 'react'
import {
  type Column,
  count,
  DataTable,
  Margin,
  MarginPct,
  month,
  percent,
  roundDollars,
} from '../shared-ui/index.ts'
import type { LaneMonth } from './lane-evidence.ts'
import { QuotesLink } from './lane-section.tsx'

const monthsAtFirst = 13
const barWidth = 110

/** The months of a lane, newest first, with quotes, wins, losses, rates and margins. */
export function LaneMonths({ months }: { months: readonly LaneMonth[] }) {
  const [all, setAll] = useState(false)
  const newestFirst = months.toReversed()
  const most = Math.max(1, ...months.map(({ quotes }) => quotes))
  const columns: Column<LaneMonth>[] = [
    {
      key: 'month',
      header: 'Month',
      cell: (row) => <QuotesLink chosen={{ month: row.month }}>{month(row.month)}</QuotesLink>,
    },
    { key: 'bar', header: 'Won and lost', from: 'sm', cell: (row) => <Bar row={row} most={most} /> },
    { key: 'quotes', header: 'Quotes', align: 'right', cell: (row) => count(row.quotes) },
    {
      key: 'won',
      header: 'Won',
      align: 'right',
      cell: (row) => <QuotesLink chosen={{ month: row.month, outcome: 'won' }}>{count(row.won)}</QuotesLink>,
    },
    {
      key: 'lost',
      header: 'Lost',
      align: 'right',
      cell: (row) => (
        <QuotesLink chosen={{ month: row.month, outcome: 'lost' }}>{count(row.lost)}</QuotesLink>
      ),
    },
    {
      key: 'win-rate',
      header: 'Win rate',
      align: 'right',
      cell: (row) =>
        row.win_rate_pct === null
          ? 'none decided'
          : `${percent(row.win_rate_pct)} · ${count(row.won)} of ${count(row.won + row.lost)}`,
    },
    {
      key: 'rate',
      header: 'Average rate',
      align: 'right',
      cell: (row) => (row.avg_rate === 0 ? '–' : roundDollars(row.avg_rate)),
    },
    {
      key: 'margin',
      header: 'Average margin',
      align: 'right',
      cell: (row) => <Margin amount={row.avg_margin} isRounded />,
    },
    {
      key: 'margin-pct',
      header: 'Margin %',
      align: 'right',
      cell: (row) => <MarginPct share={row.margin_pct} />,
    },
  ]
  return (
    <>
      <DataTable
        caption="Months of this lane, newest first"
        columns={columns}
        rows={all ? newestFirst : newestFirst.slice(0, monthsAtFirst)}
        rowKey={(row) => row.month}
      />
      {months.length > monthsAtFirst && (
        <Button size="compact-sm" variant="default" mt="xs" onClick={() => setAll(!all)}>
          {all ? `Show the last ${monthsAtFirst} months` : `Show all ${count(months.length)} months`}
        </Button>
      )}
    </>
  )
}

/** Won, lost and pending quotes as a stacked bar. The columns beside it have the numbers. */
function Bar({ row, most }: { row: LaneMonth; most: number }) {
  const length = (quotes: number) => (quotes / most) * barWidth
  const won = length(row.won)
  const lost = length(row.lost)
  return (
    <svg width={barWidth} height={14} aria-hidden style={{ display: 'block' }}>
      <rect width={won} height={14} fill="var(--won)" />
      <rect x={won} y={3} width={lost} height={8} fill="var(--lost)" opacity={0.75} />
      <rect
        x={won + lost + 0.5}
        y={3.5}
        width={Math.max(0, length(row.pending) - 1)}
        height={7}
        fill="none"
        stroke="var(--pending)"
      />
    </svg>
  )
}

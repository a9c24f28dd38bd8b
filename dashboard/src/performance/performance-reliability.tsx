import { Paper, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { scaleLinear } from 'd3-scale'
import type { ReactNode } from 'react'
import { Axes, counted, DataTable, probability } from '../shared-ui/index.ts'
import { type Group, groupsOf } from './reliability-groups.ts'

/** A reliability diagram with its text beside it, or below it on a narrow screen. */
export function BesideDiagram({ children }: { children: ReactNode }) {
  return (
    <div
      style={{
        display: 'grid',
        gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 28rem), 1fr))',
        gap: 'var(--mantine-spacing-lg)',
      }}
    >
      {children}
    </div>
  )
}

const tallestPx = 420
const margins = { top: 14, right: 16, bottom: 44, left: 52 }

/**
 * A reliability diagram: forecast vs actual win rate of ten groups of quotes, each with its 80% range. Correct forecasts are
 * on the diagonal.
 */
export function ReliabilityDiagram({
  reliability,
}: {
  reliability: readonly { readonly quotes: number; readonly forecast: number; readonly won: number }[]
}) {
  const { ref, width } = useElementSize()
  const groups = groupsOf(reliability)
  const held = groups.filter(({ verdict }) => verdict === 'as forecast').length
  const quotes = groups.reduce((sum, group) => sum + group.quotes, 0)
  const height = Math.min(tallestPx, Math.max(260, width * 0.8))
  return (
    <Paper withBorder p="sm" component="figure" m={0}>
      <figcaption>
        <Text span fw={600}>
          Forecast vs outcome
        </Text>{' '}
        <Text span size="sm" c="dimmed">
          {counted(quotes, 'quote')} in {groups.length} groups by forecast. Lines are 80% ranges. Hollow dots
          have a forecast outside their range. In {held} of {groups.length} groups, the range contains the
          forecast. With accurate forecasts, about 8 of 10 ranges do.
        </Text>
      </figcaption>
      <div ref={ref} style={{ height: width === 0 ? tallestPx : height, maxWidth: 560 }}>
        {width > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={`Reliability diagram: ${groups.map(groupInWords).join('; ')}`}
          >
            <Diagram groups={groups} width={width} height={height} />
          </svg>
        )}
      </div>
      <details>
        <summary>Show as a table</summary>
        <ReliabilityTable groups={groups} />
      </details>
    </Paper>
  )
}

function groupInWords({ forecast, won, wins, quotes }: Group): string {
  return `forecast ${probability(forecast)}, won ${probability(won)} (${wins} of ${quotes})`
}

function Diagram({ groups, width, height }: { groups: readonly Group[]; width: number; height: number }) {
  const x = scaleLinear([0, 1], [margins.left, width - margins.right])
  const y = scaleLinear([0, 1], [height - margins.bottom, margins.top])
  const percent = (share: number) => `${Math.round(share * 100)}%`
  return (
    <g fontSize={11} fill="var(--chart-ink)">
      <Axes x={x} y={y} across={(share) => [percent(share)]} up={percent} />
      <text x={(x(0) + x(1)) / 2} y={height - 8} textAnchor="middle">
        Forecast chance of winning
      </text>
      <text transform={`translate(12 ${(y(0) + y(1)) / 2}) rotate(-90)`} textAnchor="middle">
        Actual share won
      </text>
      <line
        x1={x(0)}
        y1={y(0)}
        x2={x(1)}
        y2={y(1)}
        stroke="var(--chart-ink)"
        strokeDasharray="4 4"
        opacity={0.7}
      />
      {groups.map((group) => (
        <g key={group.number} transform={`translate(${x(group.forecast)} 0)`}>
          <title>{groupInWords(group)}</title>
          <path
            d={`M0,${y(group.low)}V${y(group.high)}m-4,0h8M-4,${y(group.low)}h8`}
            stroke="var(--chart-accent)"
            strokeWidth={2}
          />
          <circle
            cy={y(group.won)}
            r={4.5}
            stroke="var(--chart-accent)"
            strokeWidth={2}
            fill={group.verdict === 'as forecast' ? 'var(--chart-accent)' : 'var(--mantine-color-body)'}
          />
        </g>
      ))}
    </g>
  )
}

function ReliabilityTable({ groups }: { groups: readonly Group[] }) {
  return (
    <DataTable
      caption="Forecast vs outcome, by group"
      rows={groups}
      rowKey={({ number }) => String(number)}
      columns={[
        { key: 'group', header: 'Group', cell: ({ number }) => number },
        {
          key: 'forecast',
          header: 'Forecast',
          align: 'right',
          cell: ({ forecast }) => probability(forecast),
        },
        {
          key: 'won',
          header: 'Won',
          align: 'right',
          cell: ({ won, wins, quotes }) => `${probability(won)} · ${wins} of ${quotes}`,
        },
        {
          key: 'range',
          header: '80% range',
          align: 'right',
          cell: ({ low, high }) => `${probability(low)} to ${probability(high)}`,
        },
        { key: 'verdict', header: 'Result', cell: ({ verdict }) => verdict },
      ]}
    />
  )
}

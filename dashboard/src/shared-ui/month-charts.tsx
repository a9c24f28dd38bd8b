import { Paper, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { scaleLinear, scaleTime } from 'd3-scale'
import { area, line } from 'd3-shape'
import type { Answer } from '../api/index.ts'
import { month, percent } from './formats.ts'

type Row = Pick<
  Answer<'get-performance'>['rows'][number],
  'key' | 'win_rate_pct' | 'win_rate_interval' | 'margin_pct'
>

const margins = { top: 12, right: 34, bottom: 22, left: 42 }
const heightPx = 170

interface Point {
  readonly at: Date
  readonly key: string
  readonly value: number | null
  readonly low?: number
  readonly high?: number
}

const timeOf = (key: string) => new Date(`${key}-15T00:00:00Z`)

/** Two charts of win rate and margin % by month. The table below has the same data. */
export function MonthCharts({ rows }: { rows: readonly Row[] }) {
  const inTime = [...rows].sort((one, other) => one.key.localeCompare(other.key))
  const winRate: Point[] = inTime.map((row) => ({
    at: timeOf(row.key),
    key: row.key,
    value: row.win_rate_pct,
    ...(row.win_rate_interval === null
      ? {}
      : { low: row.win_rate_interval.low_pct, high: row.win_rate_interval.high_pct }),
  }))
  const margin: Point[] = inTime.map((row) => ({ at: timeOf(row.key), key: row.key, value: row.margin_pct }))
  return (
    <div
      style={{
        display: 'grid',
        gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, 22rem), 1fr))',
        gap: 'var(--mantine-spacing-md)',
      }}
    >
      <MonthChart title="Win rate by month" note="Shaded: 80% range" points={winRate} />
      <MonthChart title="Margin % by month" note="Margin as a share of AR" points={margin} />
    </div>
  )
}

/** A text description of a chart for screen readers. */
function inWords(title: string, points: readonly Point[]): string {
  const known = points.flatMap(({ key, value }) => (value === null ? [] : [{ key, value }]))
  const [first, last] = [known[0], known.at(-1)]
  if (first === undefined || last === undefined) return `${title}: no data yet`
  const low = known.reduce((least, one) => (one.value < least.value ? one : least))
  const high = known.reduce((most, one) => (one.value > most.value ? one : most))
  return `${title}: ${percent(first.value)} in ${month(first.key)}, ${percent(last.value)} in ${month(last.key)}; lowest ${percent(low.value)} in ${month(low.key)}, highest ${percent(high.value)} in ${month(high.key)}. The table below has every month.`
}

function MonthChart({ title, note, points }: { title: string; note: string; points: readonly Point[] }) {
  const { ref, width } = useElementSize()
  return (
    <Paper withBorder p="sm" component="figure" m={0}>
      <figcaption>
        <Text span fw={600} size="sm">
          {title}
        </Text>{' '}
        <Text span size="xs" c="dimmed">
          {note}
        </Text>
      </figcaption>
      <div ref={ref} style={{ height: heightPx }}>
        {width > 0 && (
          <svg width={width} height={heightPx} role="img" aria-label={inWords(title, points)}>
            <Plot points={points} width={width} />
          </svg>
        )}
      </div>
    </Paper>
  )
}

function Plot({ points, width }: { points: readonly Point[]; width: number }) {
  const values = points.flatMap(({ value, low, high }) =>
    [value, low, high].filter((one) => one !== null && one !== undefined),
  )
  const times = points.map(({ at }) => at.getTime())
  const x = scaleTime()
    .domain([Math.min(...times), Math.max(...times)])
    .range([margins.left, width - margins.right])
  const y = scaleLinear()
    .domain([Math.min(0, ...values), Math.max(10, ...values)])
    .nice(4)
    .range([heightPx - margins.bottom, margins.top])
  const xOf = ({ at }: Point) => (times.length === 1 ? width / 2 : x(at))
  const band = area<Point>()
    .defined(({ low, high }) => low !== undefined && high !== undefined)
    .x(xOf)
    .y0(({ low }) => y(low ?? 0))
    .y1(({ high }) => y(high ?? 0))
  const curve = line<Point>()
    .defined(({ value }) => value !== null)
    .x(xOf)
    .y(({ value }) => y(value ?? 0))
  const labelled = Math.max(1, Math.ceil(points.length / Math.max(2, Math.floor(width / 90))))
  return (
    <>
      {y.ticks(4).map((tick) => (
        <g key={tick} transform={`translate(0 ${y(tick)})`} fontSize={11}>
          <line x1={margins.left} x2={width - margins.right} stroke="var(--chart-grid)" />
          <text x={margins.left - 6} dy="0.32em" textAnchor="end" fill="var(--chart-ink)">
            {tick}%
          </text>
        </g>
      ))}
      <path d={band([...points]) ?? ''} fill="var(--chart-band)" opacity={0.55} />
      <path d={curve([...points]) ?? ''} fill="none" stroke="var(--chart-accent)" strokeWidth={2} />
      {points.map((point, index) => (
        <g key={point.key}>
          {point.value !== null && (
            <circle cx={xOf(point)} cy={y(point.value)} r={3} fill="var(--chart-accent)">
              <title>{`${month(point.key)}: ${percent(point.value)}`}</title>
            </circle>
          )}
          {(points.length - 1 - index) % labelled === 0 && (
            <text x={xOf(point)} y={heightPx - 6} fontSize={11} textAnchor="middle" fill="var(--chart-ink)">
              {month(point.key)}
            </text>
          )}
        </g>
      ))}
    </>
  )
}

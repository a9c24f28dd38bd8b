import { Paper, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'
import type { Answer } from '../api/index.ts'
import { Axes, ticksWithin } from './axes.tsx'
import { month, percent } from './formats.ts'

type Row = Pick<
  Answer<'get-performance'>['rows'][number],
  'key' | 'win_rate_pct' | 'win_rate_interval' | 'margin_pct'
>

const margins = { top: 12, right: 34, bottom: 22, left: 42 }
const heightPx = 170

interface Point {
  /** The middle of the month. */
  readonly at: number
  readonly key: string
  readonly value: number | null
  readonly low?: number
  readonly high?: number
}

const timeOf = (key: string) => Date.parse(`${key}-15T00:00:00Z`)

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
  const times = points.map(({ at }) => at)
  const x = scaleLinear([Math.min(...times), Math.max(...times)], [margins.left, width - margins.right])
  const y = scaleLinear(
    [Math.min(0, ...values), Math.max(10, ...values)],
    [heightPx - margins.bottom, margins.top],
  ).nice(5)
  const xOf = ({ at }: Point) => x(at)
  const band = area<Point>()
    .defined(({ low, high }) => low !== undefined && high !== undefined)
    .x(xOf)
    .y0(({ low }) => y(low ?? 0))
    .y1(({ high }) => y(high ?? 0))
  const curve = line<Point>()
    .defined(({ value }) => value !== null)
    .x(xOf)
    .y(({ value }) => y(value ?? 0))
  const every = Math.ceil(points.length / ticksWithin(x))
  return (
    <>
      <Axes
        x={x}
        y={y}
        across={(at) => [month(new Date(at).toISOString().slice(0, 7))]}
        up={(value) => `${value}%`}
        ticks={times.filter((_, index) => (times.length - 1 - index) % every === 0)}
      />
      <path d={band([...points]) ?? ''} fill="var(--chart-band)" opacity={0.55} />
      <path d={curve([...points]) ?? ''} fill="none" stroke="var(--chart-accent)" strokeWidth={2} />
      {points.map(
        ({ at, key, value }) =>
          value !== null && (
            <circle key={key} cx={x(at)} cy={y(value)} r={3} fill="var(--chart-accent)">
              <title>{`${month(key)}: ${percent(value)}`}</title>
            </circle>
          ),
      )}
    </>
  )
}

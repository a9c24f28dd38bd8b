import { Button, Group, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type ScaleLinear, type ScaleTime, scaleLinear, scaleUtc } from 'd3-scale'
import { line } from 'd3-shape'
import { memo, type PointerEvent, useMemo, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import {
  Axes,
  count,
  counted,
  countedQuotes,
  day,
  dollars,
  roundDollars,
  TextLink,
  valueAfter,
  wallTime,
} from '../shared-ui/index.ts'
import { laneOf, quotePath, useLaneAddress } from './lane-address.ts'
import type { LaneMonth, LanePoint, LaneRecord } from './lane-evidence.ts'
import { OutcomeMark } from './lane-section.tsx'

const height = 320
const margin = { top: 14, right: 64, bottom: 30, left: 56 }
/** Rates beyond this multiple (or fraction) of the median do not extend the scale, because that would flatten the other dots. */
const outlierFactor = 2.5
const reachPixels = 28

interface Scales {
  readonly x: ScaleTime<number, number>
  readonly y: ScaleLinear<number, number>
  readonly width: number
}

interface Dot {
  readonly point: LanePoint
  readonly x: number
  readonly y: number
}

interface RateBand {
  readonly floor: number | null
  readonly median: number | null
  readonly ceiling: number | null
}

interface Drawn {
  readonly dots: readonly Dot[]
  readonly scales: Scales
  readonly months: readonly LaneMonth[]
  readonly band: RateBand | null
}

const outcomes = ['won', 'lost', 'pending'] as const
type Outcome = (typeof outcomes)[number]

/** A chart of the lane's quotes by date and rate. The shape shows the outcome. The table below has the same data. */
export function LaneDots({ record, band }: { record: LaneRecord; band: RateBand | null }) {
  const { address, change } = useLaneAddress()
  const { ref, width } = useElementSize()
  const priced = useMemo(
    () =>
      record.points
        .filter(({ rate }) => rate > 0)
        .toSorted((one, other) => (one.quoted_at < other.quoted_at ? -1 : 1)),
    [record.points],
  )
  const outcome = outcomes.find((one) => one === address.outcome) ?? null
  const scales = useMemo(() => (width < 120 ? null : scalesOf(priced, width)), [priced, width])
  const dots = useMemo(
    () =>
      scales === null
        ? []
        : priced
            .filter((point) => outcome === null || point.outcome === outcome)
            // A rate beyond the scale is drawn at its edge.
            .map((point) => ({ point, x: scales.x(timeOf(point)), y: scales.y(point.rate) })),
    [priced, outcome, scales],
  )
  return (
    <div>
      <OutcomeFilter
        points={record.points}
        outcome={outcome}
        onOutcome={(next) => change({ outcome: next ?? undefined, page: undefined })}
      />
      <div ref={ref} style={{ position: 'relative', height }}>
        {scales !== null && dots.length > 0 && (
          <Chart dots={dots} scales={scales} months={record.months} band={band} />
        )}
        {scales !== null && dots.length === 0 && (
          <Text size="sm" c="dimmed" pt="xl" ta="center">
            No quotes with this outcome. Choose another outcome above.
          </Text>
        )}
      </div>
      <Notes record={record} drawn={dots.length} outcome={outcome} scales={scales} priced={priced} />
    </div>
  )
}

function OutcomeFilter({
  points,
  outcome,
  onOutcome,
}: {
  points: readonly LanePoint[]
  outcome: Outcome | null
  onOutcome: (outcome: Outcome | null) => void
}) {
  const counts = useMemo(() => Map.groupBy(points, (point) => point.outcome), [points])
  return (
    <Group gap={6} role="group" aria-label="Quotes shown" mb="xs">
      <Button
        size="compact-sm"
        variant={outcome === null ? 'filled' : 'default'}
        aria-pressed={outcome === null}
        onClick={() => onOutcome(null)}
      >
        All {count(points.length)}
      </Button>
      {outcomes.map((one) => (
        <Button
          key={one}
          size="compact-sm"
          variant={outcome === one ? 'filled' : 'default'}
          aria-pressed={outcome === one}
          onClick={() => onOutcome(one)}
        >
          {outcome === one ? (
            { won: '● Won', lost: '✕ Lost', pending: '○ Pending' }[one]
          ) : (
            <OutcomeMark outcome={one} />
          )}
          &nbsp;{count(counts.get(one)?.length ?? 0)}
        </Button>
      ))}
    </Group>
  )
}

function middle(points: readonly LanePoint[]): number {
  const rates = points.map(({ rate }) => rate).sort((one, other) => one - other)
  return rates[Math.floor(rates.length / 2)] ?? 0
}

/** The time of a quote on the brokerage's clock, so that the ticks of the UTC scale are the brokerage's days and months. */
const timeOf = ({ quoted_at }: LanePoint) => wallTime(Date.parse(quoted_at))

function scalesOf(points: readonly LanePoint[], width: number): Scales | null {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return null
  const center = middle(points)
  const near = points
    .map(({ rate }) => rate)
    .filter((rate) => rate <= center * outlierFactor && rate >= center / outlierFactor)
  const [low, high] = [Math.min(...near), Math.max(...near)]
  const room = Math.max((high - low) * 0.08, center * 0.02)
  const dayMs = 86_400_000
  const [from, to] = [timeOf(first), timeOf(last)]
  const days = Math.max(to - from, 14 * dayMs) * 0.02
  return {
    x: scaleUtc([from - days, to + days], [margin.left, width - margin.right]),
    y: scaleLinear([Math.max(0, low - room), high + room], [height - margin.bottom, margin.top]).clamp(true),
    width,
  }
}

const radius = 3.6
const shapes: Readonly<Record<Outcome, (dot: Dot) => string>> = {
  won: ({ x, y }) =>
    `M${x - radius},${y}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0`,
  lost: ({ x, y }) => `M${x - 3.2},${y - 3.2}l6.4,6.4m0,-6.4l-6.4,6.4`,
  pending: ({ x, y }) =>
    `M${x - radius},${y}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0`,
}

function Chart({ dots, scales, months, band }: Drawn) {
  const navigate = useNavigate()
  const [at, setAt] = useState<number | null>(null)
  const shown = at === null ? null : (dots[Math.min(at, dots.length - 1)] ?? null)
  const nearest = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return nearestDot(dots, event.clientX - box.left, event.clientY - box.top)
  }
  const open = (dot: Dot | null) => dot !== null && void navigate({ to: quotePath(dot.point.lane_ref) })
  return (
    <>
      <div
        role="slider"
        tabIndex={0}
        aria-label="Quotes by date"
        aria-roledescription="chart of quotes; use arrow keys to step through the quotes, and Enter to open one"
        aria-valuemin={1}
        aria-valuemax={dots.length}
        aria-valuenow={shown === null ? dots.length : dots.indexOf(shown) + 1}
        aria-valuetext={
          shown === null ? `${counted(dots.length, 'quote')}, none selected` : quoteInWords(shown.point)
        }
        style={{ height, cursor: shown === null ? 'default' : 'pointer' }}
        onPointerMove={(event) => setAt(nearest(event))}
        onPointerLeave={() => setAt(null)}
        onClick={() => open(shown)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') open(shown)
          const next = valueAfter(event, at ?? dots.length, [0, dots.length - 1], [1, 10])
          if (next === null) return
          event.preventDefault()
          setAt(next)
        }}
      >
        <Drawing dots={dots} scales={scales} months={months} band={band} />
        {shown !== null && (
          <svg
            aria-hidden
            width={scales.width}
            height={height}
            style={{ position: 'absolute', inset: 0, pointerEvents: 'none' }}
          >
            <circle cx={shown.x} cy={shown.y} r={9} fill="none" stroke="var(--chart-ink)" strokeWidth={2} />
          </svg>
        )}
      </div>
      {shown !== null && <Tip dot={shown} width={scales.width} />}
    </>
  )
}

function nearestDot(dots: readonly Dot[], x: number, y: number): number | null {
  let [found, best] = [-1, reachPixels ** 2]
  dots.forEach((dot, index) => {
    const distance = (dot.x - x) ** 2 + (dot.y - y) ** 2
    if (distance < best) [found, best] = [index, distance]
  })
  return found < 0 ? null : found
}

function quoteInWords({ rate, outcome, quoted_at, customer_name, booked }: LanePoint): string {
  return `${day(quoted_at)}: ${dollars(rate)}${booked ? ' booked' : ''}, ${outcome}, ${customer_name}`
}

const tipWidth = 220

/** A tooltip for the selected dot, placed inside the chart. */
function Tip({ dot: { point, x, y }, width }: { dot: Dot; width: number }) {
  return (
    <div
      aria-hidden
      style={{
        position: 'absolute',
        left: Math.max(0, x + tipWidth + 16 > width ? x - tipWidth - 14 : x + 14),
        top: Math.min(Math.max(y - 40, 0), height - 104),
        width: tipWidth,
        pointerEvents: 'none',
        background: 'var(--mantine-color-body)',
        border: '1px solid var(--line)',
        borderRadius: 'var(--mantine-radius-md)',
        boxShadow: 'var(--mantine-shadow-md)',
        padding: '0.4rem 0.6rem',
      }}
    >
      <Text size="sm" fw={650}>
        {dollars(point.rate)} <OutcomeMark outcome={point.outcome} />
      </Text>
      <Text size="xs" truncate>
        {point.customer_name}
      </Text>
      <Text size="xs" c="dimmed">
        {day(point.quoted_at)}
        {point.booked ? ' · booked rate' : ' · quoted rate'}
        {point.margin === null ? '' : ` · margin ${dollars(point.margin)}`}
      </Text>
      <Text size="xs" c="dimmed" truncate>
        {point.lane_ref}: click to open
      </Text>
    </div>
  )
}

const Drawing = memo(function Drawing({ dots, scales, months, band }: Drawn) {
  const { x, y, width } = scales
  const [low = 0, high = 0] = y.domain()
  const averages = months
    .filter(({ avg_rate }) => avg_rate >= low && avg_rate <= high)
    .map((month): [number, number] => [x(Date.parse(`${month.month}-15T00:00:00Z`)), y(month.avg_rate)])
    .filter(([at]) => at >= margin.left && at <= width - margin.right)
  const all = (outcome: Outcome) =>
    dots
      .filter(({ point }) => point.outcome === outcome)
      .map(shapes[outcome])
      .join('')
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label={`${counted(dots.length, 'quote')} by date and rate. The table below has the same data.`}
      style={{ display: 'block' }}
    >
      <Axes x={x} y={y} across={(at) => [tickText(at)]} up={roundDollars} />
      {band !== null && <BandLines scales={scales} band={band} />}
      <path
        d={line()(averages) ?? ''}
        fill="none"
        stroke="var(--chart-accent)"
        strokeWidth={2}
        opacity={0.75}
      />
      <path
        data-outcome="lost"
        d={all('lost')}
        fill="none"
        stroke="var(--lost)"
        strokeWidth={1.7}
        opacity={0.8}
      />
      <path data-outcome="won" d={all('won')} fill="var(--won)" opacity={0.8} />
      <path
        data-outcome="pending"
        d={all('pending')}
        fill="var(--mantine-color-body)"
        stroke="var(--pending)"
        strokeWidth={2}
      />
    </svg>
  )
})

const monthName = new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'UTC' })
const monthAndYear = new Intl.DateTimeFormat('en-US', { month: 'short', year: 'numeric', timeZone: 'UTC' })
const dayOfMonth = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** A label of the time axis: the month, with the year in January; the day when ticks are within a month. */
function tickText(at: Date): string {
  if (at.getUTCDate() !== 1) return dayOfMonth.format(at)
  return at.getUTCMonth() === 0 ? monthAndYear.format(at) : monthName.format(at)
}

function BandLines({ scales: { y, width }, band }: { scales: Scales; band: RateBand }) {
  const [low = 0, high = 0] = y.domain()
  const names = [
    ['lowest', band.floor],
    ['median', band.median],
    ['highest', band.ceiling],
  ] as const
  return (
    <g fontSize={11} fill="var(--chart-ink)">
      {names.map(([name, rate]) =>
        rate === null || rate < low || rate > high ? null : (
          <g key={name}>
            <line
              x1={margin.left}
              x2={width - margin.right}
              y1={y(rate)}
              y2={y(rate)}
              stroke="var(--chart-ink)"
              strokeDasharray={name === 'median' ? '7 4' : '2 4'}
            />
            <text x={width - margin.right + 5} y={y(rate) + (name === 'lowest' ? 8 : 4)}>
              {name}
            </text>
          </g>
        ),
      )}
    </g>
  )
}

/** Notes below the chart: its symbols and lines, and the quotes that it does not show at their position. */
function Notes({
  record,
  drawn,
  outcome,
  scales,
  priced,
}: {
  record: LaneRecord
  drawn: number
  outcome: Outcome | null
  scales: Scales | null
  priced: readonly LanePoint[]
}) {
  const { address } = useLaneAddress()
  const [low = 0, high = 0] = scales?.y.domain() ?? []
  const beyond = scales === null ? 0 : priced.filter(({ rate }) => rate < low || rate > high).length
  const withoutRate = record.points.length - priced.length
  const notes = [
    `${counted(drawn, 'quote')} drawn${outcome === null ? '' : ` (${outcome} only)`}: ● won, ✕ lost, ○ pending.`,
    'Solid line: average rate by month. Dashed lines: the lowest, median and highest rate of all quotes.',
    beyond > 0 ? `${counted(beyond, 'quote')} beyond the scale, drawn at its edge.` : null,
    withoutRate > 0 ? `${counted(withoutRate, 'quote')} without a rate, only in the table.` : null,
  ]
  return (
    <Text size="xs" c="dimmed" mt={4}>
      {notes.filter((note) => note !== null).join(' ')}
      {record.points.length < record.points_total && (
        <>
          {' '}
          Shows the newest {count(record.points.length)} of {count(record.points_total)};{' '}
          <TextLink to={pagePaths.quotes} query={countedQuotes(laneOf(address))}>
            see all
          </TextLink>
          .
        </>
      )}
    </Text>
  )
}

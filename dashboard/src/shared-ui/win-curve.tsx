import { Text, VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type ScaleLinear, scaleLinear } from 'd3-scale'
import { area, curveMonotoneX, line } from 'd3-shape'
import { type PointerEvent, useRef } from 'react'
import { Axes, valueAfter } from './axes.tsx'
import {
  type CurvePoint,
  type CurveReading,
  type QuotesBehind,
  range,
  readCurve,
  readingInWords,
} from './curve-reading.ts'
import { type Column, DataTable } from './data-table.tsx'
import { count, probability, ratePerMile, roundDollars } from './formats.ts'

interface Known {
  readonly optimum?: {
    readonly name: 'best rate' | 'rate to quote'
    readonly rate: number
    readonly flat_zone: { readonly low: number; readonly high: number }
  } | null
  /** Quotes of the lane. Won quotes are drawn at the top and lost quotes at the bottom. Pending quotes are not drawn. */
  readonly quotes?: readonly { readonly rate: number; readonly outcome: 'won' | 'lost' | 'pending' }[]
  /** Miles of the lane. With them, the axis also shows the rate per mile. */
  readonly miles?: number | null
}

export interface WinCurveProps extends Known {
  readonly points: readonly CurvePoint[]
  /** The lane's decided and won quotes. They are shown with every probability. */
  readonly counts: QuotesBehind
  /** The rate of the handle; null without a handle. */
  readonly rateDollars: number | null
  /** What the service says of that rate. Without it, the curve is read between two points, which can round to another percent. */
  readonly stated?: CurveReading | null
  /** Makes the handle movable by pointer and keyboard. */
  readonly onRate?: (rateDollars: number) => void
}

const height = 204
const margin = { top: 16, right: 28, bottom: 46, left: 42 }
const stepDollars = 5
const wideStepDollars = 25

interface Scales {
  readonly x: ScaleLinear<number, number>
  readonly y: ScaleLinear<number, number>
  readonly width: number
}

/**
 * A chart of the chance of winning by rate, with 80% and 95% ranges, the lane's quotes, and a handle at the current rate.
 * Arrow keys move the handle by $5, and by $25 with Shift.
 *
 * @example <WinCurve points={curve} counts={{ won: 17, decided: 26 }} rateDollars={2150} onRate={setRate} />
 */
export function WinCurve(props: WinCurveProps) {
  const { points, counts, rateDollars, stated } = props
  const { ref, width } = useElementSize()
  const [first, last] = [points[0], points.at(-1)]
  const reading = rateDollars === null ? null : (stated ?? readCurve(points, rateDollars))
  const caption = reading === null ? 'Chance of winning by rate' : readingInWords(reading, counts)
  const scales: Scales | null =
    first === undefined || last === undefined || width < 120
      ? null
      : {
          x: scaleLinear([first.rate, last.rate], [margin.left, width - margin.right]).clamp(true),
          y: scaleLinear([0, 1], [height - margin.bottom, margin.top]),
          width,
        }
  return (
    <figure style={{ margin: 0 }}>
      <VisuallyHidden component="figcaption">{caption}</VisuallyHidden>
      <div ref={ref} style={{ position: 'relative', height }}>
        {scales !== null && (
          <>
            <Drawing {...props} scales={scales} />
            <Handle {...props} reading={reading} scales={scales} />
          </>
        )}
      </div>
      <Legend {...props} />
      <PointsTable {...props} />
    </figure>
  )
}

function Drawing(props: WinCurveProps & { scales: Scales }) {
  const { points, scales, quotes, optimum, miles } = props
  const { x, y, width } = scales
  const ribbon = (interval: (point: CurvePoint) => { low: number; high: number }) =>
    area<CurvePoint>()
      .x((point) => x(point.rate))
      .y0((point) => y(interval(point).low))
      .y1((point) => y(interval(point).high))
      .curve(curveMonotoneX)(points) ?? ''
  const path =
    line<CurvePoint>()
      .x((point) => x(point.rate))
      .y((point) => y(point.probability))
      .curve(curveMonotoneX)(points) ?? ''
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label="Chance of winning by rate. The table below has the same data."
      style={{ display: 'block' }}
    >
      <Axes
        x={x}
        y={y}
        across={(rate) => [roundDollars(rate), ...(miles ? [ratePerMile(rate / miles)] : [])]}
        up={(share) => `${Math.round(share * 100)}%`}
      />
      <path d={ribbon((point) => point.interval_95)} fill="var(--chart-band)" opacity={0.35} />
      <path d={ribbon((point) => point.interval_80)} fill="var(--chart-band)" opacity={0.75} />
      {optimum && <FlatZone scales={scales} optimum={optimum} />}
      <path d={path} fill="none" stroke="var(--chart-accent)" strokeWidth={2.5} />
      {quotes && <Rug scales={scales} quotes={quotes} />}
      {optimum && isWithin(x, optimum.rate) && (
        <path
          d={diamond(x(optimum.rate), y(readCurve(points, optimum.rate)?.probability ?? 0), 7)}
          fill="var(--mantine-color-body)"
          stroke="var(--chart-ink)"
          strokeWidth={2}
        />
      )}
    </svg>
  )
}

function isWithin(x: Scales['x'], rate: number): boolean {
  const [low = 0, high = 0] = x.domain()
  return rate >= low && rate <= high
}

function diamond(x: number, y: number, size: number): string {
  return `M${x},${y - size}l${size},${size}l${-size},${size}l${-size},${-size}z`
}

/** The range of rates whose expected margin is close to the best, as a shaded area. */
function FlatZone({ scales: { x, y }, optimum }: { scales: Scales; optimum: NonNullable<Known['optimum']> }) {
  const [low, high] = [x(optimum.flat_zone.low), x(optimum.flat_zone.high)]
  return (
    <rect
      x={low}
      y={y(1)}
      width={Math.max(0, high - low)}
      height={y(0) - y(1)}
      fill="var(--chart-accent)"
      opacity={0.13}
    />
  )
}

function Rug({ scales: { x, y }, quotes }: { scales: Scales; quotes: NonNullable<Known['quotes']> }) {
  return (
    <g>
      {quotes
        .filter(({ rate, outcome }) => outcome !== 'pending' && isWithin(x, rate))
        .map(({ rate, outcome }, index) =>
          outcome === 'won' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: several quotes can have the same rate and outcome
            <circle key={index} cx={x(rate)} cy={y(1)} r={3.5} fill="var(--won)" opacity={0.75} />
          ) : (
            <path
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              key={index}
              d={`M${x(rate) - 3},${y(0) - 7}l6,6m0,-6l-6,6`}
              stroke="var(--lost)"
              strokeWidth={1.6}
              opacity={0.85}
            />
          ),
        )}
    </g>
  )
}

const handleSize = 28

/** The visible part of the handle. It is smaller than the area that can be dragged. */
function Knob() {
  return (
    <span
      aria-hidden
      style={{
        width: 18,
        height: 18,
        borderRadius: '50%',
        border: '3px solid var(--mantine-color-body)',
        background: 'var(--chart-accent)',
        boxShadow: '0 0 0 2px var(--chart-accent)',
      }}
    />
  )
}

/** The lowest and the highest rate of the handle: multiples of `stepDollars` within the curve. */
function handleRange(x: Scales['x']): readonly [low: number, high: number] {
  const [low = 0, high = 0] = x.domain()
  return [Math.ceil(low / stepDollars) * stepDollars, Math.floor(high / stepDollars) * stepDollars]
}

function Handle({
  counts,
  onRate,
  reading,
  scales,
}: WinCurveProps & { reading: CurveReading | null; scales: Scales }) {
  const { x, y, width } = scales
  const knob = useRef<HTMLDivElement>(null)
  const plot = useRef<HTMLDivElement>(null)
  const rates = handleRange(x)
  const look = reading === null ? undefined : handleStyle(x(reading.rate), y(reading.probability))
  if (onRate === undefined)
    return reading === null ? null : (
      <div aria-hidden style={look}>
        <Knob />
      </div>
    )
  const follow = (event: PointerEvent) => {
    const left = plot.current?.getBoundingClientRect().left ?? 0
    const rate = Math.round(x.invert(event.clientX - left + margin.left) / stepDollars) * stepDollars
    onRate(Math.min(Math.max(rate, rates[0]), rates[1]))
  }
  const followDrag = (event: PointerEvent<HTMLElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) follow(event)
  }
  return (
    <>
      <div
        ref={plot}
        aria-hidden
        style={{
          position: 'absolute',
          left: margin.left,
          top: 0,
          width: Math.max(0, width - margin.left - margin.right),
          height: height - margin.bottom,
          cursor: 'ew-resize',
          touchAction: 'pan-y',
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          follow(event)
          knob.current?.focus({ preventScroll: true })
          event.preventDefault()
        }}
        onPointerMove={followDrag}
      />
      {reading !== null && (
        <div
          ref={knob}
          role="slider"
          tabIndex={0}
          aria-label="Rate on the curve"
          aria-valuenow={Math.round(reading.rate)}
          aria-valuemin={Math.min(rates[0], Math.round(reading.rate))}
          aria-valuemax={Math.max(rates[1], Math.round(reading.rate))}
          aria-valuetext={readingInWords(reading, counts)}
          style={{ ...look, cursor: 'grab', touchAction: 'none' }}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId)
            event.currentTarget.focus({ preventScroll: true })
          }}
          onPointerMove={followDrag}
          onKeyDown={(event) => {
            const rate = valueAfter(event, reading.rate, rates, [stepDollars, wideStepDollars])
            if (rate === null) return
            event.preventDefault()
            onRate(rate)
          }}
        >
          <Knob />
        </div>
      )}
    </>
  )
}

function handleStyle(centerX: number, centerY: number) {
  return {
    position: 'absolute' as const,
    left: centerX - handleSize / 2,
    top: centerY - handleSize / 2,
    width: handleSize,
    height: handleSize,
    borderRadius: '50%',
    display: 'grid',
    placeItems: 'center',
  }
}

/** The legend. Marks differ by shape, not only by color. */
function Legend({ optimum, quotes }: WinCurveProps) {
  const items: readonly (readonly [mark: string, text: string, color?: string])[] = [
    ['▬', '80%, 95% range', 'var(--chart-accent)'],
    ...(optimum ? ([['◇', optimum.name]] as const) : []),
    ...(quotes?.some(({ outcome }) => outcome === 'won') ? ([['●', 'Won', 'var(--won)']] as const) : []),
    ...(quotes?.some(({ outcome }) => outcome === 'lost') ? ([['✕', 'Lost', 'var(--lost)']] as const) : []),
  ]
  return (
    <ul
      aria-label="Marks of the chart"
      style={{ listStyle: 'none', margin: 0, padding: 0, display: 'flex', flexWrap: 'wrap', gap: '0 0.6rem' }}
    >
      {items.map(([mark, text, color]) => (
        <li key={text}>
          <Text size="xs" span>
            <span aria-hidden style={{ color }}>
              {mark}
            </span>{' '}
            {text}
          </Text>
        </li>
      ))}
    </ul>
  )
}

function PointsTable({ points, miles }: WinCurveProps) {
  const hasMiles = miles !== undefined && miles !== null && miles > 0
  const columns: Column<CurvePoint>[] = [
    {
      key: 'rate',
      header: 'Rate',
      align: 'right',
      cell: ({ rate }) => (
        <>
          {roundDollars(rate)}
          {hasMiles && (
            <Text size="xs" c="dimmed">
              {ratePerMile(rate / miles)}
            </Text>
          )}
        </>
      ),
    },
    { key: 'chance', header: 'Chance', align: 'right', cell: (point) => probability(point.probability) },
    {
      key: 'ranges',
      header: '80%, 95%',
      align: 'right',
      cell: (point) => (
        <>
          {range(point.interval_80)}
          <Text size="xs" c="dimmed">
            {range(point.interval_95)}
          </Text>
        </>
      ),
    },
    {
      key: 'nearby',
      header: 'Quotes near it',
      wraps: true,
      cell: ({ nearby }) =>
        `${count(nearby.won)} won, ${count(nearby.lost)} lost, ${count(nearby.pending)} pending`,
    },
  ]
  return (
    <details>
      <summary style={{ cursor: 'pointer', padding: '0.25rem 0', fontSize: 'var(--mantine-font-size-sm)' }}>
        Show as a table
      </summary>
      <DataTable
        caption="Chance of winning by rate, with its 80% and 95% range"
        className="table-dense"
        columns={columns}
        rows={points}
        rowKey={(point) => String(point.rate)}
      />
    </details>
  )
}

import type { ScaleLinear } from 'd3-scale'
import type { KeyboardEvent } from 'react'

/** The horizontal scale of a chart: of amounts, shares or times. */
interface AcrossScale<At> {
  (at: At): number
  ticks: (count: number) => At[]
  range: () => number[]
}

/**
 * The axes of a chart, in its `svg`: grid lines with their values on the left, and ticks with their labels below. The ranges of the scales
 * are the edges of the plot.
 *
 * @example <Axes x={x} y={y} across={(rate) => [roundDollars(rate)]} up={percent} />
 */
export function Axes<At extends number | Date>({
  x,
  y,
  across,
  up,
  ticks = x.ticks(ticksWithin(x)),
}: {
  x: AcrossScale<At>
  y: ScaleLinear<number, number>
  /** The lines of a label below. */
  across: (at: At) => readonly string[]
  /** The label of a grid line. Without it, the chart has none. */
  up?: (value: number) => string
  /** The labeled places below. Usually as many as the width has room for. */
  ticks?: readonly At[]
}) {
  const [left = 0, right = 0] = x.range()
  const [bottom = 0] = y.range()
  return (
    <g fontSize={11} fill="var(--chart-ink)">
      {up !== undefined &&
        y.ticks(5).map((value) => (
          <g key={value} transform={`translate(0 ${y(value)})`}>
            <line x1={left} x2={right} stroke="var(--chart-grid)" />
            <text x={left - 6} dy="0.32em" textAnchor="end">
              {up(value)}
            </text>
          </g>
        ))}
      {ticks.map((at) => (
        <g key={Number(at)} transform={`translate(${x(at)} ${bottom})`}>
          <line y2={5} stroke="var(--chart-ink)" />
          {across(at).map((label, line) => (
            <text key={label} y={18 + 14 * line} textAnchor="middle">
              {label}
            </text>
          ))}
        </g>
      ))}
    </g>
  )
}

/** How many labels have room below a chart. */
export function ticksWithin(x: Pick<AcrossScale<unknown>, 'range'>): number {
  const [left = 0, right = 0] = x.range()
  return Math.max(2, Math.floor((right - left) / 80))
}

/**
 * The value of a slider after a key press, within its range; null for keys that do not move it. Arrow keys move it by a step, and with
 * Shift, as the Page keys, by a wide one.
 */
export function valueAfter(
  { key, shiftKey }: KeyboardEvent,
  from: number,
  [low, high]: readonly [low: number, high: number],
  [step, wideStep]: readonly [step: number, wideStep: number],
): number | null {
  const by = shiftKey ? wideStep : step
  const values: Readonly<Record<string, number>> = {
    ArrowRight: from + by,
    ArrowUp: from + by,
    ArrowLeft: from - by,
    ArrowDown: from - by,
    PageUp: from + wideStep,
    PageDown: from - wideStep,
    Home: low,
    End: high,
  }
  const value = values[key]
  return value === undefined ? null : Math.min(Math.max(value, low), high)
}

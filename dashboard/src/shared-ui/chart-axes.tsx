/** A tick of an axis: its place in pixels and its label. */
interface Tick {
  readonly at: number
  readonly label: string
  /** A second line, such as a rate per mile below a rate. */
  readonly below?: string | undefined
}

/** The axes of a chart: a line and a label for each value at the left, and a mark with its label for each value at the bottom. */
export function ChartAxes({
  left,
  right,
  bottom,
  x,
  y,
  gap = 19,
}: {
  readonly left: number
  readonly right: number
  readonly bottom: number
  readonly x: readonly Tick[]
  readonly y: readonly Tick[]
  /** From the bottom line to the labels below it. */
  readonly gap?: number
}) {
  return (
    <g fontSize={11} fill="var(--chart-ink)">
      {y.map(({ at, label }) => (
        <g key={at} transform={`translate(0 ${at})`}>
          <line x1={left} x2={right} stroke="var(--chart-grid)" />
          <text x={left - 6} dy="0.32em" textAnchor="end">
            {label}
          </text>
        </g>
      ))}
      {x.map(({ at, label, below }) => (
        <g key={at} transform={`translate(${at} ${bottom})`}>
          <line y2={5} stroke="var(--chart-ink)" />
          <text y={gap} textAnchor="middle">
            {label}
          </text>
          {below !== undefined && (
            <text y={gap + 14} textAnchor="middle" opacity={0.85}>
              {below}
            </text>
          )}
        </g>
      ))}
    </g>
  )
}

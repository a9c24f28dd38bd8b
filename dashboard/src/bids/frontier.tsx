import { Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'
import type { Answer } from '../api/index.ts'
import { count, roundDollars } from '../shared-ui/index.ts'

type Point = Omit<Answer<'choose-bid-rates'>['frontier'][number], 'bound'>

const margins = { top: 12, right: 24, bottom: 36, left: 64 }
const heightPx = 170

/** The largest expected margin for some numbers of loads, and the chosen rates among them. */
export function Frontier({ points, chosen }: { points: readonly Point[]; chosen: Point }) {
  const { ref, width } = useElementSize()
  // The other points are computed in less time, so near the choice they may be below what is possible.
  const sorted = [...points, chosen].sort((one, other) => one.expected_loads - other.expected_loads)
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (first === undefined || last === undefined || first === last) return null
  const best = Math.max(...sorted.map((point) => point.expected_margin))
  const least = Math.min(0, ...sorted.map((point) => point.expected_margin))
  const x = scaleLinear(
    [first.expected_loads, last.expected_loads],
    [margins.left, Math.max(width - margins.right, margins.left + 1)],
  )
  const y = scaleLinear([least, best], [heightPx - margins.bottom, margins.top])
  const path = line<Point>(
    (point) => x(point.expected_loads),
    (point) => y(point.expected_margin),
  )(sorted)
  const words = sorted
    .map(
      (point) => `${count(Math.round(point.expected_loads))} loads, ${roundDollars(point.expected_margin)}`,
    )
    .join('; ')
  return (
    <div ref={ref}>
      <svg
        width="100%"
        height={heightPx}
        role="img"
        aria-label={`Expected profit by expected loads: ${words}`}
      >
        {y.ticks(4).map((tick) => (
          <g key={tick}>
            <line
              x1={margins.left}
              x2={width - margins.right}
              y1={y(tick)}
              y2={y(tick)}
              stroke="var(--mantine-color-default-border)"
            />
            <text
              x={margins.left - 8}
              y={y(tick)}
              dy="0.32em"
              textAnchor="end"
              fontSize={12}
              fill="currentColor"
            >
              {roundDollars(tick)}
            </text>
          </g>
        ))}
        {x.ticks(5).map((tick) => (
          <text
            key={tick}
            x={x(tick)}
            y={heightPx - 18}
            textAnchor="middle"
            fontSize={12}
            fill="currentColor"
          >
            {count(tick)}
          </text>
        ))}
        <path d={path ?? ''} fill="none" stroke="var(--mantine-primary-color-filled)" strokeWidth={2} />
        <circle
          cx={x(chosen.expected_loads)}
          cy={y(chosen.expected_margin)}
          r={5}
          fill="var(--mantine-primary-color-filled)"
        />
        <text x={margins.left} y={heightPx - 2} fontSize={12} fill="currentColor">
          Expected loads of the contract
        </text>
      </svg>
      <Text size="sm" c="dimmed">
        The most that any rates are expected to earn, by the loads that they are expected to bring. The dot is
        the choice.
      </Text>
    </div>
  )
}

import { VisuallyHidden } from '@mantine/core'
import type { Answer } from '../api/index.ts'
import { count, percent } from './formats.ts'

type Decided = Pick<
  Answer<'get-performance'>['totals'],
  'win_rate_pct' | 'win_rate_interval' | 'won' | 'decided'
>

const barWidth = 110

/** A win rate with its counts, and its 80% range as a bar from 0 to 100%. */
export function WinRate({ figures }: { figures: Decided }) {
  const { win_rate_pct: rate, win_rate_interval: range, won, decided } = figures
  if (rate === null || range === null) return <span>None decided</span>
  const words = `80% range ${percent(range.low_pct)} to ${percent(range.high_pct)}`
  const x = (pct: number) => (pct / 100) * barWidth
  return (
    <div title={words}>
      {/* The counts go below the rate where a table has no room. */}
      <div style={{ whiteSpace: 'normal' }}>
        <b>{percent(rate)}</b>{' '}
        <span style={{ whiteSpace: 'nowrap' }}>
          ({count(won)} of {count(decided)})
        </span>
      </div>
      <svg width={barWidth} height={8} aria-hidden style={{ display: 'block' }}>
        <rect width={barWidth} height={2} y={3} fill="var(--chart-grid)" />
        <rect
          x={x(range.low_pct)}
          width={Math.max(2, x(range.high_pct) - x(range.low_pct))}
          height={8}
          rx={2}
          fill="var(--chart-band)"
        />
        <rect x={x(rate) - 1} width={2} height={8} fill="var(--chart-accent)" />
      </svg>
      <VisuallyHidden>{words}</VisuallyHidden>
    </div>
  )
}

import type { Answer } from '../api/index.ts'
import { MarginPct } from '../shared-ui/index.ts'

export type PerformanceFigures = Answer<'get-performance'>['totals']

/** A margin in percent, with a bar relative to the largest margin. A loss is labeled and drawn as an outline. */
export function MarginShare({ share, longest }: { share: number | null; longest: number }) {
  if (share === null) return <span>–</span>
  const width = longest <= 0 ? 0 : Math.min(1, Math.abs(share) / longest) * 64
  return (
    <>
      <div style={share < 0 ? { color: 'var(--lost)' } : undefined}>
        {share < 0 ? 'loss ' : ''}
        <MarginPct share={share} />
      </div>
      <svg width={64} height={6} aria-hidden style={{ display: 'inline-block' }}>
        <rect width={64} height={2} y={2} fill="var(--chart-grid)" />
        <rect
          x={64 - width}
          width={width}
          height={6}
          rx={1}
          fill={share < 0 ? 'none' : 'var(--chart-accent)'}
          stroke={share < 0 ? 'var(--lost)' : 'none'}
        />
      </svg>
    </>
  )
}

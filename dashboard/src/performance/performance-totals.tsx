import { counted, Figures, Margin, percent, roundDollars, signedDollars } from '../shared-ui/index.ts'
import type { PerformanceFigures } from './performance-cells.tsx'

/** The difference between landed and quoted margin of all rows, in whole dollars. */
export function LandedVsQuoted({ amount }: { amount: number | null | undefined }) {
  if (amount === null || amount === undefined) return '–'
  return (
    <span style={{ color: amount < 0 ? 'var(--lost)' : amount > 0 ? 'var(--won)' : undefined }}>
      {amount < 0 ? '▼ ' : amount > 0 ? '▲ ' : ''}
      {signedDollars(Math.round(amount))}
    </span>
  )
}

/** The totals of the selection, each with its count. */
export function PerformanceTotals({ totals }: { totals: PerformanceFigures | undefined }) {
  const range = totals?.win_rate_interval ?? null
  const landed = totals?.landed_vs_quoted ?? null
  return (
    <Figures
      label="Totals of the selection"
      loading={totals === undefined}
      figures={[
        {
          label: 'Quotes',
          value: (totals?.quotes ?? 0).toLocaleString('en-US'),
          note: `${(totals?.pending ?? 0).toLocaleString('en-US')} still pending`,
        },
        {
          label: 'Win rate',
          value: percent(totals?.win_rate_pct),
          note: `${(totals?.won ?? 0).toLocaleString('en-US')} of ${(totals?.decided ?? 0).toLocaleString('en-US')} decided${
            range === null ? '' : `; 80% range ${percent(range.low_pct)}–${percent(range.high_pct)}`
          }`,
        },
        {
          label: 'Customer rate (AR)',
          value: roundDollars(totals?.customer_rate),
          note: counted(totals?.shipments ?? 0, 'shipment'),
        },
        {
          label: 'Truck cost (AP)',
          value: roundDollars(totals?.truck_cost),
          note: counted(totals?.shipments ?? 0, 'shipment'),
        },
        {
          label: 'Landed margin',
          value: <Margin amount={totals?.margin} isRounded />,
          note: totals?.margin_pct === null ? 'no AR and AP yet' : `${percent(totals?.margin_pct)} of AR`,
        },
        {
          label: 'Landed vs quoted',
          value: <LandedVsQuoted amount={landed} />,
          note:
            landed === null
              ? 'nothing to compare yet'
              : `${roundDollars(totals?.quoted_margin)} quoted, over ${counted(totals?.comparable_shipments ?? 0, 'shipment')}`,
        },
      ]}
    />
  )
}

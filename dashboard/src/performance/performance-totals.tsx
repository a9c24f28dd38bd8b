import { counted, Figures, Margin, percent, roundDollars, signedDollars } from '../shared-ui/index.ts'
import type { PerformanceFigures } from './performance-cells.tsx'

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
          value:
            landed === null ? (
              '–'
            ) : (
              <span style={{ color: landed < 0 ? 'var(--lost)' : landed > 0 ? 'var(--won)' : undefined }}>
                {landed < 0 ? '▼ ' : landed > 0 ? '▲ ' : ''}
                {signedDollars(Math.round(landed))}
              </span>
            ),
          note:
            landed === null
              ? 'nothing to compare yet'
              : `${roundDollars(totals?.quoted_margin)} quoted, over ${counted(totals?.comparable_shipments ?? 0, 'shipment')}`,
        },
      ]}
    />
  )
}

import type { Answer } from '../api/index.ts'
import { count, counted, Figures, Margin, percent, roundDollars, signedDollars } from '../shared-ui/index.ts'

type Totals = Answer<'list-shipments'>['totals']

const none: Totals = {
  shipments: 0,
  cancelled: 0,
  customer_rate: 0,
  truck_cost: 0,
  margin: 0,
  margin_pct: null,
  shipments_with_margin: 0,
  quoted_margin: 0,
  shipments_with_quoted_margin: 0,
  landed_vs_quoted: 0,
  comparable_shipments: 0,
}

/** The totals of the selection, each with the number of shipments that it covers. */
export function ShipmentTotals({ totals, loading }: { totals: Totals | undefined; loading: boolean }) {
  const sums = totals ?? none
  const { landed_vs_quoted: landed, comparable_shipments: comparable } = sums
  const ifAny = (many: number, amount: number) => roundDollars(many === 0 ? null : amount)
  const side = landed < 0 ? 'less than quoted' : landed > 0 ? 'more than quoted' : 'as quoted'
  return (
    <Figures
      label="Totals of the selection"
      loading={loading}
      figures={[
        {
          label: 'Shipments',
          value: count(sums.shipments),
          note:
            sums.cancelled === 0
              ? 'with a booking'
              : `with a booking; ${count(sums.cancelled)} cancelled, not counted`,
        },
        {
          label: 'Customer rate (AR)',
          value: ifAny(sums.shipments, sums.customer_rate),
          note: 'where AR is known',
        },
        {
          label: 'Truck cost (AP)',
          value: ifAny(sums.shipments, sums.truck_cost),
          note: 'where AP is known',
        },
        {
          label: 'Landed margin',
          value: <Margin amount={sums.shipments_with_margin === 0 ? null : sums.margin} isRounded />,
          note: `${percent(sums.margin_pct)} of AR, over ${count(sums.shipments_with_margin)} with AR and AP`,
        },
        {
          label: 'Quoted margin',
          value: (
            <Margin amount={sums.shipments_with_quoted_margin === 0 ? null : sums.quoted_margin} isRounded />
          ),
          note: `${counted(sums.shipments_with_quoted_margin, 'shipment')} with an expected cost`,
        },
        {
          label: 'Landed vs quoted',
          value: (
            <span style={{ color: landed < 0 ? 'var(--lost)' : landed > 0 ? 'var(--won)' : undefined }}>
              {comparable === 0
                ? '–'
                : `${landed < 0 ? '▼ ' : landed > 0 ? '▲ ' : ''}${signedDollars(Math.round(landed))}`}
            </span>
          ),
          note:
            comparable === 0 ? 'nothing to compare yet' : `${side}, over ${counted(comparable, 'shipment')}`,
        },
      ]}
    />
  )
}

import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import {
  type AddressParams,
  BookedVsQuoted,
  count,
  counted,
  Figures,
  InRed,
  Margin,
  percent,
  roundDollars,
  TextLink,
} from '../shared-ui/index.ts'
import type { PerformanceFigures } from './performance-cells.tsx'
import { quotesParams } from './performance-query.ts'

type Finding = 'lost_to_cost' | 'lost_to_rate' | 'quoted_too_low'

interface TotalsProps {
  readonly totals: PerformanceFigures | undefined
  readonly search: AddressParams
  readonly today: Date
}

/** The totals of the selection, each with its count. */
export function PerformanceTotals({ totals, search, today }: TotalsProps) {
  const { period, from, to, customer, equipment, rate_type, quoted_by } = search
  const params = quotesParams({ period, from, to, customer, equipment, rate_type, quoted_by }, today)
  const linked = (finding: Finding, text: ReactNode) => (
    <TextLink to={pagePaths.quotes} query={{ ...params, finding }}>
      {text}
    </TextLink>
  )
  return (
    <Figures
      label="Totals of the selection"
      loading={totals === undefined}
      figures={[
        {
          label: 'Quotes',
          value: count(totals?.quotes ?? 0),
          note: `${count(totals?.pending ?? 0)} still pending`,
        },
        { label: 'Win rate', value: percent(totals?.win_rate_pct), note: answered(totals) },
        {
          label: 'Booked margin',
          value: <Margin amount={totals?.margin} isRounded />,
          note: booked(totals),
        },
        {
          label: 'Booked vs quoted',
          value: <BookedVsQuoted amount={totals?.landed_vs_quoted} />,
          note: compared(totals),
        },
        {
          label: 'Lost to cost',
          value: <Lost amount={totals?.lost_to_cost} />,
          note: linked('lost_to_cost', 'truck cost above expected'),
        },
        {
          label: 'Lost to rate',
          value: <Lost amount={totals?.lost_to_rate} />,
          note: linked('lost_to_rate', 'booked below the quoted rate'),
        },
        {
          label: 'Below minimum (estimate)',
          value: <Lost amount={totals?.quoted_too_low_amount} />,
          note: (
            <>
              {linked('quoted_too_low', counted(totals?.quoted_too_low ?? 0, 'quote'))} of{' '}
              {count(totals?.quotes_with_cost ?? 0)}, {count(totals?.quoted_too_low_won ?? 0)} won
            </>
          ),
        },
      ]}
    />
  )
}

/** An amount below a heading that says that it was lost, so without a sign. */
function Lost({ amount }: { amount: number | null | undefined }) {
  return <InRed when={(amount ?? 0) > 0}>{roundDollars(amount)}</InRed>
}

function answered(totals: PerformanceFigures | undefined): string {
  const range = totals?.win_rate_interval ?? null
  const shown = `${count(totals?.won ?? 0)} of ${count(totals?.decided ?? 0)} answered`
  return range === null ? shown : `${shown}; 80% range ${percent(range.low_pct)}–${percent(range.high_pct)}`
}

function booked(totals: PerformanceFigures | undefined): string {
  if (totals?.margin_pct == null) return 'no AR and AP yet'
  const { margin_pct: share, customer_rate: ar, truck_cost: ap, shipments } = totals
  return `${percent(share)} of ${roundDollars(ar)} AR, ${roundDollars(ap)} AP; ${counted(shipments, 'shipment')}`
}

function compared(totals: PerformanceFigures | undefined): string {
  if (totals?.landed_vs_quoted == null) return 'nothing to compare yet'
  const { quoted_margin: quoted, gained, comparable_shipments: shipments } = totals
  return `${roundDollars(quoted)} quoted, ${roundDollars(gained)} gained; ${counted(shipments, 'compared shipment')}`
}

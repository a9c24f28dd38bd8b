import type { Lane } from '#contract/lane.ts'
import { DataTable } from './data-table.tsx'
import { dollars, percent, ratePerMile, signedDollars } from './formats.ts'
import { sourceNames } from './outcome-words.tsx'
import { quotedMargin, rpm } from './quotes-margin.ts'

interface Compared {
  readonly what: string
  readonly quoted: string
  readonly booked: string
  readonly difference: string
}

const none = '–'

function between(quoted: number | null, booked: number | null): number | null {
  return quoted === null || booked === null ? null : Math.round((booked - quoted) * 100) / 100
}

function points(quoted: number | null, booked: number | null): string {
  const difference = between(quoted, booked)
  if (difference === null) return none
  return `${difference > 0 ? '+' : difference < 0 ? '−' : ''}${Math.abs(difference).toFixed(1)} points`
}

function perMile(difference: number | null, miles: number | null): string {
  const each = difference === null ? null : rpm(difference, miles)
  return each === null ? none : `${each > 0 ? '+' : each < 0 ? '−' : ''}${ratePerMile(Math.abs(each))}`
}

function compared(lane: Lane): readonly Compared[] {
  const quoted = quotedMargin(lane)
  const [cost, margin, marginPct] = [quoted?.cost ?? null, quoted?.margin ?? null, quoted?.marginPct ?? null]
  const costOf = quoted === null ? '' : quoted.source === 'estimate' ? ' (estimate)' : ' (AP history)'
  const apOf = lane.truck_cost_source === null ? '' : ` (${sourceNames[lane.truck_cost_source]})`
  const sameCustomer = lane.customer_name === lane.quoted_customer_name
  const rateDifference = between(lane.quoted_rate, lane.customer_rate)
  return [
    {
      what: 'Customer rate (AR)',
      quoted: dollars(lane.quoted_rate),
      booked: dollars(lane.customer_rate),
      difference: signedDollars(rateDifference),
    },
    {
      what: 'Rate per mile',
      quoted: ratePerMile(rpm(lane.quoted_rate, lane.miles)),
      booked: ratePerMile(rpm(lane.customer_rate, lane.miles)),
      difference: perMile(rateDifference, lane.miles),
    },
    {
      what: 'Truck cost (AP)',
      quoted: `${dollars(cost)}${costOf}`,
      booked: `${dollars(lane.truck_cost)}${apOf}`,
      difference: signedDollars(between(cost, lane.truck_cost)),
    },
    {
      what: 'Margin',
      quoted: dollars(margin),
      booked: dollars(lane.margin),
      difference: signedDollars(between(margin, lane.margin)),
    },
    {
      what: 'Margin %',
      quoted: percent(marginPct),
      booked: percent(lane.margin_pct),
      difference: points(marginPct, lane.margin_pct),
    },
    {
      what: 'Customer',
      quoted: lane.quoted_customer_name,
      booked: sameCustomer ? (lane.booked_at === null ? none : 'as quoted') : lane.customer_name,
      difference: sameCustomer ? none : 'renamed by the booking',
    },
  ]
}

/** The quote beside its booking: rate, cost and margin, and what became of them. */
export function QuotedAgainstBooked({ lane }: { lane: Lane }) {
  return (
    <DataTable
      caption="Quoted against booked"
      rows={compared(lane)}
      rowKey={({ what }) => what}
      columns={[
        { key: 'what', header: 'Figure', cell: ({ what }) => what },
        { key: 'quoted', header: 'Quoted', align: 'right', cell: ({ quoted }) => quoted },
        { key: 'booked', header: 'Booked', align: 'right', cell: ({ booked }) => booked },
        { key: 'difference', header: 'Difference', align: 'right', cell: ({ difference }) => difference },
      ]}
    />
  )
}

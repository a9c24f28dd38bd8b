import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Lane } from '#contract/lane.ts'
import { type QuotedTerms, type RateBasis, termsBehind } from '#engine/rate-basis.ts'
import { useSession } from '../api/index.ts'
import {
  bookedAgainstQuoted,
  DataTable,
  dollars,
  Margin,
  MarginPct,
  quotedMargin,
  ratePerMile,
  rpm,
  sentDifference,
  signedDollars,
  sourcePhrases,
} from '../shared-ui/index.ts'

interface Compared {
  readonly what: string
  readonly quoted: ReactNode
  readonly booked: ReactNode
  readonly difference: string
}

const none = '–'

function points(quoted: number | null, booked: number | null): string {
  if (quoted === null || booked === null) return none
  const difference = booked - quoted
  return `${difference > 0 ? '+' : difference < 0 ? '−' : ''}${Math.abs(difference).toFixed(1)} points`
}

function perMile(difference: number | null, miles: number | null): string {
  const each = difference === null ? null : rpm(difference, miles)
  return each === null ? none : `${each > 0 ? '+' : each < 0 ? '−' : ''}${ratePerMile(Math.abs(each))}`
}

/** An amount and what it is in. @example sent('$2,600', 2600, { basis: null, currency: 'CAD' }) // '$2,600 CAD' */
function sent(shown: ReactNode, amount: number | null, terms: QuotedTerms): ReactNode {
  return amount === null ? (
    shown
  ) : (
    <>
      {shown}
      {termsBehind(terms)}
    </>
  )
}

function compared(lane: Lane, assumed: RateBasis): readonly Compared[] {
  const quoted = quotedMargin(lane)
  const [cost, margin, marginPct] = [quoted?.cost ?? null, quoted?.margin ?? null, quoted?.marginPct ?? null]
  const rateDifference = bookedAgainstQuoted(lane, assumed)
  const ofQuote = { basis: lane.quoted_basis, currency: lane.quoted_currency }
  const ofCustomer = { basis: lane.customer_basis, currency: lane.customer_currency }
  const ofTruck = { basis: lane.truck_basis, currency: lane.truck_currency }
  const costDifference = sentDifference(
    { ...ofQuote, amount: cost },
    { amount: lane.truck_cost, ...ofTruck },
    assumed,
  )
  const marginDifference = sentDifference(
    { ...ofQuote, basis: null, amount: margin },
    { amount: lane.margin, basis: null, currency: lane.margin_currency },
    assumed,
  )
  // A share of a linehaul rate and one of an all-in rate cannot be subtracted.
  const isOneBasis = (lane.quoted_basis ?? assumed) === (lane.margin_basis ?? assumed)
  const inCurrency = (currency: QuotedTerms['currency']) => ({ basis: null, currency })
  return [
    {
      what: 'Customer rate (AR)',
      quoted: sent(dollars(lane.quoted_rate), lane.quoted_rate, ofQuote),
      booked: sent(dollars(lane.customer_rate), lane.customer_rate, ofCustomer),
      difference: signedDollars(rateDifference),
    },
    {
      what: 'Rate per mile',
      quoted: sent(ratePerMile(rpm(lane.quoted_rate, lane.miles)), lane.miles, ofQuote),
      booked: sent(
        ratePerMile(rpm(lane.customer_rate, lane.miles)),
        lane.miles === null ? null : lane.customer_rate,
        ofCustomer,
      ),
      difference: perMile(rateDifference, lane.miles),
    },
    {
      what: 'Truck cost (AP)',
      quoted: sent(dollars(cost), cost, ofQuote),
      booked: sent(dollars(lane.truck_cost), lane.truck_cost, ofTruck),
      difference: signedDollars(costDifference),
    },
    {
      what: 'Margin',
      quoted: sent(<Margin amount={margin} />, margin, inCurrency(lane.quoted_currency)),
      booked: sent(<Margin amount={lane.margin} />, lane.margin, inCurrency(lane.margin_currency)),
      difference: signedDollars(marginDifference),
    },
    {
      what: 'Margin %',
      quoted: <MarginPct share={marginPct} />,
      booked: <MarginPct share={lane.margin_pct} />,
      difference: isOneBasis ? points(marginPct, lane.margin_pct) : none,
    },
  ]
}

/** The sources of the two truck costs, in a sentence. */
function sourcesOfCost(lane: Lane): string {
  const quoted = quotedMargin(lane)
  const ofQuote =
    quoted === null
      ? 'There was no expected truck cost when the quote was made'
      : quoted.source === 'estimate'
        ? 'Quoted truck cost: the estimate entered with the quote'
        : 'Quoted truck cost: expected from AP history'
  const { truck_cost_source: source } = lane
  if (source === null) return `${ofQuote}. No truck cost is booked yet.`
  return `${ofQuote}. Booked truck cost from ${sourcePhrases[source]}.`
}

/** Rate, cost and margin as quoted and as booked. */
export function QuotedAgainstBooked({ lane }: { lane: Lane }) {
  const { default_basis: assumed } = useSession().tenant
  return (
    <>
      <DataTable
        caption="Amounts quoted and booked"
        rows={compared(lane, assumed)}
        rowKey={({ what }) => what}
        columns={[
          { key: 'what', header: 'Figure', cell: ({ what }) => what },
          { key: 'quoted', header: 'Quoted', align: 'right', cell: ({ quoted }) => quoted },
          { key: 'booked', header: 'Booked', align: 'right', cell: ({ booked }) => booked },
          { key: 'difference', header: 'Difference', align: 'right', cell: ({ difference }) => difference },
        ]}
      />
      <Text size="sm" c="dimmed">
        {sourcesOfCost(lane)}
      </Text>
    </>
  )
}

import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Quote } from '#contract/quote.ts'
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

/** An amount with its currency and basis. @example sent('$2,600', 2600, { basis: null, currency: 'CAD' }) // '$2,600 CAD' */
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

function compared(quote: Quote, assumed: RateBasis): readonly Compared[] {
  const quoted = quotedMargin(quote)
  const [cost, margin, marginPct] = [quoted?.cost ?? null, quoted?.margin ?? null, quoted?.marginPct ?? null]
  const rateDifference = bookedAgainstQuoted(quote, assumed)
  const ofQuote = { basis: quote.quoted_basis, currency: quote.quoted_currency }
  const ofCustomer = { basis: quote.customer_basis, currency: quote.customer_currency }
  const ofTruck = { basis: quote.truck_basis, currency: quote.truck_currency }
  const costDifference = sentDifference(
    { ...ofQuote, amount: cost },
    { amount: quote.truck_cost, ...ofTruck },
    assumed,
  )
  const marginDifference = sentDifference(
    { ...ofQuote, basis: null, amount: margin },
    { amount: quote.margin, basis: null, currency: quote.margin_currency },
    assumed,
  )
  // A percentage of a linehaul rate and a percentage of an all-in rate cannot be subtracted.
  const isOneBasis = (quote.quoted_basis ?? assumed) === (quote.margin_basis ?? assumed)
  const perMile = (amount: number | null, currency: QuotedTerms['currency']) =>
    ratePerMile(rpm(amount, quote.counted_miles), currency)
  const inCurrency = (currency: QuotedTerms['currency']) => ({ basis: null, currency })
  return [
    {
      what: 'Customer rate (AR)',
      quoted: sent(dollars(quote.quoted_rate), quote.quoted_rate, ofQuote),
      booked: sent(dollars(quote.customer_rate), quote.customer_rate, ofCustomer),
      difference: signedDollars(rateDifference, quote.quoted_currency),
    },
    {
      what: 'Rate per mile',
      quoted: perMile(quote.quoted_rate, quote.quoted_currency),
      booked: perMile(quote.customer_rate, quote.customer_currency),
      difference: `${(rateDifference ?? 0) > 0 && quote.counted_miles ? '+' : ''}${perMile(rateDifference, quote.quoted_currency)}`,
    },
    {
      what: 'Truck cost (AP)',
      quoted: sent(dollars(cost), cost, ofQuote),
      booked: sent(dollars(quote.truck_cost), quote.truck_cost, ofTruck),
      difference: signedDollars(costDifference, quote.quoted_currency),
    },
    {
      what: 'Margin',
      quoted: sent(<Margin amount={margin} />, margin, inCurrency(quote.quoted_currency)),
      booked: sent(<Margin amount={quote.margin} />, quote.margin, inCurrency(quote.margin_currency)),
      difference: signedDollars(marginDifference, quote.quoted_currency),
    },
    {
      what: 'Margin %',
      quoted: <MarginPct share={marginPct} />,
      booked: <MarginPct share={quote.margin_pct} />,
      difference: isOneBasis ? points(marginPct, quote.margin_pct) : none,
    },
  ]
}

/** The sources of the two truck costs, in a sentence. */
function sourcesOfCost(quote: Quote): string {
  const quoted = quotedMargin(quote)
  const ofQuote =
    quoted === null
      ? 'There was no expected truck cost when the quote was made'
      : quoted.source === 'estimate'
        ? 'Quoted truck cost: the estimate entered with the quote'
        : 'Quoted truck cost: expected from AP history'
  const { truck_cost_source: source } = quote
  if (source === null) return `${ofQuote}. No truck cost is booked yet.`
  return `${ofQuote}. Booked truck cost from ${sourcePhrases[source]}.`
}

/** Rate, cost and margin as quoted and as booked. */
export function QuotedAgainstBooked({ quote }: { quote: Quote }) {
  const { default_basis: assumed } = useSession().tenant
  return (
    <>
      <DataTable
        caption="Amounts quoted and booked"
        rows={compared(quote, assumed)}
        rowKey={({ what }) => what}
        columns={[
          { key: 'what', header: 'Figure', cell: ({ what }) => what },
          { key: 'quoted', header: 'Quoted', align: 'right', cell: ({ quoted }) => quoted },
          { key: 'booked', header: 'Booked', align: 'right', cell: ({ booked }) => booked },
          { key: 'difference', header: 'Difference', align: 'right', cell: ({ difference }) => difference },
        ]}
      />
      <Text size="sm" c="dimmed">
        {sourcesOfCost(quote)}
      </Text>
    </>
  )
}

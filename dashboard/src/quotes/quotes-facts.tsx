import { Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Quote } from '#contract/quote.ts'
import { basisWords } from '#engine/rate-basis.ts'
import { useSession } from '../api/index.ts'
import {
  CancelledMark,
  CustomerLink,
  calendarDay,
  cancelledWords,
  count,
  dollars,
  dollarsIn,
  equipmentName,
  loadWords,
  moment,
  OutcomeMark,
  outcomeWords,
  probability,
  range,
  reasonNames,
  roundDollars,
  shownOutcome,
  sourcePhrases,
  TextLink,
  unpricedQuote,
  VoidMark,
  validUntil,
} from '../shared-ui/index.ts'
import { RateTypeOf } from './quotes-columns.tsx'

const none = '–'

/** The facts of a quote. Missing values are dashes. */
export function QuoteFacts({ quote }: { quote: Quote }) {
  const quotedCharges = chargesWords({
    basis: quote.quoted_basis,
    fuel: quote.quoted_fuel,
    accessorials: quote.quoted_accessorials,
    charges: quote.quoted_charges,
    currency: quote.quoted_currency,
  })
  const customerCharges = chargesWords({
    basis: quote.customer_basis,
    fuel: quote.customer_fuel,
    accessorials: quote.customer_accessorials,
    charges: quote.customer_charges,
    currency: quote.customer_currency,
  })
  const truckCharges = chargesWords({
    basis: quote.truck_basis,
    fuel: quote.truck_fuel,
    accessorials: quote.truck_accessorials,
    charges: quote.truck_charges,
    currency: quote.truck_currency,
  })
  return (
    <Paper withBorder p="md">
      <dl className="quotes-facts">
        <OutcomeFacts quote={quote} />
        <Fact name="Decided">
          {moment(quote.decided_at)}
          {quote.outcome_source !== null && `, from ${sourcePhrases[quote.outcome_source]}`}
        </Fact>
        {quote.voided_at !== null && (
          <Fact name="Void">
            <VoidMark quote={quote} /> {moment(quote.voided_at)}: {quote.void_reason}. No statistic counts it.
          </Fact>
        )}
        <Fact name="Customer">
          <CustomerLink name={quote.customer_name} />
        </Fact>
        {quote.customer_name !== quote.quoted_customer_name && (
          <Fact name="Customer on the quote">{quote.quoted_customer_name}</Fact>
        )}
        <Fact name="Equipment">{equipmentName(quote.equipment)}</Fact>
        <Fact name="Loaded miles">{count(quote.miles)}</Fact>
        {quote.counted_miles !== quote.miles && (
          <Fact name="Miles that count">{count(quote.counted_miles)}</Fact>
        )}
        <Fact name="Pickup">{calendarDay(quote.pickup_date)}</Fact>
        <TypeFact quote={quote} />
        <Fact name="Quoted by">{quote.quoted_by?.name ?? quote.rep_name ?? 'Imported'}</Fact>
        {quote.rep_name !== null && quote.rep_name !== quote.quoted_by?.name && quote.quoted_by !== null && (
          <Fact name="Rep in the other system">{quote.rep_name}</Fact>
        )}
        {quote.external_id !== null && <Fact name="External id">{quote.external_id}</Fact>}
        <ValidUntil quote={quote} />
        <Fact name="Quoted">{moment(quote.created_at)}</Fact>
        <Fact name="Customer's reference">{quote.reference ?? none}</Fact>
        {quotedCharges !== null && <Fact name="Quoted rate includes">{quotedCharges}</Fact>}
        {customerCharges !== null && <Fact name="Customer rate includes">{customerCharges}</Fact>}
        {truckCharges !== null && <Fact name="Truck cost includes">{truckCharges}</Fact>}
        <Fact name="Market rate when quoted">{dollarsIn(quote.market_rate, quote.quoted_currency)}</Fact>
        <Fact name="Cost from AP history">{expectedWords(quote)}</Fact>
        {quote.forecast !== null && (
          <Fact name="Forecast when quoted">{`${forecastWords(quote.forecast)}${inUsDollars(quote)}`}</Fact>
        )}
        <Fact name="Carrier">{quote.carrier_name ?? none}</Fact>
        <Fact name="MC">{quote.carrier_notes ?? none}</Fact>
        <Fact name="Booked">{moment(quote.booked_at)}</Fact>
        {quote.cancelled_at !== null && (
          <Fact name="Cancelled">
            <CancelledMark quote={quote} /> {cancelledWords(quote)}
          </Fact>
        )}
        <Fact name="Last changed">{moment(quote.updated_at)}</Fact>
      </dl>
    </Paper>
  )
}

/** The outcome, and the offer that counts instead of a superseded one. */
function OutcomeFacts({ quote }: { quote: Quote }) {
  return (
    <>
      <Fact name="Outcome">
        <OutcomeMark outcome={shownOutcome(quote)} />
        {quote.superseded_by === null
          ? quote.outcome_reason !== null && ` ${reasonNames[quote.outcome_reason]}`
          : ` This offer alone: ${outcomeWords(quote.outcome, quote.outcome_reason)}.`}
      </Fact>
      {quote.superseded_by !== null && (
        <Fact name="Superseded by">
          <TextLink to={pagePaths.quote.replace('{lane_ref}', quote.superseded_by)}>
            {quote.superseded_by}
          </TextLink>
          , another offer for the load. No count of wins and losses has this one.
        </Fact>
      )}
    </>
  )
}

/** Spot or contract, and the mode and the stops, if the load is no direct truckload. */
function TypeFact({ quote }: { quote: Quote }) {
  return (
    <>
      <Fact name="Rate type">
        <RateTypeOf quote={quote} />
      </Fact>
      <LoadFact quote={quote} />
    </>
  )
}

/** The mode and the stops, if the load is no direct truckload. */
function LoadFact({ quote }: { quote: Quote }) {
  const unpriced = unpricedQuote(quote)
  if (unpriced === null) return null
  return (
    <Fact name="Mode">
      {loadWords(quote) ?? quote.equipment}. {unpriced} No statistic counts it.
    </Fact>
  )
}

/** The time at which the quote expires, as the text for the customer states it. */
function ValidUntil({ quote }: { quote: Quote }) {
  const end = validUntil(quote, useSession().tenant.quote_expiry.valid_days)
  if (end === null) return null
  return (
    <Fact name="Valid until">
      {end}
      {quote.valid_until === null && ', by the default of your brokerage'}
    </Fact>
  )
}

/** The basis of an amount in words; null if none was stated, so that the default of the brokerage is assumed. */
function chargesWords({
  basis,
  fuel,
  accessorials,
  charges,
  currency,
}: {
  basis: Quote['quoted_basis']
  fuel: number | null
  accessorials: number | null
  charges: Quote['quoted_charges']
  currency: Quote['quoted_currency']
}) {
  const named = charges?.map(({ name, amount }) => `${name} ${dollars(amount)}`).join(', ')
  const parts = [
    ...(currency === 'CAD' ? ['Canadian dollars'] : []),
    ...(basis === null ? [] : [basisWords[basis]]),
    ...(fuel === null ? [] : [`fuel ${dollars(fuel)}`]),
    ...(accessorials === null
      ? []
      : [`accessorials ${dollars(accessorials)}${named === undefined ? '' : ` (${named})`}`]),
  ]
  return parts.length === 0
    ? null
    : `${parts.join(', ')}${basis === null ? ' (the default basis is assumed)' : ''}`
}

/** The cost that was expected when the quote was made, with its range. */
function expectedWords(quote: Quote): string {
  const { expected_cost: expected, expected_basis: basis } = quote
  if (expected === null) return none
  const terms = `${inUsDollars(quote)}${basis === null ? '' : ` ${basisWords[basis]}`}`
  return `${dollars(expected.amount)}${terms} (80% range: ${dollars(expected.low)} to ${dollars(expected.high)})`
}

/** Names the currency of an estimate beside the amounts of a Canadian quote. */
const inUsDollars = ({ quoted_currency }: Quote) => (quoted_currency === 'CAD' ? ', in US dollars' : '')

/** The forecast that was saved with the quote, as one line. */
function forecastWords({
  win_probability,
  low,
  high,
  cost,
  cost_from,
  best_rate,
  going_rate,
}: NonNullable<Quote['forecast']>) {
  return [
    `win ${probability(win_probability)} (80% range: ${range({ low, high })})`,
    ...(cost === null ? [] : [`cost ${dollars(cost)} (${cost_from})`]),
    ...(best_rate === null ? [] : [`best rate ${dollars(best_rate)}`]),
    ...(going_rate === null ? [] : [`going rate ${roundDollars(going_rate)}`]),
  ].join(' · ')
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

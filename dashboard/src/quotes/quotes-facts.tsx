import { Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Lane } from '#contract/lane.ts'
import { pagePaths } from '#contract/pages.ts'
import { useSession } from '../api/index.ts'
import {
  basisNames,
  CancelledMark,
  CustomerLink,
  calendarDay,
  cancelledWords,
  count,
  dollars,
  equipmentName,
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
  VoidMark,
  validUntil,
} from '../shared-ui/index.ts'
import { RateTypeOf } from './quotes-columns.tsx'

const none = '–'

/** The facts of a quote. Missing values are dashes. */
export function QuoteFacts({ lane }: { lane: Lane }) {
  const { expected_cost: expected } = lane
  const quotedCharges = chargesWords({
    basis: lane.quoted_basis,
    fuel: lane.quoted_fuel,
    accessorials: lane.quoted_accessorials,
    charges: lane.quoted_charges,
    currency: lane.quoted_currency,
  })
  const customerCharges = chargesWords({
    basis: lane.customer_basis,
    fuel: lane.customer_fuel,
    accessorials: lane.customer_accessorials,
    charges: lane.customer_charges,
    currency: lane.customer_currency,
  })
  const truckCharges = chargesWords({
    basis: lane.truck_basis,
    fuel: lane.truck_fuel,
    accessorials: lane.truck_accessorials,
    charges: lane.truck_charges,
    currency: lane.truck_currency,
  })
  return (
    <Paper withBorder p="md">
      <dl className="quotes-facts">
        <OutcomeFacts lane={lane} />
        <Fact name="Decided">
          {moment(lane.decided_at)}
          {lane.outcome_source !== null && `, from ${sourcePhrases[lane.outcome_source]}`}
        </Fact>
        {lane.voided_at !== null && (
          <Fact name="Void">
            <VoidMark lane={lane} /> {moment(lane.voided_at)}: {lane.void_reason}. No statistic counts it.
          </Fact>
        )}
        <Fact name="Customer">
          <CustomerLink name={lane.customer_name} />
        </Fact>
        {lane.customer_name !== lane.quoted_customer_name && (
          <Fact name="Customer on the quote">{lane.quoted_customer_name}</Fact>
        )}
        <Fact name="Equipment">{equipmentName(lane.equipment)}</Fact>
        <Fact name="Loaded miles">{count(lane.miles)}</Fact>
        <Fact name="Pickup">{calendarDay(lane.pickup_date)}</Fact>
        <TypeFact lane={lane} />
        <Fact name="Quoted by">{lane.quoted_by?.name ?? lane.rep_name ?? 'Imported'}</Fact>
        {lane.rep_name !== null && lane.rep_name !== lane.quoted_by?.name && lane.quoted_by !== null && (
          <Fact name="Rep in the other system">{lane.rep_name}</Fact>
        )}
        {lane.external_id !== null && <Fact name="External id">{lane.external_id}</Fact>}
        <ValidUntil lane={lane} />
        <Fact name="Quoted">{moment(lane.created_at)}</Fact>
        <Fact name="Customer's reference">{lane.reference ?? none}</Fact>
        {quotedCharges !== null && <Fact name="Quoted rate includes">{quotedCharges}</Fact>}
        {customerCharges !== null && <Fact name="Customer rate includes">{customerCharges}</Fact>}
        {truckCharges !== null && <Fact name="Truck cost includes">{truckCharges}</Fact>}
        <Fact name="Market rate when quoted">{dollars(lane.market_rate)}</Fact>
        <Fact name="Cost from AP history">
          {expected === null
            ? none
            : `${dollars(expected.amount)}${lane.expected_basis === null ? '' : ` ${basisNames[lane.expected_basis]}`} (80% range: ${dollars(expected.low)} to ${dollars(expected.high)})`}
        </Fact>
        {lane.forecast !== null && <Fact name="Forecast when quoted">{forecastWords(lane.forecast)}</Fact>}
        <Fact name="Carrier">{lane.carrier_name ?? none}</Fact>
        <Fact name="MC">{lane.carrier_notes ?? none}</Fact>
        <Fact name="Booked">{moment(lane.booked_at)}</Fact>
        {lane.cancelled_at !== null && (
          <Fact name="Cancelled">
            <CancelledMark lane={lane} /> {cancelledWords(lane)}
          </Fact>
        )}
        <Fact name="Last changed">{moment(lane.updated_at)}</Fact>
      </dl>
    </Paper>
  )
}

/** The outcome, and the offer that counts instead of a superseded one. */
function OutcomeFacts({ lane }: { lane: Lane }) {
  return (
    <>
      <Fact name="Outcome">
        <OutcomeMark outcome={shownOutcome(lane)} />
        {lane.superseded_by === null
          ? lane.outcome_reason !== null && ` ${reasonNames[lane.outcome_reason]}`
          : ` This offer alone: ${outcomeWords(lane.outcome, lane.outcome_reason)}.`}
      </Fact>
      {lane.superseded_by !== null && (
        <Fact name="Superseded by">
          <TextLink to={pagePaths.quote.replace('{lane_ref}', lane.superseded_by)}>
            {lane.superseded_by}
          </TextLink>
          , another offer for the load. No count of wins and losses has this one.
        </Fact>
      )}
    </>
  )
}

/** Spot or contract. */
function TypeFact({ lane }: { lane: Lane }) {
  return (
    <Fact name="Rate type">
      <RateTypeOf lane={lane} />
    </Fact>
  )
}

/** The end that the text for the customer states, and at which the quote expires. */
function ValidUntil({ lane }: { lane: Lane }) {
  const end = validUntil(lane, useSession().tenant.quote_expiry.valid_days)
  if (end === null) return null
  return (
    <Fact name="Valid until">
      {end}
      {lane.valid_until === null && ', by the default of your brokerage'}
    </Fact>
  )
}

/** What an amount includes, in words; null if nothing was stated, so that the default of the brokerage is assumed. */
function chargesWords({
  basis,
  fuel,
  accessorials,
  charges,
  currency,
}: {
  basis: Lane['quoted_basis']
  fuel: number | null
  accessorials: number | null
  charges: Lane['quoted_charges']
  currency: Lane['quoted_currency']
}) {
  const named = charges?.map(({ name, amount }) => `${name} ${dollars(amount)}`).join(', ')
  const parts = [
    ...(currency === 'CAD' ? ['Canadian dollars'] : []),
    ...(basis === null ? [] : [basisNames[basis]]),
    ...(fuel === null ? [] : [`fuel ${dollars(fuel)}`]),
    ...(accessorials === null
      ? []
      : [`accessorials ${dollars(accessorials)}${named === undefined ? '' : ` (${named})`}`]),
  ]
  return parts.length === 0
    ? null
    : `${parts.join(', ')}${basis === null ? ' (the default basis is assumed)' : ''}`
}

/** The forecast that was saved with the quote, as one line. */
function forecastWords({
  win_probability,
  low,
  high,
  cost,
  cost_from,
  best_rate,
  going_rate,
}: NonNullable<Lane['forecast']>) {
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

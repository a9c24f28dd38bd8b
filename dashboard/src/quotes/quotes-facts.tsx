import { Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Lane } from '#contract/lane.ts'
import { pagePaths } from '#contract/pages.ts'
import { useSession } from '../api/index.ts'
import {
  type AmountTerms,
  amountTerms,
  basisNames,
  CancelledMark,
  CustomerLink,
  calendarDay,
  cancelledWords,
  count,
  dollars,
  equipmentName,
  isDirectQuote,
  modeNames,
  moment,
  OutcomeMark,
  outcomeWords,
  probability,
  RateTypeOf,
  range,
  reasonNames,
  shownOutcome,
  sourcePhrases,
  TextLink,
  VoidMark,
  validUntil,
} from '../shared-ui/index.ts'

const none = '–'

/** The facts of a quote. Missing values are dashes. */
export function QuoteFacts({ lane }: { lane: Lane }) {
  const { expected_cost: expected } = lane
  const quotedCharges = chargesWords(amountTerms(lane, 'quoted'))
  const customerCharges = chargesWords(amountTerms(lane, 'customer'))
  const truckCharges = chargesWords(amountTerms(lane, 'truck'))
  return (
    <Paper withBorder p="md">
      <dl className="quotes-facts">
        <OutcomeFacts lane={lane} />
        <Fact name="Answered">
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
        <LoadFacts lane={lane} />
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
        {lane.advice !== null && <Fact name="Advice when quoted">{adviceWords(lane.advice)}</Fact>}
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

/** The mode and the stops. */
function LoadFacts({ lane }: { lane: Lane }) {
  return (
    <>
      <Fact name="Mode">
        {modeNames[lane.mode ?? 'truckload']}
        {!isDirectQuote(lane) && '. No statistic of the lane counts it.'}
      </Fact>
      {lane.stops.length > 0 && <Fact name="Stops in between">{lane.stops.join('; ')}</Fact>}
    </>
  )
}

/** The end that the text for the customer says, and at which the quote expires. */
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

/** What an amount includes, in words; null if nothing was said, so that the default of the brokerage is assumed. */
function chargesWords({ basis, fuel, accessorials, charges, currency }: AmountTerms) {
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

/** The advice that was shown when the quote was saved, as one line. */
function adviceWords({
  win_probability,
  low,
  high,
  best_rate,
  going_rate,
  trust,
}: NonNullable<Lane['advice']>) {
  return [
    `win ${probability(win_probability)} (80% range: ${range({ low, high })})`,
    ...(best_rate === null ? [] : [`best rate ${dollars(best_rate)}`]),
    ...(going_rate === null ? [] : [`usual rate ${dollars(going_rate)}`]),
    `confidence: ${trust}`,
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

import { Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Lane } from '#contract/lane.ts'
import {
  CancelledMark,
  calendarDay,
  cancelledWords,
  count,
  dollars,
  equipmentName,
  moment,
  OutcomeMark,
  reasonNames,
  sourcePhrases,
} from '../shared-ui/index.ts'

const none = '–'

/** The facts of a quote. Missing values are dashes. */
export function QuoteFacts({ lane }: { lane: Lane }) {
  const { expected_cost: expected } = lane
  return (
    <Paper withBorder p="md">
      <dl className="quotes-facts">
        <Fact name="Outcome">
          <OutcomeMark outcome={lane.outcome} />
          {lane.outcome_reason !== null && ` ${reasonNames[lane.outcome_reason]}`}
        </Fact>
        <Fact name="Decided">
          {moment(lane.decided_at)}
          {lane.outcome_source !== null && `, from ${sourcePhrases[lane.outcome_source]}`}
        </Fact>
        <Fact name="Customer">{lane.customer_name}</Fact>
        {lane.customer_name !== lane.quoted_customer_name && (
          <Fact name="Customer on the quote">{lane.quoted_customer_name}</Fact>
        )}
        <Fact name="Equipment">{equipmentName(lane.equipment)}</Fact>
        <Fact name="Loaded miles">{count(lane.miles)}</Fact>
        <Fact name="Pickup">{calendarDay(lane.pickup_date)}</Fact>
        <Fact name="Quoted by">{lane.quoted_by?.name ?? 'Imported'}</Fact>
        <Fact name="Quoted">{moment(lane.created_at)}</Fact>
        <Fact name="Customer's reference">{lane.reference ?? none}</Fact>
        <Fact name="Market rate when quoted">{dollars(lane.market_rate)}</Fact>
        <Fact name="Cost from AP history">
          {expected === null
            ? none
            : `${dollars(expected.amount)} (80% range: ${dollars(expected.low)} to ${dollars(expected.high)})`}
        </Fact>
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

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

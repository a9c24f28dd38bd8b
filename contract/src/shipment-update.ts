import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { dollars, sentLaneRef, text, time } from './fields.ts'
import { nameLengthMax } from './limits.ts'
import { accessorialsOf, basisOf, chargesOf, currencyOf, fuelOf } from './rate-basis.ts'

export const shipmentUpdate = endpoint({
  name: 'shipment-update',
  method: 'POST',
  path: '/api/integrations/tms/shipment-update',
  summary: 'Push booked revenue and cost for a lane',
  description:
    'Records AR (customer_rate) and AP (truck_cost) of a booking. A value replaces the current value; an absent or null value does not change it. Sending the same payload twice is safe. A value signed earlier than the current value of a field is recorded but not applied; if nothing of an update is applied, the response has the header Lanewise-Update. customer_basis and truck_basis state what an amount includes; without them, the default basis of the brokerage is assumed. cancelled: true cancels the booking; a newer booking books the quote again.',
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: 'body', scope: 'integrations:write' },
  body: Type.Object({
    lane_ref: sentLaneRef('The quote, by the name that the service assigned: REQUESTID-LANENUM-COUNT'),
    customer_rate: Type.Optional(dollars('AR, the amount the customer pays; overrides the quoted rate')),
    truck_cost: Type.Optional(dollars('AP, the booked carrier pay; stored with source tms')),
    customer_name: Type.Optional(text('Final billable customer name; replaces the customer from the quote')),
    carrier_name: Type.Optional(text('Carrier of the booking, shown on the Shipments tab')),
    carrier_mc: Type.Optional(text("The carrier's MC number; stored in carrier_notes", nameLengthMax)),
    customer_basis: Type.Optional(basisOf('customer_rate')),
    customer_fuel: Type.Optional(fuelOf('customer_rate')),
    customer_accessorials: Type.Optional(accessorialsOf('customer_rate')),
    customer_charges: Type.Optional(chargesOf('customer_rate')),
    customer_currency: Type.Optional(currencyOf('customer_rate and its charges, also of those sent before')),
    truck_basis: Type.Optional(basisOf('truck_cost')),
    truck_fuel: Type.Optional(fuelOf('truck_cost')),
    truck_accessorials: Type.Optional(accessorialsOf('truck_cost')),
    truck_charges: Type.Optional(chargesOf('truck_cost')),
    truck_currency: Type.Optional(currencyOf('truck_cost and its charges, also of those sent before')),
    booked_at: Type.Optional(time('When the booking was confirmed, ISO 8601; informational')),
    cancelled: Type.Optional(
      Type.Boolean({
        description:
          'true cancels the booking: customer rate, truck cost, carrier and booking time are cleared, and a win caused by the booking is reverted. It cannot be combined with those fields. false means absent',
        'x-expected': 'true or false',
      }),
    ),
    cancel_reason: Type.Optional(text('Why the booking was cancelled; only with cancelled: true')),
  }),
  status: 200,
  mayNotApply: true,
  answer: Type.Object({
    status: Type.Literal('ok'),
    lane_id: Type.Integer(),
    updated: Type.Boolean({
      description:
        'true if the quote now has the values of this update, even if an earlier update set the same values. false if there was nothing to apply (the body contained only lane_ref) or if the quote has newer signed values.',
    }),
  }),
  problems: ['lane-not-found', 'request-in-progress'],
  examples: {
    body: {
      lane_ref: '48211093754-1-1',
      customer_rate: 2150,
      truck_cost: 1820.5,
      carrier_name: 'Blue Mesa Trucking',
      carrier_mc: 'MC-481920',
      booked_at: '2026-03-01T14:00:00Z',
    },
    answer: { status: 'ok', lane_id: 31877214065, updated: true },
  },
})

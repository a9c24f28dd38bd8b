import Type from 'typebox'
import { laneRef, nullable } from './fields.ts'
import { forecastQuotesPerPushMax } from './limits.ts'
import { shownMode, shownStops } from './load-modes.ts'
import { currencies, rateBases, shownBasis, shownCharge, shownCharges, shownCurrency } from './rate-basis.ts'
import { rateTypes } from './rate-types.ts'

/** The outcomes that a person can set. */
export const decisions = ['won', 'lost', 'pending'] as const
/** An expired quote got no answer while it was valid. */
export const outcomes = [...decisions, 'expired'] as const
/** Only losses for the price, or without a reason, say that a rate was too high. `withdrawn`: the customer no longer needs the truck. */
export const outcomeReasons = ['price', 'service', 'capacity', 'no_response', 'withdrawn', 'other'] as const
/** The rules that change an outcome automatically. */
export const outcomeRules = [
  'booking_is_a_win',
  'cancellation_takes_back_the_win',
  'validity_ended',
  'validity_extended',
  'another_offer_counts',
] as const
/** The sources of a booking. */
export const bookingSources = ['dashboard', 'tms', 'import'] as const
/** The sources of a change. `lanewise` is the service itself, which expires quotes. */
export const changeSources = [...bookingSources, 'lanewise'] as const

export const outcomeRule = {
  ...nullable(Type.Enum([...outcomeRules])),
  description:
    'The rule that changed the outcome. booking_is_a_win: a booked customer rate or truck cost wins the quote. cancellation_takes_back_the_win: the booking was cancelled, so the quote has the outcome from before the booking. validity_ended: the quote expired. validity_extended: an expired quote got a later valid_until, so it is pending again. another_offer_counts: another offer for the same load counts since, or this one counts again. null: a person or a file set the outcome, or it did not change.',
}

const money = nullable(Type.Number())
const moment = nullable(Type.String({ format: 'date-time' }))

/** A person of the brokerage, as referenced in records. */
export const UserSummary = Type.Object({ user_id: Type.Integer(), name: Type.String() })

/** A truck cost expected at quote time, with the range that contains 80 % of costs. */
export const CostRange = Type.Object({ amount: Type.Number(), low: Type.Number(), high: Type.Number() })

/** The forecast that was made with a quote. Amounts in dollars, probabilities from 0 to 1. */
export const RecordedForecast = Type.Object({
  made_at: Type.String({ format: 'date-time' }),
  win_probability: Type.Number({ description: 'At the quoted rate' }),
  low: Type.Number({ description: 'The 80 % range of win_probability begins here' }),
  high: Type.Number({ description: 'The 80 % range of win_probability ends here' }),
  cost: { ...nullable(Type.Number()), description: 'The truck cost that was entered or expected' },
  cost_from: nullable(Type.Enum(['entered', 'expected'])),
  going_rate: nullable(Type.Number()),
  best_rate: {
    ...nullable(Type.Number()),
    description: 'The best rate; null if no cost was known, not even that of the default curve',
  },
  lane_win_rate: {
    ...nullable(Type.Number()),
    description: 'The win rate of the lane at that time, to compare with win_probability',
  },
  quoted_as: { ...nullable(Type.String()), description: 'The quoted rate with its terms' },
  model: {
    ...nullable(Type.String()),
    description: 'The version of Lanewise, and a digest of the sources of the estimate',
  },
})

/**
 * The fields that were quoted, by their names in the history of the quote. `quoted_at` is missing, because `Lane` has it as
 * `created_at`.
 */
export const quotedFields = {
  origin: Type.String(),
  destination: Type.String(),
  equipment: Type.String(),
  quoted_customer_name: Type.String({ description: 'The customer named on the quote' }),
  quoted_rate: Type.Number({ description: 'The quoted rate in dollars' }),
  estimated_cost: { ...money, description: 'The truck cost that the rep expected at quote time' },
  quoted_basis: shownBasis('the quoted rate'),
  quoted_fuel: shownCharge('fuel charge', 'the quoted rate'),
  quoted_accessorials: shownCharge('accessorial charges', 'the quoted rate'),
  quoted_charges: shownCharges('the quoted rate'),
  quoted_currency: shownCurrency('the quoted rate'),
  market_rate: {
    ...money,
    description:
      'The market rate that came with the quote, in the currency of the quoted rate. Its basis is not saved',
  },
  miles: nullable(Type.Number()),
  pickup_date: nullable(Type.String({ format: 'date' })),
  rep_name: {
    ...nullable(Type.String()),
    description: 'Who quoted, as the system that pushed the quote states',
  },
  rate_type: {
    ...nullable(Type.Enum([...rateTypes])),
    description: 'Spot or contract. null: the default of the brokerage',
  },
  mode: shownMode,
  stops: shownStops,
  valid_until: { ...moment, description: 'Until when the quoted rate is valid, if known' },
  counter_rate: {
    ...money,
    description:
      'The lower rate that the customer named instead of this quote, in its currency and on its basis; null if none was recorded',
  },
}

/** The fields of the booking, by their names in the history of the quote. */
export const bookingFields = {
  customer_rate: { ...money, description: 'AR: the booked rate, which the customer pays' },
  truck_cost: { ...money, description: 'AP: the booked cost, which the carrier is paid' },
  customer_name: Type.String({
    description: 'The customer that is billed. The TMS may have replaced the name on the quote',
  }),
  carrier_name: nullable(Type.String()),
  carrier_notes: nullable(Type.String()),
  booked_at: moment,
  customer_basis: shownBasis('the customer rate'),
  customer_fuel: shownCharge('fuel charge', 'the customer rate'),
  customer_accessorials: shownCharge('accessorial charges', 'the customer rate'),
  customer_charges: shownCharges('the customer rate'),
  customer_currency: shownCurrency('the customer rate'),
  truck_basis: shownBasis('the truck cost'),
  truck_fuel: shownCharge('fuel charge', 'the truck cost'),
  truck_accessorials: shownCharge('accessorial charges', 'the truck cost'),
  truck_charges: shownCharges('the truck cost'),
  truck_currency: shownCurrency('the truck cost'),
  cancelled_at: {
    ...moment,
    description: 'Time of the cancellation. A newer booking clears it',
  },
  cancel_reason: {
    ...nullable(Type.String()),
    description: 'The reason for the cancellation, if the TMS sent one',
  },
}

export const Quote = Type.Object({
  lane_ref: laneRef,
  lane_id: Type.Integer(),
  request_id: Type.Integer(),
  ...quotedFields,
  counted_miles: {
    ...nullable(Type.Number()),
    description:
      'The loaded miles that conversions, costs, pricing rules and rates per mile use: miles if they are within 25 % of the distance that the service measures or if it measures none, else that distance',
  },
  ...bookingFields,
  reference: { ...nullable(Type.String()), description: "The shipper's own reference of the quote request" },
  quoted_by: {
    ...nullable(UserSummary),
    description: 'The rep who made the quote; null for an imported quote',
  },
  external_id: {
    ...nullable(Type.String()),
    description: 'The id of the quote in the system that pushed it; null for any other quote',
  },
  expected_cost: {
    ...nullable(CostRange),
    description:
      'The truck cost in US dollars expected at quote time from the AP history, with the range that contains 80 % of costs. null if none was known: the cost of the default curve alone is not saved',
  },
  expected_basis: shownBasis('expected_cost'),
  truck_cost_source: {
    ...nullable(Type.Enum([...bookingSources])),
    description: 'The source of the truck cost; null if there is none',
  },
  margin: {
    ...money,
    description:
      'customer_rate minus truck_cost, if both are known, in their currency. Amounts on different bases or in different currencies are compared on the default basis in US dollars; null if that is not possible',
  },
  margin_basis: {
    ...nullable(Type.Enum([...rateBases])),
    description:
      'The basis on which margin compares AR and AP: theirs if it is the same, else the default basis of the brokerage; null without a margin',
  },
  margin_currency: {
    ...nullable(Type.Enum([...currencies])),
    description: 'The currency of margin; null without one',
  },
  margin_pct: { ...money, description: 'margin / customer_rate x 100, one decimal' },
  outcome: {
    ...Type.Enum([...outcomes]),
    description:
      'expired: no answer came while the quote was valid. Statistics count it as pending, or as lost if the brokerage has set that',
  },
  outcome_reason: nullable(Type.Enum([...outcomeReasons])),
  outcome_source: nullable(Type.Enum([...changeSources])),
  decided_at: moment,
  voided_at: {
    ...moment,
    description:
      'When a person voided the quote because it was a mistake. No statistic counts it; null if it counts',
  },
  void_reason: { ...nullable(Type.String()), description: 'Why the quote was voided' },
  superseded_by: {
    ...nullable(Type.String()),
    description:
      'The lane_ref of the requote for the same load that counts instead of this quote. No statistic counts a superseded quote, whatever its outcome is; null if this quote counts, or is void',
  },
  forecast: {
    ...nullable(RecordedForecast),
    description: `The forecast that was made when the quote was saved or pushed; it never changes. null if there was none: nothing to estimate from, a quote from a file, one that was pushed with its outcome, more than a day after it was quoted, or in a call with more than ${forecastQuotesPerPushMax} quotes`,
  },
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})
export type Quote = Type.Static<typeof Quote>

const values = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]))

/** A change of a quote in its history. */
export const Change = Type.Object({
  change_id: Type.Integer({ description: 'Number of the change of its quote, from 1' }),
  source: Type.Enum([...changeSources]),
  changed_by: nullable(UserSummary),
  changed_at: Type.String({ format: 'date-time' }),
  before: values,
  after: values,
  rule: outcomeRule,
  rolled_back_change_id: {
    ...nullable(Type.Integer()),
    description: 'Set if this change rolled back another change',
  },
})

/** A booked quote, for the examples in the OpenAPI document. */
export const exampleQuote: Quote = {
  lane_ref: '48211093754-1-1',
  lane_id: 52840917233,
  request_id: 48211093754,
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  customer_name: 'Harvest Table Foods',
  quoted_customer_name: 'Harvest Table Foods',
  reference: 'PO-7781',
  quoted_by: { user_id: 3, name: 'Dana Reyes' },
  external_id: null,
  rep_name: null,
  rate_type: null,
  mode: null,
  stops: [],
  valid_until: null,
  quoted_rate: 2150,
  quoted_basis: null,
  quoted_fuel: null,
  quoted_accessorials: null,
  quoted_charges: null,
  quoted_currency: null,
  counter_rate: null,
  customer_rate: 2150,
  estimated_cost: 1820,
  expected_cost: { amount: 1805, low: 1640, high: 1990 },
  expected_basis: null,
  truck_cost: 1790.5,
  truck_cost_source: 'tms',
  customer_basis: 'all_in',
  customer_fuel: 312.4,
  customer_accessorials: null,
  customer_charges: null,
  customer_currency: null,
  truck_basis: 'all_in',
  truck_fuel: null,
  truck_accessorials: null,
  truck_charges: null,
  truck_currency: null,
  margin: 359.5,
  margin_basis: 'all_in',
  margin_currency: 'USD',
  margin_pct: 16.7,
  carrier_name: 'Blue Mesa Trucking',
  carrier_notes: 'MC-481920',
  market_rate: null,
  miles: 781,
  counted_miles: 781,
  pickup_date: '2026-03-04',
  outcome: 'won',
  outcome_reason: null,
  outcome_source: 'tms',
  decided_at: '2026-03-01T14:00:00.000Z',
  booked_at: '2026-03-01T14:00:00.000Z',
  cancelled_at: null,
  cancel_reason: null,
  voided_at: null,
  void_reason: null,
  superseded_by: null,
  forecast: null,
  created_at: '2026-02-27T16:12:09.000Z',
  updated_at: '2026-03-01T14:00:00.000Z',
}
/** The same quote while it is pending. */
export const openQuote: Quote = {
  ...exampleQuote,
  customer_rate: null,
  truck_cost: null,
  truck_cost_source: null,
  customer_basis: null,
  customer_fuel: null,
  truck_basis: null,
  margin: null,
  margin_basis: null,
  margin_currency: null,
  margin_pct: null,
  carrier_name: null,
  carrier_notes: null,
  outcome: 'pending',
  outcome_source: null,
  decided_at: null,
  booked_at: null,
  updated_at: exampleQuote.created_at,
}

import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { dollars, equipment, loadedMiles, oneOf, place, positiveDollars, text, time } from './fields.ts'
import { pushBytesMax, pushedItemsMax } from './limits.ts'
import { sentStops } from './load-modes.ts'
import {
  appliedItem,
  countedAs,
  externalId,
  itemErrors,
  laneRefOrExternalId,
  ownId,
  pushCounts,
  pushedItems,
  RefusedItem,
  signsAddress,
} from './push-items.ts'
import { outcomeReasons, outcomes } from './quote.ts'
import { quotedDetails } from './quoted-details.ts'
import { quotedCharges } from './rate-basis.ts'
import { UnknownPlacesOfItem } from './unknown-places.ts'

/** One pushed quote. Each is validated on its own. */
export const pushedQuote = Type.Object({
  external_id: externalId(ownId),
  origin: Type.Optional(place('Pickup city and state; sent together with destination')),
  destination: Type.Optional(place('Delivery city and state; sent together with origin')),
  stops: sentStops,
  miles: Type.Optional(
    loadedMiles('Loaded miles; computed from the places if absent. Sent together with origin'),
  ),
  equipment: Type.Optional(equipment('Equipment code, such as V')),
  quoted_rate: Type.Optional(positiveDollars('The rate quoted to the customer')),
  estimated_cost: Type.Optional(dollars('The truck cost expected at quote time')),
  ...quotedCharges,
  customer_name: Type.Optional(text('The customer of the quote')),
  rep_name: Type.Optional(
    text('Who quoted. The name or e-mail address of a person of the brokerage also credits that person'),
  ),
  quoted_at: Type.Optional(time('When it was quoted; the signed time if absent from a new quote')),
  valid_until: Type.Optional(time('Until when the rate is valid')),
  ...quotedDetails,
  outcome: Type.Optional(oneOf('The outcome of the quote', outcomes)),
  outcome_reason: Type.Optional(
    oneOf(
      'Why the quote was lost; only with outcome lost. A lost quote without it has no reason',
      outcomeReasons,
    ),
  ),
  decided_at: Type.Optional(
    time(
      'When the customer decided; only with outcome won or lost. If absent from a new outcome, the signed time: send it, so that it does not depend on the order of deliveries',
    ),
  ),
})

/** The fields that a new quote needs. */
export const neededOfNewQuote = [
  'origin',
  'destination',
  'equipment',
  'quoted_rate',
  'customer_name',
] as const satisfies readonly (keyof Type.Static<typeof pushedQuote>)[]

const pushedQuoteExample = {
  external_id: 'TMS-10442',
  origin: 'Dallas, TX',
  destination: 'Atlanta, GA',
  equipment: 'V',
  quoted_rate: 2150,
  estimated_cost: 1820,
  customer_name: 'Harvest Table Foods',
  rep_name: 'Dana Reyes',
  quoted_at: '2026-02-27T16:12:09Z',
  rate_type: 'spot',
} as const

/** The result of a pushed quote or outcome. */
export const PushedQuoteResult = Type.Object({
  ...appliedItem,
  result: Type.Enum(['created', 'updated', 'unchanged']),
  unknown_places: Type.Optional(UnknownPlacesOfItem),
})

/** The result that a push of an item would have. A quote that would be created has no lane_ref yet. */
export const CheckedQuote = Type.Object({
  ...PushedQuoteResult.properties,
  lane_ref: Type.Optional(Type.String({ description: 'Absent for a quote that would be created' })),
  lane_id: Type.Optional(Type.Integer({ description: 'Absent for a quote that would be created' })),
})

const pushAnswer = Type.Object({
  ...pushCounts,
  results: Type.Array(Type.Union([PushedQuoteResult, RefusedItem])),
})

export const pushQuotes = endpoint({
  name: 'push-quotes',
  method: 'POST',
  path: '/api/integrations/quotes',
  summary: 'Create and update quotes by your own ids',
  description: `Takes 1 to ${pushedItemsMax} quotes and returns a result for each, in the order of the request. A quote with a new external_id is created; it needs ${neededOfNewQuote.join(', ')}. A known one is updated: a value replaces the current value, and an absent or null value does not change it. Late and repeated deliveries converge as shipment updates do: each field keeps the value with the newest signature. A place that is not known is saved as sent, and reported in unknown_places. ${itemErrors} ${countedAs}`,
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: signsAddress, scope: 'quotes:write' },
  bodyBytesMax: pushBytesMax,
  body: Type.Object({ quotes: pushedItems(pushedQuote, 'quotes') }),
  itemsOf: 'quotes',
  status: 200,
  answer: pushAnswer,
  problems: ['request-in-progress'],
  examples: {
    body: {
      quotes: [pushedQuoteExample, { external_id: 'TMS-10443', origin: 'Dallas, TX' }],
    },
    answer: {
      created: 1,
      updated: 0,
      unchanged: 0,
      failed: 1,
      results: [
        {
          index: 0,
          status: 200,
          result: 'created',
          external_id: 'TMS-10442',
          lane_ref: '48211093754-1-1',
          lane_id: 52840917233,
        },
        {
          index: 1,
          external_id: 'TMS-10443',
          status: 422,
          detail: 'destination must be sent together with origin.',
          errors: [
            {
              pointer: '/destination',
              code: 'quote-not-found',
              detail: 'destination must be sent together with origin.',
            },
          ],
        },
      ],
    },
  },
})

export const checkQuotes = endpoint({
  name: 'check-quotes',
  method: 'POST',
  path: '/api/integrations/quotes/check',
  summary: 'Check quotes without saving them',
  description: `Takes what POST /api/integrations/quotes takes, and returns what it would do now: the result of each quote, or its errors. Nothing is saved, so a created quote has no lane_ref yet. ${countedAs}`,
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: signsAddress, scope: 'quotes:write' },
  bodyBytesMax: pushBytesMax,
  body: Type.Object({ quotes: pushedItems(pushedQuote, 'quotes') }),
  itemsOf: 'quotes',
  status: 200,
  answer: Type.Object({
    ...pushCounts,
    results: Type.Array(Type.Union([CheckedQuote, RefusedItem])),
  }),
  examples: {
    body: { quotes: [pushedQuoteExample] },
    answer: {
      created: 1,
      updated: 0,
      unchanged: 0,
      failed: 0,
      results: [{ index: 0, status: 200, result: 'created', external_id: 'TMS-10442' }],
    },
  },
})

/** The outcome of one quote. Each is validated on its own. */
export const pushedOutcome = Type.Object({
  ...laneRefOrExternalId,
  outcome: oneOf('The outcome of the quote', outcomes),
  outcome_reason: pushedQuote.properties.outcome_reason,
  decided_at: pushedQuote.properties.decided_at,
})

export const pushOutcomes = endpoint({
  name: 'push-outcomes',
  method: 'POST',
  path: '/api/integrations/outcomes',
  summary: 'Report outcomes of quotes',
  description: `Takes 1 to ${pushedItemsMax} outcomes, each of a quote named by external_id or lane_ref, and returns a result for each, in the order of the request. The outcome with the newest signature counts, unless a person set it later. A booking is a win: an outcome that is pushed for a booked quote waits until the booking is cancelled. To cancel a booking, send a shipment update with cancelled: true. An outcome whose quote is unknown has status 404: send the quote first. ${itemErrors} ${countedAs}`,
  tag: 'Integration',
  who: { kind: 'service', signed: true, signs: signsAddress, scope: 'quotes:write' },
  bodyBytesMax: pushBytesMax,
  body: Type.Object({ outcomes: pushedItems(pushedOutcome, 'outcomes') }),
  itemsOf: 'outcomes',
  status: 200,
  answer: pushAnswer,
  problems: ['request-in-progress'],
  examples: {
    body: { outcomes: [{ external_id: 'TMS-10442', outcome: 'lost', outcome_reason: 'price' }] },
    answer: {
      created: 0,
      updated: 1,
      unchanged: 0,
      failed: 0,
      results: [
        {
          index: 0,
          status: 200,
          result: 'updated',
          external_id: 'TMS-10442',
          lane_ref: '48211093754-1-1',
          lane_id: 52840917233,
        },
      ],
    },
  },
})

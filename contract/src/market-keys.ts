import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, text } from './fields.ts'
import { marketCallsPerDayDefault } from './limits.ts'

/** The providers that can be asked for market rates. The number of an adapter is its place in this list, from 1. */
export const marketAdapterNames = ['greenscreens', 'dat'] as const
export type MarketAdapterName = (typeof marketAdapterNames)[number]

const moment = Type.String({ format: 'date-time' })

export const MarketKey = Type.Object({
  adapter: Type.Enum([...marketAdapterNames]),
  source: Type.String({ description: 'The source of its market rates' }),
  available: Type.Boolean({ description: 'false: the operator of this installation has not turned it on' }),
  set_at: { ...nullable(moment), description: 'When the key was set; null: no key, and no call is made' },
  answered_at: { ...nullable(moment), description: 'The last answer with this key' },
  failure: { ...nullable(Type.String()), description: 'Why the last call failed; null after an answer' },
  failed_at: nullable(moment),
  retry_at: { ...nullable(moment), description: 'No call is made before this time' },
})

const exampleKey = {
  adapter: 'greenscreens',
  source: 'Greenscreens',
  available: true,
  set_at: '2026-02-27T14:00:00.000Z',
  answered_at: null,
  failure: 'The key was refused.',
  failed_at: '2026-02-27T14:05:00.000Z',
  retry_at: '2026-02-27T15:05:00.000Z',
} as const

const adapter = oneOf('The provider', marketAdapterNames)
const admin = { kind: 'dashboard', role: 'admin' } as const
const answer = Type.Object({
  keys: Type.Array(MarketKey),
  calls_per_day: Type.Integer({
    description: `The most calls to all providers in a day of UTC; PATCH /api/tenant changes it (market_calls_per_day). ${marketCallsPerDayDefault} unless an admin has changed it; 0: no call is made`,
  }),
  calls_today: Type.Integer({ description: 'The calls of this day of UTC, over all instances' }),
})
const examples = {
  answer: { keys: [exampleKey], calls_per_day: marketCallsPerDayDefault, calls_today: 37 },
}

export const listMarketKeys = endpoint({
  name: 'list-market-keys',
  method: 'GET',
  path: '/api/market-keys',
  summary: 'List the providers of market rates, and the state of their keys',
  description: 'Every provider that can be asked for market rates. The keys themselves are never shown.',
  tag: 'Market',
  who: admin,
  status: 200,
  answer,
  examples,
})

export const setMarketKey = endpoint({
  name: 'set-market-key',
  method: 'POST',
  path: '/api/market-keys',
  summary: 'Set the key of a provider of market rates',
  description:
    "Stores the brokerage's own key, encrypted, or replaces the stored one. From then on, a request for advice with the stored market rate (`include=market`) also has the provider asked for the rate of the lane, after the answer.",
  tag: 'Market',
  who: admin,
  body: Type.Object({
    adapter,
    client_id: text('The client id that the provider issued', 200),
    client_secret: text('The client secret that the provider issued', 500),
    user: Type.Optional(
      text(
        'DAT only: the e-mail address of the user whose rates are asked for; client_id is the service account',
        200,
      ),
    ),
  }),
  status: 200,
  answer,
  examples: {
    ...examples,
    body: { adapter: 'greenscreens', client_id: 'example', client_secret: 'example' },
  },
})

export const removeMarketKey = endpoint({
  name: 'remove-market-key',
  method: 'DELETE',
  path: '/api/market-keys',
  summary: 'Remove the key of a provider of market rates',
  description:
    'Deletes the key; no more calls are made. Without a stored key, nothing changes. Stored rates stay until their source is erased.',
  tag: 'Market',
  who: admin,
  query: Type.Object({ adapter }),
  status: 200,
  answer,
  examples,
})

import Type from 'typebox'
import { dateOrders } from './date-orders.ts'
import { endpoint } from './endpoint.ts'
import { changeOf, dollars, label, nullable, oneOf, timeZone, wholeNumber } from './fields.ts'
import { winProbabilityMethods } from './markup.ts'
import { rateBases } from './rate-basis.ts'
import { pools, rateTypes } from './rate-types.ts'

/** How statistics count an expired quote: undecided, like a pending one, or lost. */
const expiredCounts = ['pending', 'lost'] as const

export const Tenant = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  test: Type.Boolean({ description: 'true for a test brokerage' }),
  win_probability_method: Type.Enum([...winProbabilityMethods]),
  floors: Type.Object(
    {
      margin_pct: nullable(Type.Number()),
      margin: nullable(Type.Number()),
      rate_per_mile: nullable(Type.Number()),
    },
    { description: 'No rate below these floors is recommended; null means no floor' },
  ),
  time_zone: Type.String({
    description:
      'The IANA time zone in which days and months of the pages and of performance begin, and in which times of files are that have no zone',
  }),
  date_order: {
    ...Type.Enum([...dateOrders]),
    description:
      'The order of day and month in dates of files and pasted rows such as 3/1/2026, if neither the file nor its map shows it',
  },
  quote_expiry: Type.Object(
    {
      valid_days: nullable(Type.Integer()),
      counts_as: Type.Enum([...expiredCounts]),
    },
    {
      description:
        'valid_days: a pending quote without valid_until expires this many days after it was made; null means never. counts_as: how statistics count an expired quote',
    },
  ),
  default_basis: {
    ...Type.Enum([...rateBases]),
    description:
      'What an amount includes if its basis was not sent, and the basis on which statistics compare amounts',
  },
  default_rate_type: {
    ...Type.Enum([...rateTypes]),
    description: 'Whether a quote without a rate type is spot or contract',
  },
  integration_pool: {
    ...Type.Enum([...pools]),
    description:
      'The quotes that markup and lane insight of the integration interface count if a call sends no rate type',
  },
  created_at: Type.String({ format: 'date-time' }),
})

export const exampleTenant = {
  id: 1204877211,
  name: 'Blue Mesa Logistics',
  test: false,
  win_probability_method: 'at_or_below',
  floors: { margin_pct: 8, margin: null, rate_per_mile: null },
  time_zone: 'America/Chicago',
  date_order: 'month_first',
  quote_expiry: { valid_days: null, counts_as: 'pending' },
  default_basis: 'all_in',
  default_rate_type: 'spot',
  integration_pool: 'all',
  created_at: '2026-03-01T14:00:00.000Z',
}

export const updateTenant = endpoint({
  name: 'update-tenant',
  method: 'PATCH',
  path: '/api/tenant',
  summary: 'Change the settings of the brokerage',
  description:
    'Changes the given members, at least one: the name, how win_probability is computed, the floors for recommended rates, when quotes expire, the default basis of rates and costs, whether quotes without a rate type are spot or contract, which quotes the integration interface counts, the time zone, and the order of day and month in files. Returns the updated brokerage.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  body: changeOf({
    name: Type.Optional(label('Name of the brokerage')),
    win_probability_method: Type.Optional(oneOf('How win_probability is computed', winProbabilityMethods)),
    floors: Type.Optional(
      Type.Object(
        {
          margin_pct: Type.Optional(
            Type.Number({
              description: 'Minimum margin as a percentage of the rate; 0 means no floor',
              minimum: 0,
              maximum: 90,
              'x-expected': 'a number of percent from 0 to 90',
            }),
          ),
          margin: Type.Optional(dollars('Minimum margin per load in dollars; 0 means no floor')),
          rate_per_mile: Type.Optional(dollars('Minimum rate per loaded mile in dollars; 0 means no floor')),
        },
        { description: 'Floors for recommended rates. An absent floor does not change' },
      ),
    ),
    time_zone: Type.Optional(
      timeZone('Time zone in which days and months begin, and of times of files without a zone'),
    ),
    date_order: Type.Optional(
      oneOf(
        'The order of day and month in dates of files such as 3/1/2026, if a file does not show it',
        dateOrders,
      ),
    ),
    quote_expiry: Type.Optional(
      Type.Object(
        {
          valid_days: Type.Optional(
            wholeNumber(
              'Days after which a pending quote without valid_until expires; 0 means never',
              0,
              365,
            ),
          ),
          counts_as: Type.Optional(oneOf('How statistics count an expired quote', expiredCounts)),
        },
        { description: 'When quotes expire, and what that means. An absent member does not change' },
      ),
    ),
    default_basis: Type.Optional(
      oneOf(
        'What an amount includes if its basis was not sent, and the basis on which statistics compare amounts. A change does not change saved amounts; statistics convert an amount whose basis was sent to the new default',
        rateBases,
      ),
    ),
    default_rate_type: Type.Optional(
      oneOf(
        'Whether a quote without a rate type is spot or contract. A change applies to saved quotes, too',
        rateTypes,
      ),
    ),
    integration_pool: Type.Optional(
      oneOf(
        'The quotes that markup and lane insight of the integration interface count if a call sends no rate type',
        pools,
      ),
    ),
  }),
  status: 200,
  answer: Tenant,
  examples: {
    body: { win_probability_method: 'at_or_below', floors: { margin_pct: 8 } },
    answer: exampleTenant,
  },
})

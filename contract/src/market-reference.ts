import Type from 'typebox'
import { nullable } from './fields.ts'
import { rateBases } from './rate-basis.ts'

export const marketScopes = ['lane', 'zip3', 'market', 'state_pair', 'region'] as const
export const marketKinds = ['buy', 'sell'] as const
export const marketCurrencies = ['USD', 'CAD', 'MXN'] as const

const number = nullable(Type.Number())
const moment = Type.String({ format: 'date-time' })

/** Why a rate is not compared with quotes. */
const states = ['usable', 'other_currency', 'other_basis', 'future', 'stale'] as const
export const marketRateState = Type.Enum([...states], {
  description:
    'usable: it can be a reference. stale: older than valid_until, or than a year. other_basis: your rates have another basis, and neither its fuel charge nor your surcharge of its day is known. other_currency: not in US dollars, and no exchange rate of its day is known. future: as_of is still to come.',
})

export const MarketRate = Type.Object({
  scope: Type.Enum([...marketScopes]),
  origin: Type.String(),
  destination: Type.String(),
  equipment: Type.String(),
  basis: Type.Enum([...rateBases]),
  kind: Type.Enum([...marketKinds], {
    description: 'buy: what carriers are paid. sell: what customers pay',
  }),
  currency: Type.Enum([...marketCurrencies]),
  low: number,
  mid: Type.Number(),
  high: number,
  fuel: { ...number, description: 'The fuel charge per load' },
  compared: {
    ...number,
    description:
      'mid in US dollars on the basis of your rates; null if it cannot be converted. It is mid if nothing had to be converted',
  },
  converted_by: {
    ...nullable(Type.Enum(['charges', 'schedule', 'exchange'])),
    description:
      'How compared follows from mid: by the fuel charge of the rate, by your fuel schedule of its day, or (also) by the exchange rate of its day',
  },
  sample: { ...nullable(Type.Integer()), description: 'Loads or reports behind the rate' },
  source: Type.String(),
  as_of: moment,
  valid_until: nullable(moment),
  age_days: Type.Integer({ description: 'Whole days since as_of' }),
  state: marketRateState,
})

/** The brokerage's own rates on a lane. */
export const OwnRates = Type.Object({
  median: { ...number, description: 'Median of the rates quoted on the lane' },
  won_median: { ...number, description: 'Median of the rates won on the lane' },
  quotes: Type.Integer({ description: 'Priced quotes on the lane' }),
  won: Type.Integer({ description: 'Priced quotes that were won' }),
  newest_at: { ...nullable(moment), description: 'When the newest of them was quoted' },
  age_days: nullable(Type.Integer()),
})

/** Both references of a lane: your own rates, and the market. */
export const MarketReference = Type.Object(
  {
    own: OwnRates,
    market: {
      ...nullable(MarketRate),
      description:
        'The market rate to compare with: what customers pay if such a rate is usable, else what carriers are paid; null if none is usable',
    },
    market_why: Type.String({ description: 'Why this market rate, or why none: one sentence' }),
    used: Type.Enum(['own_median', 'market', 'market_rate', 'none'], {
      description: 'The reference of markup_pct. market_rate: the one that was sent',
    }),
    reference_rate: { ...number, description: 'The rate of `used`, in dollars' },
    why: Type.String({ description: 'Why this reference is used: one sentence' }),
    others: Type.Array(MarketRate, {
      description:
        'All other saved rates of the lane, the newest of each source, area and basis: never averaged with the chosen one',
    }),
  },
  { description: 'With include=market: both references side by side' },
)

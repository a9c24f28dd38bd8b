import Type from 'typebox'
import { BacktestRunning, BacktestTooFew } from './backtest.ts'
import { endpoint } from './endpoint.ts'
import { equipment, nullable, oneOf, recordId, text } from './fields.ts'
import { exampleLane, Lane } from './lane.ts'
import { LaneKey, performancePage } from './performance.ts'
import { ComparedBasis, exampleBasis } from './rate-basis.ts'
import { ofRateType } from './rate-types.ts'

const kind = oneOf(
  'won_too_low: won clearly below the rates that were nearly as good as the best one. not_worth: won or pending below the truck cost that was known when it was quoted',
  ['won_too_low', 'not_worth'],
)

const selection = {
  customer: Type.Optional(text('Only quotes of this customer, any case')),
  equipment: Type.Optional(equipment('Only lanes of this equipment')),
  rate_type: ofRateType,
  quoted_by: Type.Optional({ ...recordId, description: 'Only lanes that this user quoted' }),
}
const quoteSelection = {
  kind,
  origin: Type.Optional(text('Only lanes from this place')),
  destination: Type.Optional(text('Only lanes to this place')),
  ...selection,
}

const sums = {
  quotes: Type.Integer(),
  amount: Type.Number({
    description:
      'An estimate in dollars. won_too_low: what raising the rates would have been worth, with the chance of losing each quote counted. not_worth: the expected loss',
  }),
  range_80: Type.Object(
    { low: Type.Number(), high: Type.Number() },
    {
      description:
        '80 % range of the amount: the uncertainty of the win curves and of the truck costs, with a part that all lanes share',
    },
  ),
  booked: Type.Integer({ description: 'Those of the quotes whose AR and AP are booked by now' }),
  booked_margin: nullable(
    Type.Number({
      description: 'The margin that these bookings earned: known only later, and not part of the estimate',
    }),
  ),
}

/** The sums of judged quotes of one kind. Amounts are dollars. */
export const MissedSums = Type.Object(sums)
/** The sums of one lane or customer. */
export const MissedRow = Type.Object({
  key: Type.String({ description: 'Unique key of the row for the given `by`' }),
  label: Type.String({ description: 'Display name of the row' }),
  lane: { ...nullable(LaneKey), description: 'The lane, with by=lane' },
  ...sums,
})

const count = (description: string) => Type.Integer({ description })

/** How many won or pending quotes were not judged, by reason. */
export const NotJudged = Type.Object({
  without_cost: count('No truck cost was entered, and none could be expected from AP of earlier days'),
  without_rate: count('No going rate was known on that morning'),
  unlikely_cost: count('The cost is over four times the expected cost, or under a quarter of it'),
  at_edge: count('The best rate was at the end of the rates that are tried'),
})

const asOf = {
  as_of: Type.String({ format: 'date-time', description: 'Time at which the quotes were read' }),
  current: Type.Boolean({
    description: 'false: quotes have changed since then; the result is at most ten minutes old',
  }),
}
const done = {
  status: Type.Literal('done'),
  ...asOf,
  window_days: count('Quotes of the last window_days days are judged'),
  basis: ComparedBasis,
  judged: count('Won and pending quotes that were judged, whether they missed margin or not'),
  not_judged: NotJudged,
}

/** The answer while the brokerage has too few decided quotes to judge any. */
export const MissedTooFew = Type.Object({
  status: Type.Literal('too_few'),
  ...asOf,
  too_few: BacktestTooFew,
})

const honest =
  'Each quote is judged by what was known on the morning of its day: win curve, going rate and expected truck cost come from earlier days only. The figures are estimates by the model itself, not an experiment. They come from the same replay of your quotes as get-backtest: the first request starts it and returns status running; repeat the request to get the result.'

const exampleDone = {
  status: 'done',
  as_of: '2026-06-01T12:00:00.000Z',
  current: true,
  window_days: 180,
  basis: exampleBasis,
  judged: 1604,
  not_judged: { without_cost: 12, without_rate: 0, unlikely_cost: 1, at_edge: 9 },
} as const
const exampleSums = {
  quotes: 41,
  amount: 3120,
  range_80: { low: 1650, high: 4590 },
  booked: 38,
  booked_margin: 9_480.5,
}

export const getMissedMargin = endpoint({
  name: 'get-missed-margin',
  method: 'GET',
  path: '/api/performance/missed-margin',
  summary: 'Margin that your rates missed, by lane or customer: won too low, or not worth winning',
  description: `${honest} The rows add up to the totals, and list-missed-quotes has the quotes of each row.`,
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    by: oneOf('How quotes are grouped into rows', ['lane', 'customer']),
    kind,
    ...selection,
    ...performancePage,
  }),
  status: 200,
  answer: Type.Union([
    BacktestRunning,
    Type.Object({
      ...done,
      totals: Type.Object({ won_too_low: MissedSums, not_worth: MissedSums }),
      rows: Type.Array(MissedRow),
      rows_total: Type.Integer({ description: 'Number of rows on all pages' }),
      next_cursor: nullable(Type.String()),
    }),
    MissedTooFew,
  ]),
  examples: {
    query: { by: 'customer', kind: 'won_too_low' },
    answer: {
      ...exampleDone,
      totals: {
        won_too_low: exampleSums,
        not_worth: {
          quotes: 9,
          amount: 870,
          range_80: { low: 340, high: 1400 },
          booked: 7,
          booked_margin: -512,
        },
      },
      rows: [{ key: 'harvest table foods', label: 'Harvest Table Foods', lane: null, ...exampleSums }],
      rows_total: 1,
      next_cursor: null,
    },
  },
})

/**
 * A judged quote as it is now, with what was estimated on the morning of its day. The amounts of `lane` are as they were sent; the
 * others are US dollars on the basis of the answer.
 */
export const MissedQuote = Type.Object({
  lane: Lane,
  amount: Type.Number({ description: 'The estimated amount of this quote, as in the sums' }),
  quoted_rate: Type.Number(),
  cost: Type.Number({
    description: 'The truck cost that was known when it was quoted: the entered one, else the expected one',
  }),
  better_rate: Type.Number({
    description: 'The lowest rate that was nearly as good as the best one on that morning',
  }),
  booked_margin: nullable(
    Type.Number({
      description: 'The margin of its booking, on the basis of this answer; null without AR and AP',
    }),
  ),
  win_probability: Type.Number({ description: 'The chance of winning at quoted_rate, on that morning' }),
  win_probability_better: Type.Number({
    description: 'The chance of winning at better_rate, on that morning',
  }),
})

export const listMissedQuotes = endpoint({
  name: 'list-missed-quotes',
  method: 'GET',
  path: '/api/performance/missed-margin/quotes',
  summary: 'The quotes behind a figure of get-missed-margin',
  description: `${honest} The largest amount is first, and the amounts add up to the totals.`,
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ ...quoteSelection, ...performancePage }),
  status: 200,
  answer: Type.Union([
    BacktestRunning,
    Type.Object({
      ...done,
      totals: MissedSums,
      quotes: Type.Array(MissedQuote),
      next_cursor: nullable(Type.String()),
    }),
    MissedTooFew,
  ]),
  examples: {
    query: { kind: 'won_too_low' },
    answer: {
      ...exampleDone,
      totals: { ...exampleSums, quotes: 1, amount: 121, range_80: { low: 40, high: 202 } },
      quotes: [
        {
          lane: exampleLane,
          amount: 121,
          quoted_rate: 1900,
          cost: 1700,
          better_rate: 2095,
          booked_margin: 329.5,
          win_probability: 0.83,
          win_probability_better: 0.61,
        },
      ],
      next_cursor: null,
    },
  },
})

export const exportMissedMargin = endpoint({
  name: 'export-missed-margin',
  method: 'GET',
  path: '/api/performance/missed-margin/export',
  summary: 'The quotes of list-missed-quotes as a CSV file',
  description:
    'All quotes of list-missed-quotes, in its order, without a limit. 409 until the quotes have been judged: request get-missed-margin until its status is done.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object(quoteSelection),
  status: 200,
  answerKind: 'csv',
  problems: ['state-conflict'],
  answer: Type.String({
    description: 'A header line, then one line per quote; UTF-8 with a byte order mark',
  }),
  examples: {
    query: { kind: 'won_too_low' },
    answer:
      '\uFEFFQuote,Quoted on,Customer,Amount (estimate)\r\nLN-2026-000123,2026-05-12,Harvest Table Foods,121.00\r\n',
  },
})

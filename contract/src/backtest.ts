import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable } from './fields.ts'

const number = nullable(Type.Number())
const day = (description: string) => Type.String({ format: 'date', description })

export const Quality = Type.Object({
  auc: {
    ...number,
    description:
      'The probability that a won quote has a higher forecast than a lost quote; .5 is no better than chance',
  },
  brier: Type.Number({ description: 'Mean squared error; lower is better' }),
  log_loss: Type.Number({ description: 'Mean negative log likelihood; lower is better' }),
  calibration_slope: {
    ...number,
    description: '1 is ideal. Below 1 the forecasts are too extreme, above 1 too close to the average',
  },
  calibration_error: Type.Number({
    description: 'Mean distance between forecast and share won, over ten groups',
  }),
})

export const ReliabilityGroup = Type.Object({
  quotes: Type.Integer(),
  forecast: Type.Number({ description: 'Mean forecast of the group' }),
  won: Type.Number({ description: 'Share of the group that was won' }),
})

export const BacktestDollars = Type.Object(
  {
    quotes: Type.Integer({ description: 'Tested quotes with a known cost that could be priced' }),
    lanes: Type.Integer(),
    expected_margin_quoted: Type.Number({ description: 'Expected margin at the quoted rates' }),
    margin_earned: Type.Number({
      description: 'The actual margin of these quotes, to compare with expected_margin_quoted',
    }),
    expected_margin_best: Type.Number({
      description:
        'Expected margin at the best rates that the model would have shown that day, not below the floors of the settings',
    }),
    difference: Type.Number({
      description: 'expected_margin_best minus expected_margin_quoted: an estimate by the model itself',
    }),
    difference_80: Type.Object(
      { low: Type.Number(), high: Type.Number() },
      {
        description:
          '80 % range of the difference over resampled lanes. It does not cover errors of the model',
      },
    ),
    quoted_below: Type.Integer({
      description: 'Quotes below the range of rates that are as good as the best rate',
    }),
    quoted_as_good: Type.Integer(),
    quoted_above: Type.Integer(),
    at_edge: Type.Integer({ description: 'Quotes whose best rate is at the end of the searched range' }),
    caveat: Type.String(),
  },
  { description: 'Amounts in US dollars on the default basis of the brokerage' },
)

export const BacktestDone = Type.Object({
  enough: Type.Literal(true),
  window_days: Type.Integer({ description: 'Quotes of the last window_days days were tested' }),
  outcome_delay_days: Type.Integer({
    description: 'Assumed days from a quote until its outcome is known',
  }),
  first_tested_on: day('The first day with a tested quote, UTC'),
  last_tested_on: day('The last day with a tested quote, UTC'),
  quotes: Type.Integer(),
  decided: Type.Integer(),
  tested: Type.Integer({ description: 'Decided quotes that were forecast from earlier days' }),
  tested_won: Type.Integer(),
  left_out: Type.Integer({
    description:
      'Quotes excluded from estimates: rate not above zero, date in the future, or rate far from all others',
  }),
  quality: Type.Object({
    model: Quality,
    lane_rate: Quality,
    overall: Quality,
    literal: Quality,
    at_or_below: Quality,
  }),
  reliability: Type.Array(ReliabilityGroup, {
    description: 'Ten groups of the tested quotes, by forecast, lowest first',
  }),
  dollars: nullable(BacktestDollars),
  not_priced: Type.Object({
    without_cost: Type.Integer({ description: 'Neither a truck cost nor an estimated cost is known' }),
    without_best_rate: Type.Integer({ description: 'No expected cost was available on that day' }),
    unlikely_cost: Type.Integer({
      description: 'The cost is over four times the expected cost, or under a quarter of it',
    }),
  }),
  sentence: Type.String({ description: 'The result in plain English' }),
})

export const BacktestTooFew = Type.Object({
  enough: Type.Literal(false),
  why: Type.Enum(['too_few_decided', 'too_few_tested']),
  decided: Type.Integer(),
  tested: Type.Integer(),
  needed: Type.Object({ decided: Type.Integer(), tested: Type.Integer() }),
  sentence: Type.String(),
})

export const BacktestRunning = Type.Object({
  status: Type.Literal('running'),
  progress: Type.Number({ description: 'From 0 to 1' }),
})

const quality = (auc: number, brier: number, logLoss: number, slope: number | null, error: number) => ({
  auc,
  brier,
  log_loss: logLoss,
  calibration_slope: slope,
  calibration_error: error,
})

export const getBacktest = endpoint({
  name: 'get-backtest',
  method: 'GET',
  path: '/api/backtest',
  summary: 'How well the estimate performs on your own quotes',
  description:
    'Runs a walk-forward test: each decided quote of the last 180 days is forecast from the days before it, by the calibrated estimate and by simple rules. The first request starts the test and returns status running. Repeat the request to get the result, which is cached until your quotes change or the day ends. The dollar figures are an estimate by the model itself, not an experiment.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Type.Union([
    BacktestRunning,
    Type.Object({
      status: Type.Literal('done'),
      as_of: Type.String({ format: 'date-time', description: 'Time at which the quotes were read' }),
      current: Type.Boolean({
        description: 'false: quotes have changed since then; the result is at most ten minutes old',
      }),
      result: Type.Union([BacktestDone, BacktestTooFew]),
    }),
  ]),
  examples: {
    answer: {
      status: 'done',
      as_of: '2026-06-01T12:00:00.000Z',
      current: true,
      result: {
        enough: true,
        window_days: 180,
        outcome_delay_days: 1,
        first_tested_on: '2025-12-04',
        last_tested_on: '2026-05-29',
        quotes: 12_240,
        decided: 12_133,
        tested: 3414,
        tested_won: 1478,
        left_out: 3,
        quality: {
          model: quality(0.715, 0.211, 0.61, 1.06, 0.025),
          lane_rate: quality(0.618, 0.236, 0.666, 0.75, 0.028),
          overall: quality(0.481, 0.246, 0.684, null, 0.02),
          literal: quality(0.477, 0.32, 1.444, -0.05, 0.218),
          at_or_below: quality(0.658, 0.255, 0.746, 0.37, 0.162),
        },
        reliability: [
          { quotes: 1707, forecast: 0.3, won: 0.31 },
          { quotes: 1707, forecast: 0.56, won: 0.56 },
        ],
        dollars: {
          quotes: 3414,
          lanes: 313,
          expected_margin_quoted: 596_853,
          margin_earned: 588_524,
          expected_margin_best: 699_987,
          difference: 103_134,
          difference_80: { low: 83_092, high: 124_483 },
          quoted_below: 1968,
          quoted_as_good: 798,
          quoted_above: 648,
          at_edge: 29,
          caveat: 'This is an estimate by the model itself, not an experiment.',
        },
        not_priced: { without_cost: 0, without_best_rate: 0, unlikely_cost: 0 },
        sentence: 'On 3,414 quotes the estimate was better than the lane’s own win rate.',
      },
    },
  },
})

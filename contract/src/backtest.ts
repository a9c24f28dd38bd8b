import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, recordId } from './fields.ts'
import { missedQuotesMax, ruleTestQuotesMax } from './limits.ts'
import { exampleRule, RuleConditions, RuleTerms } from './pricing-rules.ts'
import { exampleQuote, Quote } from './quote.ts'
import { ComparedBasis, exampleBasis } from './rate-basis.ts'

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
    description: 'Mean distance between the forecast and the share of quotes won, over ten groups',
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

const quality = (auc: number, brier: number, logLoss: number, slope: number | null, error: number) => ({
  auc,
  brier,
  log_loss: logLoss,
  calibration_slope: slope,
  calibration_error: error,
})

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

/** The sums of judged quotes with one finding. Amounts are dollars. */
export const MissedSums = Type.Object(sums)
const count = (description: string) => Type.Integer({ description })

/** How many won or pending quotes were not judged, by reason. */
export const NotJudged = Type.Object({
  without_cost: count('No truck cost was entered, and none could be expected from AP of earlier days'),
  without_rate: count('No going rate was known on that morning'),
  unlikely_cost: count('The cost is over four times the expected cost, or under a quarter of it'),
  at_edge: count('The best rate was at the end of the rates that are tried'),
})

/**
 * A judged quote as it is now, with what was estimated on the morning of its day. The amounts of `lane` are as they were sent; the
 * others are US dollars on the basis of the answer.
 */
export const MissedQuote = Type.Object({
  lane: Quote,
  finding: Type.Enum(['won_too_low', 'not_worth'], {
    description:
      'won_too_low: won clearly below the rates that were nearly as good as the best one. not_worth: won or pending below the truck cost that was known when it was quoted',
  }),
  amount: Type.Number({ description: 'What this quote adds to the amount of its finding' }),
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

export const BacktestMissed = Type.Object({
  judged: count('Won and pending quotes that were judged, whether they missed margin or not'),
  not_judged: NotJudged,
  won_too_low: MissedSums,
  not_worth: MissedSums,
  quotes: Type.Array(MissedQuote, {
    description: `The quotes with the largest amounts, at most ${missedQuotesMax}. export-backtest has all`,
  }),
})

/** The changes that a rule would have made on the tested days. */
export const BacktestRule = Type.Object({
  because: Type.String({ description: 'The conditions in words' }),
  quotes: Type.Integer({ description: 'Past quotes that were compared' }),
  applies: Type.Integer({ description: 'Of these, the quotes that meet the conditions' }),
  without_cost: Type.Integer({ description: 'Of these, the quotes without a known truck cost' }),
  no_rate: Type.Integer({
    description:
      'Of the quotes that meet the conditions, those for which the minimum would be above the maximum',
  }),
  changed: Type.Integer({
    description: 'Quotes whose nearest allowed rate is another one with the rule than without it',
  }),
  changed_won: Type.Integer(),
  changed_lost: Type.Integer(),
  estimate: {
    ...nullable(
      Type.Object({
        quotes: Type.Integer({ description: 'The changed quotes that can be estimated' }),
        wins_before: Type.Number(),
        wins_after: Type.Number(),
        margin_before: Type.Number(),
        margin_after: Type.Number(),
        difference: Type.Number({ description: 'margin_after minus margin_before' }),
        range_80: Type.Object({ low: Type.Number(), high: Type.Number() }),
      }),
    ),
    description:
      'An estimate: expected wins and margin of these quotes at their rates, and at the nearest rates that the rules would have allowed. null: too few of them have a cost',
  },
  sentence: Type.String(),
  examples: Type.Array(
    Type.Object({
      lane_ref: Type.String(),
      quoted_rate: Type.Number(),
      allowed_rate: Type.Number(),
      detail: Type.String({ description: 'Which limit the rate is outside' }),
    }),
    { description: 'The newest changed quotes' },
  ),
})

const rule = {
  ...nullable(BacktestRule),
  description:
    'null: the request has no rule. The answer to a rule comes at once, while the quotes are still being judged',
}

export const BacktestRunning = Type.Object({
  status: Type.Literal('running'),
  progress: Type.Number({ description: 'From 0 to 1' }),
  rule,
})

const exampleSums = {
  quotes: 41,
  amount: 3120,
  range_80: { low: 1650, high: 4590 },
  booked: 38,
  booked_margin: 9_480.5,
}
const viewer = { kind: 'dashboard', role: 'viewer' } as const

export const getBacktest = endpoint({
  name: 'get-backtest',
  method: 'POST',
  path: '/api/backtest',
  summary: 'A test on your own quotes: the estimate, the margin that rates missed, and a rule',
  description: `Runs a walk-forward test: each decided quote of the last 180 days is forecast from the days before it, by the calibrated estimate and by simple rules. Won and pending quotes are judged by what was known on the morning of their day: was the rate too low? The first request starts the test and returns status running. Repeat the request to get the result, which is cached until your quotes change or the day ends. The dollar figures are estimates by the model itself, not an experiment. With \`rule\`, which need not be saved, the answer also states what this rule would have changed: the newest ${ruleTestQuotesMax.toLocaleString('en-US')} quotes of the tested days are compared with and without it, with the truck cost that was expected when each was made and the chances of today. Only an admin or an owner may ask about a rule. Nothing is saved.`,
  tag: 'Quotes',
  who: viewer,
  isRead: true,
  body: Type.Object({
    rule: Type.Optional(
      Type.Object({
        conditions: RuleConditions,
        terms: RuleTerms,
        rule_id: Type.Optional({ ...recordId, description: 'The saved rule that this is, or would replace' }),
      }),
    ),
  }),
  status: 200,
  answer: Type.Union([
    BacktestRunning,
    Type.Object({
      status: Type.Literal('done'),
      as_of: Type.String({ format: 'date-time', description: 'Time at which the quotes were read' }),
      current: Type.Boolean({
        description: 'false: quotes have changed since then; the result is at most ten minutes old',
      }),
      basis: ComparedBasis,
      result: Type.Union([BacktestDone, BacktestTooFew]),
      missed: { ...nullable(BacktestMissed), description: 'null: too few quotes' },
      rule,
    }),
  ]),
  problems: ['not-found', 'role-required'],
  examples: {
    body: { rule: { conditions: exampleRule.conditions, terms: exampleRule.terms } },
    answer: {
      status: 'done',
      as_of: '2026-06-01T12:00:00.000Z',
      current: true,
      basis: exampleBasis,
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
      missed: {
        judged: 1604,
        not_judged: { without_cost: 12, without_rate: 0, unlikely_cost: 1, at_edge: 9 },
        won_too_low: exampleSums,
        not_worth: {
          quotes: 9,
          amount: 870,
          range_80: { low: 340, high: 1400 },
          booked: 7,
          booked_margin: -512,
        },
        quotes: [
          {
            lane: exampleQuote,
            finding: 'won_too_low',
            amount: 121,
            quoted_rate: 1900,
            cost: 1700,
            better_rate: 2095,
            booked_margin: 329.5,
            win_probability: 0.83,
            win_probability_better: 0.61,
          },
        ],
      },
      rule: {
        because: exampleRule.because,
        quotes: 1800,
        applies: 42,
        without_cost: 3,
        no_rate: 0,
        changed: 9,
        changed_won: 5,
        changed_lost: 4,
        estimate: {
          quotes: 9,
          wins_before: 5.2,
          wins_after: 3.9,
          margin_before: 610,
          margin_after: 905,
          difference: 295,
          range_80: { low: 40, high: 520 },
        },
        sentence:
          'This rule would have changed 9 of 42 quotes. An estimate: 1.3 fewer wins, and $295 more margin in all.',
        examples: [],
      },
    },
  },
})

export const exportBacktest = endpoint({
  name: 'export-backtest',
  method: 'GET',
  path: '/api/backtest/export',
  summary: 'The quotes that missed margin as a CSV file',
  description:
    'All quotes of `missed` in get-backtest, the largest amount first, without a limit. 409 until the test has ended: request get-backtest until its status is done.',
  tag: 'Quotes',
  who: viewer,
  status: 200,
  answerKind: 'csv',
  problems: ['state-conflict'],
  answer: Type.String({
    description: 'A header line, then one line per quote; UTF-8 with a byte order mark',
  }),
  examples: {
    answer:
      '\uFEFFQuote,Finding,Quoted at,Customer,Origin,Destination,Equipment,Spot or contract,Outcome,Amount (estimate),Quoted rate,Truck cost known then,Better rate (estimate),Win probability (estimate),Win probability at the better rate (estimate),Margin booked later,Basis,Currency\r\n48211093754-1-1,won_too_low,2026-05-12T14:00:00.000Z,Harvest Table Foods,"Dallas, TX","Atlanta, GA",V,spot,won,121.00,2150.00,1800.00,2271.00,0.61,0.58,350.00,all_in,USD\r\n',
  },
})

import Type from 'typebox'
import { ReliabilityGroup } from './backtest.ts'
import { endpoint } from './endpoint.ts'
import { nullable, time } from './fields.ts'
import { forecastReportDays } from './limits.ts'
import { ofRateType, rateTypes } from './rate-types.ts'

const howMany = (description: string) => Type.Integer({ description })
const brier = (description: string) => Type.Number({ description: `${description}; lower is better` })

export const ForecastMean = Type.Object({
  mean: Type.Number(),
  range_95: {
    ...nullable(Type.Object({ low: Type.Number(), high: Type.Number() })),
    description: '95 % range, with the quotes of a lane as one unit; null with fewer than five lanes',
  },
})

const selected = `Quotes made in the period; without from, quotes of the last ${forecastReportDays} days`
const selection = {
  rate_type: ofRateType,
  from: Type.Optional(time('Only quotes made at or after this time')),
  to: Type.Optional(time('Only quotes made before this time')),
}

export const getForecasts = endpoint({
  name: 'get-forecasts',
  method: 'GET',
  path: '/api/forecasts',
  summary: 'How good the forecasts were that were made with the quotes',
  description: `Each quote that is saved on the quote desk or pushed has a forecast: the win probability at its rate, saved once. The report compares the forecasts with the outcomes, and with the win rate of the lane at that time. ${selected}. Imported quotes have no forecast. The sentence says whether the forecasts can be relied on.`,
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object(selection),
  status: 200,
  answer: Type.Object({
    since: Type.String({ format: 'date-time', description: 'The report covers quotes from this time on' }),
    forecasts: howMany('Quotes with a forecast'),
    scored: howMany('Of these, those that were won or lost at the rate that was forecast'),
    won: Type.Integer(),
    lanes: howMany('Lanes of the scored quotes'),
    unscored: Type.Object(
      {
        undecided: Type.Integer(),
        expired: howMany('Expired, unless the brokerage counts expired quotes as lost'),
        void: Type.Integer(),
        superseded: howMany('Another offer for the load counts, and the customer did not refuse this rate'),
        rate_changed: howMany('Decided at another rate than the one that was forecast'),
        late: howMany('Decided before the forecast was made'),
      },
      { description: 'Quotes that are not scored, by reason' },
    ),
    standing: Type.Enum(['unknown', 'good', 'too_high', 'too_low', 'behind_lane_rate'], {
      description: 'The result of the report. unknown: too few scored quotes',
    }),
    sentence: Type.String({ description: 'The result in one sentence' }),
    mean_forecast: nullable(Type.Number()),
    brier: nullable(brier('Mean squared error of the forecasts')),
    won_minus_forecast: {
      ...nullable(ForecastMean),
      description: 'The share of quotes won minus the mean forecast; null without a scored quote',
    },
    lane_rate: {
      ...nullable(
        Type.Object({
          quotes: howMany('Scored quotes with a known win rate of the lane'),
          brier: brier('Brier score of the forecasts on these quotes'),
          lane_rate_brier: brier('Brier score of the win rate of the lane'),
          better: {
            ...ForecastMean,
            description:
              'The Brier score of the lane rate minus that of the forecasts: above 0, they are better',
          },
        }),
      ),
      description: 'The forecasts beside the win rate of the lane at that time',
    },
    calibration: Type.Array(ReliabilityGroup, {
      description: 'Ten groups of equal size, by forecast, lowest first',
    }),
    months: Type.Array(
      Type.Object({
        month: Type.String({ description: "YYYY-MM, in the brokerage's time zone" }),
        rate_type: Type.Enum([...rateTypes]),
        scored: Type.Integer(),
        won: Type.Integer(),
        mean_forecast: Type.Number(),
        brier: brier('Brier score of the forecasts'),
        lane_rate_brier: {
          ...nullable(Type.Number()),
          description: 'Brier score of the win rate of the lane; null if it is not known for all quotes',
        },
      }),
      { description: 'By month of the quote and rate type, newest first' },
    ),
  }),
  examples: {
    query: { rate_type: 'spot' },
    answer: {
      since: '2025-03-01T15:10:00.000Z',
      forecasts: 701,
      scored: 520,
      won: 223,
      lanes: 88,
      unscored: { undecided: 140, expired: 20, void: 4, superseded: 15, rate_changed: 2, late: 0 },
      standing: 'good',
      sentence: 'The forecasts are reliable: 223 of 520 quotes were won, and their forecasts expected 229.',
      mean_forecast: 0.441,
      brier: 0.198,
      won_minus_forecast: { mean: -0.012, range_95: { low: -0.051, high: 0.027 } },
      lane_rate: {
        quotes: 520,
        brier: 0.198,
        lane_rate_brier: 0.221,
        better: { mean: 0.023, range_95: { low: 0.011, high: 0.035 } },
      },
      calibration: [
        { quotes: 260, forecast: 0.29, won: 0.28 },
        { quotes: 260, forecast: 0.59, won: 0.58 },
      ],
      months: [
        {
          month: '2026-02',
          rate_type: 'spot',
          scored: 520,
          won: 223,
          mean_forecast: 0.441,
          brier: 0.198,
          lane_rate_brier: 0.221,
        },
      ],
    },
  },
})

export const exportForecasts = endpoint({
  name: 'export-forecasts',
  method: 'GET',
  path: '/api/forecasts/export',
  summary: 'The forecasts and the outcomes of quotes as a CSV file',
  description: `One line per quote with a forecast, with its outcome and whether it is scored, so that the report can be computed again. ${selected}.`,
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object(selection),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({
    description: 'A header line, then one line per quote; UTF-8 with a byte order mark',
  }),
  examples: {
    answer:
      '\uFEFFLane ref,Quoted at,Month,Rate type,Origin,Destination,Equipment,Quoted as,Forecast made at,Win probability\r\n',
  },
})

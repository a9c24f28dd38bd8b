import Type from 'typebox'
import { ReliabilityGroup } from './backtest.ts'
import { endpoint } from './endpoint.ts'
import { nullable, recordId, wholeNumber } from './fields.ts'
import { experimentQuotesMax, experimentQuotesMin, pilotEntriesPageMax } from './limits.ts'

const moment = (description: string) => Type.String({ format: 'date-time', description })

/** The end of the chain of a pilot. Noted down elsewhere, it shows later whether an earlier entry was changed or removed. */
export const PilotHead = Type.Object({
  entry: Type.Integer({ description: 'The number of the newest entry: the number of entries' }),
  at: moment('When it was recorded'),
  hash: Type.String({ description: 'Its SHA-256 in hex, which covers all entries before it' }),
})

export const PilotExperiment = Type.Object({
  quotes: Type.Integer({ description: 'The number of quotes that its result is computed from' }),
  started_at: moment('When it was started'),
})

export const Pilot = Type.Object({
  active: Type.Boolean({ description: 'Whether the forecasts of new quotes are recorded' }),
  started_at: { ...nullable(moment('When it was switched on last')) },
  started_by: { ...nullable(recordId), description: 'The person who switched it on' },
  stopped_at: { ...nullable(moment('When it was switched off')) },
  head: {
    ...nullable(PilotHead),
    description: 'The newest entry. Note it down outside Lanewise; null before the first entry',
  },
  experiment: { ...nullable(PilotExperiment), description: 'The running experiment with suggested rates' },
})

const exampleHead = {
  entry: 1284,
  at: '2026-03-01T15:10:00.000Z',
  hash: '4b1f0f8f2f0f2c8a7d6e5b4c3a29181706f5e4d3c2b1a09f8e7d6c5b4a392817',
}
const examplePilot = {
  active: true,
  started_at: '2026-02-02T14:00:00.000Z',
  started_by: 1,
  stopped_at: null,
  head: exampleHead,
  experiment: null,
}

export const getPilot = endpoint({
  name: 'get-pilot',
  method: 'GET',
  path: '/api/pilot',
  summary: 'The sealed pilot: whether it is on, and the end of its chain',
  description:
    'While the pilot is on, the forecast for every new quote is recorded in the transaction that saves the quote, in a chain of hashes. Outcomes follow in the same chain.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Pilot,
  examples: { answer: examplePilot },
})

export const switchPilot = endpoint({
  name: 'switch-pilot',
  method: 'PATCH',
  path: '/api/pilot',
  summary: 'Switch the sealed pilot on or off',
  description:
    'Both are entries of the chain and of the audit log. Switching it off keeps its entries, and outcomes of its forecasts are still recorded.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'admin' },
  body: Type.Object({ active: Type.Boolean({ 'x-expected': 'true or false' }) }),
  status: 200,
  answer: Pilot,
  examples: { body: { active: true }, answer: examplePilot },
})

export const switchExperiment = endpoint({
  name: 'switch-experiment',
  method: 'PATCH',
  path: '/api/pilot/experiment',
  summary: 'Start or end an experiment with suggested rates',
  description:
    'While an experiment runs, the suggested rate of each lane and day is the low or the high end of the flat zone of the best rate, by a coin that the seed fixes: at most 2 % of modeled margin, and never below a floor. The suggestion is recorded with each forecast. The result is computed once, from as many quotes as were fixed at the start. It needs the pilot. Without quotes, ends the running experiment.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'admin' },
  body: Type.Object({
    quotes: Type.Optional(
      wholeNumber('Starts an experiment with this many quotes', experimentQuotesMin, experimentQuotesMax),
    ),
  }),
  status: 200,
  answer: Pilot,
  problems: ['state-conflict'],
  examples: {
    body: { quotes: 1000 },
    answer: { ...examplePilot, experiment: { quotes: 1000, started_at: '2026-03-01T14:00:00.000Z' } },
  },
})

export const PilotEntry = Type.Object({
  entry: Type.Integer({ description: 'Counted from 1 without gaps' }),
  at: moment('When it was recorded. Times never decrease'),
  kind: Type.Enum(['started', 'stopped', 'forecast', 'outcome', 'experiment']),
  lane_id: nullable(Type.Integer()),
  body: Type.String({ description: 'JSON, as the exact text that the hash covers' }),
  hash: Type.String({
    description:
      'SHA-256 in hex over the 32 bytes of the previous hash (zeros before the first) and the JSON array [id of the brokerage, entry, microseconds of at, kind, lane_id, body]',
  }),
})

const exampleEntry = {
  entry: 2,
  at: '2026-02-02T14:03:10.211Z',
  kind: 'outcome',
  lane_id: 7301,
  body: '{"lane_ref":"48211093754-1-1","outcome":"won","reason":null,"source":"tms","decided_at":"2026-02-02T14:03:00.000Z","rate":2150,"revenue":2150,"cost":1790.5}',
  hash: exampleHead.hash,
} as const

export const listPilotEntries = endpoint({
  name: 'list-pilot-entries',
  method: 'GET',
  path: '/api/pilot/entries',
  summary: 'The chain of the pilot, in pages',
  description:
    'Entries in order. To read the whole chain, repeat with after = the last entry, until next_after is null.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    after: Type.Optional(wholeNumber('Entries after this number; all if absent', 0, Number.MAX_SAFE_INTEGER)),
    limit: Type.Optional(
      wholeNumber(`Entries per page; default ${pilotEntriesPageMax}`, 1, pilotEntriesPageMax),
    ),
  }),
  status: 200,
  answer: Type.Object({
    entries: Type.Array(PilotEntry),
    next_after: nullable(Type.Integer()),
    head: nullable(PilotHead),
  }),
  examples: {
    query: { after: 1 },
    answer: { entries: [exampleEntry], next_after: null, head: exampleHead },
  },
})

export const exportPilot = endpoint({
  name: 'export-pilot',
  method: 'GET',
  path: '/api/pilot/export',
  summary: 'The chain of the pilot as a CSV file',
  description:
    'All entries in order, with the columns Entry, At, Kind, Lane id, Body and Hash. recipes/verify-pilot.mjs verifies the file and computes its scores without the service: docs/pilot.md.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answerKind: 'csv',
  answer: Type.String({
    description: 'A header line, then one line per entry; UTF-8 with a byte order mark',
  }),
  examples: {
    answer:
      '\uFEFFEntry,At,Kind,Lane id,Body,Hash\r\n1,2026-02-02T14:00:00.000Z,started,,"{""format"":""lanewise pilot 1""}",4b1f\r\n',
  },
})

export const PilotScore = Type.Object({
  brier: Type.Number({ description: 'Mean squared error; lower is better' }),
  log_loss: Type.Number({ description: 'Mean negative log likelihood; lower is better' }),
  calibration_error: Type.Number({
    description: 'Mean distance between forecast and share won, over ten groups',
  }),
})

export const PilotRange = Type.Object({ low: Type.Number(), high: Type.Number() })
const range = {
  ...nullable(PilotRange),
  description: '95 % range over resampled lanes; null with fewer than five lanes',
}
const amount = (description: string) => Type.Number({ description })
const howMany = (description: string) => Type.Integer({ description })

export const PilotArm = Type.Object({
  quotes: Type.Integer(),
  earned: Type.Number({ description: 'Margin earned per quote, with 0 for a quote that was not won' }),
})

export const PilotReport = Type.Object({
  entries: howMany('Entries of the chain that the report covers'),
  forecasts: howMany('Recorded forecasts, also of quotes that were priced again'),
  scored: howMany('Quotes whose forecast is scored: on time, with an outcome that is won or lost'),
  won: Type.Integer(),
  lanes: howMany('Lanes of the scored quotes'),
  unscored: Type.Object(
    {
      undecided: Type.Integer(),
      late: howMany('Recorded after the outcome, or more than 24 hours after the quote'),
      no_forecast: howMany('There were no quotes to learn from, or the rate was on another basis'),
      void: Type.Integer(),
      expired: Type.Integer(),
      rate_changed: howMany('Decided at another rate than the one that was forecast'),
    },
    { description: 'Quotes that are not scored, by reason' },
  ),
  corrections: howMany('Outcomes that changed after they were first won or lost'),
  kept_apart: howMany(
    'Scored quotes that the dollars leave out, because a booked amount could not be converted or the default basis changed after the forecast',
  ),
  scores: {
    ...nullable(
      Type.Object({
        model: PilotScore,
        lane_rate: { ...PilotScore, description: "The lane's win rate at the time of the forecast" },
        rep_rate: {
          ...PilotScore,
          description: "The win rate of the rep's quotes that were decided before, within the pilot",
        },
        overall: { ...PilotScore, description: 'The win rate of the brokerage' },
      }),
    ),
    description: 'Null without a scored quote',
  },
  better_than_lane_rate: nullable(
    Type.Object({
      brier: amount('The Brier score of the lane rate minus that of the model: above 0, the model is better'),
      range_95: range,
    }),
  ),
  mean_forecast: nullable(Type.Number()),
  calibration: Type.Array(ReliabilityGroup, {
    description: 'Ten groups of equal size, by forecast, lowest first',
  }),
  dollars: {
    ...nullable(
      Type.Object({
        quotes: howMany('Scored quotes with a cost'),
        lanes: Type.Integer(),
        expected_margin_quoted: amount('Expected margin at the rates that the reps quoted'),
        expected_margin_best: amount("Expected margin at the model's best rates"),
        expected_margin_going: amount('Expected margin at the going rates of the lanes'),
        margin_earned: amount('The actual margin of these quotes, to compare with expected_margin_quoted'),
        difference: amount(
          'expected_margin_best minus expected_margin_quoted: an estimate by the model itself',
        ),
        range_95: range,
      }),
    ),
    description: 'Null without a scored quote with a cost. Expected by the recorded probabilities',
  },
  experiment: {
    ...nullable(
      Type.Object({
        state: Type.Enum(['collecting', 'waiting', 'done', 'ended'], {
          description:
            'collecting: fewer quotes than planned. waiting: the last one may still be won. ended: ended before, without a result',
        }),
        planned: howMany('Quotes that were fixed at the start'),
        assigned: howMany('Quotes with a suggestion so far, at most the planned ones'),
        followed: howMany('Of these, quoted within 1 % of the suggestion'),
        kept_apart: howMany(
          'Of these, quotes whose booked amounts cannot be compared for the same reasons: they count with the rate and the cost of their forecast',
        ),
        result: {
          ...nullable(
            Type.Object({
              low: PilotArm,
              high: PilotArm,
              gain: amount('What a quote earned more with the high suggestion'),
              range_95: PilotRange,
            }),
          ),
          description: 'Null until it is done, or with too few lanes and days',
        },
      }),
    ),
    description: 'The newest experiment with suggested rates; null if there was none',
  },
})

const exampleScore = (brier: number, log_loss: number, calibration_error: number) => ({
  brier,
  log_loss,
  calibration_error,
})

export const getPilotReport = endpoint({
  name: 'get-pilot-report',
  method: 'GET',
  path: '/api/pilot/report',
  summary: 'How the recorded forecasts did',
  description:
    'The scores of the forecasts in the chain, beside win rates of the lane, the rep and the brokerage that were known at the time of each forecast. recipes/verify-pilot.mjs computes the same numbers from the export.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: PilotReport,
  examples: {
    answer: {
      entries: 1284,
      forecasts: 701,
      scored: 520,
      won: 223,
      lanes: 88,
      unscored: { undecided: 130, late: 12, no_forecast: 3, void: 4, expired: 20, rate_changed: 2 },
      corrections: 5,
      kept_apart: 3,
      scores: {
        model: exampleScore(0.198, 0.579, 0.031),
        lane_rate: exampleScore(0.221, 0.634, 0.034),
        rep_rate: exampleScore(0.24, 0.672, 0.028),
        overall: exampleScore(0.245, 0.683, 0.021),
      },
      better_than_lane_rate: { brier: 0.023, range_95: { low: 0.011, high: 0.035 } },
      mean_forecast: 0.441,
      calibration: [
        { quotes: 260, forecast: 0.29, won: 0.28 },
        { quotes: 260, forecast: 0.59, won: 0.58 },
      ],
      dollars: {
        quotes: 512,
        lanes: 86,
        expected_margin_quoted: 84_210,
        expected_margin_best: 91_030,
        expected_margin_going: 80_470,
        margin_earned: 83_112,
        difference: 6820,
        range_95: { low: 4310, high: 9550 },
      },
      experiment: null,
    },
  },
})

export const getCalibration = endpoint({
  name: 'get-calibration',
  method: 'GET',
  path: '/api/calibration',
  summary: 'Whether the win probabilities hold on the last 60 days',
  description:
    'The last daily check of the forecasts that were recorded with live quotes (by the pilot, or as the quote desk showed them) against the decisions of the last 60 days. When it breaks, the event model.calibration_broken is sent.',
  tag: 'Performance',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Type.Object({
    state: Type.Enum(['unchecked', 'too_few', 'holds', 'broken'], {
      description: 'unchecked: no check was made yet. too_few: too few decided quotes',
    }),
    checked_at: nullable(moment('When it was checked')),
    broken_since: { ...nullable(moment('The first check that found it broken')) },
    decided: howMany('Decided quotes with a recorded forecast'),
    won: Type.Integer(),
    mean_forecast: nullable(Type.Number()),
    evidence: amount(
      'Evidence against the calibration. It is broken from 3,650 on, which calibrated forecasts reach once in ten years at most',
    ),
    sentence: Type.String(),
  }),
  examples: {
    answer: {
      state: 'holds',
      checked_at: '2026-03-01T03:10:00.000Z',
      broken_since: null,
      decided: 214,
      won: 88,
      mean_forecast: 0.42,
      evidence: 31,
      sentence:
        'The daily test finds no break of the calibration on the last 60 days: 88 of 214 decided quotes were won, and the forecasts that were recorded with them expected 90.',
    },
  },
})

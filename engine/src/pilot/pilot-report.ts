import {
  brier,
  calibrationError,
  type Forecast,
  logLoss,
  type ReliabilityRow,
  reliability,
} from '../backtest/measures.ts'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { type ExperimentQuote, type ExperimentResult, experimentResult } from './experiment.ts'
import type { ExperimentBody, ForecastBody, OutcomeBody, PilotEntry } from './pilot-entries.ts'

/** Why the forecast of a quote is not scored. */
export type Unscored = 'undecided' | 'late' | 'no_forecast' | 'void' | 'expired' | 'rate_changed'

/** Pseudo-quotes at the brokerage's win rate, as in the backtest: a lane's first outcome does not set its win rate to 0 or 1. */
const LANE_WEIGHT = 2
/** The same for the rep's win rate. */
const REP_WEIGHT = 5
const DRAWS = 2_000
const DAY_MS = 86_400_000
const SEED = 20_260_101
/** A range from fewer lanes would be meaningless. */
export const RANGE_LANES_MIN = 5

/** A quote of the pilot: the forecast that counts, and the newest outcome. */
interface PilotQuote {
  forecast: { readonly entry: number; readonly at: number; readonly body: ForecastBody }
  /** The win rates of the rep and of the lane when it was forecast. */
  repRate: number
  /** The setting at the start before the forecast. */
  expiredIsLost: boolean
  outcome: OutcomeBody | null
  /** Whether a won or lost outcome is recorded, so that no later forecast counts. */
  isDecided: boolean
  /** Recorded outcomes after the first won or lost one. */
  corrections: number
}

/** A scored forecast. Money in dollars. */
interface Scored {
  readonly lane: string
  readonly won: boolean
  readonly model: number
  readonly laneRate: number
  readonly repRate: number
  readonly overall: number
  readonly isKeptApart: boolean
  readonly money: PilotMoney | null
}

interface PilotMoney {
  readonly quoted: number
  readonly best: number
  readonly going: number
  readonly earned: number
}

/** Forecasts of the same quotes: by the model, and by win rates of the lane, the rep and the brokerage. */
export type PilotForecaster = 'model' | 'lane_rate' | 'rep_rate' | 'overall'

export interface PilotScore {
  readonly brier: number
  readonly logLoss: number
  readonly calibrationError: number
}

interface Range {
  readonly low: number
  readonly high: number
}

/** The report of a pilot. Ranges are 95 % over resampled lanes; null with fewer than five lanes. Money in dollars. */
export interface PilotReport {
  readonly entries: number
  readonly forecasts: number
  readonly scored: number
  readonly won: number
  readonly lanes: number
  readonly unscored: Readonly<Record<Unscored, number>>
  readonly corrections: number
  /** Scored quotes that the dollars leave out, because their amounts cannot be compared. */
  readonly keptApart: number
  readonly scores: Readonly<Record<PilotForecaster, PilotScore>> | null
  /** The Brier score of the lane rate minus that of the model: above 0, the model is better. */
  readonly better: { readonly brier: number; readonly range: Range | null } | null
  readonly reliability: readonly ReliabilityRow[]
  readonly meanForecast: number | null
  readonly experiment: ExperimentReport | null
  readonly dollars: {
    readonly quotes: number
    readonly lanes: number
    /** Expected margin by the recorded probabilities: at the rate that the rep quoted, the best rate, and the going rate. */
    readonly quoted: number
    readonly best: number
    readonly going: number
    readonly earned: number
    readonly difference: number
    readonly range: Range | null
  } | null
}

/** The newest experiment of a pilot. The result is null until it is done. */
export interface ExperimentReport {
  readonly state: 'collecting' | 'waiting' | 'done' | 'ended'
  readonly planned: number
  readonly assigned: number
  /** Quoted within 1 % of the suggestion. */
  readonly followed: number
  /** Assigned quotes whose booked amounts cannot be compared: they count with the rate and the cost of their forecast. */
  readonly keptApart: number
  readonly result: ExperimentResult | null
}

/** Reads a chain, entry by entry in order, and reports on it. */
export interface PilotScorer {
  add(entry: PilotEntry): void
  report(): PilotReport
}

/**
 * Scores the forecasts of a pilot. Of each quote, the last forecast before its first decision counts; it is scored when the
 * newest outcome is won or lost. recipes/verify-pilot.mjs computes the same numbers on its own.
 */
export function pilotScorer(): PilotScorer {
  const quotes = new Map<string, PilotQuote>()
  const reps = new Map<string, { won: number; decided: number }>()
  let entries = 0
  let forecasts = 0
  let expiredIsLost = false
  let experiment: RecordedExperiment | null = null
  let newestAt = 0

  function addForecast(entry: number, at: number, body: ForecastBody): void {
    forecasts++
    const known = quotes.get(body.lane_ref)
    if (known?.isDecided === true) return
    const forecast = { entry, at, body }
    const rep = reps.get(body.rep ?? '') ?? { won: 0, decided: 0 }
    const repRate = (rep.won + REP_WEIGHT * overallRate(body)) / (rep.decided + REP_WEIGHT)
    const scoredBy = { forecast, repRate, expiredIsLost }
    if (known !== undefined) Object.assign(known, scoredBy)
    else quotes.set(body.lane_ref, { ...scoredBy, outcome: null, isDecided: false, corrections: 0 })
  }

  function addOutcome(body: OutcomeBody): void {
    const quote = quotes.get(body.lane_ref)
    if (quote === undefined) return
    const rep = reps.get(quote.forecast.body.rep ?? '') ?? { won: 0, decided: 0 }
    reps.set(quote.forecast.body.rep ?? '', rep)
    count(rep, quote.outcome, -1)
    count(rep, body, 1)
    if (quote.isDecided && quote.outcome?.outcome !== body.outcome) quote.corrections++
    if (body.outcome === 'won' || body.outcome === 'lost') quote.isDecided = true
    quote.outcome = body
  }

  return {
    add({ entry, at, ...rest }) {
      entries++
      newestAt = at
      // The setting of a start applies to the forecasts that follow: a later start does not change how they are scored.
      if (rest.kind === 'started') expiredIsLost = rest.body.expired_counts_as_lost
      else if (rest.kind === 'forecast') addForecast(entry, at, rest.body)
      else if (rest.kind === 'outcome') addOutcome(rest.body)
      else if (rest.kind === 'experiment') experiment = nextExperiment(experiment, entry, rest.body)
      else if (rest.kind === 'stopped' && experiment !== null) experiment.isEnded = true
    },
    report: () => ({
      ...reportOf({ quotes: [...quotes.values()], entries, forecasts }),
      experiment: experiment === null ? null : experimentReport([...quotes.values()], experiment, newestAt),
    }),
  }
}

/** An experiment as the chain has it. */
interface RecordedExperiment {
  readonly entry: number
  readonly planned: number
  readonly days: number
  isEnded: boolean
}

function nextExperiment(
  running: RecordedExperiment | null,
  entry: number,
  body: ExperimentBody,
): RecordedExperiment | null {
  if (body.action === 'started') return { entry, planned: body.quotes, days: body.days, isEnded: false }
  return running === null ? null : { ...running, isEnded: true }
}

/**
 * The experiment by its stopping rule: the first `planned` quotes with a suggestion, in the order of the chain, each with what it
 * earned within `days` days, computed when the last of them is that old. Voided quotes do not count.
 */
function experimentReport(
  quotes: readonly PilotQuote[],
  { entry, planned, days, isEnded }: RecordedExperiment,
  now: number,
): ExperimentReport {
  const assigned = quotes
    .filter(({ forecast, outcome }) => forecast.entry > entry && outcome?.outcome !== 'void')
    .filter(({ forecast }) => (forecast.body.experiment ?? null) !== null)
    .toSorted((one, other) => one.forecast.entry - other.forecast.entry)
    .slice(0, planned)
  const last = assigned.at(-1)?.forecast.at ?? now
  const isFull = assigned.length === planned
  const isDone = isFull && now - last >= days * DAY_MS
  const followed = assigned.filter(({ forecast: { body } }) => {
    const suggested = body.experiment?.rate ?? Number.NaN
    return Math.abs((body.rate ?? 0) / suggested - 1) <= 0.01
  })
  return {
    state: isDone ? 'done' : isEnded ? 'ended' : isFull ? 'waiting' : 'collecting',
    planned,
    assigned: assigned.length,
    followed: followed.length,
    keptApart: assigned.filter(isKeptApart).length,
    result: isDone ? experimentResult(assigned.map((quote) => experimentQuote(quote, days))) : null,
  }
}

/**
 * Whether the amounts of a forecast and of its outcome cannot be compared: a booked amount could not be converted, or the default
 * basis changed between them.
 */
function isKeptApart({ forecast: { body }, outcome }: PilotQuote): boolean {
  if (outcome === null || outcome.kept_apart === true) return outcome !== null
  // Entries of earlier versions do not state their basis.
  return body.basis !== undefined && outcome.basis !== undefined && outcome.basis !== body.basis
}

/**
 * A booking that cannot be compared counts with the rate and the cost of its forecast. To leave it out would leave out won quotes
 * only, and the arm that wins more would lose more of them.
 */
function experimentQuote(quote: PilotQuote, days: number): ExperimentQuote {
  const { forecast, outcome } = quote
  const { experiment, lane, rate, cost } = forecast.body
  const booked = isKeptApart(quote) ? null : outcome
  const decided = outcome?.decided_at ?? null
  const isWon =
    outcome?.outcome === 'won' && decided !== null && Date.parse(decided) <= forecast.at + days * DAY_MS
  return {
    arm: experiment?.arm ?? 'low',
    unit: `${lane} ${experiment?.day ?? 0}`,
    earned: isWon ? (booked?.revenue ?? rate ?? 0) - (booked?.cost ?? cost ?? 0) : 0,
  }
}

function count(rep: { won: number; decided: number }, outcome: OutcomeBody | null, by: number): void {
  if (outcome?.outcome !== 'won' && outcome?.outcome !== 'lost') return
  rep.decided += by
  if (outcome.outcome === 'won') rep.won += by
}

/** The win rate of the brokerage at the time of a forecast. */
function overallRate({ all_won: won, all_decided: decided }: ForecastBody): number {
  return ((won ?? 0) + 1) / ((decided ?? 0) + 2)
}

function laneRate(body: ForecastBody): number {
  const overall = overallRate(body)
  return ((body.lane_won ?? 0) + LANE_WEIGHT * overall) / ((body.lane_decided ?? 0) + LANE_WEIGHT)
}

/** Entries of earlier versions have only the rate. */
function isSameRate(body: ForecastBody, outcome: OutcomeBody): boolean {
  return body.quoted_as === undefined || outcome.quoted_as === undefined
    ? outcome.rate === body.rate
    : outcome.quoted_as === body.quoted_as
}

/** Why a quote is not scored; null if it is. */
function whyUnscored({ forecast, outcome, expiredIsLost }: PilotQuote): Unscored | null {
  const { body, at } = forecast
  if (outcome?.outcome === 'void') return 'void'
  if (body.late !== null) return 'late'
  if (outcome === null || outcome.outcome === 'pending') return 'undecided'
  if (outcome.outcome === 'expired' && !expiredIsLost) return 'expired'
  // A signature has whole seconds.
  const second = Math.floor(at / 1000) * 1000
  if (outcome.decided_at !== null && Date.parse(outcome.decided_at) < second) return 'late'
  if (body.probability === null) return 'no_forecast'
  return isSameRate(body, outcome) ? null : 'rate_changed'
}

function scoredOf(quote: PilotQuote): Scored {
  const {
    forecast: { body },
    outcome,
    repRate,
  } = quote
  const apart = isKeptApart(quote)
  return {
    lane: body.lane,
    won: outcome?.outcome === 'won',
    model: body.probability ?? Number.NaN,
    laneRate: laneRate(body),
    repRate,
    overall: overallRate(body),
    isKeptApart: apart,
    money: apart ? null : moneyOf(body, outcome),
  }
}

function moneyOf(body: ForecastBody, outcome: OutcomeBody | null): PilotMoney | null {
  const { probability, rate, cost, best_rate: best, probability_at_best: atBest } = body
  const { going_rate: going, probability_at_going: atGoing } = body
  if (probability === null || rate === null || cost === null) return null
  if (best === null || atBest === null || going === null || atGoing === null) return null
  return {
    quoted: probability * (rate - cost),
    best: atBest * (best - cost),
    going: atGoing * (going - cost),
    earned: outcome?.outcome === 'won' ? (outcome.revenue ?? rate) - (outcome.cost ?? cost) : 0,
  }
}

function reportOf({
  quotes,
  entries,
  forecasts,
}: {
  quotes: readonly PilotQuote[]
  entries: number
  forecasts: number
}): Omit<PilotReport, 'experiment'> {
  const unscored = { undecided: 0, late: 0, no_forecast: 0, void: 0, expired: 0, rate_changed: 0 }
  const scored: Scored[] = []
  for (const quote of quotes) {
    const why = whyUnscored(quote)
    if (why === null) scored.push(scoredOf(quote))
    else unscored[why]++
  }
  const by = (forecast: (one: Scored) => number): Forecast[] =>
    scored.map((one) => ({ p: forecast(one), won: one.won }))
  const model = by((one) => one.model)
  return {
    entries,
    forecasts,
    scored: scored.length,
    won: scored.filter(({ won }) => won).length,
    lanes: new Set(scored.map(({ lane }) => lane)).size,
    unscored,
    corrections: quotes.reduce((sum, { corrections }) => sum + corrections, 0),
    keptApart: scored.filter((one) => one.isKeptApart).length,
    scores:
      scored.length === 0
        ? null
        : {
            model: scoreOf(model),
            lane_rate: scoreOf(by((one) => one.laneRate)),
            rep_rate: scoreOf(by((one) => one.repRate)),
            overall: scoreOf(by((one) => one.overall)),
          },
    better: betterOf(scored),
    reliability: scored.length === 0 ? [] : reliability(model),
    meanForecast: scored.length === 0 ? null : model.reduce((sum, { p }) => sum + p, 0) / scored.length,
    dollars: dollarsOf(scored),
  }
}

function scoreOf(forecasts: readonly Forecast[]): PilotScore {
  return {
    brier: brier(forecasts),
    logLoss: logLoss(forecasts),
    calibrationError: calibrationError(forecasts),
  }
}

function betterOf(scored: readonly Scored[]): PilotReport['better'] {
  if (scored.length === 0) return null
  const gain = ({ model, laneRate: lane, won }: Scored) => {
    const came = won ? 1 : 0
    return (lane - came) ** 2 - (model - came) ** 2
  }
  const sum = scored.reduce((total, one) => total + gain(one), 0)
  return { brier: sum / scored.length, range: rangeOver(scored, gain, 'mean') }
}

function dollarsOf(scored: readonly Scored[]): PilotReport['dollars'] {
  const priced = scored.filter(({ money }) => money !== null)
  if (priced.length === 0) return null
  const sum = (amount: (money: PilotMoney) => number) =>
    priced.reduce((total, { money }) => total + (money === null ? 0 : amount(money)), 0)
  const [quoted, best] = [sum((money) => money.quoted), sum((money) => money.best)]
  const gain = ({ money }: Scored) => (money === null ? 0 : money.best - money.quoted)
  return {
    quotes: priced.length,
    lanes: new Set(priced.map(({ lane }) => lane)).size,
    quoted,
    best,
    going: sum((money) => money.going),
    earned: sum((money) => money.earned),
    difference: best - quoted,
    range: rangeOver(priced, gain, 'sum'),
  }
}

/**
 * The 95 % bootstrap range of a sum or a mean: the 2.5th and 97.5th percentiles of 2,000 of them, each over as many lanes drawn
 * with replacement, from a fixed seed. Whole lanes are drawn because quotes of a lane are correlated.
 */
function rangeOver(
  scored: readonly Scored[],
  value: (one: Scored) => number,
  of: 'sum' | 'mean',
): Range | null {
  const byLane = new Map<string, { sum: number; count: number }>()
  for (const one of scored) {
    const lane = byLane.get(one.lane) ?? { sum: 0, count: 0 }
    byLane.set(one.lane, { sum: lane.sum + value(one), count: lane.count + 1 })
  }
  const lanes = [...byLane.values()]
  if (lanes.length < RANGE_LANES_MIN) return null
  const random = seededNumbers(SEED)
  const found = new Float64Array(DRAWS)
  for (let draw = 0; draw < DRAWS; draw++) {
    let sum = 0
    let drawn = 0
    for (let nth = 0; nth < lanes.length; nth++) {
      const lane = lanes[Math.floor(random() * lanes.length)]
      sum += lane?.sum ?? 0
      drawn += lane?.count ?? 0
    }
    found[draw] = of === 'sum' ? sum : sum / drawn
  }
  found.sort()
  const at = (share: number) => found[Math.round(share * (DRAWS - 1))] ?? 0
  return { low: at(0.025), high: at(0.975) }
}

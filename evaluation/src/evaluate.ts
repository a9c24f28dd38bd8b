import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import cliProgress from 'cli-progress'
import { forecastByBaselines } from '#engine/backtest/baselines.ts'
import { forecastByModel } from '#engine/backtest/walk-forward.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { type Forecast, quality, reliability } from '#engine/statistics/forecast-quality.ts'
import { type Bar, limitOf, passes } from './bar.ts'
import { readCopper } from './copper.ts'
import {
  type AheadForecast,
  type AheadQuality,
  aheadCoverage,
  aheadQuality,
  correctedGroup,
  forecastAhead,
  type LoadGroup,
} from './cost-ahead-check.ts'
import { costQuality, forecastCosts, riskQuality } from './cost-check.ts'
import { countRises } from './count-check.ts'
import { countriesAsCustomers, customerBars, customerCoverages } from './customer-check.ts'
import { hindsight } from './hindsight-check.ts'
import { readTruckloads, type Truckload } from './loadsmart.ts'
import { type LongTable, lateTables, shapeTables, tenderBars, type Walk } from './long-tables.ts'
import { checkMiles } from './miles-check.ts'
import { simulatedLaneBars, withheldLaneBars } from './never-quoted-check.ts'
import { otherLossesBars } from './other-losses-check.ts'
import { rateTypeBars } from './rate-type-check.ts'
import { type Findings, htmlReport } from './report.ts'
import { evaluateSample } from './sample.ts'
import { checkSignals } from './signal-check.ts'
import { type Coverage, simulateCoverage, simulateTenant } from './simulation.ts'
import { simulateThinLanes, thinLanesOf } from './thin-lanes-check.ts'
import { readUsdaCosts } from './usda.ts'
import { walkForward } from './walk.ts'

const WARM_UP_DAYS = 30
const TENANTS = 80
const SEED = 20_260_101
/** The number of simulated brokerages per plan of rate types, and of losses for other reasons. */
const BROKERAGES_PER_PLAN = 24
/** The number of simulated brokerages per spread of lanes. Few are never quoted, so more brokerages are needed than for other checks. */
const BROKERAGES_OF_LANES = 100
/** The only measure that decides the exit code: a model that is worse than this baseline is useless. */
const WORSE_THAN_LANE_WIN_RATE = 'Brier minus the lane win rate'
const DAY = 86_400_000
const root = resolve(import.meta.dirname, '../..')

function withProgress<T>(name: string, total: number, work: (done: (n: number) => void) => T): T {
  const bar = new cliProgress.SingleBar({
    format: `${name} [{bar}] {percentage} %`,
    clearOnComplete: true,
    noTTYOutput: false,
  })
  bar.start(total, 0)
  try {
    return work((n) => bar.update(n))
  } finally {
    bar.stop()
  }
}

function daysOf(quotes: readonly { quotedAt: number }[]): number {
  const times = quotes.map((quote) => quote.quotedAt)
  return Math.round((times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b))) / DAY)
}

function evaluateWins(quotes: readonly LaneQuote[]): Pick<Findings, 'bars' | 'models' | 'reliability'> {
  const days = daysOf(quotes)
  const run = (name: string, history: readonly LaneQuote[]): Forecast[] =>
    withProgress(name, days, (done) =>
      forecastByModel(history, { warmUpDays: WARM_UP_DAYS, onDay: done }).map(({ quote, p }) => ({
        p,
        won: quote.outcome === 'won',
      })),
    )
  const model = run('Win probability  ', quotes)
  const priceless = run(
    'Without price     ',
    quotes.map((quote) => ({ ...quote, rateCents: 100_000 })),
  )
  const baselines = forecastByBaselines(quotes, WARM_UP_DAYS)
  const models = [
    { name: 'calibrated model', quality: quality(model) },
    { name: 'the model without price (x = 0)', quality: quality(priceless) },
    { name: 'lane win rate, half-life 60 days', quality: quality(baselines.winRateOfLane) },
    { name: 'overall win rate', quality: quality(baselines.overall) },
    { name: 'at_or_below win probability (default), 90 days', quality: quality(baselines.atOrBelow) },
    { name: 'literal win probability, 90 days', quality: quality(baselines.literal) },
  ]
  const [found, withoutPrice, winRateOfLane] = models.map(({ quality: measured }) => measured)
  if (!found || !withoutPrice || !winRateOfLane) throw new Error('no forecasts')
  const check = 'copper, calibrated'
  const bars: Bar[] = [
    { check, measure: 'AUC', value: found.auc, least: 0.765 },
    { check, measure: 'Brier', value: found.brier, most: 0.1434 },
    { check, measure: 'log loss', value: found.logLoss, most: 0.452 },
    { check, measure: 'calibration slope', value: found.slope, least: 0.85, most: 1.1 },
    { check, measure: 'calibration error', value: found.calibrationError, most: 0.025 },
    {
      check,
      measure: 'Brier minus the model without price',
      value: found.brier - withoutPrice.brier,
      most: -0.003,
    },
    { check, measure: WORSE_THAN_LANE_WIN_RATE, value: found.brier - winRateOfLane.brier, most: 0 },
  ]
  return { bars, models, reliability: reliability(model) }
}

function signalBars(quotes: readonly LaneQuote[]): Bar[] {
  const { outcomes, oppositeFlips } = checkSignals(quotes)
  const of = (word: string) => outcomes.find((outcome) => outcome.word === word)
  const gap = (high: string, low: string) =>
    (of(high)?.winRate ?? Number.NaN) - (of(low)?.winRate ?? Number.NaN)
  const check = 'copper, signals'
  return [
    { check, measure: 'next month, strong minus weak', value: gap('strong', 'weak'), least: 0.2 },
    { check, measure: 'next month, heating minus cooling', value: gap('heating', 'cooling'), least: 0.04 },
    {
      check,
      measure: 'next month, aligned minus misaligned',
      value: gap('aligned', 'misaligned'),
      least: 0.15,
    },
    {
      check,
      measure: 'sd of reliable / sd of erratic',
      value: (of('reliable')?.spread ?? Number.NaN) / (of('erratic')?.spread ?? Number.NaN),
      most: 0.75,
    },
    { check, measure: 'share of signals reversed by one more quote', value: oppositeFlips, most: 0.005 },
  ]
}

function simulationBars(coverage: readonly Coverage[]): Bar[] {
  const check = 'simulation'
  return coverage.flatMap((row) => [
    { check, measure: `80 % interval coverage, n = ${row.decided}`, value: row.within80, least: 0.79 },
    { check, measure: `95 % interval coverage, n = ${row.decided}`, value: row.within95, least: 0.94 },
    ...(row.decided === 15
      ? [{ check, measure: 'width of 95 % interval, n = 15', value: row.width95, most: 0.45 }]
      : []),
  ])
}

function evaluateCosts(loads: readonly Truckload[]): Pick<Findings, 'bars' | 'cost' | 'losses'> {
  const days = daysOf(loads.map((load) => ({ quotedAt: load.at })))
  const forecasts = withProgress('Carrier cost      ', days, (done) => forecastCosts(loads, done))
  const all = costQuality(forecasts.map(({ error }) => error))
  const some = (least: number, most: number) =>
    costQuality(
      forecasts.filter(({ ownLoads: own }) => own >= least && own <= most).map(({ error }) => error),
    )
  const check = 'Loadsmart, cost'
  const atRisk = 'Loadsmart, margin at risk'
  const risk = riskQuality(forecasts)
  const miles = checkMiles(loads)
  return {
    bars: [
      { check, measure: 'median error', value: all.median, most: 0.115 },
      { check, measure: 'within 20 %', value: all.within20, least: 0.71 },
      { check, measure: 'median error, 5 to 14 own loads', value: some(5, 14).median, most: 0.085 },
      {
        check,
        measure: '80 % range coverage',
        value: forecasts.filter(({ within80 }) => within80).length / forecasts.length,
        least: 0.75,
        most: 0.85,
      },
      { check: atRisk, measure: '80 % of margins, coverage', value: risk.within80, least: 0.75, most: 0.85 },
      {
        check: atRisk,
        measure: 'losses at the safe rate',
        value: risk.aboveNineTenths,
        least: 0.08,
        most: 0.13,
      },
      { check: atRisk, measure: 'largest error of nine tenths', value: risk.worstTenth, most: 0.04 },
      { check: 'Loadsmart, miles', measure: 'median error', value: miles.median, most: 0.05 },
      { check: 'Loadsmart, miles', measure: 'within 10 %', value: miles.within10, least: 0.79 },
    ],
    losses: risk.losses,
    cost: [
      { name: 'curve and residual chain', ...all },
      { name: '- no own loads', ...some(0, 0) },
      { name: '- 1 to 4 own loads', ...some(1, 4) },
      { name: '- 5 to 14 own loads', ...some(5, 14) },
      { name: '- 15 own loads or more', ...some(15, Number.POSITIVE_INFINITY) },
      {
        name: 'length-of-haul curve alone',
        ...costQuality(forecasts.map(({ errorByCurve }) => errorByCurve)),
      },
      {
        name: 'median rate per mile',
        ...costQuality(forecasts.map(({ errorByCostPerMile }) => errorByCostPerMile)),
      },
    ],
  }
}

/**
 * The limits of cost forecasts 7, 14 and 28 days ahead. Seven days ahead, nothing beats the newest cost of a weekly series, so there
 * the model need only be about as good.
 */
function aheadBars(check: string, rows: readonly AheadQuality[]): Bar[] {
  return rows.flatMap((row) => [
    {
      check,
      measure: `error / error of the residual chain alone, ${row.days} days`,
      value: row.model / row.chain,
      most: 1,
    },
    {
      check,
      measure: `error / error of the newest cost, ${row.days} days`,
      value: row.model / row.last,
      most: row.days === 7 ? 1.05 : 1,
    },
    {
      check,
      measure: `80 % range coverage, ${row.days} days`,
      value: row.within80,
      least: 0.75,
      most: 0.85,
    },
  ])
}

function evaluateAhead(
  folder: string,
  loads: readonly Truckload[] | null,
): Pick<Findings, 'bars' | 'ahead' | 'aheadCoverage' | 'groups' | 'hindsight'> {
  const rates = readUsdaCosts(folder)
  const sets = [
    { name: 'Loadsmart', loads: loads ?? [] },
    { name: 'USDA', loads: rates ?? [] },
  ].filter((set) => set.loads.length > 0)
  const found = sets.map(({ name, loads: of }) => {
    const days = daysOf(of.map((load) => ({ quotedAt: load.at })))
    const forecasts = withProgress(`Cost ahead, ${name.padEnd(6)}`, days, (done) => forecastAhead(of, done))
    return { name, forecasts, rows: aheadQuality(forecasts) }
  })
  const truckloads = found.find(({ name }) => name === 'Loadsmart')?.forecasts
  return {
    bars: found.flatMap(({ name, rows }) => aheadBars(`${name}, cost ahead`, rows)),
    ahead: found.flatMap(({ name, rows }) => rows.map((row) => ({ name, ...row }))),
    aheadCoverage: found.flatMap(({ name, forecasts }) =>
      aheadCoverage(forecasts).map((row) => ({ name, ...row })),
    ),
    groups: truckloads === undefined ? [] : loadGroups(truckloads, loads ?? []),
    hindsight: rates === null ? [] : hindsight(rates, [1, 2, 4]),
  }
}

/** Tests whether a correction of the cost forecasts of some loads would improve them: by calendar, own loads or past errors. */
function loadGroups(forecasts: readonly AheadForecast[], loads: readonly Truckload[]): Findings['groups'] {
  const pickups = new Map(loads.map(({ quoteId, pickupAt }) => [quoteId, pickupAt]))
  const pickup = ({ quoteId }: AheadForecast) => pickups.get(quoteId) ?? Number.NaN
  const groups: LoadGroup[] = [
    {
      name: 'pickup on a weekend',
      includes: (one) => [0, 6].includes(new Date(pickup(one)).getUTCDay()),
    },
    {
      name: 'pickup less than a day after booking',
      includes: (one) => pickup(one) - one.at < DAY,
    },
    {
      name: 'last three days of a month, and the first',
      includes: ({ at }) => new Date(at - DAY).getUTCMonth() !== new Date(at + 3 * DAY).getUTCMonth(),
    },
    { name: 'no own loads', includes: ({ ownLoads }) => ownLoads === 0 },
    { name: 'all loads (drift)', includes: () => true, drift: true },
  ]
  return groups.flatMap((group) => correctedGroup(forecasts, group))
}

function evaluateThinLanes(folder: string): Findings['thin'] {
  const rates = readUsdaCosts(folder)
  return [
    ...(rates === null ? [] : [4, 8, 12].map((weeks) => thinLanesOf(rates, weeks))),
    ...[0.004, 0.014].flatMap((dailyMove) =>
      [1, 20].flatMap((quotesADay) =>
        [0.01, 0.03].map((indexError) =>
          simulateThinLanes({ tenants: TENANTS, seed: SEED, quotesADay, dailyMove, indexError }),
        ),
      ),
    ),
  ]
}

const walkWithProgress: Walk = (name, quotes, plan) =>
  withProgress(name.padEnd(18), daysOf(quotes), (done) => walkForward(quotes, { ...plan, onDay: done }))

/**
 * The further tables of `npm run evaluate -- --long` (about five minutes of processor time): other win curves, late outcomes, thin
 * lanes, groups of quotes, the calendar and customers.
 */
function longTables(quotes: readonly LaneQuote[] | null): LongTable[] {
  const everyDays = Number(process.env.EVALUATE_EVERY_DAYS ?? 1)
  const broker = simulateTenant({ seed: SEED, laneSizes: [3, 8, 15, 60], days: 180, shape: 'logistic' })
  return [
    ...shapeTables(walkWithProgress, SEED, everyDays),
    ...lateTables(walkWithProgress, { name: 'simulated broker', quotes: broker.quotes }, everyDays),
    ...(quotes === null ? [] : lateTables(walkWithProgress, { name: 'copper', quotes }, everyDays)),
    ...(quotes === null
      ? []
      : [
          {
            title: 'Win rates of customers within their ranges',
            rows: customerCoverages('copper, countries as customers', countriesAsCustomers(quotes)),
          },
        ]),
  ]
}

/** Cuts the numbers of a row to some decimals. */
function rounded(row: object, decimals = 4): object {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key,
      typeof value === 'number' ? Number(value.toFixed(decimals)) : value,
    ]),
  )
}

function print(findings: Findings): void {
  for (const text of findings.skipped) console.log(`Skipped: ${text}`)
  console.table(
    findings.bars.map((bar) => ({
      check: bar.check,
      measure: bar.measure,
      value: Number(bar.value.toFixed(4)),
      limit: limitOf(bar),
      result: passes(bar) ? 'pass' : 'FAIL',
    })),
  )
  if (findings.models.length > 0) {
    console.log('Win probability against the baselines (outcomes are known one day after the quote):')
    console.table(findings.models.map(({ name, quality: found }) => ({ name, ...rounded(found) })))
    console.log('Reliability of the calibrated model:')
    console.table(findings.reliability.map((row) => rounded(row)))
  }
  console.log('Simulated lanes, with quotes of the last 14 days and of the last 90 days:')
  console.table([...findings.coverage, ...findings.coverageAged].map((row) => rounded(row)))
  if (findings.cost.length > 0) {
    console.log('Carrier cost:')
    console.table(findings.cost.map((row) => rounded(row)))
  }
  if (findings.losses.length > 0) {
    console.log('Chance of losing money at the customer rate, ten groups of equal size:')
    console.table(findings.losses.map((row) => rounded(row)))
  }
  if (findings.ahead.length > 0) {
    console.log('Carrier cost ahead, mean absolute error in ln cost:')
    console.table(findings.ahead.map((row) => rounded(row, 5)))
    console.log('Carrier cost ahead, share within the 80 % range:')
    console.table(findings.aheadCoverage.map((row) => rounded(row)))
  }
  if (findings.hindsight.length > 0) {
    console.log('Weekly rates: the best multiple of a predictor in hindsight, against the newest rate:')
    console.table(findings.hindsight.map((row) => rounded(row, 5)))
  }
  if (findings.groups.length > 0) {
    console.log('Carrier cost ahead, truckloads: the error if a group is corrected by its earlier errors:')
    console.table(findings.groups.map((row) => rounded(row, 5)))
  }
  console.log(
    'Going rate of thin lanes without and with the movement of an outside market, mean error in ln rate:',
  )
  console.table(findings.thin.map((row) => rounded(row)))
}

function evaluate(folder: string): Findings {
  const skipped: string[] = []
  const copper = readCopper(folder)
  if (!copper)
    skipped.push(`win probability and signals on real quotes: no copper_quotes.csv.gz in ${folder}`)
  const loads = readTruckloads(folder)
  if (!loads) skipped.push(`carrier cost and miles: no loadsmart_truckloads_2017.csv.gz in ${folder}`)

  const wins = copper ? evaluateWins(copper) : { bars: [], models: [], reliability: [] }
  const signals = copper ? signalBars(copper) : []
  const simulate = (name: string, days: number) =>
    withProgress(name, TENANTS, (done) =>
      simulateCoverage({ tenants: TENANTS, seed: SEED, days, onTenant: done }),
    )
  const coverage = simulate('Simulation, 14 d  ', 14)
  const coverageAged = simulate('Simulation, 90 d  ', 90)
  const costs = loads ? evaluateCosts(loads) : { bars: [], cost: [], losses: [] }
  const ahead = evaluateAhead(folder, loads)
  if (!ahead.ahead.some(({ name }) => name === 'USDA'))
    skipped.push(`cost ahead on weekly rates: no usda_reefer_rates_weekly_2015_2018.csv in ${folder}`)
  const counts: Bar = {
    check: 'default win probability',
    measure: 'rises with price',
    value: countRises(SEED),
    most: 0,
  }
  const sample = evaluateSample({ tenants: 2, seed: SEED })
  const sampled: Bar = {
    check: 'simulated brokers',
    measure: WORSE_THAN_LANE_WIN_RATE,
    value: sample.model.brier - sample.winRateOfLane.brier,
    most: 0,
  }
  return {
    ...wins,
    skipped,
    coverage,
    coverageAged,
    cost: costs.cost,
    losses: costs.losses,
    ahead: ahead.ahead,
    aheadCoverage: ahead.aheadCoverage,
    groups: ahead.groups,
    hindsight: ahead.hindsight,
    thin: evaluateThinLanes(folder),
    bars: [
      ...wins.bars,
      ...simulationBars(coverage),
      sampled,
      ...tenderBars(walkWithProgress, SEED),
      counts,
      ...costs.bars,
      ...ahead.bars,
      ...signals,
      ...simulatedLaneBars(BROKERAGES_OF_LANES),
      ...(copper ? withheldLaneBars(copper) : []),
      ...customerBars(copper, SEED),
      ...rateTypeBars(BROKERAGES_PER_PLAN),
      ...otherLossesBars(BROKERAGES_PER_PLAN),
    ],
  }
}

const folder = resolve(root, process.env.LANEWISE_REAL_DATA ?? '../shared/data')
const findings = evaluate(folder)
print(findings)
if (process.argv.includes('--long')) {
  for (const { title, rows } of longTables(readCopper(folder))) {
    console.log(`${title}:`)
    console.table(rows.map((row) => rounded(row)))
  }
}
const report = resolve(root, 'evaluation/report.html')
writeFileSync(report, htmlReport(findings))
console.log(`Report with plots: ${report}`)
const worse = findings.bars.some((bar) => bar.measure === WORSE_THAN_LANE_WIN_RATE && !passes(bar))
if (worse) console.error('The calibrated model is worse than the lane-rate baseline.')
process.exitCode = worse ? 1 : 0

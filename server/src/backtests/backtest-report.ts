import type { BacktestResult, Forecaster, MeasuredQuality, TooFewQuotes } from '#engine/backtest/backtest.ts'
import { backtestSentence, DOLLAR_CAVEAT } from '#engine/backtest/backtest-sentence.ts'
import { formatDollars } from '#engine/money.ts'

const names: Readonly<Record<Forecaster, string>> = {
  model: 'calibrated estimate',
  lane_rate: "lane's win rate, half-life 60 days",
  overall: 'overall win rate so far',
  at_or_below: 'share of quotes won at or below the rate, 90 days',
  literal: 'literal formula, 90 days',
}

const dollars = (cents: number) => formatDollars(Math.round(cents / 100) * 100)
const whole = (value: number) => value.toLocaleString('en-US')
const day = (moment: number) => new Date(moment).toISOString().slice(0, 10)
const percent = (share: number) => `${(100 * share).toFixed(1)} %`

/** Formats rows of cells as aligned lines: the first column left-aligned, numbers right-aligned. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
}

function qualityRow(name: string, quality: MeasuredQuality): string[] {
  const { auc, brier, logLoss, slope, calibrationError } = quality
  return [
    `  ${name}`,
    auc === null ? '-' : auc.toFixed(3),
    brier.toFixed(4),
    logLoss.toFixed(4),
    slope === null ? '-' : slope.toFixed(2),
    calibrationError.toFixed(3),
  ]
}

/**
 * A backtest as text for a terminal: the estimate compared with simple rules, the calibration of its forecasts, and the
 * dollar estimate with its range and its caveats.
 */
export function backtestReport(company: string, found: BacktestResult | TooFewQuotes): string {
  if (!found.enough) return `${company}: ${backtestSentence(found)}`
  const forecasters = Object.keys(names) as Forecaster[]
  return [
    `Backtest of ${company}, ${day(found.firstTestedAt)} to ${day(found.lastTestedAt)}`,
    `${whole(found.tested)} decided quotes tested (${whole(found.testedWon)} won) of ${whole(found.quotes)} quotes, ${whole(found.decided)} decided; ${whole(found.leftOut)} excluded.`,
    `Each was forecast from the days before it; an outcome counts as known ${found.outcomeDelayDays} day after its quote.`,
    '',
    ...table([
      ['Forecasts by', 'AUC', 'Brier', 'log loss', 'slope', 'calibration error'],
      ...forecasters.map((one) => qualityRow(names[one], found.quality[one])),
    ]),
    '  AUC: higher is better. Brier, log loss, calibration error: lower is better. Slope: 1 is ideal.',
    '',
    'Share of quotes won, by forecast win probability:',
    ...table([
      ['  forecast', 'won', 'quotes'],
      ...found.reliability.map(({ forecast, came, count }) => [
        `  ${percent(forecast)}`,
        percent(came),
        whole(count),
      ]),
    ]),
    '',
    ...dollarLines(found),
    '',
    backtestSentence(found),
  ].join('\n')
}

function dollarLines({ dollars: money, unpriced }: BacktestResult): string[] {
  const left = `  not priced: ${whole(unpriced.without_cost)} without a cost, ${whole(unpriced.without_optimum)} without a best rate that morning, ${whole(unpriced.unlikely_cost)} with an unlikely cost`
  if (money === null) return ['Dollar estimate: none.', left]
  return [
    `Dollar estimate, over ${whole(money.quotes)} quotes on ${whole(money.lanes)} lanes with a known cost:`,
    ...table([
      ['  expected margin at the rates quoted', dollars(money.quotedCents)],
      ['  margin those quotes earned', dollars(money.earnedCents)],
      ["  expected margin at the model's best rates", dollars(money.bestCents)],
      ['  difference, estimated', dollars(money.differenceCents)],
    ]),
    `  80 % range of the difference: ${dollars(money.range80.lowCents)} to ${dollars(money.range80.highCents)}`,
    `  quoted below / as good as / above the best: ${whole(money.below)} / ${whole(money.asGood)} / ${whole(money.above)}; best at an end of the rates tried: ${whole(money.atEdge)}`,
    left,
    `  ${DOLLAR_CAVEAT}`,
  ]
}

import type { Quality, ReliabilityRow } from '#engine/statistics/forecast-quality.ts'
import { type Bar, limitOf, passes } from './bar.ts'
import type { AheadCoverage, AheadQuality, CorrectedGroup } from './cost-ahead-check.ts'
import type { RiskQuality } from './cost-check.ts'
import type { Hindsight } from './hindsight-check.ts'
import type { Coverage } from './simulation.ts'
import type { ThinLanes } from './thin-lanes-check.ts'

/** The results of the evaluation. Parts whose data file is missing are empty. */
export interface Findings {
  readonly bars: readonly Bar[]
  readonly skipped: readonly string[]
  readonly models: readonly { readonly name: string; readonly quality: Quality }[]
  readonly reliability: readonly ReliabilityRow[]
  readonly coverage: readonly Coverage[]
  readonly coverageAged: readonly Coverage[]
  /** For ten groups of loads: the forecast chance of losing money at the customer rate, and the share that lost money. */
  readonly losses: RiskQuality['losses']
  readonly cost: readonly {
    readonly name: string
    readonly count: number
    readonly median: number
    readonly within20: number
  }[]
  readonly ahead: readonly (AheadQuality & { readonly name: string })[]
  readonly aheadCoverage: readonly (AheadCoverage & { readonly name: string })[]
  readonly hindsight: readonly Hindsight[]
  readonly groups: readonly CorrectedGroup[]
  readonly thin: readonly ThinLanes[]
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`
  return `<table>${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`
}

const SIZE = 360
const EDGE = 40

function across(value: number): number {
  return EDGE + value * (SIZE - 2 * EDGE)
}

function up(value: number): number {
  return SIZE - EDGE - value * (SIZE - 2 * EDGE)
}

function frame(title: string, below: string, beside: string, body: string): string {
  const ticks = [0, 0.25, 0.5, 0.75, 1]
    .map(
      (tick) =>
        `<text x="${across(tick)}" y="${SIZE - EDGE + 14}" text-anchor="middle">${tick}</text>` +
        `<text x="${EDGE - 6}" y="${up(tick) + 4}" text-anchor="end">${tick}</text>`,
    )
    .join('')
  return (
    `<svg viewBox="0 0 ${SIZE} ${SIZE}" width="${SIZE}" role="img" aria-label="${escaped(title)}">` +
    `<rect x="${EDGE}" y="${EDGE}" width="${SIZE - 2 * EDGE}" height="${SIZE - 2 * EDGE}" class="frame"/>` +
    `<text x="${SIZE / 2}" y="24" text-anchor="middle" class="title">${escaped(title)}</text>${ticks}` +
    `<text x="${SIZE / 2}" y="${SIZE - 6}" text-anchor="middle">${escaped(below)}</text>` +
    `<text transform="translate(11 ${SIZE / 2}) rotate(-90)" text-anchor="middle">${escaped(beside)}</text>${body}</svg>`
  )
}

function reliabilityPlot(rows: readonly ReliabilityRow[]): string {
  const line = `<line x1="${across(0)}" y1="${up(0)}" x2="${across(1)}" y2="${up(1)}" class="even"/>`
  const path = rows.map((row, i) => `${i === 0 ? 'M' : 'L'}${across(row.forecast)} ${up(row.came)}`).join('')
  const dots = rows
    .map((row) => `<circle cx="${across(row.forecast)}" cy="${up(row.came)}" r="4" class="dot"/>`)
    .join('')
  return frame(
    'Forecast and actual win rate',
    'forecast',
    'win rate',
    `${line}<path d="${path}" class="line"/>${dots}`,
  )
}

function coveragePlot(coverage: readonly Coverage[]): string {
  const bars = coverage
    .map((row, i) => {
      const left = across((i + 0.2) / coverage.length)
      const width = (SIZE - 2 * EDGE) / coverage.length / 3.4
      const bar = (value: number, at: number, name: string) =>
        `<rect x="${left + at * width}" y="${up(value)}" width="${width}" height="${up(0) - up(value)}" class="${name}"/>`
      const label = `<text x="${left + width}" y="${up(0) - 6}" text-anchor="middle" class="inside">n=${row.decided}</text>`
      return bar(row.within80, 0, 'bar80') + bar(row.within95, 1, 'bar95') + label
    })
    .join('')
  const mark = (value: number) =>
    `<line x1="${across(0)}" y1="${up(value)}" x2="${across(1)}" y2="${up(value)}" class="even"/>`
  return frame('Interval coverage', 'decided quotes on the lane', 'share', bars + mark(0.8) + mark(0.95))
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b2733}
table{border-collapse:collapse;margin:1rem 0}td,th{border-bottom:1px solid #d5dde5;padding:.25rem .8rem;text-align:left}
svg text{font-size:11px;fill:#43525f}.title{font-size:13px;font-weight:600}.frame{fill:none;stroke:#c3ced8}
.even{stroke:#8a98a5;stroke-dasharray:4 3}.line{fill:none;stroke:#1f6feb;stroke-width:2}.dot{fill:#1f6feb}
.bar80{fill:#79b0f5}.bar95{fill:#1f6feb}.inside{fill:#fff}`

const digits = (value: number) => value.toFixed(4)

/** The tables of cost forecasts. */
function costAheadParts({ ahead, aheadCoverage, groups, hindsight }: Findings): string[] {
  if (ahead.length === 0) return []
  const difference = (mean: number, standardError: number) =>
    `${mean.toFixed(5)} (${standardError.toFixed(5)})`
  return [
    '<h2>Carrier cost ahead: mean absolute error in ln cost</h2>',
    table(
      [
        'data',
        'days',
        'loads',
        'model',
        'today carried',
        'minus today (standard error)',
        'newest cost',
        'minus newest (standard error)',
        'chain alone',
        '80 % coverage',
        'width',
        'interval score',
      ],
      ahead.map((row) => [
        row.name,
        String(row.days),
        String(row.count),
        digits(row.model),
        digits(row.carried),
        difference(row.minusCarried, row.carriedSe),
        digits(row.last),
        difference(row.minusLast, row.lastSe),
        digits(row.chain),
        digits(row.within80),
        digits(row.width80),
        digits(row.score80),
      ]),
    ),
    table(
      ['data', 'group', 'forecasts', '80 % coverage, 7 days', '14 days', '28 days'],
      aheadCoverage.map((row) => [
        row.name,
        row.group,
        String(row.forecasts),
        ...[row.days7, row.days14, row.days28].map(digits),
      ]),
    ),
    table(
      ['corrected by earlier errors', 'days', 'loads in the group', 'difference (standard error)'],
      groups.map((row) => [
        row.group,
        String(row.days),
        String(row.inGroup),
        difference(row.difference, row.standardError),
      ]),
    ),
    table(
      ['weeks ahead', 'predictor of weekly rates', 'newest rate', 'best multiple in hindsight', 'its error'],
      hindsight.map((row) => [
        String(row.weeks),
        row.predictor,
        row.newest.toFixed(5),
        row.multiple.toFixed(2),
        row.inHindsight.toFixed(5),
      ]),
    ),
  ]
}

/** The results as one HTML page without external resources. */
export function htmlReport(findings: Findings): string {
  const parts = [
    '<h1>Evaluation</h1>',
    '<p>Every forecast uses only earlier days; outcomes are known one day after the quote. With a longer delay, ' +
      'the improvement over the baselines is smaller.</p>',
    ...findings.skipped.map((text) => `<p><strong>Skipped:</strong> ${escaped(text)}</p>`),
    '<h2>Measures and limits</h2>',
    table(
      ['check', 'measure', 'value', 'limit', 'result'],
      findings.bars.map((bar) => [
        bar.check,
        bar.measure,
        digits(bar.value),
        limitOf(bar),
        passes(bar) ? 'pass' : 'FAIL',
      ]),
    ),
    findings.models.length > 0 ? '<h2>Win probability against the baselines</h2>' : '',
    findings.models.length > 0
      ? table(
          ['forecast', 'quotes', 'AUC', 'Brier', 'log loss', 'slope', 'calibration error'],
          findings.models.map(({ name, quality }) => [
            name,
            String(quality.count),
            ...[quality.auc, quality.brier, quality.logLoss, quality.slope, quality.calibrationError].map(
              digits,
            ),
          ]),
        )
      : '',
    findings.reliability.length > 0 ? reliabilityPlot(findings.reliability) : '',
    coveragePlot(findings.coverage),
    '<h2>Simulated lanes, quotes of the last 14 days</h2>',
    coverageTable(findings.coverage),
    '<h2>Simulated lanes, quotes of the last 90 days</h2>',
    coverageTable(findings.coverageAged),
    findings.cost.length > 0 ? '<h2>Carrier cost</h2>' : '',
    findings.cost.length > 0
      ? table(
          ['forecast', 'loads', 'median error', 'within 20 %'],
          findings.cost.map((row) => [row.name, String(row.count), digits(row.median), digits(row.within20)]),
        )
      : '',
    findings.losses.length > 0 ? '<h2>Chance of losing money at the customer rate</h2>' : '',
    findings.losses.length > 0
      ? table(
          ['loads', 'chance', 'lost'],
          findings.losses.map((row) => [String(row.loads), digits(row.chance), digits(row.lost)]),
        )
      : '',
    ...costAheadParts(findings),
    '<h2>Going rate of thin lanes: mean error in ln rate</h2>',
    table(
      ['lanes', 'estimates', 'without an outside market', 'with it'],
      findings.thin.map((row) => [row.name, String(row.count), digits(row.without), digits(row.with)]),
    ),
  ]
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Evaluation</title><style>${STYLE}</style>${parts.join('\n')}</html>\n`
}

function coverageTable(coverage: readonly Coverage[]): string {
  return table(
    ['decided', 'offers', '80 % coverage', '95 % coverage', 'width 80 %', 'width 95 %', 'mean error'],
    coverage.map((row) => [
      String(row.decided),
      String(row.offers),
      ...[row.within80, row.within95, row.width80, row.width95, row.meanError].map((value) =>
        value.toFixed(3),
      ),
    ]),
  )
}

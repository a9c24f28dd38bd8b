import { dayOf } from '#engine/day.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import type { Bar } from './bar.ts'
import { reportingRow } from './reporting-rates.ts'
import { logisticBroker, sealedSeller, sealedTenders } from './simulated-sellers.ts'
import { after, afterMeans, type Reporting, type Walked, withoutLosses } from './walk.ts'
import {
  byKnownQuotes,
  byRate,
  calendarTerms,
  groupCoverages,
  isotonicBrier,
  sameOutcomes,
  type WalkedQuality,
  walkedQuality,
} from './walked-tables.ts'
import { worthOfAWeek } from './worth-of-a-week.ts'

const WARM_UP_DAYS = 60

/** A table that only `--long` prints. */
export interface LongTable {
  readonly title: string
  readonly rows: readonly object[]
}

/** Forecasts quotes from earlier ones, like `walkForward`, and shows the progress. */
export type Walk = (
  name: string,
  quotes: readonly LaneQuote[],
  plan: { readonly reporting: Reporting; readonly warmUpDays: number; readonly everyDays: number },
) => Walked[]

/** Simulated sellers whose win curves differ from those that the model assumes. */
export function simulatedFamilies(seed: number): { name: string; quotes: LaneQuote[] }[] {
  const tenders = { days: 365, lanes: 60, tenders: 1_500, spread: 0.25, spreadOfSpread: 0.5, rejected: 0.15 }
  const sealed = { days: 270, lanes: 80, quotes: 4_000, ownSpread: 0.08 }
  const broker = { days: 270, lanes: 100, quotes: 4_000, level: 0.5, steepness: 8, spread: 0.7 }
  return [
    { name: 'sealed tenders', quotes: sealedTenders({ seed, ...tenders }) },
    {
      name: 'sealed tenders, very unequal',
      quotes: sealedTenders({
        seed: seed + 1,
        ...tenders,
        lanes: 200,
        spread: 0.35,
        spreadOfSpread: 0.7,
        rejected: 0.25,
      }),
    },
    {
      name: 'a seller among four rivals',
      quotes: sealedSeller({ seed: seed + 2, ...sealed, rivals: 4, rivalSpread: 0.08, lost: 0.2 }),
    },
    { name: 'logistic curves', quotes: logisticBroker({ seed: seed + 3, ...broker }) },
    {
      name: 'logistic curves with a ceiling',
      quotes: logisticBroker({ seed: seed + 4, ...broker, steepness: 12, ceiling: 0.6 }),
    },
    {
      name: 'logistic curves, 30 % of lanes lost',
      quotes: logisticBroker({ seed: seed + 5, ...broker, level: 1, lostLanes: 0.3 }),
    },
    {
      name: 'logistic curves that drift',
      quotes: logisticBroker({ seed: seed + 6, ...broker, drift: 0.06 }),
    },
  ]
}

function walkedFamily(
  walk: Walk,
  { name, quotes }: { name: string; quotes: LaneQuote[] },
  everyDays: number,
) {
  const walked = walk(name, quotes, { reporting: after(1), warmUpDays: WARM_UP_DAYS, everyDays })
  return { name, walked, quality: walkedQuality(name, walked) }
}

/** The limits for sealed tenders: with fewer than some thousand tested quotes, the calibration error would be mostly chance. */
export function tenderBars(walk: Walk, seed: number): Bar[] {
  return simulatedFamilies(seed)
    .slice(0, 2)
    .map((family) => walkedFamily(walk, family, 2))
    .flatMap(({ name, walked, quality }) => [
      {
        check: name,
        measure: 'Brier minus the isotonic fit',
        value: quality.model - isotonicBrier(walked),
        most: 0.008,
      },
      { check: name, measure: 'calibration error', value: quality.calibrationError, most: 0.03 },
    ])
}

/** How well the model forecasts the sellers of `simulatedFamilies`. */
export function shapeTables(walk: Walk, seed: number, everyDays: number): LongTable[] {
  const families = simulatedFamilies(seed).map((family) => walkedFamily(walk, family, everyDays))
  return [
    {
      title: 'Simulated sellers, walk-forward (Brier scores)',
      rows: families.map(({ walked, quality }) => ({ ...quality, isotonic: isotonicBrier(walked) })),
    },
    ...families
      .slice(0, 2)
      .map(({ name, walked }) => ({ title: `By relative rate, ${name}`, rows: byRate(walked) })),
  ]
}

/** How late outcomes become known. */
export const REPORTINGS: readonly { readonly name: string; readonly reporting: Reporting }[] = [
  { name: 'known after 1 day', reporting: after(1) },
  { name: 'after 7 days', reporting: after(7) },
  { name: 'after 30 days', reporting: after(30) },
  { name: 'after 60 days', reporting: after(60) },
  { name: 'after 1 day, half of the losses never', reporting: withoutLosses(0.5, 1) },
  { name: 'after 7 days, half of the losses never', reporting: withoutLosses(0.5, 7) },
  { name: 'wins after 2 days on average, losses after 20', reporting: afterMeans({ won: 2, lost: 20 }) },
]

/** Tables about late outcomes, thin lanes, groups and the calendar, for one history of quotes. */
export function lateTables(
  walk: Walk,
  history: { readonly name: string; readonly quotes: readonly LaneQuote[] },
  everyDays: number,
): LongTable[] {
  const late: WalkedQuality[] = []
  const thin: WalkedQuality[] = []
  const reported: object[] = []
  const runs: Walked[][] = []
  const end = Math.max(...history.quotes.map(({ quotedAt }) => dayOf(quotedAt))) + 1
  for (const { name, reporting } of REPORTINGS) {
    const walked = walk(name, history.quotes, { reporting, warmUpDays: 30, everyDays })
    runs.push(walked)
    late.push(walkedQuality(name, walked))
    thin.push(...byKnownQuotes(name, walked))
    const known = history.quotes.map((quote) => ({ ...quote, outcome: reporting(quote, end) }))
    reported.push(reportingRow(name, known, walked))
  }
  const [atOnce = [], weekLater = []] = runs
  return [
    { title: `${history.name}, by when outcomes are known (Brier scores)`, rows: late },
    { title: `${history.name}, by known quotes of the lane (Brier scores)`, rows: thin },
    {
      title: `${history.name}, what the outcomes of a week are worth (Brier scores)`,
      rows: worthOfAWeek(history.quotes, { atOnce, late: weekLater }),
    },
    { title: `${history.name}, shares of wins and losses that are reported, by EM`, rows: reported },
    {
      title: 'Pairs of decided quotes with the same outcome',
      rows: [sameOutcomes(history.name, history.quotes)],
    },
    { title: 'Share won of groups within their ranges', rows: groupCoverages(history.name, atOnce) },
    { title: 'Calendar terms (Brier scores)', rows: calendarTerms(history.name, atOnce) },
  ]
}

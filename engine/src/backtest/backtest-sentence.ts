import { formatDollars } from '../money.ts'
import type { BacktestResult, TooFewQuotes } from './backtest.ts'
import { DOLLAR_LANES_MIN, DOLLAR_QUOTES_MIN } from './dollars.ts'

/** The caveat shown with every dollar figure of a backtest. */
export const DOLLAR_CAVEAT =
  'This is an estimate by the model itself, not an experiment: no customer was quoted these rates, and a model that picks its own best rates tends to overestimate them. The range shows how much the result depends on the sample of lanes; it does not cover errors of the model.'

const whole = (cents: number) => formatDollars(Math.round(cents / 100) * 100)
const count = (number: number, thing: string) =>
  `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`

/**
 * Describes a backtest result in plain English: first whether the model forecasts better than plain win rates, then
 * the dollar estimate.
 *
 * @example backtestSentence({ enough: false, why: 'too_few_decided', decided: 12, tested: 4, needed: { decided: 200, tested: 60 } })
 *   // 'There are too few quotes to test the estimate on: 12 decided quotes, and 200 are needed.'
 */
export function backtestSentence(found: BacktestResult | TooFewQuotes): string {
  if (!found.enough) {
    return found.why === 'too_few_decided'
      ? `There are too few quotes to test the estimate on: ${count(found.decided, 'decided quote')}, and ${found.needed.decided} are needed.`
      : `There are too few recent quotes to test the estimate on: ${count(found.tested, 'decided quote')} in the tested period, and ${found.needed.tested} are needed.`
  }
  const { model, lane_rate: winRateOfLane, overall } = found.quality
  const standing =
    model.brier < Math.min(winRateOfLane.brier, overall.brier)
      ? 'the estimate forecast better than the win rate of the lane or of the brokerage'
      : 'the estimate did not forecast better than plain win rates, so do not rely on it yet'
  return `On ${count(found.tested, 'tested quote')} ${standing}. ${dollarSentence(found)}`
}

function dollarSentence({ dollars }: BacktestResult): string {
  if (dollars === null) {
    return `No dollar figure is given: at least ${DOLLAR_QUOTES_MIN} tested quotes on ${DOLLAR_LANES_MIN} lanes with a known cost are needed.`
  }
  const { differenceCents, range80, quotes, quotedCents, earnedCents } = dollars
  const much = `an estimated ${whole(Math.abs(differenceCents))} ${differenceCents < 0 ? 'less' : 'more'} in expected margin`
  return `By the model's own estimate, its best rates would have been worth ${much} over ${count(quotes, 'quote')}, with an 80% range over resampled lanes of ${whole(range80.lowCents)} to ${whole(range80.highCents)}. At the quoted rates, the model expected ${whole(quotedCents)}; the actual margin was ${whole(earnedCents)}.`
}

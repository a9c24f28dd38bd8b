import type { getBacktest } from '#contract/backtest.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import type { BacktestResult, MeasuredQuality, TooFewQuotes } from '#engine/backtest/backtest.ts'
import { backtestSentence, DOLLAR_CAVEAT } from '#engine/backtest/backtest-sentence.ts'
import { dollarsFromCents } from '#engine/money.ts'

type Done = Extract<AnswerOf<typeof getBacktest>, { status: 'done' }>['result']

const day = (moment: number) => new Date(moment).toISOString().slice(0, 10)

function qualityAnswer({ auc, brier, logLoss, slope, calibrationError }: MeasuredQuality) {
  return {
    auc,
    brier,
    log_loss: logLoss,
    calibration_slope: slope,
    calibration_error: calibrationError,
  }
}

/** A backtest in the form of the API: dollars instead of cents, days instead of times. */
export function backtestAnswer(found: BacktestResult | TooFewQuotes): Done {
  const sentence = backtestSentence(found)
  if (!found.enough) return { ...found, needed: { ...found.needed }, sentence }
  const { quality, dollars: money, unpriced } = found
  return {
    enough: true,
    window_days: found.windowDays,
    outcome_delay_days: found.outcomeDelayDays,
    first_tested_on: day(found.firstTestedAt),
    last_tested_on: day(found.lastTestedAt),
    quotes: found.quotes,
    decided: found.decided,
    tested: found.tested,
    tested_won: found.testedWon,
    left_out: found.leftOut,
    quality: {
      model: qualityAnswer(quality.model),
      lane_rate: qualityAnswer(quality.lane_rate),
      overall: qualityAnswer(quality.overall),
      literal: qualityAnswer(quality.literal),
      at_or_below: qualityAnswer(quality.at_or_below),
    },
    reliability: found.reliability.map(({ count, forecast, came }) => ({
      quotes: count,
      forecast,
      won: came,
    })),
    dollars:
      money === null
        ? null
        : {
            quotes: money.quotes,
            lanes: money.lanes,
            expected_margin_quoted: dollarsFromCents(money.quotedCents),
            margin_earned: dollarsFromCents(money.earnedCents),
            expected_margin_best: dollarsFromCents(money.bestCents),
            difference: dollarsFromCents(money.differenceCents),
            difference_80: {
              low: dollarsFromCents(money.range80.lowCents),
              high: dollarsFromCents(money.range80.highCents),
            },
            quoted_below: money.below,
            quoted_as_good: money.asGood,
            quoted_above: money.above,
            at_edge: money.atEdge,
            caveat: DOLLAR_CAVEAT,
          },
    not_priced: {
      without_cost: unpriced.without_cost,
      without_best_rate: unpriced.without_optimum,
      unlikely_cost: unpriced.unlikely_cost,
    },
    sentence,
  }
}

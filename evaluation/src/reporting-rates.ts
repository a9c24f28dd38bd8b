import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import type { Walked } from './walk.ts'

const ROUNDS = 500
/** This many quotes are added to each lane, half of them won. */
const OVERALL_QUOTES = 2

/** The share of wins, and the share of losses, whose outcome is reported. */
export interface ReportedShares {
  readonly won: number
  readonly lost: number
}

/**
 * Estimates these shares by the EM algorithm, if each lane has one win rate and reporting depends only on the outcome. Lanes reveal
 * the shares: if losses are not reported, lanes that win rarely have more undecided quotes.
 */
export function reportedShares(quotes: readonly Pick<LaneQuote, 'lane' | 'outcome'>[]): ReportedShares {
  const lanes = [...Map.groupBy(quotes, ({ lane }) => lane.key).values()].map((of) => ({
    won: of.filter(({ outcome }) => outcome === 'won').length,
    lost: of.filter(({ outcome }) => outcome === 'lost').length,
    pending: of.filter(({ outcome }) => outcome === 'pending').length,
    rate: 0.5,
  }))
  let rates: ReportedShares = { won: 0.8, lost: 0.8 }
  for (let round = 0; round < ROUNDS; round++) {
    const sums = { won: 0, lost: 0, pendingWon: 0, pendingLost: 0 }
    for (const lane of lanes) {
      const silentWin = lane.rate * (1 - rates.won)
      const silentLoss = (1 - lane.rate) * (1 - rates.lost)
      const pendingWon = lane.pending * (silentWin / Math.max(1e-12, silentWin + silentLoss))
      sums.won += lane.won
      sums.lost += lane.lost
      sums.pendingWon += pendingWon
      sums.pendingLost += lane.pending - pendingWon
      lane.rate =
        (lane.won + pendingWon + OVERALL_QUOTES / 2) / (lane.won + lane.lost + lane.pending + OVERALL_QUOTES)
    }
    rates = { won: sums.won / (sums.won + sums.pendingWon), lost: sums.lost / (sums.lost + sums.pendingLost) }
  }
  return rates
}

/** The estimated shares, and the Brier scores of forecasts without and with a correction by these shares. */
export function reportingRow(name: string, reported: readonly LaneQuote[], walked: readonly Walked[]) {
  const { won, lost } = reportedShares(reported)
  const error = (of: (p: number) => number) =>
    walked.reduce((sum, one) => sum + (of(one.model) - (one.won ? 1 : 0)) ** 2, 0) / walked.length
  return {
    name,
    winsReported: won,
    lossesReported: lost,
    model: error((p) => p),
    corrected: error((p) => (p * lost) / (p * lost + (1 - p) * won)),
  }
}

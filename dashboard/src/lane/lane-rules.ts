import { type LaneScope, SCOPES, type ScopeCounts } from '#engine/scopes.ts'
import { type LaneScores, SCORE_RULE } from '#engine/scores.ts'
import { type LaneSignals, SIGNAL_RULE } from '#engine/signals.ts'

/** The engine's thresholds and formulas, as the lane page explains them. */

const scopeNames: Readonly<Record<LaneScope, string>> = {
  equipment: 'This lane, this equipment',
  corridor: 'This lane, all equipment',
  market: 'Lanes between the same two markets',
  state_pair: 'Lanes between the same two states',
  region: 'Lanes between the same two regions',
  tenant: 'All your lanes',
}

export interface ScopeStep {
  readonly scope: LaneScope
  readonly name: string
  /** The history that the scope needs before it can answer. */
  readonly minimum: ScopeCounts
}

/** The engine's scopes with their names, most trusted first. */
export const scopeLadder: readonly ScopeStep[] = SCOPES.map(({ scope, minimum }) => ({
  scope,
  name: scopeNames[scope],
  minimum,
}))

const [score, signal] = [SCORE_RULE, SIGNAL_RULE]

/** One signal as the page explains it: the question it answers, the formula of its score, and the rule of each word. */
export interface SignalFormula {
  readonly signal: keyof LaneSignals
  readonly score: keyof LaneScores
  readonly question: string
  readonly scale: string
  readonly formula: readonly string[]
  /** The signal's words with their rules, in the order they are tested. The first match applies. */
  readonly words: readonly (readonly [word: string, rule: string])[]
}

export const signalFormulas: readonly SignalFormula[] = [
  {
    signal: 'strength',
    score: 'integral',
    question: 'Recent wins above the win rate of your other lanes.',
    scale: 'Measured in wins, unbounded. 0 is as good as your other lanes.',
    formula: [
      'integral = Σ f (w − par · d)',
      `rate = (Σ f w + ${score.parQuotes} par) / (Σ f d + ${score.parQuotes})`,
    ],
    words: [
      ['unproven', `fewer than ${signal.strength.decidedMin} decided quotes`],
      [
        'strong',
        `integral ≥ ${signal.strength.integral} and rate ≥ par + ${signal.strength.rateAbovePar} (1 − par)`,
      ],
      ['weak', `integral ≤ −${signal.strength.integral} and rate ≤ par − ${signal.strength.rateBelowPar}`],
      ['moderate', 'anything else'],
    ],
  },
  {
    signal: 'trend',
    score: 'derivative',
    question: 'The probability that you win more often now than before.',
    scale: 'From 0 to 1. 0.5 means no change.',
    formula: [
      `g = 2^(−age / ${score.nowHalfLifeBuckets}) is the weight of now, (1 − g) f of before`,
      `W and L, now and before, each plus ${score.rateQuotes} prior quotes at rate`,
      'derivative = Φ((ln(W₁/L₁) − ln(W₀/L₀)) / √(1/W₁ + 1/L₁ + 1/W₀ + 1/L₀))',
    ],
    words: [
      [
        'new',
        `fewer than ${signal.trend.bucketsMin} periods or fewer than ${signal.trend.decidedMin} decided quotes`,
      ],
      ['heating', `derivative ≥ ${signal.trend.heating}`],
      ['cooling', `derivative ≤ ${signal.trend.cooling}`],
      ['steady', 'anything else'],
    ],
  },
  {
    signal: 'consistency',
    score: 'harmonic',
    question: 'Whether you win every month, not only sometimes.',
    scale: 'From 0 to 1. 0 without decided quotes.',
    formula: [
      `hm = m / Σ ((d + ${score.rateQuotes}) / (w + ${score.rateQuotes} rate)) over the periods with a decided quote`,
      'presence = (m + 0.5) / (n + 1)',
      'harmonic = 2 hm · presence / (hm + presence)',
    ],
    words: [
      [
        'unproven',
        `fewer than ${signal.consistency.decidedBucketsMin} periods with a decided quote or fewer than ${signal.consistency.decidedMin} decided quotes`,
      ],
      [
        'reliable',
        `harmonic ≥ ${signal.consistency.reliable} s, s = min(1, par / ${signal.consistency.fullScalePar})`,
      ],
      ['erratic', `harmonic < ${signal.consistency.erratic} s`],
      ['mixed', 'anything else'],
    ],
  },
  {
    signal: 'timing',
    score: 'correlation',
    question: 'Whether you win more when this lane is busy.',
    scale: 'Unbounded. 0 means no correlation.',
    formula: [
      'a = ln(1 + q) and b = ln(1 + w), each minus its mean',
      `r = Σ ab / √((Σ aa + ${score.spreadAdded}) (Σ bb + ${score.spreadAdded})), limited to ±${score.correlationMax}`,
      `correlation = atanh(r) for ${score.correlationBucketsMin} or more periods, else 0`,
    ],
    words: [
      [
        'unknown',
        `fewer than ${signal.timing.bucketsMin} periods or fewer than ${signal.timing.decidedMin} decided quotes`,
      ],
      ['aligned', `correlation ≥ ${signal.timing.aligned}`],
      [
        'misaligned',
        `correlation < ${signal.timing.misaligned} and Σ aa ≥ ${signal.timing.busynessSpreadMin}`,
      ],
      ['neutral', 'anything else'],
    ],
  },
]

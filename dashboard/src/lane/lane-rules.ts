/**
 * The thresholds behind a lane's scores and signals, as the page says them. The service decides; a test holds every
 * number here against the engine's own, so that the page cannot explain another rule than the one in force.
 */

export const bucketDays = 30
export const bucketsMax = 13

export const parPrior = { wins: 8, decided: 20 } as const

export const scoreRule = {
  halfLifeBuckets: 3,
  nowHalfLifeBuckets: 1,
  parQuotes: 4,
  rateQuotes: 2,
  spreadAdded: 0.25,
  correlationMax: 0.995,
  correlationBucketsMin: 3,
} as const

export const signalRule = {
  strength: { decidedMin: 3, integral: 1, rateAbovePar: 0.05, rateBelowPar: 0.05 },
  trend: { bucketsMin: 2, decidedMin: 3, heating: 0.75, cooling: 0.25 },
  consistency: { decidedBucketsMin: 2, decidedMin: 4, reliable: 0.7, erratic: 0.45, fullScalePar: 0.6 },
  timing: { bucketsMin: 3, decidedMin: 4, aligned: 0.8, misaligned: 0.3, busynessSpreadMin: 1 },
} as const

/** The scopes, most trusted first, whose quotes they hold, and what each needs before it answers. */
export const scopeLadder = [
  {
    scope: 'equipment',
    name: 'This lane, this equipment',
    minimum: { quotes: 1, decided: 0, lanes: 0 },
  },
  {
    scope: 'corridor',
    name: 'This lane, all equipment',
    minimum: { quotes: 1, decided: 0, lanes: 0 },
  },
  {
    scope: 'market',
    name: 'Lanes between the same two markets',
    minimum: { quotes: 0, decided: 3, lanes: 2 },
  },
  {
    scope: 'state_pair',
    name: 'Lanes between the same two states',
    minimum: { quotes: 0, decided: 3, lanes: 0 },
  },
  {
    scope: 'region',
    name: 'Lanes between the same two regions',
    minimum: { quotes: 0, decided: 5, lanes: 0 },
  },
  {
    scope: 'tenant',
    name: 'All your lanes',
    minimum: { quotes: 0, decided: 5, lanes: 0 },
  },
] as const

/** What each signal adds to the summary sentence; null where it adds nothing. */
export const signalWords = {
  strength: {
    strong: 'strong against your other lanes',
    moderate: 'about as good as your other lanes',
    weak: 'weak against your other lanes',
    unproven: 'too few recent outcomes to compare with your other lanes',
  },
  trend: {
    heating: 'won more often lately than before',
    steady: 'won about as often lately as before',
    cooling: 'won less often lately than before',
    new: null,
  },
  consistency: {
    reliable: 'won steadily month after month',
    mixed: 'won more in some months than in others',
    erratic: 'won only now and then',
    unproven: null,
  },
  timing: {
    aligned: 'won in step with how busy it was',
    neutral: null,
    misaligned: 'not won when it was busy',
    unknown: null,
  },
} as const

const [score, signal] = [scoreRule, signalRule]

export type SignalName = keyof typeof signalRule

/** A signal with the score it is read from: what it asks, the arithmetic, and where one word ends and the next begins. */
export interface SignalFormula {
  readonly signal: SignalName
  readonly score: 'integral' | 'derivative' | 'harmonic' | 'correlation'
  readonly asks: string
  readonly scale: string
  readonly formula: readonly string[]
  /** The words of the signal with their rules, in the order in which they are tried: the first that fits. */
  readonly words: readonly (readonly [word: string, rule: string])[]
}

export const signalFormulas: readonly SignalFormula[] = [
  {
    signal: 'strength',
    score: 'integral',
    asks: 'Recent wins beyond what your other lanes would have given.',
    scale: 'In wins, unbounded; 0 is as good as your other lanes.',
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
    asks: 'The chance that you win more often now than before.',
    scale: 'From 0 to 1; 0.5 is no news.',
    formula: [
      `g = 2^(−age / ${score.nowHalfLifeBuckets}) weighs now, (1 − g) f weighs before`,
      `W and L, now and before, each with ${score.rateQuotes} imagined quotes at rate`,
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
    asks: 'Whether you win month after month, not only sometimes.',
    scale: 'From 0 to 1; 0 when nothing is decided.',
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
    asks: 'Whether you get the wins when this lane is busy.',
    scale: 'Unbounded; 0 is no relation.',
    formula: [
      'a = ln(1 + q) and b = ln(1 + w), each less its mean',
      `r = Σ ab / √((Σ aa + ${score.spreadAdded}) (Σ bb + ${score.spreadAdded})), held within ${score.correlationMax} of 0`,
      `correlation = atanh(r) over ${score.correlationBucketsMin} periods or more, else 0`,
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

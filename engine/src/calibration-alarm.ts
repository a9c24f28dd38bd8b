/** A forecast that was recorded with its quote, and the outcome. */
export interface DecidedForecast {
  /** The day of the decision, in days since 1970. */
  readonly day: number
  /** Decisions of a lane on the same day may be one decision of a customer, such as several loads of one order. */
  readonly lane: string
  readonly probability: number
  readonly won: boolean
}

/** The forecasts of these days are tested. */
export const ALARM_DAYS = 60
/** With fewer decided forecasts, or fewer days with decisions, nothing is said. */
export const ALARM_DECIDED_MIN = 60
export const ALARM_DAYS_MIN = 14
/** The evidence that breaks the calibration: with calibrated forecasts, it is reached once in this many days or less often. */
export const ALARM_EVIDENCE = 3_650
/** A broken calibration holds again when the evidence is below this. */
export const ALARM_OVER_EVIDENCE = 100
/** Forecasts whose log odds are off by up to this count as calibrated: 5 points at 50 %, 2 points at 10 %. */
export const ALARM_TOLERANCE = 0.2

/** Ways in which forecasts can be wrong: more or fewer wins than forecast, forecasts too extreme or too close to 50 %. */
const ALTERNATIVES: readonly { readonly shift: number; readonly slope: number }[] = [
  { shift: 0.4, slope: 1 },
  { shift: 0.8, slope: 1 },
  { shift: -0.4, slope: 1 },
  { shift: -0.8, slope: 1 },
  { shift: 0, slope: 0.6 },
  { shift: 0, slope: 1.6 },
]

const FORECAST_MIN = 1e-3

const sigmoid = (logOdds: number) => 1 / (1 + Math.exp(-logOdds))

/** The standing of the calibration on the last 60 days. */
export interface CalibrationStanding {
  readonly state: 'too_few' | 'holds' | 'broken'
  readonly decided: number
  readonly won: number
  /** The mean forecast; null without a decided one. */
  readonly meanForecast: number | null
  /** The evidence against the calibration: see `calibrationStanding`. */
  readonly evidence: number
}

/**
 * Tests whether the win probabilities that were recorded with quotes hold, on the decisions of the last 60 days.
 *
 * Each decision bets against its forecast: it multiplies the wealth of a bet that began on an earlier day by the likelihood of
 * the outcome under an alternative, divided by that under the nearest forecast within the tolerance. The decisions of a lane on the
 * same day share one bet, whose factor is the mean of their factors: the mean of bets that do not grow does not grow either,
 * however the decisions depend on each other. If the forecasts are calibrated within the tolerance, no bet grows on average,
 * whatever the order and number of decisions. The evidence is the sum of
 * the wealth of bets that began on each of the 60 days, averaged over the alternatives: a Shiryaev-Roberts detector. If it is read
 * every day, the mean time until calibrated forecasts reach an evidence of 3,650 is at least 3,650 days, so the alarm may be
 * looked at as often as one likes. docs/decisions/0077-the-calibration-alarm.md has the proof and its limits.
 *
 * @param wasBroken the calibration was broken at the last test: it holds again below an evidence of 100
 */
export function calibrationStanding(
  forecasts: readonly DecidedForecast[],
  { today, wasBroken }: { readonly today: number; readonly wasBroken: boolean },
): CalibrationStanding {
  const byDay = Map.groupBy(
    forecasts.filter(({ day }) => day > today - ALARM_DAYS && day <= today),
    ({ day }) => day,
  )
  const wealth = ALTERNATIVES.map(() => 0)
  let decided = 0
  let won = 0
  let sum = 0
  for (let day = today - ALARM_DAYS + 1; day <= today; day++) {
    const decisions = byDay.get(day) ?? []
    const lanes = [...Map.groupBy(decisions, ({ lane }) => lane).values()]
    for (const [at, alternative] of ALTERNATIVES.entries()) {
      let factor = 1
      for (const ofLane of lanes)
        factor *= ofLane.reduce((sum, decision) => sum + betOf(decision, alternative), 0) / ofLane.length
      // A bet begins each day with a wealth of one.
      wealth[at] = ((wealth[at] ?? 0) + 1) * factor
    }
    for (const { probability, won: isWon } of decisions) {
      decided++
      won += isWon ? 1 : 0
      sum += probability
    }
  }
  const evidence = wealth.reduce((total, one) => total + one, 0) / ALTERNATIVES.length
  const isEnough = decided >= ALARM_DECIDED_MIN && byDay.size >= ALARM_DAYS_MIN
  const isBroken = evidence >= (wasBroken ? ALARM_OVER_EVIDENCE : ALARM_EVIDENCE)
  return {
    state: isEnough ? (isBroken ? 'broken' : 'holds') : 'too_few',
    decided,
    won,
    meanForecast: decided === 0 ? null : sum / decided,
    evidence,
  }
}

/** The factor by which a decision changes the wealth of a bet on an alternative. */
function betOf(
  { probability, won }: DecidedForecast,
  { shift, slope }: (typeof ALTERNATIVES)[number],
): number {
  const p = Math.min(1 - FORECAST_MIN, Math.max(FORECAST_MIN, probability))
  const logOdds = Math.log(p / (1 - p))
  const claimed = slope * logOdds + shift
  // Within the tolerance there is nothing to bet on. Beyond it, the bet is against the nearest tolerated forecast.
  const nearest = Math.min(logOdds + ALARM_TOLERANCE, Math.max(logOdds - ALARM_TOLERANCE, claimed))
  if (nearest === claimed) return 1
  const [alternative, forecast] = [sigmoid(claimed), sigmoid(nearest)]
  return won ? alternative / forecast : (1 - alternative) / (1 - forecast)
}

/** The standing in one sentence. */
export function calibrationSentence({ state, decided, won, meanForecast }: CalibrationStanding): string {
  const counts = `${won.toLocaleString('en-US')} of ${decided.toLocaleString('en-US')} decided quotes were won, and the forecasts that were recorded with them expected ${Math.round((meanForecast ?? 0) * decided).toLocaleString('en-US')}`
  switch (state) {
    case 'too_few':
      return `There are too few decided quotes with a recorded forecast in the last ${ALARM_DAYS} days to check the calibration: ${decided.toLocaleString('en-US')} of ${ALARM_DECIDED_MIN}, on ${ALARM_DAYS_MIN} days or more.`
    case 'holds':
      return `The daily test finds no break of the calibration on the last ${ALARM_DAYS} days: ${counts}.`
    case 'broken':
      return `The calibration is broken on the last ${ALARM_DAYS} days: ${counts}. Do not rely on the win probabilities until you know why. Usual reasons are a market that moved, outcomes that are reported late or only when won, and another mix of customers.`
  }
}

import { describe, expect, test } from 'vitest'
import {
  ALARM_EVIDENCE,
  ALARM_TOLERANCE,
  calibrationSentence,
  calibrationStanding,
  type DecidedForecast,
} from './calibration-alarm.ts'
import { seededNumbers } from './statistics/seeded-numbers.ts'

const logit = (p: number) => Math.log(p / (1 - p))
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))

/** Decisions of a brokerage: a few each day, won with the probability that `truth` makes of the forecast. */
function decisions(options: {
  days: number
  perDay: number
  seed: number
  truth?: (p: number, day: number) => number
}): DecidedForecast[] {
  const random = seededNumbers(options.seed)
  const { truth = (p) => p } = options
  return Array.from({ length: options.days * options.perDay }, (_, nth) => {
    const day = Math.floor(nth / options.perDay)
    const probability = 0.05 + 0.9 * random()
    return { day, lane: `lane ${nth}`, probability, won: random() < truth(probability, day) }
  })
}

/** The first day on which the alarm is raised when it is read every day; null if it never is. */
function firstAlarm(forecasts: readonly DecidedForecast[], days: number): number | null {
  for (let today = 13; today < days; today++) {
    if (calibrationStanding(forecasts, { today, wasBroken: false }).state === 'broken') return today
  }
  return null
}

describe('the alarm', () => {
  test('is not raised in a year of calibrated forecasts', () => {
    for (let seed = 1; seed <= 4; seed++) {
      expect(firstAlarm(decisions({ days: 365, perDay: 8, seed }), 365)).toBeNull()
    }
  })

  test('is not raised by orders whose loads are won or lost together', () => {
    const random = seededNumbers(3)
    const orders = Array.from({ length: 365 }, (_, day) => {
      const probability = 0.2 + 0.6 * random()
      const won = random() < probability
      return Array.from({ length: 8 }, (): DecidedForecast => ({ day, lane: 'one', probability, won }))
    })
    expect(firstAlarm(orders.flat(), 365)).toBeNull()
    // The same decisions, taken for independent ones, are overwhelming evidence.
    const apart = orders.flat().map((decision, nth) => ({ ...decision, lane: `lane ${nth}` }))
    expect(firstAlarm(apart, 365)).not.toBeNull()
  })

  test.each([
    ['fewer wins than forecast', (p: number) => sigmoid(logit(p) - 0.9)],
    ['more wins than forecast', (p: number) => sigmoid(logit(p) + 0.9)],
    ['forecasts that are far too extreme', (p: number) => sigmoid(logit(p) * 0.25)],
  ])('is raised within 60 days of a break: %s', (_, broken) => {
    const truth = (p: number, day: number) => (day < 100 ? p : broken(p))
    const found = [1, 2, 3].map(
      (seed) => firstAlarm(decisions({ days: 200, perDay: 8, seed, truth }), 200) ?? 999,
    )
    expect(Math.min(...found)).toBeGreaterThanOrEqual(100)
    expect(Math.max(...found)).toBeLessThanOrEqual(160)
  })

  test('needs 60 decided quotes on 14 days', () => {
    const lost = (count: number, days: number): DecidedForecast[] =>
      Array.from({ length: count }, (_, nth) => ({
        day: nth % days,
        lane: `lane ${nth}`,
        probability: 0.9,
        won: false,
      }))
    const standing = (count: number, days: number) =>
      calibrationStanding(lost(count, days), { today: 20, wasBroken: false }).state
    expect(standing(59, 20)).toBe('too_few')
    expect(standing(60, 13)).toBe('too_few')
    expect(standing(60, 14)).toBe('broken')
  })

  test('ends when the evidence of the last 60 days is small again, not just below the threshold', () => {
    const forecasts = decisions({ days: 60, perDay: 4, seed: 5, truth: (p) => sigmoid(logit(p) - 0.75) })
    const standing = (wasBroken: boolean) => calibrationStanding(forecasts, { today: 59, wasBroken })
    const { evidence } = standing(false)
    // This example lies between the two thresholds or above both.
    expect(standing(true).state).toBe(evidence >= 100 ? 'broken' : 'holds')
    expect(standing(false).state).toBe(evidence >= ALARM_EVIDENCE ? 'broken' : 'holds')
    expect(calibrationStanding(forecasts, { today: 200, wasBroken: true }).state).toBe('too_few')
  })

  test('certain forecasts and none at all give finite numbers', () => {
    const odd = [0, 1, 0.5].flatMap((probability) =>
      Array.from({ length: 30 }, (_, nth) => ({
        day: nth,
        lane: `lane ${probability}`,
        probability,
        won: nth % 2 === 0,
      })),
    )
    expect(Number.isFinite(calibrationStanding(odd, { today: 30, wasBroken: false }).evidence)).toBe(true)
    expect(calibrationStanding([], { today: 30, wasBroken: false })).toEqual({
      state: 'too_few',
      decided: 0,
      won: 0,
      meanForecast: null,
      evidence: 60,
    })
  })
})

test('a bet on calibrated forecasts does not grow on average, also at the edge of the tolerance', () => {
  // The exact expectation of one day's evidence over both outcomes, for forecasts of all sizes.
  for (let p = 0.02; p < 1; p += 0.03) {
    for (const off of [-ALARM_TOLERANCE, -0.1, 0, 0.1, ALARM_TOLERANCE]) {
      const truth = sigmoid(logit(p) + off)
      const evidence = (won: boolean) =>
        calibrationStanding([{ day: 0, lane: 'one', probability: p, won }], { today: 0, wasBroken: false })
          .evidence
      expect(truth * evidence(true) + (1 - truth) * evidence(false)).toBeLessThanOrEqual(60 + 1e-9)
    }
  }
})

test('the sentence states the counts', () => {
  const broken = { state: 'broken', decided: 120, won: 30, meanForecast: 0.5, evidence: 9_000 } as const
  expect(calibrationSentence(broken)).toContain(
    'is broken on the last 60 days: 30 of 120 decided quotes were won, and the forecasts that were recorded with them expected 60.',
  )
  expect(calibrationSentence({ ...broken, state: 'holds' })).toContain('finds no break')
  expect(calibrationSentence({ ...broken, state: 'too_few', decided: 12 })).toContain('12 of 60')
})

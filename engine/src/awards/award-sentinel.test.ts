import { describe, expect, test } from 'vitest'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import {
  type AwardedLane,
  type AwardedLoad,
  awardStanding,
  costNoise,
  standingEachWeek,
  USUAL_NOISE,
} from './award-sentinel.ts'

const lane: AwardedLane = { rateCents: 230_000, forecastCents: [200_000], loadsPerWeek: 2, weeks: 52 }
const noise = USUAL_NOISE

/** A load in each week, at a cost of e^value times the forecast. */
const loadsOf = (values: readonly number[]): AwardedLoad[] =>
  values.map((value, week) => ({ id: `load ${week}`, week, costCents: 200_000 * Math.exp(value) }))

const standing = (values: readonly number[], wasRising = false) =>
  awardStanding(lane, loadsOf(values), { today: values.length - 1, noise, wasRising })

describe('the sentinel', () => {
  test('says nothing before there are two weeks with loads', () => {
    expect(standing([0.5]).state).toBe('too_few')
    expect(standing([0.5, 0.5]).state).not.toBe('too_few')
  })

  test('holds while costs are as forecast, below it, or up in one week only', () => {
    expect(standing(Array.from({ length: 40 }, () => 0)).state).toBe('holds')
    expect(standing(Array.from({ length: 40 }, () => -0.2)).state).toBe('holds')
    expect(standing([0, 0, 0, 0, 0, 0.9]).state).toBe('holds')
  })

  test('finds a rise of 8 % within six weeks, says when it began, and shows the loads since', () => {
    const values = Array.from({ length: 24 }, (_, week) => (week < 12 ? 0 : Math.log(1.08)))
    const first = values.findIndex((_, week) => standing(values.slice(0, week + 1)).state === 'rising')
    expect(first).toBeGreaterThanOrEqual(13)
    expect(first).toBeLessThan(18)
    const { since, loads, rise } = standing(values.slice(0, first + 1))
    expect(since).toBe(12)
    expect(loads.map(({ week }) => week)).toEqual(Array.from({ length: first - 11 }, (_, nth) => 12 + nth))
    expect(rise.value).toBeGreaterThan(0.06)
    expect(rise.value).toBeLessThan(0.09)
  })

  test('stays on until the evidence is gone, and holds again after costs have come back', () => {
    const risen = Array.from({ length: 10 }, () => 0.1)
    expect(standing(risen).state).toBe('rising')
    const back = [...risen, ...Array.from({ length: 12 }, () => 0)]
    expect(standing(back, true).state).toBe('holds')
  })

  test('counts the dollars to the end of the term: extra cost and margin add up to the planned margin', () => {
    const { toEnd, rise } = standing(Array.from({ length: 20 }, () => 0.1))
    expect(toEnd.loads).toBe(2 * 32)
    expect(toEnd.plannedMarginCents).toBe(64 * 30_000)
    expect(toEnd.extraCostCents).toBeCloseTo(64 * 200_000 * Math.expm1(rise.value), 4)
    expect(toEnd.marginCents + toEnd.extraCostCents).toBeCloseTo(toEnd.plannedMarginCents, 4)
    expect(toEnd.extraLowCents).toBeLessThan(toEnd.extraCostCents)
    expect(toEnd.extraHighCents).toBeGreaterThan(toEnd.extraCostCents)
  })

  test('nothing is left after the last week', () => {
    const { toEnd } = awardStanding({ ...lane, weeks: 3 }, loadsOf([0.1, 0.1, 0.1]), { today: 2, noise })
    expect(toEnd).toMatchObject({ loads: 0, extraCostCents: 0, marginCents: 0 })
  })

  test('compares each week with the forecast of that week, so a season that was forecast is no rise', () => {
    const forecastCents = Array.from({ length: 30 }, (_, week) => 200_000 * (1 + 0.2 * Math.sin(week / 5)))
    const loads = forecastCents.map((costCents, week) => ({ id: `${week}`, week, costCents }))
    const asked = { today: 29, noise }
    expect(awardStanding({ ...lane, forecastCents }, loads, asked).state).toBe('holds')
    expect(awardStanding(lane, loads, { ...asked, today: 9 }).state).toBe('rising')
  })

  test('the loads of a week count once, as their mean', () => {
    const twice = loadsOf(Array.from({ length: 8 }, () => 0.05)).flatMap((load) => [
      load,
      { ...load, id: `${load.id}b` },
    ])
    const { evidence } = awardStanding(lane, twice, { today: 7, noise })
    expect(evidence).toBeCloseTo(standing(Array.from({ length: 8 }, () => 0.05)).evidence, 9)
  })

  test('no bet grows on average while costs are as forecast, however heavy the tails of the noise', () => {
    // Noise at 0 and at two deviations is the worst symmetric noise of this deviation. The evidence is then the number of weeks.
    const random = seededNumbers(7)
    const spread = 2 * (noise.deviation / Math.sqrt(1 - noise.persistence ** 2))
    let sum = 0
    const draws = 200_000
    for (let nth = 0; nth < draws; nth++) {
      const draw = random()
      const load = {
        id: '',
        week: 0,
        costCents: 200_000 * Math.exp(draw < 0.125 ? spread : draw < 0.25 ? -spread : 0),
      }
      sum += awardStanding(lane, [load], { today: 0, noise }).evidence
    }
    expect(sum / draws).toBeCloseTo(1, 1)
  })
})

describe('the noise of costs', () => {
  test('is the usual one without a history', () => {
    expect(costNoise([])).toEqual(USUAL_NOISE)
    expect(costNoise([[7, 7.1, 7, 7.2]])).toEqual(USUAL_NOISE)
  })

  test('is larger for lanes that jump, and a level that moves slowly is no noise', () => {
    const random = seededNumbers(3)
    const series = (noisy: number, slope: number) =>
      Array.from({ length: 60 }, (_, week) => 8 + slope * week + noisy * (random() - 0.5))
    const [calm, wild, sloped] = [
      costNoise([series(0.02, 0)]),
      costNoise([series(0.2, 0)]),
      costNoise([series(0.02, 0.02)]),
    ]
    expect(wild.deviation).toBeGreaterThan(5 * calm.deviation)
    expect(sloped.deviation).toBeLessThan(3 * calm.deviation)
    expect(sloped.move).toBeGreaterThan(calm.move)
  })
})

describe('the standing of somebody who looked each week', () => {
  test('is that of looking in each week, with an alarm that stays until its evidence is gone', () => {
    const random = seededNumbers(7)
    const states = new Set<string>()
    for (let round = 0; round < 200; round++) {
      const loads = Array.from({ length: 60 }, (_, nth): AwardedLoad => {
        const week = Math.floor(random() * 52)
        const rise = round % 2 === 0 && week >= 10 && week < 22 ? 0.16 : 0
        return { id: `load ${nth}`, week, costCents: 200_000 * Math.exp(rise + 0.06 * (random() - 0.5)) }
      })
      const today = Math.floor(random() * 52)
      let looked = awardStanding(lane, loads, { today: 0, noise })
      for (let week = 1; week <= today; week++) {
        looked = awardStanding(lane, loads, { today: week, noise, wasRising: looked.state === 'rising' })
      }
      expect(standingEachWeek(lane, loads, { today, noise })).toEqual(looked)
      const isHeld =
        looked.state === 'rising' && awardStanding(lane, loads, { today, noise }).state === 'holds'
      states.add(isHeld ? 'held' : looked.state)
    }
    expect([...states].sort()).toEqual(['held', 'holds', 'rising', 'too_few'])
  })

  test('reads each load a few times, however many weeks it is', () => {
    let reads = 0
    const loads = Array.from(
      { length: 1_000 },
      (_, nth): AwardedLoad => ({
        id: `load ${nth}`,
        week: nth % 260,
        get costCents() {
          reads++
          return 200_000
        },
      }),
    )
    standingEachWeek({ ...lane, weeks: 260 }, loads, { today: 259, noise })
    expect(reads).toBeLessThanOrEqual(4 * loads.length)
  })
})
